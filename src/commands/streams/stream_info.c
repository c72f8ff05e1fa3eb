/* XINFO */
#include "commands/commands.h"
#include "commands/streams/stream_common.h"
#include "commands/streams/stream_range.h"

/* Finds the stream argv[2]; otherwise replies the error. */
static struct entry *find_stream(struct call *call) {
    struct keyref ref;
    if (!call_find_typed_read(call, call->argv[2], VALUE_STREAM, &ref)) return NULL;
    if (!ref.entry) reply_error(call->reply, "ERR no such key");
    return ref.entry;
}

static void reply_named_id(struct reply *reply, const char *name, struct stream_id id) {
    reply_bulk_cstr(reply, name);
    stream_reply_id(reply, id);
}

/* What it knows of its producers, or would do. */
static void reply_producers(struct call *call, const struct entry *entry) {
    struct reply *reply = call->reply;
    const struct producers unused = {.limits = call->limits->producers};
    const struct producers *producers = stream_producers(entry);
    uint64_t names, iids;
    if (!producers) producers = &unused;
    producers_count(producers, call->now_ms, &names, &iids);
    reply_named_integer(reply, "idmp-duration", producers->limits.duration_s);
    reply_named_integer(reply, "idmp-maxsize", producers->limits.iids);
    reply_named_integer(reply, "pids-tracked", names);
    reply_named_integer(reply, "iids-tracked", iids);
    reply_named_integer(reply, "iids-added", producers->added);
    reply_named_integer(reply, "iids-duplicates", producers->duplicates);
}

/* Redis keeps the nodes in a radix tree, whose own nodes are counted here as if each stream node
 * had one and the root one more. */
static void reply_facts(struct call *call, const struct entry *entry) {
    struct reply *reply = call->reply;
    struct stream_facts facts = stream_facts(entry);
    struct stream_entry first;
    size_t nodes = stream_log(entry)->nodes;
    reply_named_integer(reply, "length", stream_length(entry));
    reply_named_integer(reply, "radix-tree-keys", nodes);
    reply_named_integer(reply, "radix-tree-nodes", nodes + 1);
    reply_named_id(reply, "last-generated-id", facts.last_id);
    reply_named_id(reply, "max-deleted-entry-id", facts.max_deleted_id);
    reply_named_integer(reply, "entries-added", facts.added);
    reply_named_id(reply, "recorded-first-entry-id",
                   stream_edge(entry, false, &first) ? first.id : STREAM_ID_MIN);
    reply_producers(call, entry);
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

static void reply_in_short(struct call *call, const struct entry *entry) {
    enum { FIELDS = 16 };
    struct reply *reply = call->reply;
    reply_map(reply, FIELDS);
    reply_facts(call, entry);
    reply_named_integer(reply, "groups", consumer_groups_count(stream_groups(entry)));
    reply_edge(reply, "first-entry", entry, false);
    reply_edge(reply, "last-entry", entry, true);
}

/* --- Groups --- */

static void reply_counter(struct reply *reply, const char *name, bool is_known, uint64_t number) {
    reply_bulk_cstr(reply, name);
    if (is_known)
        reply_integer(reply, (int64_t)number);
    else
        reply_null(reply);
}

/* Entries read and lag. */
static void reply_progress(struct reply *reply, const struct stream_extent *extent,
                           const struct consumer_group *group) {
    uint64_t lag;
    bool has_lag = stream_group_lag(extent, group, &lag);
    reply_counter(reply, "entries-read", group->entries_read != CONSUMER_GROUP_UNKNOWN,
                  (uint64_t)group->entries_read);
    reply_counter(reply, "lag", has_lag, lag);
}

/* Up to `count` pending entries (0: all), of a group, or of one consumer with the ids `of`. */
static void reply_pending(struct reply *reply, const struct consumer_group *group,
                          const struct pendinglist *of, uint64_t count) {
    struct pending_iter iter;
    struct pending_entry entry;
    bool is_of_group = of == &group->pending;
    uint64_t left = count == 0 || count > of->length ? of->length : count;
    reply_bulk_cstr(reply, "pending");
    reply_array(reply, left);
    pending_iter_start(&iter, of, STREAM_ID_MIN);
    for (; left > 0 && pending_iter_next(&iter, &entry); left--) {
        if (!is_of_group) pendinglist_find(&group->pending, entry.id, &entry);
        const struct consumer *consumer = consumer_group_numbered(group, entry.consumer);
        reply_array(reply, is_of_group ? 4 : 3);
        stream_reply_id(reply, entry.id);
        if (is_of_group) reply_bulk(reply, consumer ? consumer->name : SLICE(""));
        reply_integer(reply, entry.delivered_ms);
        reply_integer(reply, (int64_t)entry.deliveries);
    }
}

static void reply_consumer_in_full(struct reply *reply, const struct consumer_group *group,
                                   const struct consumer *consumer, uint64_t count) {
    enum { FIELDS = 5 };
    reply_map(reply, FIELDS);
    reply_named_text(reply, "name", consumer->name);
    reply_named_integer(reply, "seen-time", consumer->seen_ms);
    reply_named_integer(reply, "active-time", consumer->active_ms);
    reply_named_integer(reply, "pel-count", consumer->ids.length);
    reply_pending(reply, group, &consumer->ids, count);
}

/* How many pending entries nobody has, since XNACK gave them back. */
static uint64_t released(const struct consumer_group *group) {
    uint64_t owned = 0;
    for (size_t i = 0; i < group->consumers.count; i++)
        owned += consumer_group_at(group, i)->ids.length;
    return group->pending.length - owned;
}

/* nacked-count stands only where there are such entries: servers before XNACK have no such
 * field. */
static void reply_group_in_full(struct reply *reply, const struct stream_extent *extent,
                                const struct consumer_group *group, uint64_t count) {
    enum { FIELDS = 7 };
    uint64_t nacked = released(group);
    reply_map(reply, FIELDS + (nacked > 0));
    reply_named_text(reply, "name", group->name);
    reply_named_id(reply, "last-delivered-id", group->last_id);
    reply_progress(reply, extent, group);
    reply_named_integer(reply, "pel-count", group->pending.length);
    if (nacked > 0) reply_named_integer(reply, "nacked-count", nacked);
    reply_pending(reply, group, &group->pending, count);
    reply_bulk_cstr(reply, "consumers");
    reply_array(reply, group->consumers.count);
    for (size_t i = 0; i < group->consumers.count; i++)
        reply_consumer_in_full(reply, group, consumer_group_at(group, i), count);
}

static void reply_in_full(struct call *call, struct entry *entry, uint64_t count) {
    enum { FIELDS = 15 };
    struct reply *reply = call->reply;
    const struct consumer_groups *groups = stream_groups(entry);
    struct stream_extent extent = stream_extent(entry);
    size_t group_count = consumer_groups_count(groups);
    reply_map(reply, FIELDS);
    reply_facts(call, entry);
    reply_bulk_cstr(reply, "entries");
    stream_reply_range(call, entry,
                       &(struct stream_range){STREAM_ID_MIN, STREAM_ID_MAX, false,
                                              count == 0 ? UINT64_MAX : count});
    reply_bulk_cstr(reply, "groups");
    reply_array(reply, group_count);
    for (size_t i = 0; i < group_count; i++)
        reply_group_in_full(reply, &extent, consumer_groups_at(groups, i), count);
}

/* --- XINFO STREAM key [FULL [COUNT count]] --- */

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
    struct entry *entry = find_stream(call);
    bool full;
    uint64_t count = 0;
    if (!entry || !parse_full(call, &full, &count)) return;
    if (full)
        reply_in_full(call, entry, count);
    else
        reply_in_short(call, entry);
}

