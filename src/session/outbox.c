#include "session/outbox.h"

#include "base/checked.h"
#include "base/memory/alloc.h"
#include "ds/strings/shared_text.h"
#include "engine/engine.h"
#include "engine/lazyfree.h"
#include "engine/slow.h"
#include "net/net.h"
#include "resp/reply.h"
#include "session/client_limits.h"
#include "session/client_memory.h"
#include "session/clients.h"
#include "session/session.h"
#include "table/command.h"

#include <stddef.h>

enum {
    /* Unsent replies of at least this size are given to the connection with their buffer … */
    HAND_OVER_AT = 64 * 1024,
    /* … but without its free space, when that is more than this part of them. */
    SPARE_SHARE = 8,
    /* The shared reply buffer goes back to its first size when it has grown beyond this. */
    REPLY_KEEP_MAX = 1024 * 1024,
    /* Replies of at most this size may wait for those to other clients. */
    WAITING_MAX = 4096,
    /* The buffer of messages is kept up to this size. */
    MESSAGES_KEEP_MAX = 64 * 1024
};

_Static_assert((int)REPLY_KEEP_MAX <= (int)SLOW_LARGE_REPLY,
               "replies of more than SLOW_LARGE_REPLY bytes grow");

/* --- The outbox --- */

static struct clients *clients_of(const struct session *session) {
    return session->requester.engine->clients;
}

/* Bytes that the limits counted earlier, with the replies of the outbox. */
static size_t counted_before(const struct outbox *outbox) {
    if (outbox->counted != 0) return outbox->counted;
    return conn_pending_output(conn_of_session(outbox->owner));
}

/* Drops the reply when it is over the owner's hard output limit, because it will never be sent. The
 * client is closed at the next flush. That comes, because OUTBOX_FLUSH_AT bytes are kept. */
static void drop_over_limit(struct outbox *outbox) {
    struct session *session = outbox->owner;
    struct reply *reply = &outbox->reply;
    if (session->flags & (SESSION_REPLY_OFF | SESSION_REPLY_SKIP)) return;
    if (reply->len <= OUTBOX_FLUSH_AT) return;
    size_t size = reply_size(reply);
    size_t counted = counted_before(outbox) + outbox->dropped + size;
    if (!client_limits_reaches_hard(session, counted)) return;
    reply_truncate(reply, OUTBOX_FLUSH_AT);
    outbox->dropped += size - reply_size(reply);
}

/* The reply grows. */
static void before_growth(struct reply *reply) {
    struct outbox *outbox =
        (struct outbox *)(void *)((char *)reply - offsetof(struct outbox, reply));
    if (!outbox->owner) return;
    slow_look(outbox->owner->requester.engine);
    drop_over_limit(outbox);
}

void outbox_init(struct outbox *outbox, size_t capacity, struct clients *clients) {
    *outbox = (struct outbox){.owner = NULL};
    reply_init(&outbox->reply, capacity);
    reply_init(&outbox->messages, 0);
    outbox->reply.before_growth = before_growth;
    outbox->reply.common = &clients->replies;
}

void outbox_free(struct outbox *outbox) {
    reply_free(&outbox->reply);
    reply_free(&outbox->messages);
}

void outbox_open(struct outbox *outbox, struct session *session) {
    struct clients *clients = clients_of(session);
    CHECKED_ASSERT(!outbox->owner && !session_outbox(session) && outbox->reply.len == 0);
    outbox->owner = session;
    outbox->below = clients->outboxes;
    outbox->counted = outbox->dropped = 0;
    outbox->reply.protocol = session->protocol;
    outbox->reply.sources = &session->sources;
    clients->outboxes = outbox;
}

void outbox_clear_replies(struct session *session) {
    clients_of(session)->batch_marks |= BATCH_REPLIED_SECRET;
    conn_clear_output(conn_of_session(session), true);
}

void outbox_add_messages(struct outbox *outbox) {
    struct reply *messages = &outbox->messages;
    if (messages->len == 0) return;
    reply_raw(&outbox->reply, slice_make(messages->data, messages->len));
    messages->len = 0;
    if (messages->capacity > MESSAGES_KEEP_MAX) reply_free(messages);
}

void outbox_before_reply(struct outbox *outbox, bool on) {
    outbox->is_before_reply = on;
    if (on) outbox->early_end = 0;
}

struct reply *outbox_messages(struct session *session) {
    struct reply *messages = &session_outbox(session)->messages;
    messages->protocol = session->protocol;
    return messages;
}

static void empty(struct reply *reply) {
    reply_truncate(reply, 0);
    if (reply->capacity > REPLY_KEEP_MAX) {
        reply_free(reply);
        reply_replace_buffer(reply, OUTBOX_FIRST_CAPACITY);
    }
}

/* --- What a reply refers to --- */

