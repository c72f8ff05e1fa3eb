/* pause: CLIENT PAUSE holds commands back for some time, FAILOVER until it has ended, SHUTDOWN
 * while it waits for replicas. A command that is held back stays with its session, with a copy of
 * its arguments. */
#ifndef PACKLIST_SESSION_PAUSE_H
#define PACKLIST_SESSION_PAUSE_H

#include <stdbool.h>
#include <stdint.h>

struct engine;
struct session;

enum pause_reason { PAUSE_FAILOVER = 1 << 0, PAUSE_SHUTDOWN = 1 << 1 };

/* Holds back all commands, or those that write, for `duration_ms` (>= 0). It can only prolong a
 * running pause and make it stricter. */
void pause_start(struct engine *engine, int64_t duration_ms, bool writes_only);

/* Holds back commands that write, for a reason, or no longer, whatever CLIENT PAUSE and UNPAUSE do.
 * The second resumes the sessions that were held back, unless there are other reasons. O(1); the
 * second: O(sessions). */
void pause_start_writes(struct engine *engine, enum pause_reason reason);
void pause_end_writes(struct engine *engine, enum pause_reason reason);

/* Marks a session (of a client, or of the link to the primary) as waiting for the end of the pause,
 * or no longer: sets or clears SESSION_PAUSED and counts such sessions. The second does nothing
 * when the session does not wait. O(1). */
void pause_hold(struct session *session);
void pause_release(struct session *session);

/* Ends what pause_start has begun, and resumes the sessions that it held back. O(sessions). */
void pause_end(struct engine *engine);

/* Returns whether a command with these flags (enum command_flag) must wait. Ends a pause whose time
 * is over. */
bool pause_holds(struct engine *engine, uint32_t command_flags);

/* Ends a pause whose time is over; called by cron. */
void pause_tick(struct engine *engine);

#endif
