/* XLEN XRANGE XREVRANGE, and XREAD and XREADGROUP, which wait if they must. */
#include "base/memory/alloc.h"
#include "commands/commands.h"
#include "commands/common.h"
#include "commands/streams/stream_common.h"
#include "commands/streams/stream_range.h"

COMMAND_FORM(xlen_command, reply_length, VALUE_STREAM, stream_length)

/* --- XRANGE key start end [COUNT count], XREVRANGE key end start [COUNT count] --- */

static bool parse_count(struct call *call, int64_t *count) {
    for (size_t at = 4; at < call->argc; at += 2) {
        if (at + 1 == call->argc || !slice_is(call->argv[at], "count"))
            return call_syntax_error(call);
        if (!call_integer(call, at + 1, count)) return false;
        if (*count < 0) *count = 0;
    }
    return true;
}

static void range(struct call *call, bool reverse) {
    struct stream_id first, last;
    struct keyref ref;
    int64_t count = -1;
    if (!stream_parse_bound(call, reverse ? 3 : 2, false, &first) ||
        !stream_parse_bound(call, reverse ? 2 : 3, true, &last) || !parse_count(call, &count))
        return;
    if (!call_find_typed_read(call, call->argv[1], VALUE_STREAM, &ref)) return;
    if (!ref.entry)
        reply_array(call->reply, 0);
    else if (count == 0)
        reply_null_array(call->reply);
    else
        stream_reply_range(
            call, ref.entry,
            &(struct stream_range){first, last, reverse, count < 0 ? UINT64_MAX : (uint64_t)count});
}

COMMAND_FORM(xrange_command, range, false)
COMMAND_FORM(xrevrange_command, range, true)

/* --- XREAD and XREADGROUP ---
 *
 * XREAD [COUNT count] [MAXCOUNT count] [MAXSIZE bytes] [BLOCK ms] STREAMS key … id …
 *
 * XREADGROUP GROUP group consumer [COUNT count] [MAXCOUNT count] [MAXSIZE bytes] [BLOCK ms]
 *            [CLAIM min-idle-time] [NOACK] STREAMS key … id …
 *
 * With the id > a group gives its consumer the entries behind its last id; with any other, the
 * consumer reads again what it has pending behind that id. With CLAIM it is first given what has
 * been pending for so long, whoever has it, the oldest first.
 *
 * COUNT is for each key, MAXCOUNT and MAXSIZE are for all of them. MAXSIZE counts the reply up to
 * the next entry. */

/* One key of a request. While the client waits, only `after` counts. */
struct read_key {
    struct stream_id after; /* the greatest id that is not replied */
    bool is_ready;          /* there is something to reply */
    struct group_ref ref;   /* XREAD: only the key and the stream */
};

struct reading {
    struct call *call;
    bool for_group;
    size_t group;      /* argv index of the group's name, which the consumer's follows; 0: none */
    int64_t count;     /* 0: all */
    int64_t max_count; /* 0: no limit */
    int64_t max_bytes; /* of the reply; 0: no limit. The entry that exceeds it is the last one */
    int64_t replied;
    int64_t bytes;
    int64_t min_idle_ms; /* CLAIM; -1: none */
    int64_t wakes_at_ms; /* while the client waits: when a pending entry may be idle enough */
    bool waits;
    bool no_ack;
    int64_t deadline_ms;
    size_t first_key; /* argv index */
    size_t count_of_keys;
    struct read_key *keys; /* while the client waits they stand after this struct */
};

/* The id of > : no entry has pending ones behind it. */
static bool reads_new(const struct read_key *key) {
    return stream_id_compare(key->after, STREAM_ID_MAX) == 0;
}

/* --- Arguments --- */

static bool parse_streams(struct reading *reading, size_t first) {
    struct call *call = reading->call;
    size_t left = call->argc - first;
    reading->first_key = first;
    reading->count_of_keys = left / 2;
    if (left % 2 == 0) return true;
    return reply_error(call->reply,
                       reading->for_group
                           ? "ERR Unbalanced 'xreadgroup' list of streams: for each stream key an "
                             "ID or '>' must be specified."
                           : "ERR Unbalanced 'xread' list of streams: for each stream key an ID, "
                             "'+', or '$' must be specified.");
}

