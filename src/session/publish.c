#include "session/publish.h"

#include "base/memory/alloc.h"
#include "config/notify.h"
#include "engine/engine.h"
#include "net/connections/conn.h"
#include "resp/reply.h"
#include "session/clients.h"
#include "session/outbox.h"
#include "session/session.h"

/* --- Subscriptions --- */

bool publish_subscribe(struct session *session, enum pubsub_kind kind, struct slice name) {
    struct engine *engine = session->requester.engine;
    if (!session->subscriber) {
        session->subscriber = mem_alloc(sizeof(*session->subscriber));
        *session->subscriber = (struct subscriber){.owner = session};
        session->flags |= SESSION_SUBSCRIBED;
    }
    return pubsub_subscribe(&engine->clients->pubsub, session->subscriber, kind, name);
}

static void forget_subscriber(struct session *session) {
    mem_free(session->subscriber);
    session->subscriber = NULL;
    session->flags &= ~(uint32_t)SESSION_SUBSCRIBED;
}

bool publish_unsubscribe(struct session *session, enum pubsub_kind kind, struct slice name) {
    struct engine *engine = session->requester.engine;
    struct subscriber *subscriber = session->subscriber;
    if (!subscriber || !pubsub_unsubscribe(&engine->clients->pubsub, subscriber, kind, name))
        return false;
    if (!pubsub_is_subscribed(subscriber)) forget_subscriber(session);
    return true;
}

void publish_leave(struct session *session) {
    struct engine *engine = session->requester.engine;
    if (!session->subscriber) return;
    pubsub_leave(&engine->clients->pubsub, session->subscriber);
    forget_subscriber(session);
}

size_t publish_count(const struct session *session, enum pubsub_kind kind) {
    return session->subscriber ? session->subscriber->count[kind] : 0;
}

/* --- Shard channels that go elsewhere --- */

static void tell_end(struct session *session, struct slice channel) {
    struct reply message;
    reply_init(&message, 0);
    message.protocol = session->protocol;
    reply_push(&message, 3);
    reply_bulk_cstr(&message, "sunsubscribe");
    reply_bulk(&message, channel);
    reply_integer(&message, (int64_t)publish_count(session, PUBSUB_SHARD));
    outbox_push(session, slice_make(message.data, message.len));
    reply_free(&message);
}

static void end_and_tell(struct subscriber *subscriber, const struct topic *topic, void *arg) {
    struct session *session = subscriber->owner;
    struct slice channel = sds_slice(*(sds *)arg);
    (void)topic;
    publish_unsubscribe(session, PUBSUB_SHARD, channel);
    tell_end(session, channel);
}

void publish_keep_shard_channels(struct engine *engine,
                                 bool (*stays)(struct slice channel, void *arg), void *arg) {
    struct pubsub *pubsub = &engine->clients->pubsub;
    struct hashtable_iter iter;
    const struct topic *topic;
    sds *ending = NULL; /* the table must not change while it is iterated over */
    size_t count = 0, capacity = 0;
    hashtable_iter_start(&iter, pubsub->topics.spaces[PUBSUB_SHARD]);
    while ((topic = hashtable_iter_next(&iter))) {
        if (stays(topic->key.name, arg)) continue;
        MEM_RESERVE(ending, capacity, count + 1);
        ending[count++] = sds_new(topic->key.name);
    }
    for (size_t i = 0; i < count; i++) {
        pubsub_deliver(pubsub, PUBSUB_SHARD, sds_slice(ending[i]), end_and_tell, &ending[i]);
        sds_free(ending[i]);
    }
    mem_free(ending);
}

/* --- Messages --- */

/* Buffers for messages are kept up to this size. */
enum { FRAME_KEEP_MAX = 16 * 1024 };

/* One message that is being delivered, with its bytes in either protocol for the subscribers of the
 * current topic. */
struct delivery {
    struct slice channel;
    struct slice message;
    const struct topic *topic;
    struct reply *frames;          /* RESP2, RESP3; empty until a subscriber needs it */
    struct conn_shared *shared[2]; /* the frames, when they are sent by reference */
};

/* [message, channel, text], or [pmessage, pattern, channel, text]. */
static void write_frame(struct reply *frame, const struct delivery *delivery) {
    static const char *const names[PUBSUB_KINDS] = {
        [PUBSUB_CHANNEL] = "message",
        [PUBSUB_PATTERN] = "pmessage",
        [PUBSUB_SHARD] = "smessage",
    };
    bool has_pattern = delivery->topic->key.space == PUBSUB_PATTERN;
    reply_push(frame, has_pattern ? 4 : 3);
    reply_bulk_cstr(frame, names[delivery->topic->key.space]);
    if (has_pattern) reply_bulk(frame, delivery->topic->key.name);
    reply_bulk(frame, delivery->channel);
    reply_bulk(frame, delivery->message);
}

