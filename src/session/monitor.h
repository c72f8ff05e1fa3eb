/* monitor: clients that get every command that runs (MONITOR).
 *
 *      +1700000000.123456 [0 127.0.0.1:50000] "SET" "key" "value"
 *
 * There is one status line for each command, after it has run (so EXEC follows the commands that it
 * ran; EVAL and the like precede them): time, database, client ("unix:path" for clients of the Unix
 * socket, "lua" for a script), and the arguments in quotes. Passwords and administrators' commands
 * are not shown. */
#ifndef PACKLIST_SESSION_MONITOR_H
#define PACKLIST_SESSION_MONITOR_H

struct call;
struct monitors;
struct session;

/* Sends all monitors a command of a client or a script. Does nothing when there are none.
 * O(monitors * bytes). */
void monitor_feed(const struct call *call);

/* Frees the memory of `monitors`; no session may be left. */
void monitor_free(struct monitors *monitors);

/* The session, which is not a monitor yet, gets all commands from now on. Amortised O(1). */
void monitor_join(struct session *session);

/* The session gets no further commands (RESET, its end). Does nothing when it is not a monitor.
 * O(monitors). */
void monitor_leave(struct session *session);

#endif