static bool fail_as_read(struct call *call, const char *option) {
    return reply_error_format(call->reply,
                              "ERR The %s option is only supported by XREADGROUP. You called XREAD "
                              "instead.",
                              option);
}

static bool parse_min_idle(struct reading *reading, size_t at) {
    struct call *call = reading->call;
    if (!number_parse_int64(call->argv[at], &reading->min_idle_ms))
        return reply_error(call->reply, "ERR min-idle-time is not an integer or out of range");
    return reading->min_idle_ms >= 0 ||
           reply_error(call->reply, "ERR min-idle-time must be a positive integer");
}

static bool parse_option(struct reading *reading, size_t *at) {
    struct call *call = reading->call;
    struct slice word = call->argv[*at];
    size_t more = call->argc - *at - 1;
    if (slice_is(word, "block") && more > 0) {
        reading->waits = true;
        return call_timeout_ms(call, ++*at, &reading->deadline_ms);
    }
    if (slice_is(word, "count") && more > 0) {
        if (!call_integer(call, ++*at, &reading->count)) return false;
        if (reading->count < 0) reading->count = 0;
        return true;
    }
    if (slice_is(word, "maxcount") && more > 0)
        return call_integer_within(call, ++*at, 1, INT64_MAX, &reading->max_count,
                                   "ERR MAXCOUNT must be a positive integer");
    if (slice_is(word, "maxsize") && more > 0)
        return call_integer_within(call, ++*at, 1, INT64_MAX, &reading->max_bytes,
                                   "ERR MAXSIZE must be a positive integer");
    if (slice_is(word, "claim") && more > 0) {
        if (!reading->for_group) return fail_as_read(call, "CLAIM");
        return parse_min_idle(reading, ++*at);
    }
    if (slice_is(word, "group") && more > 1) {
        if (!reading->for_group) return fail_as_read(call, "GROUP");
        reading->group = *at + 1;
        *at += 2;
        return true;
    }
    if (slice_is(word, "noack")) {
        reading->no_ack = true;
        return reading->for_group || fail_as_read(call, "NOACK");
    }
    return call_syntax_error(call);
}

static bool check_options(const struct reading *reading) {
    struct reply *reply = reading->call->reply;
    if (reading->for_group && reading->group == 0)
        return reply_error(reply, "ERR Missing GROUP option for XREADGROUP");
    return reading->max_count == 0 || reading->count <= reading->max_count ||
           reply_error(reply, "ERR MAXCOUNT must be greater than or equal to COUNT");
}

static bool parse_options(struct reading *reading) {
    struct call *call = reading->call;
    for (size_t at = 1; at < call->argc; at++) {
        if (slice_is(call->argv[at], "streams") && at + 1 < call->argc) {
            return parse_streams(reading, at + 1) && check_options(reading);
        }
        if (!parse_option(reading, &at)) return false;
    }
    return call_syntax_error(call);
}

/* --- Finding --- */

/* Finds the stream of a key and, for XREADGROUP, its group, which must exist; otherwise replies the
 * error. */
static bool find_key(struct reading *reading, size_t index) {
    struct call *call = reading->call;
    struct group_ref *ref = &reading->keys[index].ref;
    size_t at = reading->first_key + index;
    if (reading->for_group)
        return group_find(call, at, reading->group, true, ref) &&
               (ref->group || group_fail_missing(call, ref->key, call->argv[reading->group],
                                                 " in XREADGROUP with GROUP option"));
    struct keyref keyref;
    if (!call_find_typed_read(call, call->argv[at], VALUE_STREAM, &keyref)) return false;
    *ref = (struct group_ref){.key = call->argv[at], .entry = keyref.entry};
    return true;
}

static bool fail_meaningless(struct call *call, char id) {
    return reply_error_format(
        call->reply,
        "ERR The %c ID is meaningless in the context of XREADGROUP: you want to read the history "
        "of this consumer by specifying a proper ID, or use the > ID to get new messages. The %c "
        "ID would just return an empty result set.",
        id, id);
}

