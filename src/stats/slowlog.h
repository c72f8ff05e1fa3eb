/* slowlog: the slowest recent commands, with their arguments (SLOWLOG).
 *
 *      newest ── entry 7 ── entry 6 ── entry 5 ── oldest
 *
 * Only a command's own time counts; waiting for a key, for the network or for other clients does
 * not. Long commands are cut: at most SLOWLOG_ARGUMENTS arguments are kept, the last of them then
 * being the number of those cut, and at most SLOWLOG_BYTES bytes of each. */
#ifndef PACKLIST_STATS_SLOWLOG_H
#define PACKLIST_STATS_SLOWLOG_H

#include "base/sds.h"
#include "base/slice.h"
#include "table/command.h"

#include <stddef.h>
#include <stdint.h>

enum { SLOWLOG_ARGUMENTS = 32, SLOWLOG_BYTES = 128 };

/* A command that was run; the log copies what it keeps. */
struct slowlog_call {
    const struct command *command;
    const struct slice *argv;
    size_t argc;
    int64_t time_s; /* wall clock at its end */
    uint64_t duration_us;
    struct slice peer; /* the client's address */
    struct slice name; /* from CLIENT SETNAME */
};

/* Owned by the log, with its texts; read-only. */
struct slowlog_entry {
    struct slowlog_entry *older;
    struct slowlog_entry *newer;
    int64_t id;
    int64_t time_s; /* wall clock */
    uint64_t duration_us;
    sds peer;
    sds name;
    size_t argc;
    sds argv[];
};

/* All zero is an empty log. Numbers continue after a reset. */
struct slowlog {
    struct slowlog_entry *newest;
    struct slowlog_entry *oldest;
    size_t count;
    int64_t next_id;
};

/* Adds a command, with copies of its arguments, and drops the oldest entries beyond `max`. A `max`
 * of 0 turns the log off: nothing is added or dropped, and no number is used. O(arguments kept). */
void slowlog_add(struct slowlog *log, const struct slowlog_call *call, size_t max);

/* Drops all entries. O(entries). */
void slowlog_reset(struct slowlog *log);

#endif
