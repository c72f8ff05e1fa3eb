/* stream_common: see stream_common.h. */
#include "commands/streams/stream_common.h"

/* --- Ids --- */

enum { ID_LENGTH_MAX = 127 };

static bool fail_id(struct call *call) {
    return reply_error(call->reply, "ERR Invalid stream ID specified as stream command argument");
}

/* Digits, which may have a plus sign and zeros before them, as in Redis. */
static bool parse_number(struct slice text, uint64_t *number) {
    const char *at = text.ptr, *end = slice_end(text);
    uint64_t value = 0;
    if (at < end && *at == '+') at++;
    if (at == end) return false;
    for (; at < end; at++) {
        if (!number_is_digit(*at) || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*at - '0'), &value))
            return false;
    }
    *number = value;
    return true;
}

/* ms, ms-seq or ms-*; `seq` is left as it is where none is given. */
static bool parse_parts(struct slice text, struct stream_new_id *id) {
    if (text.len == 0 || text.len > ID_LENGTH_MAX) return false;
    const char *dash = memchr(text.ptr, '-', text.len);
    size_t ms_len = dash ? (size_t)(dash - text.ptr) : text.len;
    id->has_ms = true;
    id->has_seq = false;
    if (!parse_number(slice_make(text.ptr, ms_len), &id->id.ms)) return false;
    if (!dash) return true;
    struct slice seq = slice_make(dash + 1, text.len - ms_len - 1);
    if (slice_equal(seq, SLICE("*"))) return true;
    id->has_seq = true;
    return parse_number(seq, &id->id.seq);
}

bool stream_is_id(struct slice text, uint64_t missing_seq, struct stream_id *id) {
    struct stream_new_id parts = {.id = {0, missing_seq}};
    bool open = slice_ends(text, SLICE("-*"));
    if (open || !parse_parts(text, &parts)) return false;
    *id = parts.id;
    return true;
}

bool stream_parse_id(struct call *call, size_t index, uint64_t missing_seq, struct stream_id *id) {
    return stream_is_id(call->argv[index], missing_seq, id) || fail_id(call);
}

bool stream_check_ids(struct call *call, struct id_range ids) {
    struct stream_id id;
    for (size_t i = ids.from; i < ids.end; i++)
        if (!stream_parse_id(call, i, 0, &id)) return false;
    return true;
}

bool stream_parse_id_list(struct call *call, size_t *at, struct id_range *ids, int64_t max,
                          const char *not_positive, const char *no_match) {
    int64_t count;
    size_t from = *at + 2;
    if (!call_integer_in(call, *at + 1, 1, max, &count, not_positive)) return false;
    if ((uint64_t)count > call->argc - from) return reply_error(call->reply, no_match);
    *at = from + (size_t)count;
    *ids = (struct id_range){from, *at};
    return true;
}

struct stream_id stream_id_at(const struct call *call, size_t index) {
    struct stream_id id = STREAM_ID_MIN;
    stream_is_id(call->argv[index], 0, &id);
    return id;
}

bool stream_parse_new_id(struct call *call, size_t index, struct stream_new_id *id) {
    struct slice text = call->argv[index];
    *id = (struct stream_new_id){.id = STREAM_ID_MIN};
    if (slice_equal(text, SLICE("*"))) return true;
    if (!parse_parts(text, id)) return fail_id(call);
    if (!memchr(text.ptr, '-', text.len)) id->has_seq = true;
    return true;
}

bool stream_parse_bound(struct call *call, size_t index, bool is_end, struct stream_id *id) {
    struct slice text = call->argv[index];
    uint64_t missing_seq = is_end ? UINT64_MAX : 0;
    bool is_least = slice_equal(text, SLICE("-"));
    if (is_least || slice_equal(text, SLICE("+"))) {
        *id = is_least ? STREAM_ID_MIN : STREAM_ID_MAX;
        return true;
    }
    if (text.len < 2 || text.ptr[0] != '(') return stream_parse_id(call, index, missing_seq, id);
    if (!stream_is_id(slice_make(text.ptr + 1, text.len - 1), missing_seq, id))
        return fail_id(call);
    if (is_end ? stream_id_decrement(id) : stream_id_increment(id)) return true;
    return reply_error(call->reply, is_end ? "ERR invalid end ID for the interval"
                                           : "ERR invalid start ID for the interval");
}

