/* RENAME RENAMENX MOVE: values under other keys. */
#include "commands/commands.h"
#include "commands/keys/key_common.h"
#include "types/value.h"

void key_put(struct call *call, struct keyref *ref, struct slice key, struct entry *entry,
             const char *event) {
    bool replaces = ref->entry != NULL;
    enum value_type old = replaces ? entry_type(ref->entry) : VALUE_STRING;
    call_remove(call, ref, key, REMOVAL_OVERWRITTEN);
    call_add(call, ref, entry);
    CALL_CHANGED(call, ref, key, EVENT_GENERIC, event, 1);
    if (replaces) call_notify_overwritten(call, key, old, entry_type(ref->entry));
}

void key_fail_same(struct call *call) {
    reply_error(call->reply, "ERR source and destination objects are the same");
}

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
    key_put(call, &destination, key, entry, "rename_to");
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
    if (call_is_in_cluster(call) && call_has_one_database(call)) {
        reply_error(call->reply, "ERR MOVE is not allowed in cluster mode");
        return;
    }
    if (call->argc > 4 || (replaces && !slice_is(call->argv[3], "replace"))) {
        call_syntax_error(call);
        return;
    }
    if (!call_database(call, 2, &database)) return;
    if (database == call->database) {
        key_fail_same(call);
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
    key_put(&other, &destination, key, entry, "move_to");
    reply_integer(call->reply, 1);
    if (replaces) propagate_move(call, was_replaced);
}
