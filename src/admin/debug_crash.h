/* debug_crash: the subcommands of DEBUG that end the server as a bug would. */
#ifndef PACKLIST_ADMIN_DEBUG_CRASH_H
#define PACKLIST_ADMIN_DEBUG_CRASH_H

#include "engine/call.h"

/* None of them returns: the process ends by a signal (SIGSEGV for the first one, otherwise
 * SIGABRT), after the report of server/crash_report.h. */
void debug_segfault(struct call *call); /* writes to memory that is read-only */
void debug_assert(struct call *call);   /* an assertion fails */
void debug_panic(struct call *call);    /* the server finds itself in an impossible state */
void debug_oom(struct call *call);      /* the server asks for more memory than there is */

#endif
