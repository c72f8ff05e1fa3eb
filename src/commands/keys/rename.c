/* RENAME RENAMENX COPY MOVE: values under other keys. COPY of a large value is a work
 * (engine/work.h). */
#include "base/memory/alloc.h"
#include "commands/commands.h"
#include "engine/call.h"
#include "engine/claim.h"
#include "engine/work.h"
#include "types/string.h"
#include "types/value.h"

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

struct copying {
    struct work work;
    int database;            /* of the copy */
    struct frozen frozen;    /* of a collection */
    struct capture *capture; /* of a string */
    struct entry *made;
    char *text; /* of a string that was made */
};

static void copy_text(struct capture *capture, char *to) {
    enum { PART = 256 * 1024 };
    size_t len = text_capture_len(capture);
    for (size_t at = 0; at < len;) {
        size_t part = len - at < PART ? len - at : PART;
        text_capture_read(capture, at, to + at, part);
        at += part;
        text_capture_pass(capture, at);
    }
}

static void run_copying(struct work *work) {
    struct copying *copying = (struct copying *)work;
    if (copying->capture)
        copy_text(copying->capture, copying->text);
    else
        copying->made = value_copy_frozen(&copying->frozen, work->claim->key.name);
}

static void answer_copying(struct call *call, struct work *work) {
    struct copying *copying = (struct copying *)work;
    struct call other = call_in_database(call, copying->database);
    struct keyref destination;
    call_find(&other, call->argv[2], 0, &destination);
    put_and_report(&other, &destination, call->argv[2], copying->made, "copy_to");
    reply_integer(call->reply, 1);
    copying->made = NULL;
}

static void free_copying(struct work *work) {
    struct copying *copying = (struct copying *)work;
    work_unfreeze(work, &copying->frozen);
    work_end_capture(work, copying->capture);
    if (copying->made) work_free_value(work, copying->made);
}

/* The copy is made here, but for its text. Returns false when there is no memory. */
static bool begin_string(struct call *call, struct entry *entry, struct copying *copying) {
    sds text = sds_try_new_uninit(string_length(entry));
    if (!text) return false;
    copying->text = text;
    copying->made = string_copy_with(entry, call->argv[2], text);
    copying->capture = work_capture_text(call, entry);
    return true;
}

/* Returns false, and does nothing, if the copy should be made at once. */
static bool copy_later(struct call *call, struct entry *entry, int database) {
    static const struct work_kind kind = {run_copying, answer_copying, free_copying};
    struct copying *copying = work_new(&kind, sizeof(*copying));
    copying->database = database;
    if (entry_type(entry) != VALUE_STRING) {
        work_freeze(call, entry, &copying->frozen);
    } else if (!begin_string(call, entry, copying)) {
        mem_free(copying);
        return false;
    }
    work_begin_storing_in(call, &copying->work, database, call->argv[2]);
    return true;
}

/* As work_pays_writing wants them. */
static uint64_t copy_steps(const struct entry *entry) {
    enum { BYTES_PER_STEP = 128, BYTES_OF_MEMBERS_PER_STEP = 64 };
    return value_allocated(entry) /
           (entry_type(entry) == VALUE_STRING ? BYTES_PER_STEP : BYTES_OF_MEMBERS_PER_STEP);
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
    struct entry *entry = call_find_read(call, call->argv[1], NULL);
    struct call other = call_in_database(call, options.database);
    struct keyref destination = {0};
    if (entry) call_find_write(&other, key, &destination);
    if (entry == NULL || (destination.entry && !options.replace)) {
        reply_integer(call->reply, 0);
        return;
    }
    bool is_large = entry_is_out_of_line(entry) && work_pays_writing(call, copy_steps(entry));
    if (is_large && copy_later(call, entry, options.database)) return;
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
