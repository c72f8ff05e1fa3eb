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

#include "base/sds.h"
#include "table/command.h"

#include <stddef.h>
#include <stdint.h>

struct call;
struct session;

/* The sessions that have SESSION_MONITOR. */
struct monitors {
    struct session **sessions;
    size_t count;
    size_t capacity;
    sds line; /* the line being built; its memory is used again */

    /* The last client shown, and its name: a client often sends many commands in a row, and the
     * name costs a system call. */
    uint64_t origin_id;
    sds origin;
};

/* Sends all monitors a command of a client or a script. Does nothing when there are none.
 * O(monitors * bytes). */
void monitor_feed(const struct call *call);

/* Frees the memory of `monitors`; no session may be left. */
void monitors_free(struct monitors *monitors);

/* The session, which is not a monitor yet, gets all commands from now on. Amortised O(1). */
void monitor_join(struct session *session);

/* The session gets no further commands (RESET, its end). Does nothing when it is not a monitor.
 * O(monitors). */
void monitor_leave(struct session *session);

#endif
