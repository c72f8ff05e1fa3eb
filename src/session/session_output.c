/* session_output: passes replies and messages to the connection. */
#include "session/session_output.h"

#include "base/alloc.h"
#include "ds/shared_text.h"
#include "engine/engine.h"
#include "net/net.h"
#include "resp/reply.h"
#include "session/client_limits.h"
#include "session/client_memory.h"
#include "session/clients.h"
#include "session/session.h"
#include "table/command.h"

#include <assert.h>

enum {
    /* Unsent replies of at least this size are given to the connection with their buffer … */
    HAND_OVER_AT = 64 * 1024,
    /* … but without its free space, when that is more than this part of them. */
    SPARE_SHARE = 8,
    /* The shared reply buffer goes back to its first size when it has grown beyond this. */
    REPLY_KEEP_MAX = 1024 * 1024,
    REPLY_FIRST_CAPACITY = 2 * SESSION_FLUSH_AT,
    /* Replies of at most this size may wait for those to other clients. */
    WAITING_MAX = 4096
};

void session_reset_reply(struct reply *reply) {
    reply_truncate(reply, 0);
    if (reply->capacity > REPLY_KEEP_MAX) {
        reply_free(reply);
        reply_replace_buffer(reply, REPLY_FIRST_CAPACITY);
    }
}

/* Nearly always there is nothing to note. */
void session_note_memory(struct session *session) {
    struct engine *engine = session->requester.engine;
    if (engine->config.maxmemory_clients || session->accounted ||
        session->flags & SESSION_NEEDS_AUTH)
        client_memory_note(session);
}

static bool admits_output(struct session *session, size_t bytes) {
    if (client_limits_admit_output(session, bytes)) return true;
    session_close(session);
    return false;
}

void session_check_output(struct session *session) {
    if (!client_limits_check_output(session)) session_close(session);
}

/* Holds bytes, which are sent when the loop iteration ends. */
static void hold(struct session *session, struct slice bytes) {
    struct engine *engine = session->requester.engine;
    struct conn *conn = conn_of_session(session);
    size_t pending = conn_pending_output(conn);
    if (!admits_output(session, pending + bytes.len)) return;
    if (pending == 0) { /* less than one write, so the socket will take it */
        engine->stats.replies_written++;
        session->active_ms = engine->steady_ms;
    }
    conn_hold(conn, bytes.ptr, bytes.len);
    session_note_memory(session);
    session_check_output(session);
}

bool session_has_hard_limit(const struct session *session) {
    struct engine *engine = session->requester.engine;
    return session->flags & (SESSION_NEEDS_AUTH | SESSION_SUBSCRIBED) ||
           engine->config.output_limits[CLIENT_CLASS_NORMAL].hard_bytes != 0;
}

/* Bytes that the limits counted earlier, with the replies of the session being served. */
static size_t earlier_output(struct session *session) {
    struct engine *engine = session->requester.engine;
    if (engine->clients->counted_output != 0) return engine->clients->counted_output;
    return conn_pending_output(conn_of_session(session));
}

/* Counts a reply of the session being served together with the earlier ones. Returns false when
 * they are over the limit and the session closes. */
static bool admit_reply(struct session *session, size_t len) {
    struct engine *engine = session->requester.engine;
    engine->clients->counted_output = earlier_output(session) + len;
    return admits_output(session, engine->clients->counted_output);
}

/* The client is closed at the next flush. That comes, because SESSION_FLUSH_AT bytes are kept. */
void session_drop_over_limit(struct reply *reply) {
    struct clients *clients =
        (struct clients *)(void *)((char *)reply - offsetof(struct clients, reply));
    struct session *session = clients->current;
    if (!session || session->flags & (SESSION_REPLY_OFF | SESSION_REPLY_SKIP)) return;
    if (reply->len <= SESSION_FLUSH_AT) return;
    size_t size = reply_size(reply);
    size_t counted = earlier_output(session) + clients->dropped_output + size;
    if (!client_limits_reaches_hard(session, counted)) return;
    reply_truncate(reply, SESSION_FLUSH_AT);
    clients->dropped_output += size - reply_size(reply);
}

/* Returns whether the connection can hold `len` more bytes until the loop iteration ends. If it
 * cannot, makes the changes safe now: writes the append-only file. This does not happen in the
 * middle of a transaction, which sends only messages of channels, not its reply. When it fails, the
 * session may be closed. */
static __attribute__((noinline)) bool can_hold_or_make_safe(struct session *session,
                                                            struct reply_gate *gate, size_t len) {
    if (conn_can_hold(conn_of_session(session), len)) return true;
    if (!command_log_is_inside_unit(gate->log)) gate->flush(gate->arg);
    if (gate->denies) session_close(session);
    return false;
}

/* Returns whether the bytes are to be held, because the reply gate holds replies back. If they
 * cannot be held, makes the changes safe now, which may close the session. */
static inline bool hold_or_make_safe(struct session *session, size_t len) {
    struct reply_gate *gate = &session->requester.engine->reply_gate;
    return reply_gate_holds(gate) && can_hold_or_make_safe(session, gate, len);
}

/* The socket took only `sent` bytes: the connection keeps the rest, with the buffer if that is
 * large. */
static __attribute__((noinline)) void queue_rest(struct conn *conn, struct reply *reply,
                                                 size_t sent) {
    if (reply->len - sent < HAND_OVER_AT) {
        conn_queue(conn, reply->data + sent, reply->len - sent);
        return;
    }
    if (reply->capacity - reply->len > reply->len / SPARE_SHARE)
        reply->data = mem_realloc(reply->data, reply->len);
    conn_queue_owned(conn, reply->data, sent, reply->len);
    reply_replace_buffer(reply, REPLY_FIRST_CAPACITY);
}

