/* DEL UNLINK EXISTS TYPE DBSIZE RANDOMKEY SCAN TOUCH: keys of any type. */
#include "base/memory/alloc.h"
#include "commands/commands.h"
#include "commands/common.h"
#include "engine/call.h"
#include "engine/claim.h"
#include "types/value.h"

static void delete_keys(struct call *call, enum removal reason) {
    int64_t deleted = 0;
    for (size_t i = 1; i < call->argc; i++) {
        struct keyref ref;
        call_prefetch_keys(call, i, call->argc, 1);
        call_find(call, call->argv[i], 0, &ref);
        if (ref.entry == NULL) continue;
        call_remove(call, &ref, call->argv[i], reason);
        deleted++;
    }
    reply_integer(call->reply, deleted);
}

COMMAND_FORM(del_command, delete_keys, REMOVAL_DELETED)
COMMAND_FORM(unlink_command, delete_keys, REMOVAL_UNLINKED)

static void count_keys(struct call *call, unsigned marks) {
    int64_t found = 0;
    for (size_t i = 1; i < call->argc; i++) {
        call_prefetch_keys(call, i, call->argc, 1);
        found += call_find(call, call->argv[i], marks, NULL) != NULL;
    }
    reply_integer(call->reply, found);
}

COMMAND_FORM(exists_command, count_keys, FIND_COUNT | FIND_NOTIFY)
COMMAND_FORM(touch_command, count_keys, FIND_READ)

void type_command(struct call *call) {
    const struct entry *entry = call_find(call, call->argv[1], FIND_COUNT | FIND_NOTIFY, NULL);
    const char *name = entry ? value_type_name(entry_type(entry)) : "none";
    reply_status(call->reply, slice_of_cstr(name));
}

void dbsize_command(struct call *call) {
    reply_integer(call->reply, (int64_t)claims_count_keys(call->engine, call->database, ALL_KEYS));
}

/* Returns the first key that RANDOMKEY may tell, or NULL. O(keys). */
static const struct entry *first_shown(const struct call *call) {
    struct keyspace_iter iter;
    const struct entry *entry;
    keyspace_iter_start(&iter, call->keyspace);
    while ((entry = keyspace_iter_next(&iter)) &&
           (call_is_expired(call, entry) || call_hides_key(call, entry_key(entry)))) {
    }
    return entry;
}

/* Draws until a key has not expired, and the user may know of it. Looking up an expired one deletes
 * it, except during a CLIENT PAUSE, when all keys may be expired: then the first one will do. When
 * so many are hidden, only a small keyspace is looked through. */
static const struct entry *draw_shown(struct call *call) {
    enum { EXPIRED_MAX = 100, HIDDEN_MAX = 1000 };
    size_t expired = 0, hidden = 0;
    while (expired < EXPIRED_MAX && hidden < HIDDEN_MAX) {
        size_t count = keyspace_count(call->keyspace);
        const struct entry *entry = keyspace_random(call->keyspace, ALL_KEYS, call_random(call));
        if (!entry) return NULL;
        if (call_is_expired(call, entry)) {
            call_find(call, entry_key(entry), 0, NULL);
            expired += keyspace_count(call->keyspace) == count;
        } else if (call_hides_key(call, entry_key(entry))) {
            hidden++;
        } else {
            return entry;
        }
    }
    return hidden > 0 && keyspace_count(call->keyspace) > HIDDEN_MAX ? NULL : first_shown(call);
}

void randomkey_command(struct call *call) {
    const struct entry *entry = draw_shown(call);
    if (entry)
        reply_bulk(call->reply, entry_key(entry));
    else
        reply_null(call->reply);
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
    enum { MORE_WORK = 8 };
    keys->scan.more_work += MORE_WORK;
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
    else if (scan_matches(scan, key) && !call_hides_key(scan->call, key))
        scan_reply(scan, key);
}

static uint64_t scan_step(struct scan *scan) {
    return keyspace_scan(scan->call->keyspace, ALL_KEYS, scan->cursor, scan_visit, scan);
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
