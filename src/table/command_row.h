/* command_row: shorthands for the rows of the command table.
 *
 * A row is ROW(…) and the members of struct command that it has besides; those left out are 0.
 * COMMAND, COMMAND DOCS, the arity check and key extraction all use it. A container's subcommands
 * follow it. */
#ifndef PACKLIST_TABLE_COMMAND_ROW_H
#define PACKLIST_TABLE_COMMAND_ROW_H

#include "table/command.h"
#include "table/families.h"

/* clang-format off */

/* .flags: enum command_flag without its prefix. */
enum {
    WRITE = COMMAND_WRITE,
    READONLY = COMMAND_READONLY,
    DENYOOM = COMMAND_DENYOOM,
    ADMIN = COMMAND_ADMIN,
    PUBSUB = COMMAND_PUBSUB,
    NOSCRIPT = COMMAND_NOSCRIPT,
    BLOCKING = COMMAND_BLOCKING,
    LOADING = COMMAND_LOADING,
    STALE = COMMAND_STALE,
    FAST = COMMAND_FAST,
    NO_AUTH = COMMAND_NO_AUTH,
    NO_MULTI = COMMAND_NO_MULTI,
    ALLOW_BUSY = COMMAND_ALLOW_BUSY,
    MOVABLE_KEYS = COMMAND_MOVABLE_KEYS,
    SKIP_SLOWLOG = COMMAND_SKIP_SLOWLOG,
    NO_ASYNC_LOADING = COMMAND_NO_ASYNC_LOADING,
    CONTAINER = COMMAND_CONTAINER,
    SUBCOMMAND = COMMAND_SUBCOMMAND,
    MAY_REPLICATE = COMMAND_MAY_REPLICATE,
    RUNS_QUEUE = COMMAND_RUNS_QUEUE,
    NOT_QUEUED = COMMAND_NOT_QUEUED,
    FOR_SUBSCRIBERS = COMMAND_FOR_SUBSCRIBERS,
    TELLS_HEALTH = COMMAND_TELLS_HEALTH,
    TOUCHES = COMMAND_TOUCHES,
    FOR_FILES = COMMAND_FOR_FILES,
    REACHES_OUT = COMMAND_REACHES_OUT,
    SKIP_MONITOR = COMMAND_SKIP_MONITOR,
    NO_MANDATORY_KEYS = COMMAND_NO_MANDATORY_KEYS,
    GIVES_SCORE = COMMAND_GIVES_SCORE
};

/* .keys: the key is argv[1]; the same with a note; the key is argv[at]; keys are argv[from] to
 * argv[to], where negative numbers count from the end; argv[1] and argv[2] with different uses;
 * every second argument; a destination at argv[at], followed by its sources; a number at argv[at],
 * followed by as many keys, or keys with values; the same with a note; a destination at argv[1],
 * followed by a number and as many keys; those of one command. */
#define ONE_KEY(how) {.first = 1, .last = 1, .step = 1, .use = how}
#define NOTED_KEY(how, text) {.first = 1, .last = 1, .step = 1, .use = how, .notes = text}
#define KEY_AT(at, how) {.first = at, .last = at, .step = 1, .use = how}
#define KEYS(from, to, how) {.first = from, .last = to, .step = 1, .use = how}
#define TWO_KEYS(how, other) {.first = 1, .last = 2, .step = 1, .use = how, .other_use = other}
#define PAIRS(how) {.first = 1, .last = -1, .step = 2, .use = how}
#define TARGET_AND_KEYS(at) \
    {.first = at, .last = -1, .step = 1, .use = OVERWRITE, .other_use = READ}
#define COUNTED_KEYS(at, how) {.shape = KEYS_COUNTED, .numkeys = at, .use = how}
#define COUNTED_PAIRS(at, how) {.shape = KEYS_COUNTED_PAIRS, .numkeys = at, .use = how}
#define NOTED_COUNTED_KEYS(at, how, text) \
    {.shape = KEYS_COUNTED, .numkeys = at, .use = how, .notes = text}
