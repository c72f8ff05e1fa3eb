/* command_log: all changes of the data as commands which, run on the same data, make the same
 * changes again, whenever that is.
 *
 *      unit of one command       [SELECT db] LPUSH k a
 *      unit of several           MULTI [SELECT db] DEL old  LPUSH old a  EXEC
 *
 * A unit takes effect as a whole or not at all: a command together with the expired keys that it
 * deleted; an EXEC; the reply to one blocked client; a key that the server deletes by itself.
 * SELECT precedes a command of another database than the command before it. MULTI is inserted in
 * front of the first command of a unit when the second one is appended.
 *
 * The log is a stream of bytes (arrays of bulk strings in RESP) with a running offset: the number
 * of bytes appended since the server started. Readers (the append-only file) consume it at their
 * own pace, at least once in each iteration of the event loop; what all of them have read is
 * dropped. Without readers nothing is appended, and a command costs one test. */
#ifndef PACKLIST_LOG_COMMAND_LOG_H
#define PACKLIST_LOG_COMMAND_LOG_H

#include "resp/reply.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct command_log_reader {
    uint64_t offset; /* of the first byte that it has not read */
    /* Called when a unit is about to be opened, at the end of the log; the reader may read what
     * precedes it. NULL: not called. */
    void (*unit_opens)(struct command_log_reader *reader);
    void *arg; /* for unit_opens */
    struct command_log_reader *prev;
    struct command_log_reader *next;
};

struct command_log {
    struct command_log_reader *first_reader;
    struct command_log_reader *last_reader;
    bool is_on; /* it has readers and is not suspended */
    bool is_suspended;
    int database;        /* of the last command; -1: the next one gets its SELECT in any case */
    uint64_t begin;      /* offset of the first byte in `bytes` */
    struct reply bytes;  /* what at least one reader has not read */
    size_t unit_begin;   /* where the current unit begins in `bytes` */
    uint64_t unit_count; /* its commands so far; 0: no unit is open */
};

/* An empty log without readers; free releases its memory. */
void command_log_init(struct command_log *log);
void command_log_free(struct command_log *log);

/* Adds a reader, which gets all that is appended from now on. The first command that it gets is
 * preceded by its SELECT. The caller keeps the reader in place until it is removed. Not inside a
 * unit. */
void command_log_add_reader(struct command_log *log, struct command_log_reader *reader);

/* Removes the reader, if it is one, and ends the current unit. What it has not read is lost to
 * it. */
void command_log_remove_reader(struct command_log *log, struct command_log_reader *reader);

/* While suspended the log has no use for commands (is_on is false): the data is being loaded. */
void command_log_suspend(struct command_log *log);
void command_log_resume(struct command_log *log);

/* The next command gets its SELECT: what a reader writes goes on in another file. */
void command_log_repeat_database(struct command_log *log);

/* Has a unit been opened that has not ended? */
static inline bool command_log_is_inside_unit(const struct command_log *log) {
    return log->unit_count > 0;
}

/* The offset behind the last byte. O(1). */
static inline uint64_t command_log_end(const struct command_log *log) {
    return log->begin + log->bytes.len;
}

/* Appends a command, copying its arguments, to the current unit, which it opens if need be. Does
 * nothing while the log is off. O(bytes). */
void command_log_append(struct command_log *log, int database, const struct slice *argv,
                        size_t argc);

/* Ends the current unit, if one is open. */
void command_log_end_unit(struct command_log *log);

/* Moves all that the reader has not read behind the bytes in `into`. Not inside a unit. O(bytes);
 * O(1) for the only reader when `into` is empty: then the buffers are exchanged. */
void command_log_read(struct command_log *log, struct command_log_reader *reader,
                      struct reply *into);

#endif
