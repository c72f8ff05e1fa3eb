/* session_output: what is sent to clients: replies to their own commands, replies that come later,
 * and messages. */
#ifndef PACKLIST_SESSION_SESSION_OUTPUT_H
#define PACKLIST_SESSION_SESSION_OUTPUT_H

#include "base/slice.h"
#include "resp/reply.h"
#include "session/session.h"

#include <stdbool.h>

/* The replies of a pipeline are sent when they pass this, not only at its end. */
enum { SESSION_FLUSH_AT = 64 * 1024 };

/* Sends a session bytes that are not the reply to its own command (`bytes` are RESP of its
 * protocol). All that it is told in one turn of the loop leaves with one system call when the turn
 * ends; the session being served finds it among its replies, in order. May close the session, when
 * it is over its output limit. */
void session_send_reply(struct session *session, struct slice bytes);

/* Sends a session a message of a channel that it listens to, even if it does not want replies. What
 * comes up while a command of its own is being run, or answered, follows the answer. */
void session_push(struct session *session, struct slice bytes);

/* session_send_reply for a reply that is still to be written: fill the returned writer (speaking
 * the session's protocol), or do not, then call session_side_end. One at a time; session_send_reply
 * and session_push are allowed in between. */
struct reply *session_side_begin(struct session *session);
void session_side_end(struct session *session);

/* Sends what `reply` holds, which is empty then; what the socket refuses becomes the connection's.
 * Held back while the reply gate holds. May close the session. */
void session_flush(struct session *session, struct reply *reply);

/* For the reply buffer, before it grows: drops the reply of the session being served where that is
 * over its hard output limit, as it is never sent. O(1). */
void session_drop_over_limit(struct reply *reply);

/* Empties the shared reply buffer, and makes it small again when it has grown large. */
void session_reset_reply(struct reply *reply);

/* Has the session's class a hard limit for output? */
bool session_has_hard_limit(const struct session *session);

/* Checks queued output against the limits, now and then. May close the session. O(1). */
void session_check_output(struct session *session);

/* Notes the memory that the session takes, where limits ask for it. */
void session_note_memory(struct session *session);

#endif
