/* debug_values: DEBUG LISTPACK QUICKLIST QUICKLIST-PACKED-THRESHOLD HTSTATS-KEY DIGEST DIGEST-
 * VALUE: how values are stored, and short hashes of what they hold (persist/digest.h). */
#include "admin/debug.h"
#include "base/text/number.h"
#include "ds/records/recordtable.h"
#include "ds/sorted_sets/skiplist.h"
#include "engine/engine.h"
#include "persist/type_format.h"
#include "resp/reply.h"
#include "types/hash.h"
#include "types/list.h"
#include "types/set.h"
#include "types/value.h"
#include "types/zset.h"

#include <string.h>

/* Returns the value under argv[2]. If there is no such key, replies an error and returns NULL. */
static const struct entry *find_value(struct call *call) {
    const struct entry *entry = call_find(call, call->argv[2], 0, NULL);
    if (!entry) reply_error(call->reply, "ERR no such key");
    return entry;
}

/* --- Records --- */

enum { SHOWN_MAX = 64 }; /* bytes of each text */

struct lines {
    sds out;
    size_t count;
};

/* Appends 'string 11: "hello world"' and a line end; of a long text only the first bytes. Returns
 * `out`. O(1). */
static sds append_text(sds out, struct slice text) {
    struct slice shown = slice_make(text.ptr, text.len < SHOWN_MAX ? text.len : SHOWN_MAX);
    out = sds_append_format(out, "string %zu: ", text.len);
    out = sds_append_quoted(out, shown);
    return sds_append_cstr(out, shown.len < text.len ? "...\n" : "\n");
}

static void add_text(struct lines *lines, struct slice text) {
    lines->out = sds_append_format(lines->out, "%zu: ", lines->count++);
    lines->out = append_text(lines->out, text);
}

static void add_members(struct lines *lines, const struct entry *entry) {
    struct set_iter iter;
    struct slice member;
    set_iter_start(&iter, entry);
    while (set_iter_next(&iter, &member)) add_text(lines, member);
}

/* Fields that have expired but are not deleted yet are shown, too. */
static void add_fields(struct lines *lines, const struct entry *entry, bool with_expiries) {
    struct hash_iter iter;
    struct record record;
    hash_iter_start(&iter, entry, HASH_ALL);
    while (hash_iter_next(&iter, &record)) {
        add_text(lines, record.field);
        add_text(lines, record.value);
        if (!with_expiries) continue;
        int64_t expiry_ms = record.expiry_ms == RECORD_NEVER ? 0 : record.expiry_ms;
        lines->out = sds_append_format(lines->out, "%zu: integer: %lld\n", lines->count++,
                                       (long long)expiry_ms);
    }
}

/* DEBUG LISTPACK of a set or hash in that encoding, which is a list of records inside: each member,
 * or each field with its value and, in listpackex, its expiry in ms (0: none). O(members). Returns
 * false, without a reply, for any other value. */
static bool show_records(struct call *call, const struct entry *entry) {
    const char *encoding = value_encoding_name(entry);
    bool with_expiries = strcmp(encoding, "listpackex") == 0;
    bool is_set = entry_type(entry) == VALUE_SET;
    if (!is_set && entry_type(entry) != VALUE_HASH) return false;
    if (!with_expiries && strcmp(encoding, "listpack") != 0) return false;
    struct lines lines = {.out = sds_new(SLICE(""))};
    if (is_set)
        add_members(&lines, entry);
    else
        add_fields(&lines, entry, with_expiries);
    sds out = sds_format("elements %zu, bytes %zu, allocated with its key %zu\n", lines.count,
                         value_size(entry), value_allocated(entry));
    call_answer_text(call, sds_append(out, sds_slice(lines.out)));
    sds_free(lines.out);
    return true;
}

/* --- Tables --- */

static sds describe_skiplist(const struct skiplist *list) {
    return sds_append_format(sds_new(SLICE("[Skiplist]\n")),
                             " members: %llu\n allocations: %zu\n allocated bytes: %zu\n",
                             (unsigned long long)skiplist_count(list), skiplist_allocations(list),
                             skiplist_allocated(list));
}