/* The id after which the entries of a key are read. */
static bool parse_after(struct reading *reading, size_t index) {
    struct call *call = reading->call;
    size_t at = reading->first_key + reading->count_of_keys + index;
    struct slice id = call->argv[at];
    struct read_key *key = &reading->keys[index];
    const struct entry *entry = key->ref.entry;
    struct stream_entry last;
    bool is_special = id.len == 1 && (*id.ptr == '$' || *id.ptr == '+' || *id.ptr == '>');
    if (!is_special) return stream_parse_id(call, at, 0, &key->after);
    if (reading->for_group) {
        key->after = STREAM_ID_MAX;
        return *id.ptr == '>' || fail_meaningless(call, *id.ptr);
    }
    if (*id.ptr == '>')
        return reply_error(call->reply,
                           "ERR The > ID can be specified only when calling XREADGROUP using the "
                           "GROUP <group> <consumer> option.");
    key->after = entry ? stream_facts(entry).last_id : STREAM_ID_MIN;
    if (*id.ptr == '+' && entry && stream_edge(entry, true, &last)) {
        key->after = last.id;
        stream_id_decrement(&key->after);
    }
    return true;
}

/* Returns whether the stream has an entry behind this id. */
static bool has_entry_behind(const struct entry *entry, struct stream_id id) {
    struct stream_entry last;
    return stream_edge(entry, true, &last) && stream_id_compare(last.id, id) > 0;
}

/* The oldest pending entries, at most `max`, that CLAIM asks for; the caller frees them. */
static struct pending_selection find_idle(const struct reading *reading,
                                          const struct group_ref *ref, uint64_t max) {
    struct pending_selection found = {0};
    if (reading->min_idle_ms >= 0 && reading->min_idle_ms <= reading->call->now_ms)
        pendinglist_oldest(&ref->group->pending, ref->pieces,
                           reading->call->now_ms - reading->min_idle_ms, max, &found);
    return found;
}

/* Forgets those of which the stream has no entry any more. Returns how many. */
static uint64_t forget_lost(const struct reading *reading, const struct group_ref *ref,
                            struct pending_selection *found) {
    struct stream_entry entry;
    size_t kept = 0, count = found->count;
    for (size_t i = 0; i < count; i++) {
        if (stream_find(ref->entry, found->entries[i].id, &entry))
            found->entries[kept++] = found->entries[i];
        else
            group_forget(reading->call, ref, &found->entries[i]);
    }
    found->count = kept;
    group_changed(reading->call, ref, NULL, count > kept, CHANGE_UNSEEN);
    return count - kept;
}

/* As find_idle, of entries that are there. Where very many are not, it may find fewer. */
static struct pending_selection find_claimable(const struct reading *reading,
                                               const struct group_ref *ref, uint64_t max) {
    enum { TRIES = 100 };
    struct pending_selection found = find_idle(reading, ref, max);
    for (int tries = 1; forget_lost(reading, ref, &found) > 0 && tries < TRIES; tries++) {
        mem_free(found.entries);
        found = find_idle(reading, ref, max);
    }
    return found;
}

static bool has_claimable(const struct reading *reading, const struct group_ref *ref) {
    struct pending_selection found = find_claimable(reading, ref, 1);
    mem_free(found.entries);
    return found.count > 0;
}

/* What consumers do is noted even if there is nothing to read: they are made, and seen. */
static void look(struct reading *reading, struct read_key *key) {
    struct call *call = reading->call;
    struct group_ref *ref = &key->ref;
    if (!reading->for_group) {
        key->is_ready = ref->entry && has_entry_behind(ref->entry, key->after);
        return;
    }
    key->is_ready = !reads_new(key) || has_entry_behind(ref->entry, ref->group->last_id) ||
                    has_claimable(reading, ref);
    group_need_consumer(call, ref, call->argv[reading->group + 1]);
    if (!key->is_ready || !reads_new(key) || reading->no_ack) group_propagate_consumer(call, ref);
}

/* --- Replies --- */

enum { LINE_BREAK = 2 };

/* MAXSIZE counts the bytes of the reply, as the protocol has them: an integer, or the header of an
 * array. */
static uint64_t line_bytes(uint64_t number) {
    return 1 + number_uint64_length(number) + LINE_BREAK;
}

static uint64_t bulk_bytes(size_t len) {
    return line_bytes(len) + len + LINE_BREAK;
}

