/* XLEN XRANGE XREVRANGE XINFO, and XREAD, which waits if it must. */
#include "base/alloc.h"
#include "commands/commands.h"
#include "commands/stream_common.h"

void xlen_command(struct call *call) {
    struct keyref ref;
    if (call_find_typed_read(call, call->argv[1], VALUE_STREAM, &ref))
        reply_integer(call->reply, ref.entry ? (int64_t)stream_length(ref.entry) : 0);
}

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
        stream_reply_range(call->reply, ref.entry, first, last, reverse,
                           count < 0 ? 0 : (uint64_t)count);
}

void xrange_command(struct call *call) {
    range(call, false);
}

void xrevrange_command(struct call *call) {
    range(call, true);
}

/* --- XINFO --- */

/* Finds the stream argv[2]; otherwise replies the error. */
static const struct entry *find_stream(struct call *call) {
    struct keyref ref;
    if (!call_find_typed_read(call, call->argv[2], VALUE_STREAM, &ref)) return NULL;
    if (!ref.entry) reply_error(call->reply, "ERR no such key");
    return ref.entry;
}

static void reply_number(struct reply *reply, const char *name, uint64_t number) {
    reply_bulk_cstr(reply, name);
    reply_integer(reply, (int64_t)number);
}

static void reply_named_id(struct reply *reply, const char *name, struct stream_id id) {
    reply_bulk_cstr(reply, name);
    stream_reply_id(reply, id);
}

/* Redis keeps the nodes in a radix tree, whose own nodes are counted here as if each stream node
 * had one and the root one more. */
static void reply_facts(struct reply *reply, const struct entry *entry) {
    struct stream_facts facts = stream_facts(entry);
    struct stream_entry first;
    size_t nodes = stream_nodes(entry);
    reply_number(reply, "length", stream_length(entry));
    reply_number(reply, "radix-tree-keys", nodes);
    reply_number(reply, "radix-tree-nodes", nodes + 1);
    reply_named_id(reply, "last-generated-id", facts.last_id);
    reply_named_id(reply, "max-deleted-entry-id", facts.max_deleted_id);
    reply_number(reply, "entries-added", facts.added);
    reply_named_id(reply, "recorded-first-entry-id",
                   stream_edge(entry, false, &first) ? first.id : STREAM_ID_MIN);
}

static void reply_edge(struct reply *reply, const char *name, const struct entry *entry,
                       bool last) {
    struct stream_entry edge;
    reply_bulk_cstr(reply, name);
    if (stream_edge(entry, last, &edge))
        stream_reply_entry(reply, &edge);
    else
        reply_null(reply);
}

static void reply_in_short(struct reply *reply, const struct entry *entry) {
    enum { FIELDS = 10 };
    reply_map(reply, FIELDS);
    reply_facts(reply, entry);
    reply_number(reply, "groups", 0);
    reply_edge(reply, "first-entry", entry, false);
    reply_edge(reply, "last-entry", entry, true);
}

static void reply_in_full(struct reply *reply, const struct entry *entry, uint64_t count) {
    enum { FIELDS = 9 };
    reply_map(reply, FIELDS);
    reply_facts(reply, entry);
    reply_bulk_cstr(reply, "entries");
    stream_reply_range(reply, entry, STREAM_ID_MIN, STREAM_ID_MAX, false, count);
    reply_bulk_cstr(reply, "groups");
    reply_array(reply, 0);
}

/* [FULL [COUNT count]] */
static bool parse_full(struct call *call, bool *full, uint64_t *count) {
    enum { DEFAULT_COUNT = 10 };
    int64_t given = DEFAULT_COUNT;
    *full = call->argc > 3;
    if (call->argc == 3) return true;
    bool has_count = call->argc == 6 && slice_is(call->argv[4], "count");
    if (!slice_is(call->argv[3], "full") || (call->argc > 4 && !has_count))
        return call_bad_subcommand(call);
    if (has_count && !call_integer(call, 5, &given)) return false;
    *count = given < 0 ? DEFAULT_COUNT : (uint64_t)given;
    return true;
}

void xinfo_stream_command(struct call *call) {
    const struct entry *entry = find_stream(call);
    bool full;
    uint64_t count = 0;
    if (!entry || !parse_full(call, &full, &count)) return;
    if (full)
        reply_in_full(call->reply, entry, count);
    else
        reply_in_short(call->reply, entry);
}

/* There are no groups. */
void xinfo_groups_command(struct call *call) {
    if (find_stream(call)) reply_array(call->reply, 0);
}

void xinfo_help_command(struct call *call) {
    static const char *const lines[] = {
        "GROUPS <key>",
        "    Show the stream consumer groups. There are none in this server.",
        "STREAM <key> [FULL [COUNT <count>]",
        "    Show information about the stream.",
        NULL,
    };
    call_help(call, lines);
}

/* --- XREAD [COUNT count] [BLOCK ms] STREAMS key [key …] id [id …] --- */

struct reading {
    struct call *call;
    uint64_t count; /* 0: all */
    bool waits;
    int64_t deadline_ms;
    size_t first_key; /* argv index */
    size_t keys;
    struct stream_id *after; /* for each key: the greatest id that is not replied; while the client
                                waits they stand after this struct */
};

static bool parse_streams(struct reading *reading, size_t first) {
    struct call *call = reading->call;
    size_t left = call->argc - first;
    reading->first_key = first;
    reading->keys = left / 2;
    return left % 2 == 0 ||
           reply_error(call->reply,
                       "ERR Unbalanced 'xread' list of streams: for each stream key an ID, '+', or "
                       "'$' must be specified.");
}

