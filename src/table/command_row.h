/* command_row: what the rows of the command table are written with. For the family_*.c files
 * only: the names are as short as a column is narrow.
 *
 * Columns of a row: name, function, arity, flags, key positions, group, since; complexity; summary;
 * syntax and changes (the notation is described in admin/command_syntax.h). COMMAND, COMMAND DOCS,
 * the arity check and key extraction all come from there. A container is followed by its
 * subcommands. */
#ifndef PACKLIST_TABLE_COMMAND_ROW_H
#define PACKLIST_TABLE_COMMAND_ROW_H

#include "table/command_keys.h"
#include "table/command_table.h"

/* clang-format off */

/* Flags, short enough for a column. */
enum {
    W = COMMAND_WRITE, R = COMMAND_READONLY, F = COMMAND_FAST, M = COMMAND_DENYOOM,
    A = COMMAND_ADMIN, B = COMMAND_BLOCKING, L = COMMAND_LOADING, S = COMMAND_STALE,
    N = COMMAND_NOSCRIPT, U = COMMAND_NO_AUTH, C = COMMAND_CONTAINER, X = COMMAND_SUBCOMMAND,
    H = COMMAND_PUBSUB, G = COMMAND_MAY_REPLICATE,
    K = COMMAND_MOVABLE_KEYS, Y = COMMAND_ALLOW_BUSY, Q = COMMAND_NO_MULTI,
    I = COMMAND_NO_ASYNC_LOADING,
    P = COMMAND_SUBCOMMAND | COMMAND_LOADING | COMMAND_STALE
};

/* Tips: how the reply varies, which nodes of a cluster are asked, how their replies are joined. */
enum {
    VARIES = TIP_NONDETERMINISTIC,
    UNORDERED = TIP_NONDETERMINISTIC_ORDER,
    NODES = TIP_ALL_NODES,
    NODES_OK = TIP_ALL_NODES | TIP_ALL_SUCCEEDED,
    NODES_SUM = TIP_ALL_NODES | TIP_SUM,
    NODES_JOIN = TIP_ALL_NODES | TIP_SPECIAL_RESPONSE,
    SHARDS = TIP_ALL_SHARDS,
    SHARDS_OK = TIP_ALL_SHARDS | TIP_ALL_SUCCEEDED,
    SHARDS_SUM = TIP_ALL_SHARDS | TIP_SUM,
    SHARDS_MIN = TIP_ALL_SHARDS | TIP_MIN,
    SHARDS_AND = TIP_ALL_SHARDS | TIP_LOGICAL_AND,
    SHARDS_JOIN = TIP_ALL_SHARDS | TIP_SPECIAL_RESPONSE,
    SPLIT = TIP_MULTI_SHARD,
    SPLIT_OK = TIP_MULTI_SHARD | TIP_ALL_SUCCEEDED,
    SPLIT_SUM = TIP_MULTI_SHARD | TIP_SUM,
    BY_CURSOR = TIP_SPECIAL_REQUEST | TIP_SPECIAL_RESPONSE
};

/* Key positions: none; one key; keys from … to; a count at argv[at] with keys behind it. */
#define NO_KEYS {0}
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
    {.first = at, .last = -1, .step = 1, .flags = WRITE, .second_flags = READ}
#define COUNTED_KEYS(at, use) {.numkeys = at, .flags = use}

/* What is done with a key. */
enum {
    LOOK = KEY_RO,
    READ = KEY_RO | KEY_ACCESS,
    PUSH = KEY_RW | KEY_INSERT,
    POP = KEY_RW | KEY_ACCESS | KEY_DELETE,
    TAKE = KEY_RW | KEY_DELETE,
    CHANGE = KEY_RW | KEY_UPDATE,
    EXCHANGE = KEY_RW | KEY_ACCESS | KEY_UPDATE,
    MAKE = KEY_OW | KEY_INSERT,
    WRITE = KEY_OW | KEY_UPDATE,
    REMOVE = KEY_RM | KEY_DELETE,
    NOT_KEY = KEY_NOT_KEY
};

/* The family that the rows of a file are. */
#define FAMILY_OF(rows) {rows, sizeof(rows) / sizeof((rows)[0])}

/* clang-format on */

#endif