static struct clients *clients_with(struct reply_common *replies) {
    return (struct clients *)(void *)((char *)replies - offsetof(struct clients, replies));
}

void outbox_end_capture(struct reply_common *replies, struct capture *capture) {
    lazyfree_capture(clients_with(replies)->engine->lazyfree, capture);
}

struct held_text {
    struct capture *capture;
    struct reply_common *replies;
};

static struct slice peek_text(void *arg, size_t offset, size_t most) {
    struct capture *capture = ((const struct held_text *)arg)->capture;
    text_capture_pass(capture, offset);
    return text_capture_peek(capture, offset, most);
}

static void release_text(void *arg) {
    struct held_text *text = arg;
    outbox_end_capture(text->replies, text->capture);
    mem_free(text);
}

static const struct conn_source text_source = {.peek = peek_text, .release = release_text};

static struct slice make_values(void *source, bool *more) {
    struct reply *values = &clients_with(((struct reply_source *)source)->common)->values;
    *more = reply_source_write(source, values);
    return slice_make(values->data, values->len);
}

static void end_values(void *source) {
    reply_source_free(source);
}

static const struct conn_maker values_maker = {.make = make_values, .end = end_values};

static void hold_text(struct conn *conn, struct reply_common *replies,
                      const struct reply_reference *part) {
    struct held_text *text = mem_alloc(sizeof(*text));
    *text = (struct held_text){part->capture, replies};
    conn_hold_source(conn, &text_source, text, part->start, part->end);
}

/* Gives the connection a reply up to the last thing that it refers to, with the captures. Returns
 * the bytes of the buffer until there. */
static __attribute__((noinline)) size_t hold_references(struct conn *conn, struct reply *reply) {
    size_t done = 0;
    for (size_t i = 0; i < reply->reference_count; i++) {
        struct reply_reference *part = &reply->references[i];
        conn_hold(conn, reply->data + done, part->position - done);
        if (part->source)
            conn_hold_maker(conn, &values_maker, part->source, part->source->allocated);
        else
            hold_text(conn, reply->common, part);
        done = part->position;
    }
    reply_forget_references(reply);
    return done;
}

/* Gives the connection all of a reply. */
static void hold_reply(struct conn *conn, struct reply *reply) {
    size_t done = reply->reference_count > 0 ? hold_references(conn, reply) : 0;
    conn_hold(conn, reply->data + done, reply->len - done);
}

/* --- Holding --- */

/* Returns whether the output limits admit `len` bytes more. They are held then: that is less than
 * one write, so the socket will take them. */
static bool begin_hold(struct session *session, size_t len) {
    struct engine *engine = session->requester.engine;
    size_t pending = conn_pending_output(conn_of_session(session));
    if (!client_limits_admit_output(session, pending + len)) return false;
    if (pending == 0) {
        engine->stats.replies_written++;
        session->active_ms = engine->steady_ms;
    }
    return true;
}

static void end_hold(struct session *session) {
    client_memory_note(session);
    client_limits_check_output(session);
}

/* Holds bytes, which are sent when the loop iteration ends. */
static void hold(struct session *session, struct slice bytes) {
    if (!begin_hold(session, bytes.len)) return;
    conn_hold(conn_of_session(session), bytes.ptr, bytes.len);
    end_hold(session);
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
    reply_replace_buffer(reply, OUTBOX_FIRST_CAPACITY);
}

/* Returns whether the output limits admit `len` bytes, counted with the earlier ones. If not, the
 * session closes. */
static inline bool limits_admit(struct outbox *outbox, size_t len) {
    struct session *session = outbox->owner;
    if (client_limits_has_hard(session)) {
        outbox->counted = counted_before(outbox) + len + outbox->dropped;
        return client_limits_admit_output(session, outbox->counted);
    }
    if (outbox->dropped == 0) return true;
    session_close(session); /* the limit was raised since */
    return false;
}

/* --- Sending --- */

/* Gives the socket what it takes, and the connection the rest. */
static void send_reply(struct session *session, struct reply *reply) {
    struct engine *engine = session->requester.engine;
    struct conn *conn = conn_of_session(session);
    engine->stats.replies_written++;
    if (__builtin_expect(reply->reference_count > 0, 0)) {
        hold_reply(conn, reply);
        if (conn_is_holding(conn)) conn_release(conn);
        session->active_ms = engine->steady_ms;
    } else {
        size_t sent = conn_try_write(conn, reply->data, reply->len);
        if (sent > 0) session->active_ms = engine->steady_ms;
        if (__builtin_expect(sent < reply->len, 0)) queue_rest(conn, reply, sent);
    }
    client_limits_check_output(session);
}