/* --- XINFO GROUPS key, XINFO CONSUMERS key group --- */

void xinfo_groups_command(struct call *call) {
    enum { FIELDS = 6 };
    struct reply *reply = call->reply;
    const struct entry *entry = find_stream(call);
    if (!entry) return;
    const struct consumer_groups *groups = stream_groups(entry);
    struct stream_extent extent = stream_extent(entry);
    size_t count = consumer_groups_count(groups);
    reply_array(reply, count);
    for (size_t i = 0; i < count; i++) {
        const struct consumer_group *group = consumer_groups_at(groups, i);
        reply_map(reply, FIELDS);
        reply_named_text(reply, "name", group->name);
        reply_named_integer(reply, "consumers", group->consumers.count);
        reply_named_integer(reply, "pending", group->pending.length);
        reply_named_id(reply, "last-delivered-id", group->last_id);
        reply_progress(reply, &extent, group);
    }
}

static void reply_consumer(struct reply *reply, const struct consumer *consumer, int64_t now_ms) {
    enum { FIELDS = 4 };
    int64_t idle_ms = now_ms - consumer->seen_ms, inactive_ms = now_ms - consumer->active_ms;
    reply_map(reply, FIELDS);
    reply_named_text(reply, "name", consumer->name);
    reply_named_integer(reply, "pending", consumer->ids.length);
    reply_named_integer(reply, "idle", idle_ms < 0 ? 0 : idle_ms);
    reply_named_integer(reply, "inactive",
                        consumer->active_ms < 0 ? -1
                        : inactive_ms < 0       ? 0
                                                : inactive_ms);
}

void xinfo_consumers_command(struct call *call) {
    const struct entry *entry = find_stream(call);
    if (!entry) return;
    struct slice key = call->argv[2], name = call->argv[3];
    const struct consumer_group *group = consumer_groups_find(stream_groups(entry), name);
    if (!group) {
        group_fail_unknown(call, key, name);
        return;
    }
    reply_array(call->reply, group->consumers.count);
    for (size_t i = 0; i < group->consumers.count; i++)
        reply_consumer(call->reply, consumer_group_at(group, i), call->now_ms);
}

COMMAND_FORM(xinfo_help_command, call_help,
             "CONSUMERS <key> <groupname>\n"
             "    Show consumers of <groupname>.\n"
             "GROUPS <key>\n"
             "    Show the stream consumer groups.\n"
             "STREAM <key> [FULL [COUNT <count>]\n"
             "    Show information about the stream.\n")
