/* XLEN XRANGE XREVRANGE XINFO */
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
