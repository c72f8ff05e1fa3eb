#include "journal/command_log.h"

#include "base/chain.h"
#include "base/checked.h"
#include "base/memory/alloc.h"
#include "base/text/number.h"

#include <assert.h>

/* An empty buffer that is larger than this is freed. */
enum { KEEP_MAX = 1024 * 1024 };

static const struct slice multi[] = {{"MULTI", 5}}, exec[] = {{"EXEC", 4}};

/* --- Readers --- */

static void update_is_on(struct command_log *log) {
    log->kinds = 0;
    for (const struct command_log_reader *reader = log->first_reader; reader; reader = reader->next)
        log->kinds |= reader->kind;
    log->is_on = log->kinds && !log->is_suspended;
}

void command_log_init(struct command_log *log) {
    *log = (struct command_log){
        .database = -1, .audience = COMMAND_LOG_ALL, .last_audience = COMMAND_LOG_ALL};
    reply_init(&log->bytes, 0);
}

void command_log_free(struct command_log *log) {
    reply_free(&log->bytes);
    mem_free(log->parts);
}

static bool has_reader(const struct command_log *log, const struct command_log_reader *reader) {
    const struct command_log_reader *known = log->first_reader;
    while (known && known != reader) known = known->next;
    return known;
}

void command_log_add_reader(struct command_log *log, struct command_log_reader *reader) {
    assert(!command_log_is_inside_unit(log) && !has_reader(log, reader));
    assert(reader->kind == COMMAND_LOG_FILE || reader->kind == COMMAND_LOG_REPLICAS);
    reader->offset = command_log_end(log);
    reader->skipped = reader->kind == COMMAND_LOG_REPLICAS ? log->hidden_from_replicas : 0;
    reader->part = log->part_count;
    CHAIN_APPEND(log->first_reader, log->last_reader, reader, prev, next);
    command_log_repeat_database(log);
    update_is_on(log);
}

/* Every reader has passed the first parts: forgets them. */
static void drop_parts(struct command_log *log, size_t count) {
    for (struct command_log_reader *reader = log->first_reader; reader; reader = reader->next)
        reader->part -= count;
    log->part_count -= count;
    memmove(log->parts, log->parts + count, log->part_count * sizeof(*log->parts));
    if (log->part_count > 0) return;
    mem_free(log->parts);
    log->parts = NULL;
    log->part_capacity = 0;
}

static size_t ended_parts(const struct command_log *log) {
    size_t count = log->part_count;
    while (count > 0 && log->parts[count - 1].begin >= command_log_units_end(log)) count--;
    return count;
}

