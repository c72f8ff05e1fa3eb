/* monitor: clients that are shown every command that is run (MONITOR).
 *
 *      +1700000000.123456 [0 127.0.0.1:50000] "SET" "key" "value"
 *
 * One status line for each command, behind its execution (so that EXEC stands behind the
 * commands that it ran): time, database, who ran it ("unix:path" for the socket's clients), and
 * its arguments in quotes. Passwords are not shown, nor are commands of administrators. */
#ifndef PACKLIST_SERVER_MONITOR_H
#define PACKLIST_SERVER_MONITOR_H

#include "base/slice.h"
#include "server/command.h"

#include <stddef.h>

struct session;

/* Who is shown commands; session->flags has SESSION_MONITOR. */
struct monitors {
    struct session **sessions;
    size_t count;
    size_t capacity;
};

/* Shows all monitors a command that `session` has run. To be called where server.monitors.count is
 * not 0. O(monitors * bytes). */
void monitor_feed(const struct session *session, const struct command *command,
                  const struct slice *argv, size_t argc);

/* The session is shown nothing more (RESET, its end). Nothing when it is no monitor. */
void monitor_leave(struct session *session);

#endif
