/* monitor: clients that are shown every command that is run (MONITOR).
 *
 *      +1700000000.123456 [0 127.0.0.1:50000] "SET" "key" "value"
 *
 * One status line for each command, behind its execution (so that EXEC stands behind the
 * commands that it ran): time, database, who ran it ("unix:path" for the socket's clients), and
 * its arguments in quotes. Passwords are not shown, nor are commands of administrators. */
#ifndef PACKLIST_SESSION_MONITOR_H
#define PACKLIST_SESSION_MONITOR_H

#include "base/sds.h"
#include "table/command.h"

#include <stddef.h>
#include <stdint.h>

struct session;

/* Who is shown commands; session->flags has SESSION_MONITOR. */
struct monitors {
    struct session **sessions;
    size_t count;
    size_t capacity;
    sds line; /* the one being built; its memory serves the next */

    /* Whose command was shown last, and his name: most come in pipelines, and the system is asked
     * for the name. */
    uint64_t origin_id;
    sds origin;
};

/* Shows all monitors a command that `session` has run. To be called where
 * clients->monitors.count is not 0. O(monitors * bytes). */
void monitor_feed(const struct session *session, const struct command *command,
                  const struct slice *argv, size_t argc);

/* Frees what it owns, when no session is left. */
void monitors_free(struct monitors *monitors);

/* The session, which is no monitor yet, is shown what is run from now on. */
void monitor_join(struct session *session);

/* The session is shown nothing more (RESET, its end). Nothing when it is no monitor. */
void monitor_leave(struct session *session);

#endif
