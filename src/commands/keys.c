/* DEL UNLINK EXISTS TYPE DBSIZE RANDOMKEY KEYS SCAN: keys of any type. */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/glob.h"
#include "base/number.h"
#include "commands/commands.h"
#include "engine/call.h"
#include "types/value.h"

/* Deletes keys. With `unlink` large values are freed in another thread, otherwise as the
 * configuration says. */
static void delete_keys(struct call *call, bool unlink) {
    int64_t deleted = 0;
    for (size_t i = 1; i < call->argc; i++) {
        struct keyref ref = call_find_quiet(call, call->argv[i]);
        if (ref.entry == NULL) continue;
        if (unlink)
            call_unlink(call, &ref, call->argv[i]);
        else
            call_delete(call, &ref, call->argv[i], "del");
        deleted++;
    }
    reply_integer(call->reply, deleted);
}

void del_command(struct call *call) {
    delete_keys(call, false);
}

void unlink_command(struct call *call) {
    delete_keys(call, true);
}

void exists_command(struct call *call) {
    int64_t found = 0;
    for (size_t i = 1; i < call->argc; i++)
        found += call_find_unmarked(call, call->argv[i]).entry != NULL;
    reply_integer(call->reply, found);
}

void type_command(struct call *call) {
    struct keyref ref = call_find_unmarked(call, call->argv[1]);
    const char *name = ref.entry ? value_type_name(entry_type(ref.entry)) : "none";
    reply_status(call->reply, slice_of_cstr(name));
}

void dbsize_command(struct call *call) {
    reply_integer(call->reply, (int64_t)keyspace_count(call->keyspace));
}

/* Returns the first key that has not expired, or NULL. O(keys). */
static const struct entry *first_living(const struct call *call) {
    struct keyspace_iter iter;
    const struct entry *entry;
    keyspace_iter_start(&iter, call->keyspace);
    while ((entry = keyspace_iter_next(&iter)) && call_is_expired(call, entry)) {
    }
    return entry;
}

/* Draws until a key has not expired. Looking up an expired one deletes it, except during a CLIENT
 * PAUSE, when all keys may be expired. */
static const struct entry *draw_living(struct call *call) {
    enum { DRAWS_IN_VAIN_MAX = 100 };
    struct random random;
    const struct entry *entry;
    random_seed(&random, clock_ticks());
    for (size_t in_vain = 0; in_vain < DRAWS_IN_VAIN_MAX;) {
        size_t count = keyspace_count(call->keyspace);
        entry = keyspace_random(call->keyspace, &random);
        if (!entry || !call_is_expired(call, entry)) return entry;
        call_find_quiet(call, entry_key(entry));
        in_vain += keyspace_count(call->keyspace) == count;
    }
    return first_living(call);
}

void randomkey_command(struct call *call) {
    const struct entry *entry = draw_living(call);
    if (entry)
        reply_bulk(call->reply, entry_key(entry));
    else
        reply_null(call->reply);
}

void keys_command(struct call *call) {
    struct slice pattern = call->argv[1];
    bool all = glob_is_match_all(pattern);
    size_t mark = reply_begin(call->reply), count = 0;
    struct keyspace_iter iter;
    const struct entry *entry;
    keyspace_iter_start(&iter, call->keyspace);
    while ((entry = keyspace_iter_next(&iter)) != NULL) {
        struct slice key = entry_key(entry);
        if (!all && !glob_match(pattern, key, false)) continue;
        if (call_is_expired(call, entry)) continue;
        reply_bulk(call->reply, key);
        count++;
    }
    reply_array_end(call->reply, mark, count);
}

/* --- SCAN cursor [MATCH pattern] [COUNT count] [TYPE type] --- */

/* Expired keys that a step of SCAN has visited; deleted after it. */
struct expired_keys {
    const struct entry **entries;
    size_t count;
    size_t capacity;
};

/* Returns whether the key has expired, and then notes it. */
static bool note_expired(const struct call *call, const struct entry *entry,
                         struct expired_keys *expired) {
    if (!call_is_expired(call, entry)) return false;
    if (expired->count == expired->capacity)
        expired->entries =
            mem_grow(expired->entries, &expired->capacity, sizeof(*expired->entries));
    expired->entries[expired->count++] = entry;
    return true;
}

/* Looking up an expired key deletes it. */
static void delete_expired(struct call *call, struct expired_keys *expired) {
    for (size_t i = 0; i < expired->count; i++)
        call_find_quiet(call, entry_key(expired->entries[i]));
    mem_free(expired->entries);
}

struct scan {
    const struct call *call;
    uint64_t cursor;
    struct slice pattern;
    bool has_pattern;
    struct slice type;
    bool has_type;
    uint64_t wanted;  /* COUNT */
    uint64_t visited; /* keys visited, whether replied or not */
    size_t replied;
    struct expired_keys expired;
    struct reply keys; /* those keys as bulks, which follow the cursor in the reply */
};

static bool scan_parse_option(struct call *call, size_t index, struct scan *scan) {
    struct slice option = call->argv[index];
    int64_t count;
    if (index + 1 == call->argc) {
        call_syntax_error(call);
        return false;
    }
    if (slice_is(option, "count")) {
        if (!call_integer(call, index + 1, &count)) return false;
        if (count < 1) {
            call_syntax_error(call);
            return false;
        }
        scan->wanted = (uint64_t)count;
    } else if (slice_is(option, "match")) {
        scan->pattern = call->argv[index + 1];
        scan->has_pattern = !glob_is_match_all(scan->pattern);
    } else if (slice_is(option, "type")) {
        scan->type = call->argv[index + 1];
        scan->has_type = true;
    } else {
        call_syntax_error(call);
        return false;
    }
    return true;
}

static void scan_visit(struct entry *entry, void *arg) {
    struct scan *scan = arg;
    struct slice key = entry_key(entry);
    scan->visited++;
    if (note_expired(scan->call, entry, &scan->expired)) return;
    if (scan->has_type && !slice_is(scan->type, value_type_name(entry_type(entry)))) return;
    if (scan->has_pattern && !glob_match(scan->pattern, key, false)) return;
    reply_bulk(&scan->keys, key);
    scan->replied++;
}

void scan_command(struct call *call) {
    enum { BUCKETS_PER_KEY_WANTED = 10 }; /* limits the search in a sparse table */
    struct scan scan = {.call = call, .wanted = 10};
    if (!number_parse_uint64(call->argv[1], &scan.cursor)) {
        reply_error(call->reply, "ERR invalid cursor");
        return;
    }
    for (size_t i = 2; i < call->argc; i += 2) {
        if (!scan_parse_option(call, i, &scan)) return;
    }
    uint64_t steps = scan.wanted < UINT64_MAX / BUCKETS_PER_KEY_WANTED
                         ? scan.wanted * BUCKETS_PER_KEY_WANTED
                         : UINT64_MAX;
    reply_init(&scan.keys, 256);
    do {
        scan.cursor = keyspace_scan(call->keyspace, scan.cursor, scan_visit, &scan);
    } while (scan.cursor && --steps && scan.visited < scan.wanted);
    char cursor[INT64_TEXT_MAX];
    reply_array(call->reply, 2);
    reply_bulk(call->reply, slice_make(cursor, number_format_uint64(cursor, scan.cursor)));
    reply_array(call->reply, scan.replied);
    reply_raw(call->reply, slice_make(scan.keys.data, scan.keys.len));
    reply_free(&scan.keys);
    delete_expired(call, &scan.expired);
}
