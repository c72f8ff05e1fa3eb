#include "admin/debug_collections.h"

#include "ds/recordtable.h"
#include "ds/skiplist.h"
#include "resp/reply.h"
#include "types/hash.h"
#include "types/set.h"
#include "types/value.h"
#include "types/zset.h"

#include <string.h>

/* --- Records --- */

enum { SHOWN_MAX = 64 }; /* bytes of each text */

struct lines {
    sds out;
    size_t count;
};

sds debug_append_text(sds out, struct slice text) {
    struct slice shown = slice_make(text.ptr, text.len < SHOWN_MAX ? text.len : SHOWN_MAX);
    out = sds_append_format(out, "string %zu: ", text.len);
    out = sds_append_quoted(out, shown);
    return sds_append_cstr(out, shown.len < text.len ? "...\n" : "\n");
}

static void add_text(struct lines *lines, struct slice text) {
    lines->out = sds_append_format(lines->out, "%zu: ", lines->count++);
    lines->out = debug_append_text(lines->out, text);
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

bool debug_show_records(struct call *call, const struct entry *entry) {
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
    sds out = sds_append_format(sds_new(SLICE("")),
                                "elements %zu, bytes %zu, allocated with its key %zu\n",
                                lines.count, value_size(entry), value_allocated(entry));
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
    const struct entry *entry = call_find(call, call->argv[2], 0, NULL);
    const struct recordtable *table = NULL;
    const struct skiplist *list = NULL;
    if (!entry) {
        reply_error(call->reply, "ERR no such key");
        return;
    }
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
