/* crash_report: what the server writes to its log when it crashes.
 *
 * On SIGSEGV, SIGABRT, SIGBUS, SIGFPE and SIGILL the handler writes a report, then the process ends
 * by the same signal, so that the exit status and the core dump are those of the crash. The report
 * holds no arguments of commands, no keys and no values. Its parts come in the order of what they
 * risk: those that need only async-signal-safe functions first, then the stack, and at the end what
 * reads the server's structures, which may be damaged, and allocates memory. A second crash inside
 * the report, or a report that takes longer than ten seconds, ends the process by the first signal;
 * what was written until then stays.
 *
 * Signals that already have a handler when the process starts, as in builds with sanitizers, keep
 * it. */
#ifndef PACKLIST_SERVER_CRASH_REPORT_H
#define PACKLIST_SERVER_CRASH_REPORT_H

struct engine;

/* Prepares the alternate signal stack of the calling thread and loads the library that walks
 * stacks. From then on SIGALRM writes the stack of the thread that receives it to the log, as in
 * Redis, and the server goes on. Also does crash_report_configure. Call once, in the main thread,
 * when the configuration is loaded. */
void crash_report_start(struct engine *engine);

/* Installs the handlers of the crash signals, or restores the signals' default action, as
 * crash-log-enabled says. Async-signal-unsafe only in that it reads the configuration. */
void crash_report_configure(struct engine *engine);

#endif
