/* DEL UNLINK EXISTS TYPE DBSIZE RANDOMKEY SCAN TOUCH; RENAME RENAMENX COPY MOVE: keys of any
 * type. */
#include "base/memory/alloc.h"
#include "commands/commands.h"
#include "commands/common.h"
#include "engine/call.h"
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
    reply_integer(call->reply, (int64_t)keyspace_count(call->keyspace));
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

/* Puts the entry in the place of what `ref` names, if anything, and reports the change. */
static void put_and_report(struct call *call, struct keyref *ref, struct slice key,
                           struct entry *entry, const char *event) {
    bool replaces = ref->entry != NULL;
    enum value_type old = replaces ? entry_type(ref->entry) : VALUE_STRING;
    call_remove(call, ref, key, REMOVAL_OVERWRITTEN);
    call_add(call, ref, entry);
    CALL_CHANGED(call, ref, key, EVENT_GENERIC, event, 1);
    if (replaces) call_notify_overwritten(call, key, old, entry_type(ref->entry));
}

static const char same_object[] = "ERR source and destination objects are the same";

/* --- RENAME, RENAMENX --- */

/* Moves the entry of argv[1], which exists, to argv[2], another key. Each lookup may delete an
 * expired key, and each change invalidates keyrefs, so the keys are looked up again. */
static void rename_to_other(struct call *call) {
    struct slice old_key = call->argv[1], key = call->argv[2];
    call_notify(call, EVENT_NEW, "new", key);
    struct keyref source;
    call_find(call, old_key, 0, &source);
    struct entry *entry = value_rename(call_remove(call, &source, old_key, REMOVAL_RENAMED), key);
    struct keyref destination;
    call_find(call, key, 0, &destination);
    put_and_report(call, &destination, key, entry, "rename_to");
}

static void rename_key(struct call *call, bool only_new) {
    bool exists = call_find_write(call, call->argv[1], NULL), done = false;
    if (exists && !slice_equal(call->argv[1], call->argv[2])) {
        bool is_taken = call_find_write(call, call->argv[2], NULL);
        done = !(only_new && is_taken);
        if (done) rename_to_other(call);
    }
    if (!exists)
        reply_error(call->reply, "ERR no such key");
    else if (only_new)
        reply_integer(call->reply, done);
    else
        reply_ok(call->reply);
}

COMMAND_FORM(rename_command, rename_key, false)
COMMAND_FORM(renamenx_command, rename_key, true)

/* --- COPY source destination [DB destination-db] [REPLACE] --- */

struct copy_options {
    int database;
    bool replace;
};

static bool parse_copy(struct call *call, struct copy_options *options) {
    for (size_t i = 3; i < call->argc; i++) {
        if (slice_is(call->argv[i], "replace")) {
            options->replace = true;
        } else if (slice_is(call->argv[i], "db") && i + 1 < call->argc) {
            if (!call_database(call, ++i, &options->database)) return false;
        } else {
            return call_syntax_error(call);
        }
    }
    return true;
}

void copy_command(struct call *call) {
    struct copy_options options = {.database = call->database};
    struct slice key = call->argv[2];
    if (!parse_copy(call, &options)) return;
    if (options.database == call->database && slice_equal(call->argv[1], key)) {
        reply_error(call->reply, same_object);
        return;
    }
    /* The entry stays valid, whatever the lookup of the other key deletes. */
    const struct entry *entry = call_find_read(call, call->argv[1], NULL);
    struct call other = call_in_database(call, options.database);
    struct keyref destination = {0};
    if (entry) call_find_write(&other, key, &destination);
    if (entry == NULL || (destination.entry && !options.replace)) {
        reply_integer(call->reply, 0);
        return;
    }
    put_and_report(&other, &destination, key, value_copy(entry, key), "copy_to");
    reply_integer(call->reply, 1);
}

/* --- MOVE key db [REPLACE] --- */

/* In older commands, because servers without REPLACE read the command log, too. */
static void propagate_move(struct call *call, bool was_replaced) {
    struct slice key = call->argv[1], database = call->argv[2];
    if (was_replaced) {
        CALL_PROPAGATE(call, SLICE("COPY"), key, key, SLICE("DB"), database, SLICE("REPLACE"));
        CALL_PROPAGATE(call, SLICE("DEL"), key);
    } else {
        CALL_PROPAGATE(call, SLICE("MOVE"), key, database);
    }
}

void move_command(struct call *call) {
    struct slice key = call->argv[1];
    int database;
    bool replaces = call->argc == 4;
    if (call->argc > 4 || (replaces && !slice_is(call->argv[3], "replace"))) {
        call_syntax_error(call);
        return;
    }
    if (!call_database(call, 2, &database)) return;
    if (database == call->database) {
        reply_error(call->reply, same_object);
        return;
    }
    struct call other = call_in_database(call, database);
    struct keyref source, destination = {0};
    call_find_write(call, key, &source);
    if (source.entry) call_find_write(&other, key, &destination);
    if (source.entry == NULL || (destination.entry && !replaces)) {
        reply_integer(call->reply, 0);
        return;
    }
    bool was_replaced = destination.entry != NULL;
    if (!was_replaced) call_notify(&other, EVENT_NEW, "new", key);
    struct entry *entry = call_remove(call, &source, key, REMOVAL_MOVED);
    put_and_report(&other, &destination, key, entry, "move_to");
    reply_integer(call->reply, 1);
    if (replaces) propagate_move(call, was_replaced);
}