void debug_htstats_key(struct call *call) {
    const struct entry *entry = find_value(call);
    const struct recordtable *table = NULL;
    const struct skiplist *list = NULL;
    if (!entry) return;
    if (entry_type(entry) == VALUE_SET) table = set_table(entry);
    if (entry_type(entry) == VALUE_HASH) table = hash_table(entry);
    if (entry_type(entry) == VALUE_ZSET) list = zset_skiplist(entry);
    if (table)
        call_answer_text(call, recordtable_describe(table, sds_new(SLICE("[Table of records]\n"))));
    else if (list)
        call_answer_text(call, describe_skiplist(list));
    else
        reply_error(call->reply, "ERR The value stored at the specified key is not represented "
                                 "using an hash table");
}

/* The largest node whose bytes can be counted, minus some space for headers. */
#define PACKED_THRESHOLD_MAX ((1ull << 32) - (1ull << 20))

static bool has_encoding(const struct entry *entry, const char *encoding) {
    return entry_type(entry) == VALUE_LIST && !strcmp(value_encoding_name(entry), encoding);
}

sds debug_append_quicklist_fields(sds out, const struct entry *entry) {
    if (!has_encoding(entry, "quicklist")) return out;
    const struct quicklist *list = list_quicklist(entry);
    struct quicklist_limits limits = quicklist_limits_of(list);
    size_t nodes = quicklist_node_count(list);
    return sds_append_format(out,
                             " ql_nodes:%zu ql_avg_node:%.2f ql_listpack_max:%d ql_compressed:%d "
                             "ql_uncompressed_size:%zu",
                             nodes, (double)quicklist_count(list) / (double)nodes, limits.fill,
                             limits.compress_depth != 0, quicklist_serialized_size(list));
}

static void refuse_encoding(struct call *call, const char *encoding) {
    reply_error_format(call->reply, "ERR Not a %s encoded object.", encoding);
}

/* --- Elements --- */

/* Appends "12: offset 84, size 13, string 11: \"hello world\"". Offsets are those of the serialized
 * listpack. */
static sds append_element(sds out, size_t index, size_t offset, const uint8_t *element) {
    struct listpack_value value;
    size_t size = listpack_get(element, &value);
    out = sds_append_format(out, "%zu: offset %zu, size %zu, ", index, offset, size);
    if (!value.ptr) return sds_append_format(out, "integer: %lld\n", (long long)value.integer);
    return append_text(out, slice_make(value.ptr, value.len));
}

static sds append_elements(sds out, const uint8_t *first, size_t count, const char *indent) {
    const uint8_t *at = first;
    for (size_t i = 0; i < count; i++) {
        out = sds_append_cstr(out, indent);
        out = append_element(out, i, LISTPACK_HEADER_SIZE + (size_t)(at - first), at);
        at += listpack_size(at);
    }
    return out;
}

/* The body of a listpack and how many elements it has. False when the value is none. */
static bool find_listpack(const struct entry *entry, const uint8_t **first, const uint8_t **end,
                          size_t *count) {
    if (strcmp(value_encoding_name(entry), "listpack") != 0) return false;
    *count = value_length(entry);
    if (entry_type(entry) == VALUE_LIST) {
        list_single_body(entry, first, end);
        return true;
    }
    *count *= 2; /* members and scores */
    return entry_type(entry) == VALUE_ZSET && zset_listpack(entry, first, end);
}

void debug_listpack(struct call *call) {
    const uint8_t *first, *end;
    size_t count;
    const struct entry *entry = find_value(call);
    if (!entry) return;
    if (show_records(call, entry)) return;
    if (!find_listpack(entry, &first, &end, &count)) {
        refuse_encoding(call, "listpack");
        return;
    }
    sds out = sds_format("elements %zu, bytes %zu, allocated with its key %zu\n", count,
                         (size_t)(end - first) + LISTPACK_OVERHEAD, value_allocated(entry));
    call_answer_text(call, append_elements(out, first, count, ""));
}

/* --- Nodes --- */

struct node_printer {
    sds out;
    size_t index;
    struct quicklist_iter *elements; /* advances with the nodes; NULL = nodes only */
};

static sds append_node(sds out, size_t index, const struct quicklist_node_info *info) {
    out =
        sds_append_format(out, "node %zu: count %zu, bytes %zu, ", index, info->count, info->size);
    if (info->plain) out = sds_append_cstr(out, "plain, ");
    if (info->compressed_size)
        out = sds_append_format(out, "lzf %zu (%.1f%%), ", info->compressed_size,
                                100.0 * (double)info->compressed_size / (double)info->size);
    else
        out = sds_append_cstr(out, "raw, ");
    return sds_append_format(out, "allocated %zu\n", info->allocated);
}

