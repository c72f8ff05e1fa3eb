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
 * reads it at its own pace, at least once per loop iteration. The log drops what all readers have
 * read. Without readers nothing is appended, and a command costs one test. */
#ifndef PACKLIST_LOG_COMMAND_LOG_H
#define PACKLIST_LOG_COMMAND_LOG_H

#include "resp/reply.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct command_log_reader {
    uint64_t offset; /* of the first byte that the reader has not read */
    /* Called before a unit is opened, with the log ending at the previous unit; the reader may read
     * up to there. NULL: not called. */
    void (*unit_opens)(struct command_log_reader *reader);
    void *arg; /* passed to unit_opens */
    struct command_log_reader *prev;
    struct command_log_reader *next;
};

struct command_log {
    struct command_log_reader *first_reader;
    struct command_log_reader *last_reader;
    bool is_on; /* the log has readers and is not suspended */
    bool is_suspended;
    int database;        /* of the last command; -1: SELECT precedes the next command */
    uint64_t begin;      /* offset of the first byte in `bytes` */
    struct reply bytes;  /* what at least one reader has not read */
    size_t unit_begin;   /* where the current unit begins in `bytes` */
    uint64_t unit_count; /* its commands so far; 0: no unit is open */
};

/* Makes an empty log without readers. command_log_free releases its memory. */
void command_log_init(struct command_log *log);
void command_log_free(struct command_log *log);

/* Adds a reader, which gets everything appended from now on; the first command has its SELECT. The
 * caller owns the reader and must not move it before it is removed. Not inside a unit.
 * O(readers). */
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

/* Returns the offset after the last unit that has ended. O(1). */
static inline uint64_t command_log_units_end(const struct command_log *log) {
    return command_log_is_inside_unit(log) ? log->begin + log->unit_begin : command_log_end(log);
}

/* Appends a command to the current unit, or opens a unit; copies the arguments. Does nothing while
 * the log is off. O(bytes). */
void command_log_append(struct command_log *log, int database, const struct slice *argv,
                        size_t argc);

/* Ends the current unit, if one is open. */
void command_log_end_unit(struct command_log *log);

/* Takes the current unit out of the log, if one is open: its changes are not propagated, because
 * the server ends in the middle of it. */
void command_log_drop_unit(struct command_log *log);

/* Returns all units that have ended and that the reader has not read, valid until the log changes;
 * the second function marks them as read. O(1) and O(readers). */
struct slice command_log_unread(const struct command_log *log,
                                const struct command_log_reader *reader);
void command_log_pass(struct command_log *log, struct command_log_reader *reader);

/* Appends all units to `into` that have ended and that the reader has not read. O(bytes); O(1) for
 * the only reader when `into` is empty and no unit is open, as the buffers are then exchanged. */
void command_log_read(struct command_log *log, struct command_log_reader *reader,
                      struct reply *into);

#endif
