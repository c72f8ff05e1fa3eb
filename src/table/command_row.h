/* command_row: what the rows of the command table are written with. For family_*.c only.
 *
 * A row names the members of struct command; those that it leaves out are 0. COMMAND, COMMAND DOCS,
 * the arity check and key extraction all come from there. A container is followed by its
 * subcommands. */
#ifndef PACKLIST_TABLE_COMMAND_ROW_H
#define PACKLIST_TABLE_COMMAND_ROW_H

#include "table/command_keys.h"
#include "table/families.h"
#include "table/secret.h"

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
    REACHES_OUT = COMMAND_REACHES_OUT
};

/* .keys: the key is argv[1]; the same with a note, or with a use that the arguments decide; the key
 * is argv[at]; keys are argv[from] to argv[to], negative ones counted from the end; SORT's and
 * MIGRATE's; argv[1] and argv[2], used in different ways; every second argument; a destination at
 * argv[at] with its sources behind it; a count at argv[at] with the keys behind it. */
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

/* What is done with a key: enum key_flag. */
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

/* The family that the rows of a file are. */
#define FAMILY_OF(rows) {rows, sizeof(rows) / sizeof((rows)[0])}

/* clang-format on */

#endif
