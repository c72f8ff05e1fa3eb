/* slowlog: recent commands that took long, had large requests or large replies, with their
 * arguments (SLOWLOG, COMMANDLOG).
 *
 * Only a command's own time counts; waiting for a key, for the network or for other clients does
 * not. Long commands are cut: only so many arguments are kept as slowlog-max-argc says, the last of
 * them then being the number of those cut, and so many bytes of each as
 * slowlog-entry-max-string-len says. */
#ifndef PACKLIST_STATS_SLOWLOG_H
#define PACKLIST_STATS_SLOWLOG_H

#include "base/slice.h"
#include "base/text/sds.h"
#include "table/command.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct relocator; /* base/memory/relocate.h */

/* There is a log of each. */
enum slowlog_kind { SLOWLOG_SLOW, SLOWLOG_LARGE_REQUEST, SLOWLOG_LARGE_REPLY, SLOWLOG_KINDS };

/* How much a log keeps. */
struct slowlog_limits {
    size_t entries;
    size_t arguments; /* at least 1 */
    size_t bytes;     /* of an argument */
};

/* A command that was run; the log copies what it keeps. */
struct slowlog_call {
    const struct command *command;
    const struct slice *argv;
    size_t argc;
    int64_t time_s;    /* wall clock at its end */
    uint64_t amount;   /* microseconds, or bytes */
    struct slice peer; /* the client's address */
    struct slice name; /* from CLIENT SETNAME */
};

/* Owned by the log, with its texts; read-only. */
struct slowlog_entry {
    struct slowlog_entry *older;
    struct slowlog_entry *newer;
    int64_t id;
    int64_t time_s; /* wall clock */
    uint64_t amount;
    sds peer;
    sds name;
    size_t total_argc; /* with those that were cut */
    size_t argc;
    sds argv[];
};

/* All zero is an empty log. Numbers continue after a reset. */
struct slowlog {
    struct slowlog_entry *newest;
    struct slowlog_entry *oldest;
    struct slowlog_entry *relocate_next; /* where slowlog_relocate goes on; NULL: at the oldest */
    size_t count;
    int64_t next_id;
};

/* Adds a command, with copies of its arguments, and drops the oldest entries beyond limits.entries.
 * If that is 0, the log is off: nothing is added or dropped, and no number is used. O(arguments
 * kept). */
void slowlog_add(struct slowlog *log, const struct slowlog_call *call,
                 struct slowlog_limits limits);

/* Drops all entries. O(entries). */
void slowlog_reset(struct slowlog *log);

/* Moves the memory of entries to better places (base/memory/relocate.h), from where the last call
 * has ended, until the step is due. Returns whether all were visited; the next call then begins
 * anew. O(arguments of an entry) beyond the step. */
bool slowlog_relocate(struct slowlog *log, struct relocator *relocator);

#endif