/* O(entry). */
static uint64_t entry_bytes(struct stream_entry entry) {
    char id[STREAM_ID_TEXT_MAX];
    struct stream_pair pair;
    uint64_t bytes =
        line_bytes(2) + bulk_bytes(stream_id_text(id, entry.id).len) + line_bytes(2 * entry.pairs);
    while (streamlog_next_pair(&entry, &pair))
        bytes += bulk_bytes(pair.field.len) + bulk_bytes(pair.value.len);
    return bytes;
}

/* Returns whether the limits for all keys are reached. */
static bool is_full(const struct reading *reading) {
    return (reading->max_count > 0 && reading->replied == reading->max_count) ||
           (reading->max_bytes > 0 && reading->replied > 0 && reading->bytes >= reading->max_bytes);
}

/* Returns whether the limits allow one more entry of a key that has `count` already, and counts
 * it. */
static bool may_reply(struct reading *reading, int64_t count, const struct stream_entry *entry) {
    if (is_full(reading) || (reading->count > 0 && count == reading->count)) return false;
    reading->replied++;
    if (reading->max_bytes > 0) reading->bytes += entry_bytes(*entry);
    return true;
}

/* With CLAIM, an entry comes with how long it was pending, and how often it was delivered. */
static void reply_delivered(struct reading *reading, struct stream_entry *entry, int64_t idle_ms,
                            uint64_t deliveries) {
    struct reply *reply = reading->call->reply;
    if (reading->min_idle_ms < 0) {
        stream_reply_entry(reply, entry);
        return;
    }
    reply_array(reply, 4);
    stream_reply_members(reply, entry);
    reply_integer(reply, idle_ms);
    reply_integer(reply, (int64_t)deliveries);
    reading->bytes += line_bytes((uint64_t)idle_ms) + line_bytes(deliveries);
}

/* Ends the array of a key's entries, which began at `mark`. */
static void end_entries(struct reading *reading, size_t mark, int64_t count) {
    reply_array_end(reading->call->reply, mark, (size_t)count);
    reading->bytes += line_bytes((uint64_t)count);
}

/* Gives the consumer what is idle, and replies it. Returns how many entries. */
static int64_t deliver_idle(struct reading *reading, struct read_key *key) {
    struct call *call = reading->call;
    int64_t count = 0, max = reading->count;
    if (reading->max_count > 0 && (max == 0 || max > reading->max_count)) max = reading->max_count;
    struct pending_selection found = find_claimable(reading, &key->ref, (uint64_t)max);
    for (size_t i = 0; i < found.count; i++) {
        struct pending_entry pending = found.entries[i];
        struct stream_entry entry;
        if (!stream_find(key->ref.entry, pending.id, &entry)) continue;
        if (!may_reply(reading, count, &entry)) break;
        reply_delivered(reading, &entry, call->now_ms - pending.delivered_ms, pending.deliveries);
        pending_note_delivery(&pending, call->now_ms);
        group_assign(call, &key->ref, pending);
        count++;
    }
    mem_free(found.entries);
    return count;
}

/* Gives the consumer new entries, and replies them. */
static void deliver(struct reading *reading, struct read_key *key) {
    struct call *call = reading->call;
    struct group_ref *ref = &key->ref;
    struct stream_extent extent = stream_extent(ref->entry);
    struct stream_id first = ref->group->last_id;
    struct stream_iter iter;
    struct stream_entry entry;
    size_t mark = reply_begin(call->reply);
    int64_t claimed = reading->min_idle_ms >= 0 ? deliver_idle(reading, key) : 0, count = 0;
    bool has_more = stream_id_increment(&first);
    streamlog_iter_start(&iter, stream_log(ref->entry), first, STREAM_ID_MAX, false);
    while (has_more && streamlog_iter_next(&iter, &entry) &&
           may_reply(reading, claimed + count, &entry)) {
        const struct pending_entry pending = {
            .id = entry.id, .delivered_ms = call->now_ms, .deliveries = 1};
        reply_delivered(reading, &entry, 0, 0);
        stream_group_advance(&extent, ref->group, pending.id);
        if (!reading->no_ack) group_assign(call, ref, pending);
        count++;
    }
    end_entries(reading, mark, claimed + count);
    group_changed(call, ref, NULL, claimed + count > 0, CHANGE_UNSEEN);
    if (count > 0) group_propagate_position(call, ref);
}