/* `is_held`: the replies leave when the loop iteration ends, at the latest. */
static inline __attribute__((always_inline)) void flush(struct outbox *outbox, bool is_held) {
    struct session *session = outbox->owner;
    struct reply *reply = &outbox->reply;
    size_t size = reply_size(reply);
    if (size > 0 && !(session->flags & SESSION_DROPPED) && limits_admit(outbox, size)) {
        if (hold_or_make_safe(session, size) || is_held) {
            if (begin_hold(session, size)) {
                hold_reply(conn_of_session(session), reply);
                end_hold(session);
            }
        } else if (!(session->flags & SESSION_DROPPED))
            send_reply(session, reply);
    }
    empty(reply);
}

void outbox_flush(struct outbox *outbox) {
    flush(outbox, false);
}

static inline __attribute__((always_inline)) void flush_and_close(struct outbox *outbox,
                                                                  bool is_held) {
    struct session *session = outbox->owner;
    struct clients *clients = clients_of(session);
    CHECKED_ASSERT(clients->outboxes == outbox && outbox->messages.len == 0);
    flush(outbox, is_held);
    outbox->owner = NULL;
    clients->outboxes = outbox->below;
    client_memory_note(session);
    if (session->flags & SESSION_DROPPED)
        session_close(session);
    else if (session->flags & SESSION_CLOSING)
        session_close_after_reply(session);
}

void outbox_close(struct outbox *outbox) {
    flush_and_close(outbox, false);
}

void outbox_close_late(struct outbox *outbox) {
    struct engine *engine = outbox->owner->requester.engine;
    const struct reply *reply = &outbox->reply;
    bool waits = reply->len <= WAITING_MAX && reply->reference_count == 0 &&
                 engine->reply_gate.released == REPLY_GATE_OPEN &&
                 !(engine->restrictions & RESTRICTED_BUSY) &&
                 conn_can_hold(conn_of_session(outbox->owner), reply->len);
    engine->clients->replies_wait |= waits;
    flush_and_close(outbox, waits);
}

void outbox_release_late(struct engine *engine, uint64_t now) {
    if (engine->restrictions & RESTRICTED_BUSY || reply_gate_holds(&engine->reply_gate)) return;
    if (net_release_late(engine->net, now, engine->ticks_per_ms))
        engine->clients->replies_wait = false;
}

/* --- For those who do not run the session's command --- */

static void hold_safely(struct session *session, struct slice bytes) {
    hold_or_make_safe(session, bytes.len);
    if (!(session->flags & SESSION_CLOSING)) hold(session, bytes);
}

void outbox_send(struct session *session, struct slice bytes) {
    if (session->flags & (SESSION_REPLY_OFF | SESSION_CLOSING)) return;
    struct outbox *outbox = session_outbox(session);
    if (outbox)
        reply_raw(&outbox->reply, bytes);
    else
        hold_safely(session, bytes);
}

void outbox_push(struct session *session, struct slice bytes) {
    if (session->flags & SESSION_CLOSING) return;
    struct outbox *outbox = session_outbox(session);
    if (!outbox) {
        hold_safely(session, bytes);
    } else if (outbox->is_before_reply) {
        reply_raw(&outbox->reply, bytes);
        outbox->early_end = outbox->reply.len;
    } else {
        reply_raw(&outbox->messages, bytes);
    }
}

/* Returns whether the session has no replies that come before bytes which are sent now, and those
 * may be sent now. */
static bool is_clear(const struct session *session) {
    return conn_may_share(conn_of_session((struct session *)session)) && !session_outbox(session) &&
           !reply_gate_holds(&session->requester.engine->reply_gate);
}

void outbox_push_shared(struct session *session, struct slice bytes, struct conn_shared **shared) {
    struct engine *engine = session->requester.engine;
    bool is_shared = false;
    if (session->flags & SESSION_CLOSING) return;
    if (is_clear(session)) {
        if (!client_limits_admit_output(session, bytes.len)) return;
        if (!*shared) *shared = conn_shared_new(bytes);
        is_shared = conn_send_shared(conn_of_session(session), *shared);
    }
    if (!is_shared) {
        outbox_push(session, bytes);
        return;
    }
    engine->stats.replies_written++;
    session->active_ms = engine->steady_ms;
    session->soft_limit_ms = 0;
    client_memory_note(session);
}

struct reply *outbox_begin(struct session *session) {
    struct outbox *outbox = session_outbox(session);
    if (!outbox) outbox_open(outbox = &clients_of(session)->brief, session);
    return &outbox->reply;
}

void outbox_end(struct session *session) {
    struct outbox *outbox = &clients_of(session)->brief;
    if (outbox->owner != session) return; /* its requests are being read: it gets all together */
    if (outbox->reply.len > 0) {
        if (session->flags & (SESSION_REPLY_OFF | SESSION_REPLY_SKIP))
            reply_truncate(&outbox->reply, 0);
        session->flags &= ~(uint32_t)SESSION_REPLY_SKIP;
    }
    outbox_add_messages(outbox);
    flush_and_close(outbox, true);
}
