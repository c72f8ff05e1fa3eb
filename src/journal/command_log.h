/* command_log: all changes as commands that make the same changes again on the same data, whenever
 * they run.
 *
 *      unit of one command       [SELECT db] LPUSH k a
 *      unit of several           MULTI [SELECT db] DEL old  LPUSH old a  EXEC
 *
 * A unit takes effect as a whole or not at all. A unit is: a command that may write, together with
 * the expired keys that it deleted; an EXEC; a script; the reply to one blocked client; a key that
 * the server deletes by itself, or because a command that only reads has found it expired. SELECT
 * precedes a command whose database differs from that of the command before. When the second
 * command of a unit is appended, MULTI is inserted before the first one.
 *
 * The log is a stream of bytes (RESP arrays of bulk strings). Its offset is the number of bytes
 * appended since the server started. Each reader (the append-only file, the stream of replicas)
 * reads it at least once per loop iteration. The log drops what all readers have read. Without
 * readers a command costs one test.
 *
 * A script may say (redis.set_repl) that a change goes to only one of the two: the other reader
 * passes such a part over. MULTI and EXEC are for both, and SELECT stands wherever the audience
 * changes, because the two may be in different databases. */
#ifndef PACKLIST_JOURNAL_COMMAND_LOG_H
#define PACKLIST_JOURNAL_COMMAND_LOG_H

#include "base/threads/owner.h"
#include "resp/made_commands.h"
#include "resp/reply.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whom a command is for; a reader is one of the two. A sum says both, 0 nobody. */
enum command_log_audience {
    COMMAND_LOG_FILE = 1,
    COMMAND_LOG_REPLICAS = 2,
    COMMAND_LOG_ALL = COMMAND_LOG_FILE | COMMAND_LOG_REPLICAS
};

/* Commands that are not for all readers. */
struct command_log_part {
    uint64_t begin;
    uint64_t end;
    enum command_log_audience audience;
};

struct command_log_reader {
    enum command_log_audience kind;
    uint64_t offset;  /* of the first byte that the reader has not passed */
    uint64_t skipped; /* bytes before it that were not for the reader, since the server started */
    size_t part;      /* index of the first part that it has not passed */
    /* Called before a unit is opened, with the log ending at the previous unit; the reader may read
     * up to there. NULL: not called. */
    void (*unit_opens)(struct command_log_reader *reader);
    void *arg; /* passed to unit_opens */
    struct command_log_reader *prev;
    struct command_log_reader *next;
};

struct command_log {
    struct owner owner;
    struct command_log_reader *first_reader;
    struct command_log_reader *last_reader;
    bool is_on; /* the log has readers and is not suspended */
    bool is_suspended;
    unsigned kinds;                          /* of its readers: a sum */
    enum command_log_audience audience;      /* of the commands that are appended */
    enum command_log_audience last_audience; /* of the last one */
    int database;                   /* of the last command; -1: SELECT precedes the next command */
    uint64_t begin;                 /* offset of the first byte in `bytes` */
    struct reply bytes;             /* what at least one reader has not read */
    size_t unit_begin;              /* where the current unit begins in `bytes` */
    uint64_t unit_count;            /* its commands so far; 0: no unit is open */
    struct command_log_part *parts; /* those that at least one reader has not passed, in order */
    size_t part_count;
    size_t part_capacity;
    uint64_t hidden_from_replicas; /* bytes that are not for them, since the server started */
};

/* Makes an empty log without readers. command_log_free releases its memory. */
void command_log_init(struct command_log *log);
void command_log_free(struct command_log *log);

/* Adds a reader, which the caller owns and must not move, of the kind that is set: it gets what is
 * appended from now on, and SELECT first. Not inside a unit. O(readers). */
void command_log_add_reader(struct command_log *log, struct command_log_reader *reader);

/* Removes the reader, if it was added, and ends the current unit. The reader loses what it has not
 * read. O(readers). */
void command_log_remove_reader(struct command_log *log, struct command_log_reader *reader);

/* While the log is suspended, nothing is appended (is_on is false): data is being loaded. */
void command_log_suspend(struct command_log *log);
void command_log_resume(struct command_log *log);

/* Makes SELECT precede the next command, because a reader continues in another file. */
void command_log_repeat_database(struct command_log *log);

/* Returns whether a unit is open. */
static inline bool command_log_is_inside_unit(const struct command_log *log) {
    return log->unit_count > 0;
}

/* Returns the offset after the last byte. O(1). */
static inline uint64_t command_log_end(const struct command_log *log) {
    return log->begin + log->bytes.len;
}

/* Returns the same, counted in the bytes that are for replicas. O(1). */
static inline uint64_t command_log_end_for_replicas(const struct command_log *log) {
    return command_log_end(log) - log->hidden_from_replicas;
}

/* Returns how many of these bytes a reader of the kind COMMAND_LOG_REPLICAS has passed. O(1). */
static inline uint64_t command_log_passed_by_replicas(const struct command_log_reader *reader) {
    return reader->offset - reader->skipped;
}

/* Returns the offset after the last unit that has ended. O(1). */
static inline uint64_t command_log_units_end(const struct command_log *log) {
    return command_log_is_inside_unit(log) ? log->begin + log->unit_begin : command_log_end(log);
}

/* Says for whom the commands are that follow; COMMAND_LOG_ALL at first. 0: for nobody, they are not
 * appended. */
static inline void command_log_address(struct command_log *log,
                                       enum command_log_audience audience) {
    log->audience = audience;
}

/* Appends a command to the current unit, or opens a unit; copies the arguments. Does nothing while
 * the log is off. O(bytes). */
void command_log_append(struct command_log *log, int database, const struct slice *argv,
                        size_t argc);

/* The same with commands that another thread has made; there may be none. O(bytes): it only copies
 * them. */
void command_log_append_made(struct command_log *log, int database,
                             const struct made_commands *made);

/* Ends the current unit, if one is open. */
void command_log_end_unit(struct command_log *log);

/* Takes the current unit out of the log, if one is open: its changes are not propagated, because
 * the server ends in the middle of it. */
void command_log_drop_unit(struct command_log *log);

/* Returns the next bytes of the units that have ended which are for the reader and which it has not
 * passed, valid until the log changes: all of them, or those before the next part that is not for
 * it. Empty when it has passed everything. The second function marks `len` of them as passed. O(1)
 * and O(readers), and the parts that are passed over. */
struct slice command_log_unread(struct command_log *log, struct command_log_reader *reader);
void command_log_pass(struct command_log *log, struct command_log_reader *reader, size_t len);

/* Appends all units to `into` that have ended and that the reader has not passed, and marks them as
 * passed. O(bytes); O(1) for the only reader if `into` is empty, no unit is open and all is for it,
 * as the buffers are then exchanged. */
void command_log_read(struct command_log *log, struct command_log_reader *reader,
                      struct reply *into);

#endif