/* --- Replies --- */

inline void stream_reply_id(struct reply *reply, struct stream_id id) {
    char text[STREAM_ID_TEXT_MAX];
    reply_bulk(reply, stream_id_text(text, id));
}

inline void stream_reply_members(struct reply *reply, struct stream_entry *entry) {
    struct stream_pair pair;
    stream_reply_id(reply, entry->id);
    reply_array(reply, 2 * entry->pairs);
    while (streamlog_next_pair(entry, &pair)) {
        reply_bulk(reply, pair.field);
        reply_bulk(reply, pair.value);
    }
}

void stream_reply_entry(struct reply *reply, struct stream_entry *entry) {
    reply_array(reply, 2);
    stream_reply_members(reply, entry);
}

/* --- Finding groups --- */

bool group_find(struct call *call, size_t key, size_t name, bool to_change,
                struct group_ref *found) {
    struct slice text = call->argv[key];
    struct entry *entry =
        to_change ? call_find_write(call, text, NULL) : call_find_read(call, text, NULL);
    *found = (struct group_ref){.key = text, .entry = entry};
    if (!entry) return true;
    if (!call_check_type(call, entry, VALUE_STREAM)) return false;
    found->group = consumer_groups_find(stream_groups(entry), call->argv[name]);
    found->pieces = stream_pieces(entry);
    return true;
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

bool group_need(struct call *call, size_t key, size_t name, bool to_change,
                struct group_ref *found) {
    return group_find(call, key, name, to_change, found) &&
           (found->group || group_fail_missing(call, found->key, call->argv[name], ""));
}

/* --- Changing them --- */

void group_changed(struct call *call, const struct group_ref *ref, const char *event,
                   uint64_t count, unsigned flags) {
    struct keyref keyref = {.keyspace = call->keyspace, .entry = ref->entry};
    CALL_CHANGED(call, &keyref, ref->key, event ? EVENT_STREAM : EVENT_NONE, event, count,
                 .flags = flags);
}

void group_need_consumer(struct call *call, struct group_ref *ref, struct slice name) {
    ref->consumer = consumer_group_find(ref->group, name);
    ref->owes_consumer = !ref->consumer;
    if (ref->owes_consumer) {
        ref->consumer = consumer_group_add(ref->group, ref->pieces, name, call->now_ms);
        group_changed(call, ref, "xgroup-createconsumer", 1, CHANGE_UNSEEN);
    }
    ref->consumer->seen_ms = call->now_ms;
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

bool group_acknowledge(const struct group_ref *ref, struct stream_id id, bool stays) {
    return consumer_groups_acknowledge(stream_groups(ref->entry), ref->pieces, ref->group, id,
                                       stays);
}

void group_assign(struct call *call, struct group_ref *ref, struct pending_entry entry) {
    entry.consumer = ref->consumer->number;
    ref->consumer->active_ms = call->now_ms;
    ref->owes_consumer = false;
    consumer_group_assign(ref->group, ref->pieces, &entry);
    propagate_claim(call, ref, ref->consumer->name, &entry);
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
    group_acknowledge(ref, entry->id, false);
}

void group_propagate_position(struct call *call, const struct group_ref *ref) {
    char last[STREAM_ID_TEXT_MAX], read[INT64_TEXT_MAX];
    CALL_PROPAGATE(call, SLICE("XGROUP"), SLICE("SETID"), ref->key, ref->group->name,
                   stream_id_text(last, ref->group->last_id), SLICE("ENTRIESREAD"),
                   number_text(read, ref->group->entries_read));
}

void group_propagate_consumer(struct call *call, struct group_ref *ref) {
    if (!ref->owes_consumer) return;
    ref->owes_consumer = false;
    CALL_PROPAGATE(call, SLICE("XGROUP"), SLICE("CREATECONSUMER"), ref->key, ref->group->name,
                   ref->consumer->name);
}
