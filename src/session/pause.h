/* pause: CLIENT PAUSE holds commands back for a time. */
#ifndef PACKLIST_SESSION_PAUSE_H
#define PACKLIST_SESSION_PAUSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine;
struct session;

/* Holds back all commands, or those that write, for `duration_ms` (>= 0). A running pause is only
 * prolonged, and only made stricter. */
void pause_start(struct engine *engine, int64_t duration_ms, bool writes_only);

/* A session begins, or no longer has, to wait for the end of the pause: SESSION_PAUSED among its
 * flags, and the count of such sessions. The second does nothing for one that does not wait. */
void pause_hold(struct session *session);
void pause_release(struct session *session);

/* Sessions whose command is held back. O(1). */
size_t pause_session_count(void);

/* Ends the pause: held-back sessions go on. */
void pause_end(struct engine *engine);

/* Must a command with these flags (enum command_flag) wait? Ends the pause when its time is
 * over. */
bool pause_holds(struct engine *engine, uint32_t command_flags);

/* Ends a pause whose time is over; the server's clock tick. */
void pause_tick(struct engine *engine);

#endif
