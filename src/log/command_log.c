#include "log/command_log.h"

#include "base/chain.h"
#include "base/checked.h"
#include "base/number.h"

#include <assert.h>

/* An empty buffer that is larger than this is freed. */
enum { KEEP_MAX = 1024 * 1024 };

static const struct slice multi[] = {{"MULTI", 5}}, exec[] = {{"EXEC", 4}};

/* --- Readers --- */

static void update_is_on(struct command_log *log) {
    log->is_on = log->first_reader && !log->is_suspended;
}

void command_log_init(struct command_log *log) {
    *log = (struct command_log){.database = -1};
    reply_init(&log->bytes, 0);
}

void command_log_free(struct command_log *log) {
    reply_free(&log->bytes);
}

static bool has_reader(const struct command_log *log, const struct command_log_reader *reader) {
    const struct command_log_reader *known = log->first_reader;
    while (known && known != reader) known = known->next;
    return known;
}

void command_log_add_reader(struct command_log *log, struct command_log_reader *reader) {
    assert(!command_log_is_inside_unit(log) && !has_reader(log, reader));
    reader->offset = command_log_end(log);
    CHAIN_APPEND(log->first_reader, log->last_reader, reader, prev, next);
    command_log_repeat_database(log);
    update_is_on(log);
}

/* Drops all units that have ended once every reader has read all of them. Readers always read all
 * of them, so dropping a part is not worth the effort. A unit that is open stays. */
static void drop_read(struct command_log *log) {
    uint64_t end = command_log_units_end(log);
    for (const struct command_log_reader *reader = log->first_reader; reader; reader = reader->next)
        if (reader->offset < end) return;
    size_t dropped = (size_t)(end - log->begin);
    log->begin = end;
    log->bytes.len -= dropped;
    log->unit_begin = 0;
    if (log->bytes.len > 0)
        memmove(log->bytes.data, log->bytes.data + dropped, log->bytes.len);
    else if (log->bytes.capacity > KEEP_MAX)
        reply_free(&log->bytes);
}

void command_log_remove_reader(struct command_log *log, struct command_log_reader *reader) {
    if (!has_reader(log, reader)) return;
    command_log_end_unit(log);
    CHAIN_REMOVE(log->first_reader, log->last_reader, reader, prev, next);
    drop_read(log);
    update_is_on(log);
}

void command_log_suspend(struct command_log *log) {
    log->is_suspended = true;
    update_is_on(log);
}

void command_log_resume(struct command_log *log) {
    log->is_suspended = false;
    update_is_on(log);
}

void command_log_repeat_database(struct command_log *log) {
    log->database = -1;
}

struct slice command_log_unread(const struct command_log *log,
                                const struct command_log_reader *reader) {
    uint64_t end = command_log_units_end(log);
    CHECKED_ASSERT(has_reader(log, reader));
    CHECKED_ASSERT(reader->offset >= log->begin && reader->offset <= end);
    size_t read = (size_t)(reader->offset - log->begin);
    return slice_make(log->bytes.data + read, (size_t)(end - log->begin) - read);
}

void command_log_pass(struct command_log *log, struct command_log_reader *reader) {
    reader->offset = command_log_units_end(log);
    drop_read(log);
}

void command_log_read(struct command_log *log, struct command_log_reader *reader,
                      struct reply *into) {
    bool reads_all = command_log_units_end(log) == command_log_end(log);
    if (reads_all && into->len == 0 && reader->offset == log->begin && !log->first_reader->next) {
        struct reply emptied = *into;
        reader->offset = command_log_end(log);
        log->begin += log->bytes.len;
        *into = log->bytes;
        log->bytes = emptied;
        return;
    }
    reply_raw(into, command_log_unread(log, reader));
    command_log_pass(log, reader);
}

/* --- Commands --- */

static void write_command(struct reply *bytes, const struct slice *argv, size_t argc) {
    reply_array(bytes, argc);
    for (size_t i = 0; i < argc; i++) reply_bulk(bytes, argv[i]);
}

static void write_select(struct reply *bytes, int database) {
    char buffer[INT64_TEXT_MAX];
    write_command(bytes, (const struct slice[]){SLICE("SELECT"), number_text(buffer, database)}, 2);
}

/* Inserts MULTI in front of the unit. */
static void enclose_unit(struct command_log *log) {
    struct reply *bytes = &log->bytes;
    size_t len = bytes->len;
    write_command(bytes, multi, 1);
    size_t more = bytes->len - len;
    char *unit = bytes->data + log->unit_begin;
    memmove(unit + more, unit, len - log->unit_begin);
    bytes->len = log->unit_begin;
    write_command(bytes, multi, 1);
    bytes->len = len + more;
}

static void open_unit(struct command_log *log) {
    for (struct command_log_reader *reader = log->first_reader; reader; reader = reader->next)
        if (reader->unit_opens) reader->unit_opens(reader);
    log->unit_begin = log->bytes.len;
}

void command_log_append(struct command_log *log, int database, const struct slice *argv,
                        size_t argc) {
    if (!log->is_on) return;
    CHECKED_ASSERT(database >= 0 && argc > 0);
    if (log->unit_count == 0)
        open_unit(log);
    else if (log->unit_count == 1)
        enclose_unit(log);
    log->unit_count++;
    if (database != log->database) write_select(&log->bytes, database);
    log->database = database;
    write_command(&log->bytes, argv, argc);
}

void command_log_end_unit(struct command_log *log) {
    if (log->unit_count > 1) write_command(&log->bytes, exec, 1);
    log->unit_count = 0;
}

void command_log_drop_unit(struct command_log *log) {
    if (!command_log_is_inside_unit(log)) return;
    log->bytes.len = log->unit_begin;
    log->unit_count = 0;
    command_log_repeat_database(log); /* the unit may have had the SELECT of the last command */
}