/* Notes that the consumer was given the pending entry again. */
static void note_redelivery(struct call *call, const struct group_ref *ref, struct stream_id id) {
    struct pending_entry pending, before;
    pendinglist_find(&ref->group->pending, id, &pending);
    pending_note_delivery(&pending, call->now_ms);
    pendinglist_update(&ref->group->pending, ref->pieces, &pending, &before);
}

/* Replies what the consumer has pending, and notes it: replicas do not, and it is no change. */
static void deliver_again(struct reading *reading, struct read_key *key) {
    struct call *call = reading->call;
    const struct group_ref *ref = &key->ref;
    struct stream_finder finder = {.stream = ref->entry};
    struct pending_iter iter;
    struct pending_entry pending;
    struct stream_entry entry;
    struct stream_id first = key->after;
    size_t mark = reply_begin(call->reply);
    int64_t count = 0;
    stream_id_increment(&first);
    pending_iter_start(&iter, &key->ref.consumer->ids, first);
    while (pending_iter_next(&iter, &pending)) {
        bool exists = stream_finder_next(&finder, pending.id, &entry);
        if (!exists) entry = (struct stream_entry){.id = pending.id};
        if (!may_reply(reading, count, &entry)) break;
        count++;
        if (exists) {
            stream_reply_entry(call->reply, &entry);
            note_redelivery(call, ref, pending.id);
            continue;
        }
        reply_array(call->reply, 2);
        stream_reply_id(call->reply, pending.id);
        reply_null_array(call->reply);
    }
    end_entries(reading, mark, count);
    if (count > 0) key->ref.consumer->active_ms = call->now_ms;
    group_changed(call, ref, NULL, 0, CHANGE_UNSEEN);
}

/* Returns how many entries from `first` on MAXSIZE allows, and notes them. O(their bytes). */
static uint64_t count_within_size(struct reading *reading, const struct entry *stream,
                                  struct stream_id first) {
    struct stream_iter iter;
    struct stream_entry entry;
    int64_t count = 0;
    streamlog_iter_start(&iter, stream_log(stream), first, STREAM_ID_MAX, false);
    while (streamlog_iter_next(&iter, &entry) && may_reply(reading, count, &entry)) count++;
    return (uint64_t)count;
}

/* XREAD */
static void reply_entries(struct reading *reading, const struct read_key *key) {
    struct stream_range range = {key->after, STREAM_ID_MAX, false, UINT64_MAX};
    int64_t left = reading->max_count - reading->replied;
    stream_id_increment(&range.first);
    if (reading->max_bytes > 0) {
        range.count = count_within_size(reading, key->ref.entry, range.first);
        uint64_t count = stream_reply_range(reading->call, key->ref.entry, &range);
        reading->bytes += line_bytes(count);
        return;
    }
    if (reading->count > 0) range.count = (uint64_t)reading->count;
    if (reading->max_count > 0 && range.count > (uint64_t)left) range.count = (uint64_t)left;
    reading->replied += (int64_t)stream_reply_range(reading->call, key->ref.entry, &range);
}

static void reply_key(struct reading *reading, struct read_key *key) {
    struct reply *reply = reading->call->reply;
    if (reply->protocol < 3) reply_array(reply, 2);
    reply_bulk(reply, key->ref.key);
    reading->bytes += bulk_bytes(key->ref.key.len) + (reply->protocol < 3 ? line_bytes(2) : 0);
    if (!reading->for_group) {
        reply_entries(reading, key);
    } else if (reads_new(key)) {
        deliver(reading, key);
    } else {
        deliver_again(reading, key);
        reading->min_idle_ms = -1; /* as in Redis, for the keys that follow */
    }
}

/* Replies the entries of all streams that have any; writes nothing and returns false when none
 * has. A key may stand twice: what the first one has got, the second one gets no more. */
static bool reply_streams(struct reading *reading) {
    struct reply *reply = reading->call->reply;
    size_t ready = 0, mark = 0;
    if (reading->for_group) call_propagate_nothing(reading->call);
    for (size_t i = 0; i < reading->count_of_keys; i++) {
        struct read_key *key = &reading->keys[i];
        look(reading, key);
        if (!key->is_ready || is_full(reading)) {
            group_propagate_consumer(reading->call, &key->ref);
            continue;
        }
        if (reading->count_of_keys > 1)
            mark = ready > 0 ? mark : reply_begin(reply);
        else if (reply->protocol >= 3)
            reply_map(reply, 1);
        else
            reply_array(reply, 1);
        ready++;
        reply_key(reading, key);
        group_propagate_consumer(reading->call, &key->ref);
    }
    if (ready > 0 && reading->count_of_keys > 1)
        (reply->protocol >= 3 ? reply_map_end : reply_array_end)(reply, mark, ready);
    return ready > 0;
}

