/* DEL UNLINK EXISTS TYPE DBSIZE RANDOMKEY TOUCH: keys of any type. */
#include "commands/commands.h"
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