/* Drops all units that have ended once every reader has passed all of them. */
static void drop_passed(struct command_log *log) {
    OWNER_ASSERT(log->owner);
    uint64_t end = command_log_units_end(log);
    for (const struct command_log_reader *reader = log->first_reader; reader; reader = reader->next)
        if (reader->offset < end) return;
    if (end == log->begin) return;
    if (log->part_count > 0) drop_parts(log, ended_parts(log));
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
    drop_passed(log);
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

static bool is_for(const struct command_log_part *part, const struct command_log_reader *reader) {
    return part->audience & reader->kind;
}

/* Moves the reader over the parts that end at its offset, and those at its offset that are not for
 * it. */
static void pass_parts(struct command_log *log, struct command_log_reader *reader) {
    uint64_t end = command_log_units_end(log);
    for (; reader->part < log->part_count; reader->part++) {
        const struct command_log_part *part = &log->parts[reader->part];
        uint64_t due = is_for(part, reader) ? part->end : part->begin;
        if (due > reader->offset || part->begin >= end) return;
        if (is_for(part, reader)) continue;
        reader->skipped += part->end - part->begin;
        reader->offset = part->end;
    }
}

/* Returns where what is for the reader is interrupted, or where the units that have ended end. */
static uint64_t end_of_piece(const struct command_log *log,
                             const struct command_log_reader *reader) {
    uint64_t end = command_log_units_end(log);
    for (size_t i = reader->part; i < log->part_count; i++)
        if (!is_for(&log->parts[i], reader))
            return log->parts[i].begin < end ? log->parts[i].begin : end;
    return end;
}

struct slice command_log_unread(struct command_log *log, struct command_log_reader *reader) {
    CHECKED_ASSERT(has_reader(log, reader));
    command_log_pass(log, reader, 0);
    uint64_t end = end_of_piece(log, reader);
    CHECKED_ASSERT(reader->offset >= log->begin && reader->offset <= end);
    return slice_make(log->bytes.data + (reader->offset - log->begin),
                      (size_t)(end - reader->offset));
}

void command_log_pass(struct command_log *log, struct command_log_reader *reader, size_t len) {
    reader->offset += len;
    pass_parts(log, reader);
    drop_passed(log);
}

void command_log_read(struct command_log *log, struct command_log_reader *reader,
                      struct reply *into) {
    bool reads_all = command_log_units_end(log) == command_log_end(log) && log->part_count == 0;
    if (reads_all && into->len == 0 && reader->offset == log->begin && !log->first_reader->next) {
        struct reply emptied = *into;
        reader->offset = command_log_end(log);
        log->begin += log->bytes.len;
        *into = log->bytes;
        log->bytes = emptied;
        return;
    }
    for (struct slice piece; (piece = command_log_unread(log, reader)).len > 0;) {
        reply_raw(into, piece);
        command_log_pass(log, reader, piece.len);
    }
}

/* --- Commands --- */

static void write_select(struct reply *bytes, int database) {
    char buffer[INT64_TEXT_MAX];
    reply_request(bytes, (const struct slice[]){SLICE("SELECT"), number_text(buffer, database)}, 2);
}

/* Inserts MULTI in front of the unit, which has one command, or none yet. */
static void enclose_unit(struct command_log *log) {
    struct reply *bytes = &log->bytes;
    size_t len = bytes->len;
    reply_request(bytes, multi, 1);
    size_t more = bytes->len - len;
    char *unit = bytes->data + log->unit_begin;
    memmove(unit + more, unit, len - log->unit_begin);
    bytes->len = log->unit_begin;
    reply_request(bytes, multi, 1);
    bytes->len = len + more;
    if (log->part_count == ended_parts(log)) return;
    log->parts[log->part_count - 1].begin += more;
    log->parts[log->part_count - 1].end += more;
}

/* Notes that the log has been for the audience from `begin` on. */
static void note_part(struct command_log *log, uint64_t begin) {
    uint64_t end = command_log_end(log);
    if (!(log->audience & COMMAND_LOG_REPLICAS)) log->hidden_from_replicas += end - begin;
    if (log->part_count > ended_parts(log)) {
        struct command_log_part *last = &log->parts[log->part_count - 1];
        if (last->end == begin && last->audience == log->audience) {
            last->end = end;
            return;
        }
    }
    MEM_RESERVE(log->parts, log->part_capacity, log->part_count + 1);
    log->parts[log->part_count++] =
        (struct command_log_part){.begin = begin, .end = end, .audience = log->audience};
}

static void open_unit(struct command_log *log) {
    OWNER_ASSERT(log->owner);
    for (struct command_log_reader *reader = log->first_reader; reader; reader = reader->next)
        if (reader->unit_opens) reader->unit_opens(reader);
    log->unit_begin = log->bytes.len;
}

/* So many commands follow: opens a unit, or goes on with it. */
static inline void begin_commands(struct command_log *log, uint64_t count) {
    if (log->unit_count == 0) open_unit(log);
    if (log->unit_count <= 1 && log->unit_count + count > 1) enclose_unit(log);
    log->unit_count += count;
}

/* Writes what must stand before commands of this database. */
static void begin_database(struct command_log *log, int database) {
    if (database != log->database || log->audience != log->last_audience)
        write_select(&log->bytes, database);
    log->database = database;
    log->last_audience = log->audience;
}

static inline bool is_for_nobody(const struct command_log *log) {
    return !log->is_on || !(log->audience & log->kinds);
}

void command_log_append(struct command_log *log, int database, const struct slice *argv,
                        size_t argc) {
    if (is_for_nobody(log)) return;
    CHECKED_ASSERT(database >= 0 && argc > 0);
    begin_commands(log, 1);
    uint64_t begin = command_log_end(log);
    begin_database(log, database);
    reply_request(&log->bytes, argv, argc);
    if (__builtin_expect(log->audience != COMMAND_LOG_ALL, 0)) note_part(log, begin);
}

void command_log_append_made(struct command_log *log, int database,
                             const struct made_commands *made) {
    if (is_for_nobody(log) || made->count == 0) return;
    begin_commands(log, made->count);
    uint64_t begin = command_log_end(log);
    begin_database(log, database);
    reply_grow(&log->bytes, made_reply_size(&made->bytes));
    for (size_t i = 0; i < made->bytes.count; i++)
        reply_raw(&log->bytes, sds_slice(made->bytes.pieces[i]));
    if (log->audience != COMMAND_LOG_ALL) note_part(log, begin);
}

void command_log_end_unit(struct command_log *log) {
    OWNER_ASSERT(log->owner);
    if (log->unit_count > 1) reply_request(&log->bytes, exec, 1);
    log->unit_count = 0;
}

void command_log_drop_unit(struct command_log *log) {
    if (!command_log_is_inside_unit(log)) return;
    for (size_t ended = ended_parts(log); log->part_count > ended;) {
        const struct command_log_part *part = &log->parts[--log->part_count];
        if (!(part->audience & COMMAND_LOG_REPLICAS))
            log->hidden_from_replicas -= part->end - part->begin;
    }
    log->bytes.len = log->unit_begin;
    log->unit_count = 0;
    command_log_repeat_database(log); /* the unit may have had the SELECT of the last command */
}
