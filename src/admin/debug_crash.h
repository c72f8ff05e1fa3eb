/* debug_crash: the subcommands of DEBUG that end the server as an error in it would. */
#ifndef PACKLIST_ADMIN_DEBUG_CRASH_H
#define PACKLIST_ADMIN_DEBUG_CRASH_H

#include "engine/call.h"

/* None of them returns: the process ends by a signal (SIGSEGV for the first one, else SIGABRT),
 * after a report as server/crash_report.h says. */
void debug_segfault(struct call *call); /* writes to memory that is read-only */
void debug_assert(struct call *call);   /* an assertion fails */
void debug_panic(struct call *call);    /* the server finds itself in a state that cannot be */
void debug_oom(struct call *call);      /* memory that cannot be had is asked for */

#endif
