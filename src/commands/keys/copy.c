/* COPY source destination [DB destination-db] [REPLACE]. That of a large value is a work
 * (engine/work.h). */
#include "base/memory/alloc.h"
#include "commands/commands.h"
#include "commands/keys/key_common.h"
#include "engine/claim.h"
#include "engine/work.h"
#include "types/string.h"
#include "types/value.h"

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

/* --- In another thread --- */

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
    key_put(&other, &destination, call->argv[2], copying->made, "copy_to");
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

/* --- The command --- */

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
        key_fail_same(call);
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
    key_put(&other, &destination, key, value_copy(entry, key), "copy_to");
    reply_integer(call->reply, 1);
}
