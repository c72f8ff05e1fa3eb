/* crash_report: what the server writes to its log when it crashes.
 *
 * On SIGSEGV, SIGABRT, SIGBUS, SIGFPE and SIGILL the handler writes a report, without arguments of
 * commands, keys and values. Then the process ends by the same signal. The safest parts come first:
 * those that need only async-signal-safe functions, then the stack, and at the end those that
 * allocate memory or read the server's structures, which may be damaged. A second crash inside the
 * report, or a report that takes longer than ten seconds, ends the process by the first signal.
 * Signals that already have a handler, as in builds with sanitizers, keep it. */
#ifndef PACKLIST_SERVER_PROCESS_CRASH_REPORT_H
#define PACKLIST_SERVER_PROCESS_CRASH_REPORT_H

struct engine;

/* Prepares the alternate signal stack of the calling thread and what unwinds stacks, and calls
 * crash_report_configure. From then on SIGALRM writes the stack of the thread that receives it to
 * the log, as in Redis. Call it once, in the main thread, after the configuration is loaded. */
void crash_report_start(struct engine *engine);

/* Installs the handlers of the crash signals, or restores the default action, as crash-log-enabled
 * says. Not async-signal-safe, because it reads the configuration. */
void crash_report_configure(struct engine *engine);

#endif
