/* command_row: shorthands for the rows of the command table.
 *
 * A row names the members of struct command; members left out are 0. COMMAND, COMMAND DOCS, the
 * arity check and key extraction all use it. A container's subcommands follow it. */
#ifndef PACKLIST_TABLE_COMMAND_ROW_H
#define PACKLIST_TABLE_COMMAND_ROW_H

#include "table/command_keys.h"
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

/* .keys: the key is argv[1]; the same with a note, or with a use that depends on the arguments; the
 * key is argv[at]; keys are argv[from] to argv[to], where negative numbers count from the end;
 * those of SORT and MIGRATE; argv[1] and argv[2] with different uses; every second argument; a
 * destination at argv[at], followed by its sources; a number at argv[at], followed by as many
 * keys; the same with a note; a destination at argv[1], followed by a number and as many keys. */
#define ONE_KEY(use) {.first = 1, .last = 1, .step = 1, .flags = use}
#define NOTED_KEY(use, text) {.first = 1, .last = 1, .step = 1, .flags = use, .notes = text}
#define VARIABLE_KEY(actual, text) {.first = 1, .last = 1, .step = 1, .notes = text, \
                                    .flags = EXCHANGE | KEY_VARIABLE, .actual_flags = actual}
#define KEY_AT(at, use) {.first = at, .last = at, .step = 1, .flags = use}
#define KEYS(from, to, use) {.first = from, .last = to, .step = 1, .flags = use}
#define SORT_KEYS(stored) {.first = 1, .last = 1, .step = 1, .flags = READ, .data_flags = READ, \
                           .store_flags = stored}
#define MIGRATED_KEYS {.first = 3, .last = 3, .step = 1, .flags = POP, \
                       .listed_flags = POP | KEY_INCOMPLETE}
#define TWO_KEYS(use, other) {.first = 1, .last = 2, .step = 1, .flags = use, .second_flags = other}
#define PAIRS(use) {.first = 1, .last = -1, .step = 2, .flags = use}
#define TARGET_AND_KEYS(at) \
    {.first = at, .last = -1, .step = 1, .flags = OVERWRITE, .second_flags = READ}
#define COUNTED_KEYS(at, use) {.numkeys = at, .flags = use}
#define NOTED_COUNTED_KEYS(at, use, text) {.numkeys = at, .flags = use, .notes = text}
#define TARGET_AND_COUNTED_KEYS {.first = 1, .last = 1, .step = 1, .numkeys = 2, \
                                 .flags = OVERWRITE, .second_flags = READ}

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

/* Uses of a key: enum key_flag. */
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
    NOT_KEY = KEY_NOT_KEY
};

/* Makes the family from the rows of a file. */
#define FAMILY_OF(rows) {rows, sizeof(rows) / sizeof((rows)[0])}

/* clang-format on */

#endif
