/* outbox: whatever the server sends to a client goes through here.
 *
 *      session with an open outbox                    any other session
 *      replies ── reply ──┐                           bytes
 *      messages ─ messages ┴─ outbox_flush ─┐           │
 *                                           │           ▼
 *                                           ├─ held by its connection until the iteration ends
 *                                           └─ the socket, at once
 *
 * A session has an open outbox while one of its commands runs. It collects the reply, and the
 * messages that are sent to the session meanwhile, which follow that reply. Callers name the
 * session (outbox_send, outbox_push), or write to the reply of their call; the buffers are known
 * here alone.
 *
 * All that one loop iteration holds for a connection leaves with one system call when the iteration
 * ends. Output is held in three cases: the reply gate holds it back (journal/reply_gate.h), the
 * session has no open outbox or is served because another one has changed its key, or the replies
 * may wait for those to other clients (outbox_close_late). */
#ifndef PACKLIST_SESSION_OUTBOX_H
#define PACKLIST_SESSION_OUTBOX_H

#include "base/slice.h"
#include "session/clients.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct conn_shared;
struct engine;
struct session;

enum {
    /* The replies of a pipeline are sent whenever they exceed this many bytes, not only at its end.
     * Each time the client may have to be woken, which costs as much as copying 50 KB. */
    OUTBOX_FLUSH_AT = 256 * 1024,
    /* Room for replies that the buffer has at first. */
    OUTBOX_FIRST_CAPACITY = 128 * 1024
};

/* Makes an outbox that is not open, with room for `capacity` bytes of replies; frees its memory. */
void outbox_init(struct outbox *outbox, size_t capacity, struct clients *clients);
void outbox_free(struct outbox *outbox);

/* Ends a capture that a reply has read: for `end_capture` of clients->replies. */
void outbox_end_capture(struct reply_common *replies, struct capture *capture);

/* --- For those who run the commands of a session --- */

/* Opens the empty outbox for a session that has none. Outboxes are closed in the reverse order. */
void outbox_open(struct outbox *outbox, struct session *session);

/* Sends or holds what the outbox has, and empties it. The connection takes over what the socket
 * refuses. May close the session, or mark it as closing while its outbox is open. */
void outbox_flush(struct outbox *outbox);

/* The reply that the session's command writes holds a secret: when it has been sent, the memory
 * where it was is overwritten. O(1), and O(size of the buffer) once at the end of the batch. */
void outbox_clear_replies(struct session *session);

/* While the next command is only asked whether it may run (`on`), messages to the owner precede its
 * reply: those about keys that are evicted to make room for it. */
void outbox_before_reply(struct outbox *outbox, bool on);

/* Returns where the reply to the command begins, which was asked for when the outbox had `begin`
 * bytes of replies. */
static inline size_t outbox_reply_begin(const struct outbox *outbox, size_t begin) {
    return outbox->early_end > begin ? outbox->early_end : begin;
}

/* The command has written its reply: adds the messages that were sent while it ran. */
void outbox_add_messages(struct outbox *outbox);

/* Flushes and closes the outbox, then the session if that was asked for since outbox_open. */
void outbox_close(struct outbox *outbox);

/* The same after requests that took long: a short reply may be held, and leaves together with those
 * to other clients: when the loop iteration ends, or by outbox_release_late. Sending each at once
 * would wake a client program once for each of its connections. With the append-only file only the
 * reply gate decides what is held. */
void outbox_close_late(struct outbox *outbox);

/* After each read while clients->replies_wait: sends all held output, if it may leave, and if the
 * loop iteration has lasted for a millisecond, or that long since the last time. `now`:
 * clock_ticks. May close sessions. */
void outbox_release_late(struct engine *engine, uint64_t now);

/* Begins the reply to a command of a session that another one, or time, has brought about. Write it
 * to the returned writer (which speaks the session's protocol), or write nothing; then call
 * outbox_end, which holds it unless the client wants no replies. One at a time. */
struct reply *outbox_begin(struct session *session);
void outbox_end(struct session *session);

/* --- For everybody --- */

/* Sends a session bytes (RESP of its protocol) that are not the reply to its current command,
 * unless it does not want replies. To the session being served they are sent among its replies, in
 * order. May close the session when it is over its output limit. */
void outbox_send(struct session *session, struct slice bytes);

/* Sends a session a message of a channel to which it has subscribed, even if it does not want
 * replies. A message that is sent while one of its commands is running follows the reply to that
 * command; one that is sent before it runs precedes it (outbox_before_reply). */
void outbox_push(struct session *session, struct slice bytes);

/* The same for bytes that many sessions get, one after another: where they can be sent by reference
 * they are, and *shared, NULL at first, has them: the caller ends it (conn_shared_end). */
void outbox_push_shared(struct session *session, struct slice bytes, struct conn_shared **shared);

/* Returns where to write such a message to the session of the running command. */
struct reply *outbox_messages(struct session *session);

#endif
