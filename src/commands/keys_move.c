/* RENAME RENAMENX COPY MOVE TOUCH: keys that get another name or database or a copy, with their
 * expiry. */
#include "commands/commands.h"
#include "engine/call.h"
#include "types/value.h"

static const char same_object[] = "ERR source and destination objects are the same";

/* --- RENAME, RENAMENX --- */

/* Moves the entry of argv[1], which exists, to argv[2], another key. Each lookup may delete an
 * expired key, and each change invalidates keyrefs, so the keys are looked up again. */
static void rename_to_other(struct call *call) {
    struct slice old_key = call->argv[1], key = call->argv[2];
    call_notify(call, EVENT_NEW, "new", key);
    struct keyref source;
    call_find(call, old_key, 0, &source);
    struct entry *entry = value_rename(call_take(call, &source, old_key, "rename_from"), key);
    struct keyref destination;
    call_find(call, key, 0, &destination);
    if (destination.entry) call_replace(call, &destination);
    call_add(call, &destination, entry);
    call_touched(call, &destination, key, EVENT_GENERIC, "rename_to", 1);
}

static void rename_key(struct call *call, bool only_new) {
    bool done = false;
    if (call_find_write(call, call->argv[1], NULL) == NULL) {
        reply_error(call->reply, "ERR no such key");
        return;
    }
    if (!slice_equal(call->argv[1], call->argv[2])) {
        bool is_taken = call_find_write(call, call->argv[2], NULL) != NULL;
        done = !(only_new && is_taken);
        if (done) rename_to_other(call);
    }
    if (only_new)
        reply_integer(call->reply, done);
    else
        reply_ok(call->reply);
}

void rename_command(struct call *call) {
    rename_key(call, false);
}

void renamenx_command(struct call *call) {
    rename_key(call, true);
}

/* --- Other databases --- */

/* Reads the number of a database at argv[index]. */
static bool parse_database(struct call *call, size_t index, int *database) {
    int64_t number;
    if (!call_integer_in(call, index, INT32_MIN, INT32_MAX, &number, NULL)) return false;
    if (number < 0 || number >= call_database_count(call)) return call_bad_database(call);
    *database = (int)number;
    return true;
}

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
            if (!parse_database(call, ++i, &options->database)) return false;
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
    struct entry *copy = value_copy(entry, key);
    if (destination.entry) call_replace(&other, &destination);
    call_add(&other, &destination, copy);
    call_touched(&other, &destination, key, EVENT_GENERIC, "copy_to", 1);
    reply_integer(call->reply, 1);
}

/* --- MOVE key db --- */

void move_command(struct call *call) {
    struct slice key = call->argv[1];
    int database;
    if (!parse_database(call, 2, &database)) return;
    if (database == call->database) {
        reply_error(call->reply, same_object);
        return;
    }
    struct call other = call_in_database(call, database);
    struct keyref source;
    call_find_write(call, key, &source);
    if (source.entry == NULL || call_find_write(&other, key, NULL)) {
        reply_integer(call->reply, 0);
        return;
    }
    struct keyref destination;
    call_find(&other, key, 0, &destination);
    call_notify(&other, EVENT_NEW, "new", key);
    struct entry *entry = call_take(call, &source, key, "move_from");
    call_add(&other, &destination, entry);
    call_touched(&other, &destination, key, EVENT_GENERIC, "move_to", 1);
    reply_integer(call->reply, 1);
}

/* --- TOUCH key … --- */

void touch_command(struct call *call) {
    int64_t found = 0;
    for (size_t i = 1; i < call->argc; i++)
        found += call_find_read(call, call->argv[i], NULL) != NULL;
    reply_integer(call->reply, found);
}