/* Returns whether the output limits admit a reply of `len` bytes. If not, the session closes. */
static inline bool limits_admit(struct session *session, size_t len) {
    size_t dropped = session->requester.engine->clients->dropped_output;
    if (session_has_hard_limit(session)) return admit_reply(session, len + dropped);
    if (dropped == 0) return true;
    session_close(session); /* the limit was raised since */
    return false;
}

/* --- Texts that a reply refers to --- */

static struct slice peek_text(void *capture, size_t offset, size_t most) {
    text_capture_pass(capture, offset);
    return text_capture_peek(capture, offset, most);
}

static void release_text(void *capture) {
    text_capture_release(capture);
    text_capture_free(capture);
}

static const struct conn_source text_source = {.peek = peek_text, .release = release_text};

/* Gives the connection a reply with the captures of its texts. More is held than it keeps, so it
 * sends what the socket takes. */
static void send_referring(struct conn *conn, struct reply *reply) {
    size_t done = 0;
    for (size_t i = 0; i < reply->reference_count; i++) {
        struct reply_reference *text = &reply->references[i];
        conn_hold(conn, reply->data + done, text->position - done);
        conn_hold_source(conn, &text_source, text->capture, text->start, text->end);
        done = text->position;
    }
    conn_hold(conn, reply->data + done, reply->len - done);
    reply_forget_references(reply);
}

/* --- Replies --- */

/* Gives the socket what it takes, and the connection the rest. */
static void send_reply(struct session *session, struct reply *reply) {
    struct engine *engine = session->requester.engine;
    struct conn *conn = conn_of_session(session);
    engine->stats.replies_written++;
    if (__builtin_expect(reply->reference_count > 0, 0)) {
        send_referring(conn, reply);
        session->active_ms = engine->steady_ms;
    } else {
        size_t sent = conn_try_write(conn, reply->data, reply->len);
        if (sent > 0) session->active_ms = engine->steady_ms;
        if (__builtin_expect(sent < reply->len, 0)) queue_rest(conn, reply, sent);
    }
    session_check_output(session);
}

static inline __attribute__((always_inline)) void flush(struct session *session,
                                                        struct reply *reply, bool waits) {
    size_t size = reply_size(reply);
    if (size > 0 && !(session->flags & SESSION_DROPPED) && limits_admit(session, size)) {
        if (hold_or_make_safe(session, size) || waits)
            hold(session, slice_make(reply->data, reply->len));
        else if (!(session->flags & SESSION_DROPPED))
            send_reply(session, reply);
    }
    session_reset_reply(reply);
}

void session_flush(struct session *session, struct reply *reply) {
    flush(session, reply, false);
}

void session_flush_later(struct session *session, struct reply *reply) {
    struct engine *engine = session->requester.engine;
    bool waits = reply->len <= WAITING_MAX && reply->reference_count == 0 &&
                 engine->reply_gate.released == REPLY_GATE_OPEN &&
                 !(engine->restrictions & RESTRICTED_BUSY) &&
                 conn_can_hold(conn_of_session(session), reply->len);
    engine->clients->replies_wait |= waits;
    flush(session, reply, waits);
}

void session_release_late(struct engine *engine, uint64_t now) {
    if (engine->restrictions & RESTRICTED_BUSY || reply_gate_holds(&engine->reply_gate)) return;
    if (net_release_late(engine->net, now, engine->ticks_per_ms))
        engine->clients->replies_wait = false;
}

static void send_to_other(struct session *session, struct slice bytes) {
    hold_or_make_safe(session, bytes.len);
    if (!(session->flags & SESSION_CLOSING)) hold(session, bytes);
}

void session_send_reply(struct session *session, struct slice bytes) {
    struct engine *engine = session->requester.engine;
    if (session->flags & (SESSION_REPLY_OFF | SESSION_CLOSING)) return;
    if (session == engine->clients->current)
        reply_raw(&engine->clients->reply, bytes);
    else
        send_to_other(session, bytes);
}

void session_push(struct session *session, struct slice bytes) {
    struct engine *engine = session->requester.engine;
    if (session->flags & SESSION_CLOSING) return;
    if (session == engine->clients->current)
        reply_raw(&engine->clients->pushes, bytes);
    else if (session == engine->clients->other)
        reply_raw(&engine->clients->other_pushes, bytes);
    else
        send_to_other(session, bytes);
}

struct reply *session_other_begin(struct session *session) {
    struct engine *engine = session->requester.engine;
    if (session == engine->clients->current) return &engine->clients->reply;
    assert(!engine->clients->other);
    engine->clients->other = session;
    engine->clients->other_reply.len = 0;
    engine->clients->other_reply.protocol = session->protocol;
    return &engine->clients->other_reply;
}

void session_other_end(struct session *session) {
    struct engine *engine = session->requester.engine;
    if (session == engine->clients->current) return;
    assert(session == engine->clients->other);
    struct reply *reply = &engine->clients->other_reply, *pushes = &engine->clients->other_pushes;
    engine->clients->other = NULL;
    if (reply->len > 0) {
        if (!(session->flags & SESSION_REPLY_SKIP))
            session_send_reply(session, slice_make(reply->data, reply->len));
        session->flags &= ~(uint32_t)SESSION_REPLY_SKIP;
        session_reset_reply(reply);
    }
    if (pushes->len > 0) {
        session_push(session, slice_make(pushes->data, pushes->len));
        reply_free(pushes);
    }
}