/* --- Waiting --- */

/* Returns when a pending entry may be idle enough for CLAIM. One that becomes pending meanwhile is
 * so later than one that is delivered now. The bound of the times may be too early, but is exact
 * once has_claimable has found nothing. */
static int64_t next_idle(const struct reading *reading) {
    enum { PAUSE_MS = 10 }; /* at least, so that it takes no time to wait for nothing */
    int64_t now_ms = reading->call->now_ms, oldest_ms = now_ms, at;
    if (reading->min_idle_ms < 0) return INT64_MAX;
    for (size_t i = 0; i < reading->count_of_keys; i++) {
        if (!reads_new(&reading->keys[i])) continue;
        int64_t bound_ms = pendinglist_oldest_bound(&reading->keys[i].ref.group->pending);
        if (bound_ms < oldest_ms) oldest_ms = bound_ms;
    }
    if (__builtin_add_overflow(oldest_ms, reading->min_idle_ms, &at)) return INT64_MAX;
    return at < now_ms + PAUSE_MS ? now_ms + PAUSE_MS : at;
}

/* A key has become ready, or was deleted: replies the new entries of all keys, as Redis does, or
 * the error of one that holds another type now, or has lost the group. */
static bool serve(struct call *call, struct slice key, void *state) {
    struct reading *waiting = state, reading = *waiting;
    const struct entry *entry = reading.for_group ? NULL : call_find(call, key, 0, NULL);
    if (!reading.for_group && (!entry || entry_type(entry) != VALUE_STREAM)) return false;
    reading.call = call;
    reading.replied = reading.bytes = 0;
    reading.keys = (struct read_key *)(waiting + 1);
    for (size_t i = 0; i < reading.count_of_keys; i++)
        if (!find_key(&reading, i)) return true;
    if (reply_streams(&reading)) return true;
    waiting->wakes_at_ms = next_idle(&reading);
    return false;
}

static int64_t wakes_at(const void *state) {
    return ((const struct reading *)state)->wakes_at_ms;
}

static void wait(const struct reading *reading) {
    static const struct waiter_kind for_entries = {.serve = serve};
    static const struct waiter_kind for_group = {
        .serve = serve, .on_deleted = serve, .wakes_at = wakes_at};
    size_t keys_size = reading->count_of_keys * sizeof(*reading->keys);
    struct reading *state = mem_alloc(sizeof(*state) + keys_size);
    *state = *reading;
    state->wakes_at_ms = next_idle(reading);
    memcpy(state + 1, reading->keys, keys_size);
    call_block(reading->call, &(struct block_request){
                                  .kind = reading->for_group ? &for_group : &for_entries,
                                  .state = state,
                                  .state_size = sizeof(*state) + keys_size,
                                  .keys = reading->call->argv + reading->first_key,
                                  .key_count = reading->count_of_keys,
                                  .deadline_ms = reading->deadline_ms,
                              });
    mem_free(state);
}

/* --- Commands --- */

/* Replies an error or the entries. Returns false when there are none, having written nothing. The
 * caller frees reading->keys. */
static bool try(struct reading *reading) {
    if (!parse_options(reading)) return true;
    reading->keys = mem_alloc(reading->count_of_keys * sizeof(*reading->keys));
    for (size_t i = 0; i < reading->count_of_keys; i++)
        if (!find_key(reading, i) || !parse_after(reading, i)) return true;
    return reply_streams(reading);
}

static void read_or_wait(struct call *call, bool for_group) {
    struct reading reading = {.call = call, .for_group = for_group, .min_idle_ms = -1};
    if (!try(&reading)) {
        if (reading.waits)
            wait(&reading);
        else
            reply_null_array(call->reply);
    }
    mem_free(reading.keys);
}

COMMAND_FORM(xread_command, read_or_wait, false)
COMMAND_FORM(xreadgroup_command, read_or_wait, true)
