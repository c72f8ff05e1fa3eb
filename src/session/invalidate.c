#include "session/invalidate.h"

#include "base/memory/alloc.h"
#include "engine/call.h"
#include "engine/engine.h"
#include "engine/watch.h"
#include "resp/reply.h"
#include "session/client_memory.h"
#include "session/clients.h"
#include "session/outbox.h"
#include "session/session.h"
#include "table/command.h"
#include "table/command_keys.h"
#include "users/access.h"

#define INVALIDATION_CHANNEL "__redis__:invalidate"

/* --- Messages --- */

/* A replica gets nothing but the stream. */
static bool takes_pushes(const struct session *session) {
    return session->protocol == 3 && !(session->flags & SESSION_REPLICA);
}

static void send(struct session *target, struct reply *reply) {
    outbox_push(target, slice_make(reply->data, reply->len));
    reply_free(reply);
}

static void send_broken(struct session *session, const struct tracker *tracker) {
    if (!takes_pushes(session)) return;
    struct reply reply;
    reply_init(&reply, 0);
    reply.protocol = 3;
    reply_push(&reply, 2);
    reply_bulk_cstr(&reply, "tracking-redir-broken");
    reply_integer(&reply, (int64_t)tracker->redirect);
    send(session, &reply);
}

/* Returns the session that gets the tracker's messages, or NULL. If it is gone, says so. */
static struct session *target_of(struct tracker *tracker) {
    struct session *session = tracker->owner;
    if (!tracker->redirect) return takes_pushes(session) ? session : NULL;
    struct clients *clients = session->requester.engine->clients;
    struct session *target = session_list_find(&clients->sessions, tracker->redirect);
    if (!target) {
        tracker->flags |= TRACKER_BROKEN;
        send_broken(session, tracker);
        return NULL;
    }
    return takes_pushes(target) || target->flags & SESSION_SUBSCRIBED ? target : NULL;
}

/* Begins a message to the target: the keys follow. `reply` is freed by send. */
static void begin_message(struct reply *reply, const struct session *target) {
    reply_init(reply, 0);
    reply->protocol = target->protocol;
    reply_push(reply, target->protocol == 3 ? 2 : 3);
    if (target->protocol == 3) {
        reply_bulk_cstr(reply, "invalidate");
    } else {
        reply_bulk_cstr(reply, "message");
        reply_bulk_cstr(reply, INVALIDATION_CHANNEL);
    }
}

/* `key` NULL: all have changed. */
static void tell(struct tracker *tracker, const struct slice *key) {
    struct session *target = target_of(tracker);
    if (!target) return;
    struct reply reply;
    begin_message(&reply, target);
    if (key) {
        reply_array(&reply, 1);
        reply_bulk(&reply, *key);
    } else {
        reply_null(&reply);
    }
    send(target, &reply);
}

/* Returns whether the user of the session may know that the key has changed: whether it may read it
 * in the database, or in one of them. */
static bool may_know(const struct session *session, const struct tracking_change *change) {
    const struct user *user = session->requester.user;
    if (user_is_unrestricted(user)) return true;
    if (change->database >= 0) return user_may_read_key(user, change->key, change->database);
    for (int64_t i = 0; i < session->requester.engine->databases; i++)
        if (user_may_read_key(user, change->key, i)) return true;
    return false;
}

/* Both the client that tracks and the one that gets its messages must have the right to know. */
static bool must_hear(const struct tracker *tracker, const struct session *target,
                      const struct tracking_change *change) {
    const struct session *session = tracker->owner;
    if (tracker->flags & TRACKER_NOLOOP && change->source == session) return false;
    return may_know(session, change) && (target == session || may_know(target, change));
}

static void tell_keys(struct tracker *tracker, struct tracking_change *const *changes,
                      size_t count) {
    struct session *target = target_of(tracker);
    if (!target) return;
    struct reply keys, reply;
    size_t told = 0;
    reply_init(&keys, 0);
    for (size_t i = 0; i < count; i++) {
        if (!must_hear(tracker, target, changes[i])) continue;
        reply_bulk(&keys, changes[i]->key);
        told++;
    }
    if (told > 0) {
        begin_message(&reply, target);
        reply_array(&reply, told);
        reply_raw(&reply, slice_make(keys.data, keys.len));
        send(target, &reply);
    }
    reply_free(&keys);
}

void invalidate_init(struct engine *engine) {
    const struct tracking_callbacks callbacks = {.tell = tell, .tell_keys = tell_keys};
    tracking_init(engine->tracking, callbacks, random_next(&engine->random));
    invalidate_configure(engine);
}

void invalidate_configure(struct engine *engine) {
    engine->tracking->max_keys = (size_t)engine->config.tracking_table_max_keys;
}

void invalidate_tell_changes(struct engine *engine) {
    if (tracking_has_changes(engine->tracking)) tracking_tell_changes(engine->tracking);
}

/* --- Sessions --- */

void invalidate_start(struct session *session, uint32_t flags, uint64_t redirect) {
    struct engine *engine = session->requester.engine;
    if (!session->tracker) {
        session->tracker = tracker_begin(engine->tracking, session, flags);
        engine->clients->observers++; /* who look at commands … */
        engine->watches->observers++; /* … and at changes */
    }
    session->flags |= SESSION_TRACKING;
    session->tracker->flags = flags;
    session->tracker->redirect = redirect;
    struct session *target =
        redirect ? session_list_find(&engine->clients->sessions, redirect) : NULL;
    if (target) target->flags |= SESSION_TRACKING;
    client_memory_note(session);
}

void invalidate_stop(struct session *session) {
    struct engine *engine = session->requester.engine;
    if (!session->tracker) return;
    tracker_end(engine->tracking, session->tracker);
    session->tracker = NULL;
    engine->clients->observers--;
    engine->watches->observers--;
}

/* --- What is recorded --- */

void invalidate_note_read(const struct call *call) {
    const struct session *session = call_session(call);
    const struct command *command = call->command;
    struct key_ranges keys;
    if (!session || !session->tracker || !tracker_records(session->tracker)) return;
    if (!(command->flags & COMMAND_READONLY) || command->flags & COMMAND_RUNS_SCRIPT) return;
    if (!command_keys(command, call->argv, call->argc, &keys)) return;
    for (int i = 0; i < 2; i++) {
        const struct key_range *range = &keys.ranges[i];
        if (range->use & (KEY_NOT_KEY | KEY_CHANNEL)) continue;
        for (size_t at = range->begin; at < range->end; at += range->step)
            tracking_record(call->engine->tracking, session->tracker, call->argv[at]);
    }
}

void invalidate_end_request(struct session *session) {
    if (session->tracker && !(session->flags & (SESSION_MULTI | SESSION_BLOCKED)))
        session->tracker->flags &= ~(uint32_t)TRACKER_CACHING;
}