#define TARGET_AND_COUNTED_KEYS {.shape = KEYS_COUNTED, .first = 1, .last = 1, .step = 1, \
                                 .numkeys = 2, .use = OVERWRITE, .other_use = READ}
#define SORTED_KEY(stored) {.shape = KEYS_OF_SORT, .first = 1, .last = 1, .step = 1, .use = READ, \
                            .other_use = stored}
#define PLACES_KEY(options) {.shape = KEYS_OF_GEORADIUS, .first = 1, .last = 1, .step = 1, \
                             .numkeys = options, .use = READ, .other_use = OVERWRITE}
#define SPECIAL_KEY(form, how, text) {.shape = form, .first = 1, .last = 1, .step = 1, \
                                      .use = how, .notes = text}
#define MIGRATED_KEYS {.shape = KEYS_OF_MIGRATE, .first = 3, .last = 3, .step = 1, .use = POP}
#define STREAMS_TO_READ(from) {.shape = KEYS_OF_XREAD, .numkeys = from, .use = READ}

/* What the commands that run a text (EVAL and related ones) or a function (FCALL) have in common:
 * flags, and the keys where the command table has a note about them. */
#define SCRIPT_FLAGS                                                                              \
    (NOSCRIPT | STALE | SKIP_MONITOR | NO_MANDATORY_KEYS | MOVABLE_KEYS | COMMAND_RUNS_SCRIPT)
#define SCRIPT_KEYS                                                                               \
    NOTED_COUNTED_KEYS(2, EXCHANGE, "We cannot tell how the keys will be used so we assume the "  \
                                    "worst, RW and UPDATE")
#define SCRIPT_KEYS_READ                                                                          \
    NOTED_COUNTED_KEYS(2, READ, "We cannot tell how the keys will be used so we assume the "      \
                                "worst, RO and ACCESS")

/* Uses of a key: enum key_use. */
enum {
    LOOK = KEY_RO,
    READ = KEY_RO | KEY_ACCESS,
    PUSH = KEY_RW | KEY_INSERT,
    POP = KEY_RW | KEY_ACCESS | KEY_DELETE,
    TAKE = KEY_RW | KEY_DELETE,
    CHANGE = KEY_RW | KEY_UPDATE,
    EXCHANGE = KEY_RW | KEY_ACCESS | KEY_UPDATE,
    MAKE = KEY_OW | KEY_INSERT,
    OVERWRITE = KEY_OW | KEY_UPDATE,
    REMOVE = KEY_RM | KEY_DELETE,
    CHANNEL = KEY_CHANNEL | KEY_RESTRICTED,
    CHANNEL_PATTERN = CHANNEL | KEY_PATTERN,
    SHARD_CHANNEL = CHANNEL | KEY_NOT_KEY,
    NAMED_CHANNEL = KEY_CHANNEL,
    NAMED_CHANNEL_PATTERN = KEY_CHANNEL | KEY_PATTERN,
    NAMED_SHARD_CHANNEL = KEY_CHANNEL | KEY_NOT_KEY
};

/* The members that each row has: the command's name, arity, group, first version, flags, complexity
 * and summary. Those of a container, with what it does; of its subcommand HELP. */
#define ROW(called, arguments, of_group, version, bits, costs, does)                              \
    .name = called, .arity = arguments, .group = of_group, .since = version, .flags = bits,       \
    .complexity = costs, .summary = does
#define CONTAINER_ROW(called, of_group, version, does)                                            \
    ROW(called, -2, of_group, version, CONTAINER, "Depends on the subcommand", does)
#define HELP_ROW(container, of_group, version)                                                    \
    ROW(container "|help", 2, of_group, version, SUBCOMMAND | LOADING | STALE, "O(1)",            \
        "Explains the subcommands.")

/* Makes the family from the rows of a file. */
#define FAMILY_OF(rows) {rows, sizeof(rows) / sizeof((rows)[0])}

/* clang-format on */

#endif
