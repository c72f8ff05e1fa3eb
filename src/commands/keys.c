/* DEL UNLINK EXISTS TYPE DBSIZE RANDOMKEY KEYS SCAN: keys of any type. */
#include "base/alloc.h"
#include "base/glob.h"
#include "commands/commands.h"
#include "commands/scan_common.h"
#include "engine/call.h"
#include "types/value.h"

/* Deletes keys. With `unlink` large values are freed in another thread, otherwise as the
 * configuration says. */
static void delete_keys(struct call *call, bool unlink) {
    int64_t deleted = 0;
    for (size_t i = 1; i < call->argc; i++) {
        struct keyref ref;
        call_find(call, call->argv[i], 0, &ref);
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
        found += call_find(call, call->argv[i], FIND_COUNT | FIND_NOTIFY, NULL) != NULL;
    reply_integer(call->reply, found);
}

void type_command(struct call *call) {
    const struct entry *entry = call_find(call, call->argv[1], FIND_COUNT | FIND_NOTIFY, NULL);
    const char *name = entry ? value_type_name(entry_type(entry)) : "none";
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
    const struct entry *entry;
    for (size_t in_vain = 0; in_vain < DRAWS_IN_VAIN_MAX;) {
        size_t count = keyspace_count(call->keyspace);
        entry = keyspace_random(call->keyspace, call_random(call));
        if (!entry || !call_is_expired(call, entry)) return entry;
        call_find(call, entry_key(entry), 0, NULL);
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

struct key_scan {
    struct scan scan; /* the first member: steps get its address */
    struct slice type;
    bool has_type;
    /* Keys that have expired, which the scan has visited: they are deleted when it is over. */
    const struct entry **expired;
    size_t expired_count;
    size_t expired_capacity;
};

static void note_expired(struct key_scan *keys, const struct entry *entry) {
    MEM_RESERVE(keys->expired, keys->expired_capacity, keys->expired_count + 1);
    keys->expired[keys->expired_count++] = entry;
}

/* Looking for such a key deletes it. */
static void delete_expired(struct key_scan *keys) {
    for (size_t i = 0; i < keys->expired_count; i++)
        call_find(keys->scan.call, entry_key(keys->expired[i]), 0, NULL);
    mem_free(keys->expired);
}

static void scan_visit(struct entry *entry, void *arg) {
    struct key_scan *keys = arg;
    struct scan *scan = &keys->scan;
    struct slice key = entry_key(entry);
    scan->visited++;
    if (call_is_expired(scan->call, entry))
        note_expired(keys, entry);
    else if (keys->has_type && !slice_is(keys->type, value_type_name(entry_type(entry))))
        return;
    else if (scan_matches(scan, key))
        scan_reply(scan, key);
}

static uint64_t scan_step(struct scan *scan) {
    return keyspace_scan(scan->call->keyspace, scan->cursor, scan_visit, scan);
}

void scan_command(struct call *call) {
    struct key_scan keys = {0};
    if (!scan_begin(&keys.scan, call, 1)) return;
    for (size_t i = 2; i < call->argc; i += 2) {
        if (i + 1 < call->argc && slice_is(call->argv[i], "type")) {
            keys.type = call->argv[i + 1];
            keys.has_type = true;
        } else if (!scan_parse_option(&keys.scan, i)) {
            return;
        }
    }
    scan_run(&keys.scan, scan_step);
    delete_expired(&keys);
}