static void show_node(const struct quicklist_node_info *info, void *arg) {
    struct node_printer *printer = arg;
    printer->out = append_node(printer->out, printer->index++, info);
    struct quicklist_run run;
    if (printer->elements && quicklist_iter_run(printer->elements, &run))
        printer->out = append_elements(printer->out, run.first, run.count, "    ");
}

static void count_compressed(const struct quicklist_node_info *info, void *arg) {
    *(size_t *)arg += info->compressed_size > 0;
}

static sds append_summary(sds out, const struct quicklist *list) {
    struct quicklist_limits limits = quicklist_limits_of(list);
    size_t compressed = 0;
    quicklist_visit_nodes(list, count_compressed, &compressed);
    return sds_append_format(out,
                             "elements %llu, nodes %zu, compressed nodes %zu, bytes %zu, "
                             "allocated %zu, list-max-listpack-size %d, list-compress-depth %u\n",
                             (unsigned long long)quicklist_count(list), quicklist_node_count(list),
                             compressed, quicklist_serialized_size(list), quicklist_allocated(list),
                             limits.fill, limits.compress_depth);
}

/* Parses [full], which Redis writes as 1, to *full. Returns false for other arguments. */
static bool parse_detail(const struct call *call, bool *full) {
    *full = false;
    if (call->argc == 3) return true;
    *full = slice_is(call->argv[3], "full") || slice_is(call->argv[3], "1");
    return *full || slice_is(call->argv[3], "0");
}

void debug_quicklist(struct call *call) {
    bool full;
    if (!parse_detail(call, &full)) {
        call_syntax_error(call);
        return;
    }
    const struct entry *entry = find_value(call);
    if (!entry) return;
    if (!has_encoding(entry, "quicklist")) {
        refuse_encoding(call, "quicklist");
        return;
    }
    const struct quicklist *list = list_quicklist(entry);
    struct quicklist_iter elements;
    struct node_printer printer = {.out = append_summary(sds_new(SLICE("")), list)};
    if (full) {
        quicklist_iter_start(&elements, list, 0, LIST_FORWARD);
        printer.elements = &elements;
    }
    quicklist_visit_nodes(list, show_node, &printer);
    if (full) quicklist_iter_end(&elements);
    call_answer_text(call, printer.out);
}

void debug_packed_threshold(struct call *call) {
    uint64_t bytes;
    if (!number_parse_memory(call->argv[2], &bytes) || bytes > PACKED_THRESHOLD_MAX) {
        reply_error(call->reply,
                    "ERR argument must be a memory value bigger than 1 and smaller than 4gb");
        return;
    }
    call->engine->value_limits->list.plain_threshold = bytes;
    reply_ok(call->reply);
}

/* --- Digests --- */

static bool start_digest(struct call *call, struct digest *digest) {
    if (digest_start(digest)) return true;
    return reply_error(call->reply, "ERR the system's library does not compute SHA-1");
}

static void answer_digest(struct call *call, const uint8_t bytes[DIGEST_SIZE]) {
    sds text = digest_append(sds_new(SLICE("")), bytes);
    reply_status(call->reply, sds_slice(text));
    sds_free(text);
}

static void add_keys(struct digest *digest, const struct keyspace *keyspace) {
    struct keyspace_iter iter;
    const struct entry *entry;
    keyspace_iter_start(&iter, keyspace);
    while ((entry = keyspace_iter_next(&iter))) type_format_digest_entry(digest, entry);
}

void debug_digest(struct call *call) {
    struct engine *engine = call->engine;
    struct digest digest;
    if (!start_digest(call, &digest)) return;
    for (int i = 0; i < engine->databases; i++) {
        if (keyspace_count(engine->keyspaces[i]) == 0) continue;
        type_format_digest_database(&digest, (unsigned)i);
        add_keys(&digest, engine->keyspaces[i]);
    }
    digest_end(&digest);
    answer_digest(call, digest.bytes);
}

void debug_digest_value(struct call *call) {
    struct digest digest;
    if (!start_digest(call, &digest)) return;
    reply_array(call->reply, call->argc - 2);
    for (size_t i = 2; i < call->argc; i++) {
        uint8_t bytes[DIGEST_SIZE] = {0};
        const struct entry *entry = keyspace_find(call->keyspace, call->argv[i]).entry;
        if (entry) type_format_digest_value(&digest, entry, bytes);
        answer_digest(call, bytes);
    }
    digest_end(&digest);
}