static bool parse_option(struct reading *reading, size_t *at) {
    struct call *call = reading->call;
    struct slice word = call->argv[*at];
    size_t more = call->argc - *at - 1;
    int64_t count;
    if (slice_is(word, "block") && more > 0) {
        reading->waits = true;
        return call_timeout_ms(call, ++*at, &reading->deadline_ms);
    }
    if (slice_is(word, "count") && more > 0) {
        if (!call_integer(call, ++*at, &count)) return false;
        reading->count = count > 0 ? (uint64_t)count : 0;
        return true;
    }
    if (slice_is(word, "group") && more > 1)
        return reply_error(call->reply,
                           "ERR The GROUP option is only supported by XREADGROUP. You called XREAD "
                           "instead.");
    if (slice_is(word, "noack"))
        return reply_error(call->reply,
                           "ERR The NOACK option is only supported by XREADGROUP. You called XREAD "
                           "instead.");
    return call_syntax_error(call);
}

static bool parse_options(struct reading *reading) {
    struct call *call = reading->call;
    for (size_t at = 1; at < call->argc; at++) {
        if (slice_is(call->argv[at], "streams") && at + 1 < call->argc)
            return parse_streams(reading, at + 1);
        if (!parse_option(reading, &at)) return false;
    }
    return call_syntax_error(call);
}

/* The id after which the entries of a key are read. */
static bool parse_after(struct reading *reading, size_t index) {
    struct call *call = reading->call;
    size_t at = reading->first_key + reading->keys + index;
    struct slice id = call->argv[at];
    struct stream_id *after = &reading->after[index];
    struct keyref ref;
    struct stream_entry last;
    if (!call_find_typed_read(call, call->argv[reading->first_key + index], VALUE_STREAM, &ref))
        return false;
    *after = ref.entry ? stream_facts(ref.entry).last_id : STREAM_ID_MIN;
    if (slice_equal(id, SLICE("$"))) return true;
    if (slice_equal(id, SLICE("+"))) {
        if (ref.entry && stream_edge(ref.entry, true, &last)) {
            *after = last.id;
            stream_id_decrement(after);
        }
        return true;
    }
    if (slice_equal(id, SLICE(">")))
        return reply_error(call->reply,
                           "ERR The > ID can be specified only when calling XREADGROUP using the "
                           "GROUP <group> <consumer> option.");
    return stream_parse_id(call, at, 0, after);
}

/* The stream of a key, if it has an entry after that id. */
static const struct entry *find_ready(const struct reading *reading, size_t index) {
    struct call *call = reading->call;
    const struct entry *entry = call_find(call, call->argv[reading->first_key + index], 0, NULL);
    struct stream_entry last;
    if (!entry || entry_type(entry) != VALUE_STREAM) return NULL;
    if (!stream_edge(entry, true, &last)) return NULL;
    return stream_id_compare(last.id, reading->after[index]) > 0 ? entry : NULL;
}

/* Replies the entries of all streams that have any; writes nothing and returns false when none
 * has. */
static bool reply_streams(const struct reading *reading) {
    struct reply *reply = reading->call->reply;
    size_t ready = 0;
    for (size_t i = 0; i < reading->keys; i++) ready += find_ready(reading, i) != NULL;
    if (ready == 0) return false;
    bool map = reply->protocol >= 3;
    if (map)
        reply_map(reply, ready);
    else
        reply_array(reply, ready);
    for (size_t i = 0; i < reading->keys; i++) {
        const struct entry *entry = find_ready(reading, i);
        struct stream_id first = reading->after[i];
        if (!entry) continue;
        stream_id_increment(&first);
        if (!map) reply_array(reply, 2);
        reply_bulk(reply, reading->call->argv[reading->first_key + i]);
        stream_reply_range(reply, entry, first, STREAM_ID_MAX, false, reading->count);
    }
    return true;
}

/* A key has become ready: replies the new entries of all keys, as Redis does, or the error of one
 * that holds another type now. */
static bool serve(struct call *call, struct slice key, const void *state) {
    struct reading reading = *(const struct reading *)state;
    const struct entry *entry = call_find(call, key, 0, NULL);
    if (!entry || entry_type(entry) != VALUE_STREAM) return false;
    reading.call = call;
    reading.after = (struct stream_id *)(uintptr_t)((const struct reading *)state + 1);
    for (size_t i = 0; i < reading.keys; i++) {
        struct keyref ref;
        if (!call_find_typed_read(call, call->argv[reading.first_key + i], VALUE_STREAM, &ref))
            return true;
    }
    return reply_streams(&reading);
}

static void wait(const struct reading *reading) {
    static const struct waiter_kind kind = {.serve = serve};
    size_t ids_size = reading->keys * sizeof(*reading->after);
    struct reading *state = mem_alloc(sizeof(*state) + ids_size);
    *state = *reading;
    memcpy(state + 1, reading->after, ids_size);
    call_block(reading->call, &(struct block_request){
                                  .kind = &kind,
                                  .state = state,
                                  .state_size = sizeof(*state) + ids_size,
                                  .keys = reading->call->argv + reading->first_key,
                                  .key_count = reading->keys,
                                  .deadline_ms = reading->deadline_ms,
                              });
    mem_free(state);
}

/* Replies an error or the entries. Returns false when there are none, having written nothing. The
 * caller frees reading->after. */
static bool try(struct reading *reading) {
    if (!parse_options(reading)) return true;
    reading->after = mem_alloc(reading->keys * sizeof(*reading->after));
    for (size_t i = 0; i < reading->keys; i++)
        if (!parse_after(reading, i)) return true;
    return reply_streams(reading);
}

void xread_command(struct call *call) {
    struct reading reading = {.call = call};
    if (!try(&reading)) {
        if (reading.waits)
            wait(&reading);
        else
            reply_null_array(call->reply);
    }
    mem_free(reading.after);
}
