/* stream_group_common: see stream_group_common.h. */
#include "commands/stream_group_common.h"

/* --- Finding --- */

static bool complete(struct call *call, size_t key, size_t name, struct entry *entry,
                     struct group_ref *found) {
    *found = (struct group_ref){.key = call->argv[key], .entry = entry};
    if (!entry) return true;
    if (!call_check_type(call, entry, VALUE_STREAM)) return false;
    found->group = consumer_groups_find(stream_groups(entry), call->argv[name]);
    found->pieces = stream_pieces(entry);
    return true;
}

bool group_find_read(struct call *call, size_t key, size_t name, struct group_ref *found) {
    return complete(call, key, name, call_find_read(call, call->argv[key], NULL), found);
}

bool group_find_write(struct call *call, size_t key, size_t name, struct group_ref *found) {
    return complete(call, key, name, call_find_write(call, call->argv[key], NULL), found);
}

bool group_fail_missing(struct call *call, struct slice key, struct slice name, const char *where) {
    return reply_error_format(call->reply, "NOGROUP No such key '%.*s' or consumer group '%.*s'%s",
                              slice_precision(key), key.ptr, slice_precision(name), name.ptr,
                              where);
}

bool group_fail_unknown(struct call *call, struct slice key, struct slice name) {
    return reply_error_format(call->reply,
                              "NOGROUP No such consumer group '%.*s' for key name '%.*s'",
                              slice_precision(name), name.ptr, slice_precision(key), key.ptr);
}

bool group_need_read(struct call *call, size_t key, size_t name, struct group_ref *found) {
    if (!group_find_read(call, key, name, found)) return false;
    return found->group || group_fail_missing(call, found->key, call->argv[name], "");
}

bool group_need_write(struct call *call, size_t key, size_t name, struct group_ref *found) {
    if (!group_find_write(call, key, name, found)) return false;
    return found->group || group_fail_missing(call, found->key, call->argv[name], "");
}

/* --- Changing --- */

struct consumer *group_need_consumer(struct call *call, const struct group_ref *ref,
                                     struct slice name, bool *created) {
    struct consumer *consumer = consumer_group_find(ref->group, name);
    *created = !consumer;
    if (!consumer) {
        consumer = consumer_group_add(ref->group, ref->pieces, name, call->now_ms);
        call_touched_aside(call, ref->entry, ref->key, EVENT_STREAM, "xgroup-createconsumer", 1);
    }
    consumer->seen_ms = call->now_ms;
    return consumer;
}

/* XCLAIM key group consumer 0 id TIME ms RETRYCOUNT n FORCE JUSTID LASTID last. Where the stream
 * has no such entry, it is no longer pending afterwards. */
static void propagate_claim(struct call *call, const struct group_ref *ref, struct slice consumer,
                            const struct pending_entry *entry) {
    char id[STREAM_ID_TEXT_MAX], last[STREAM_ID_TEXT_MAX];
    char time[INT64_TEXT_MAX], deliveries[INT64_TEXT_MAX];
    CALL_PROPAGATE(call, SLICE("XCLAIM"), ref->key, ref->group->name, consumer, SLICE("0"),
                   stream_id_text(id, entry->id), SLICE("TIME"),
                   number_text(time, entry->delivered_ms), SLICE("RETRYCOUNT"),
                   number_text(deliveries, (int64_t)entry->deliveries), SLICE("FORCE"),
                   SLICE("JUSTID"), SLICE("LASTID"), stream_id_text(last, ref->group->last_id));
}

void group_assign(struct call *call, const struct group_ref *ref, const struct consumer *consumer,
                  const struct pending_entry *entry) {
    consumer_group_assign(ref->group, ref->pieces, entry);
    propagate_claim(call, ref, consumer->name, entry);
}

void group_forget(struct call *call, const struct group_ref *ref,
                  const struct pending_entry *entry) {
    const struct consumer *owner = consumer_group_numbered(ref->group, entry->consumer);
    char id[STREAM_ID_TEXT_MAX];
    if (owner)
        propagate_claim(call, ref, owner->name, entry);
    else
        CALL_PROPAGATE(call, SLICE("XACK"), ref->key, ref->group->name,
                       stream_id_text(id, entry->id));
    consumer_groups_acknowledge(stream_groups(ref->entry), ref->pieces, ref->group, entry->id);
}

/* --- Propagating --- */

void group_propagate_position(struct call *call, const struct group_ref *ref) {
    char last[STREAM_ID_TEXT_MAX], read[INT64_TEXT_MAX];
    CALL_PROPAGATE(call, SLICE("XGROUP"), SLICE("SETID"), ref->key, ref->group->name,
                   stream_id_text(last, ref->group->last_id), SLICE("ENTRIESREAD"),
                   number_text(read, ref->group->entries_read));
}

void group_propagate_consumer(struct call *call, const struct group_ref *ref,
                              const struct consumer *consumer) {
    CALL_PROPAGATE(call, SLICE("XGROUP"), SLICE("CREATECONSUMER"), ref->key, ref->group->name,
                   consumer->name);
}