static void forget_frames(struct delivery *delivery) {
    for (int i = 0; i < 2; i++) {
        delivery->frames[i].len = 0;
        if (delivery->shared[i]) conn_shared_end(delivery->shared[i]);
        delivery->shared[i] = NULL;
    }
}

static void deliver(struct subscriber *subscriber, const struct topic *topic, void *arg) {
    struct delivery *delivery = arg;
    struct session *session = subscriber->owner;
    if (topic != delivery->topic) {
        delivery->topic = topic;
        forget_frames(delivery);
    }
    int which = session->protocol == 3;
    struct reply *frame = &delivery->frames[which];
    if (frame->len == 0) write_frame(frame, delivery);
    outbox_push_shared(session, slice_make(frame->data, frame->len), &delivery->shared[which]);
}

size_t publish(struct engine *engine, enum pubsub_kind kind, struct slice channel,
               struct slice message) {
    struct reply *frames = engine->clients->frames;
    struct delivery delivery = {.channel = channel, .message = message, .frames = frames};
    for (int i = 0; i < 2; i++) frames[i].protocol = 2 + i;
    size_t count = pubsub_deliver(&engine->clients->pubsub, kind, channel, deliver, &delivery);
    forget_frames(&delivery);
    for (int i = 0; i < 2; i++)
        if (frames[i].capacity > FRAME_KEEP_MAX) reply_free(&frames[i]);
    return count;
}

/* --- Keyspace events --- */

static void publish_about(struct engine *engine, const char *about, int database,
                          struct slice suffix, struct slice message) {
    sds channel = sds_format("__%s@%d__:", about, database);
    channel = sds_append(channel, suffix);
    publish(engine, PUBSUB_CHANNEL, sds_slice(channel), message);
    sds_free(channel);
}

void publish_keyspace_event(struct engine *engine, int database, const char *event,
                            struct slice key) {
    if (!pubsub_has_subscribers(&engine->clients->pubsub)) return;
    int64_t flags = engine->config.notify_keyspace_events;
    struct slice name = slice_of_cstr(event);
    if (flags & NOTIFY_KEYSPACE) publish_about(engine, "keyspace", database, key, name);
    if (flags & NOTIFY_KEYEVENT) publish_about(engine, "keyevent", database, name, key);
}

/* <length>:<name> */
static sds append_counted(sds out, struct slice name) {
    return sds_append(sds_append_format(out, "%zu:", name.len), name);
}

static sds append_fields(sds out, struct event_fields fields) {
    for (size_t i = 0; i < fields.count; i++) {
        if (i > 0) out = sds_append_cstr(out, ",");
        out = append_counted(out, fields.first[i * fields.stride]);
    }
    return out;
}

/* Publishes a text, and frees it. */
static void publish_made(struct engine *engine, const char *about, int database,
                         struct slice suffix, sds message) {
    publish_about(engine, about, database, suffix, sds_slice(message));
    sds_free(message);
}

static void publish_each_field(struct engine *engine, int database, struct slice event,
                               struct slice key, struct event_fields fields) {
    for (size_t i = 0; i < fields.count; i++) {
        sds item = sds_append_cstr(sds_new(key), "\n");
        item = sds_append(item, fields.first[i * fields.stride]);
        publish_about(engine, "subkeyspaceitem", database, sds_slice(item), event);
        sds_free(item);
    }
}

void publish_field_event(struct engine *engine, int database, const char *event, struct slice key,
                         struct event_fields fields) {
    if (!pubsub_has_subscribers(&engine->clients->pubsub) || fields.count == 0) return;
    int64_t flags = engine->config.notify_keyspace_events;
    struct slice name = slice_of_cstr(event);
    sds before = sds_append_cstr(sds_new(name), "|");
    if (flags & NOTIFY_FIELDSPACE)
        publish_made(engine, "subkeyspace", database, key,
                     append_fields(sds_new(sds_slice(before)), fields));
    if (flags & NOTIFY_FIELDEVENT) {
        sds message = sds_append_cstr(append_counted(sds_new(SLICE("")), key), "|");
        publish_made(engine, "subkeyevent", database, name, append_fields(message, fields));
    }
    if (flags & NOTIFY_EACH_FIELD) publish_each_field(engine, database, name, key, fields);
    before = sds_append(before, key);
    if (flags & NOTIFY_EVENT_FIELDS)
        publish_made(engine, "subkeyspaceevent", database, sds_slice(before),
                     append_fields(sds_new(SLICE("")), fields));
    sds_free(before);
}
