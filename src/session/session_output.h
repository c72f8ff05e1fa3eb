/* session_output: sends clients the replies to their commands, later replies, and messages. */
#ifndef PACKLIST_SESSION_SESSION_OUTPUT_H
#define PACKLIST_SESSION_SESSION_OUTPUT_H

#include "base/slice.h"
#include "resp/reply.h"
#include "session/session.h"

#include <stdbool.h>

/* The replies of a pipeline are sent whenever they exceed this many bytes, not only at its end. */
enum { SESSION_FLUSH_AT = 64 * 1024 };

/* Sends a session bytes (RESP of its protocol) that are not the reply to its current command. All
 * such bytes of one loop iteration leave with one system call when the iteration ends; the session
 * being served gets them among its replies, in order. May close the session when it is over its
 * output limit. */
void session_send_reply(struct session *session, struct slice bytes);

/* Sends a session a message of a channel that it listens to, even if it does not want replies. A
 * message that is sent while one of its commands is running follows the reply to that command. */
void session_push(struct session *session, struct slice bytes);

/* Begins a reply to a session: write it to the returned writer (which speaks the session's
 * protocol), or write nothing; then call session_other_end, which sends it as session_send_reply
 * does. Only one at a time. session_send_reply and session_push may be called in between. */
struct reply *session_other_begin(struct session *session);
void session_other_end(struct session *session);

/* Sends the contents of `reply` and empties it. The connection takes over what the socket refuses.
 * Held back while the reply gate holds. May close the session. */
void session_flush(struct session *session, struct reply *reply);

/* The same for the last replies to requests that took long. Small ones may be held, and leave
 * together with those to other clients: when the loop iteration ends, or by session_release_late.
 * Sending each at once would wake a client program once for each of its connections. With the
 * append-only file only the reply gate decides what is held. */
void session_flush_later(struct session *session, struct reply *reply);

/* After each read while clients.replies_wait: sends all held output, if it may leave, and if the
 * loop iteration has lasted for a millisecond, or that long since the last time. `now`:
 * clock_ticks. May close sessions. */
void session_release_late(struct engine *engine, uint64_t now);

/* For the reply buffer, before it grows: drops the reply of the session being served when it is
 * over its hard output limit, because it will never be sent. O(1). */
void session_drop_over_limit(struct reply *reply);

/* Empties the shared reply buffer, and shrinks it when it has grown large. */
void session_reset_reply(struct reply *reply);

/* Returns whether the session's class has a hard limit for output. O(1). */
bool session_has_hard_limit(const struct session *session);

/* Checks queued output against the limits; called regularly. May close the session. O(1). */
void session_check_output(struct session *session);

/* Notes the memory that the session takes, if a limit depends on it. O(1). */
void session_note_memory(struct session *session);

#endif
