/* command: the table of commands: what each one is called, takes and does. One line a command,
 * written by hand, in a file for each family: family_*.c. */
#ifndef PACKLIST_TABLE_COMMAND_H
#define PACKLIST_TABLE_COMMAND_H

#include "base/slice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct call;

enum command_flag {
    COMMAND_WRITE = 1 << 0,
    COMMAND_READONLY = 1 << 1,
    COMMAND_DENYOOM = 1 << 2, /* refused when memory is over the limit */
    COMMAND_ADMIN = 1 << 3,
    COMMAND_PUBSUB = 1 << 4,
    COMMAND_NOSCRIPT = 1 << 5,
    COMMAND_BLOCKING = 1 << 6,
    COMMAND_LOADING = 1 << 7, /* allowed while loading */
    COMMAND_STALE = 1 << 8,
    COMMAND_FAST = 1 << 9,
    COMMAND_NO_AUTH = 1 << 10, /* allowed before authentication */
    COMMAND_NO_MULTI = 1 << 11,
    COMMAND_ALLOW_BUSY = 1 << 12,
    COMMAND_MOVABLE_KEYS = 1 << 13, /* key positions depend on arguments: keys.numkeys */
    COMMAND_CONTAINER = 1 << 14,    /* has subcommands */
    COMMAND_SUBCOMMAND = 1 << 15,
    COMMAND_MAY_REPLICATE = 1 << 16,     /* held back and refused like one that writes; not shown */
    COMMAND_SKIP_SLOWLOG = 1 << 17,      /* what it runs is noted, not it (EXEC) */
    COMMAND_NO_ASYNC_LOADING = 1 << 18,  /* shown only: replicas may load beside their old data */
    COMMAND_NO_MANDATORY_KEYS = 1 << 19, /* keys.numkeys may be 0 */
    /* 20 … 30: enum command_tip. What follows is shown nowhere. */
    COMMAND_RUNS_QUEUE = INT64_C(1) << 32,      /* EXEC: it counts as the commands that it runs */
    COMMAND_NOT_QUEUED = INT64_C(1) << 33,      /* MULTI does not queue it */
    COMMAND_FOR_SUBSCRIBERS = INT64_C(1) << 34, /* allowed while listening to channels in RESP2 */
    COMMAND_TELLS_HEALTH = INT64_C(1) << 35,    /* refused while writing is: watchers ask with it */
    COMMAND_TOUCHES = INT64_C(1) << 36,         /* marks keys as used despite CLIENT NO-TOUCH */
    COMMAND_FOR_FILES = INT64_C(1) << 37,  /* may stand in an append-only file, and writes not */
    COMMAND_REACHES_OUT = INT64_C(1) << 38 /* to other servers: may not stand there, and writes */
};

/* Hints for proxies and cluster clients, which COMMAND INFO shows as tips. The server itself does
 * not use them. They share the word of enum command_flag. */
enum command_tip {
    TIP_NONDETERMINISTIC = 1 << 20,       /* the reply may differ from call to call */
    TIP_NONDETERMINISTIC_ORDER = 1 << 21, /* only the order of its members may */
    TIP_ALL_NODES = 1 << 22,              /* send it to all nodes of a cluster, … */
    TIP_ALL_SHARDS = 1 << 23,             /* … to all primaries, … */
    TIP_MULTI_SHARD = 1 << 24,            /* … split it by keys, … */
    TIP_SPECIAL_REQUEST = 1 << 25,        /* … or in a way of its own */
    TIP_ALL_SUCCEEDED = 1 << 26,          /* combine the replies: OK if all are, … */
    TIP_SUM = 1 << 27,                    /* … their sum, … */
    TIP_MIN = 1 << 28,                    /* … their minimum, … */
    TIP_LOGICAL_AND = 1 << 29,            /* … 1 where all are 1, … */
    TIP_SPECIAL_RESPONSE = 1 << 30        /* … or in a way of its own */
};

/* What a command does with its keys (COMMAND INFO key specifications). */
enum key_flag {
    KEY_RO = 1 << 0,
    KEY_RW = 1 << 1,
    KEY_OW = 1 << 2,
    KEY_RM = 1 << 3,
    KEY_ACCESS = 1 << 4,
    KEY_UPDATE = 1 << 5,
    KEY_INSERT = 1 << 6,
    KEY_DELETE = 1 << 7,
    KEY_NOT_KEY = 1 << 8,    /* a name that stands where keys stand (a shard channel) */
    KEY_INCOMPLETE = 1 << 9, /* the specification does not find them in every case */
    KEY_VARIABLE = 1 << 10   /* the arguments decide (struct key_positions, actual_flags) */
};

struct key_positions {
    int8_t first; /* argv index of the first key; 0 = none */
    int8_t last;  /* index of the last key; negative counts from the end */
    int8_t step;
    int8_t numkeys;        /* > 0: argv index of a count of keys that follow it (movable keys) */
    uint16_t flags;        /* enum key_flag: what is done with the keys */
    uint16_t second_flags; /* with those from the second on, if it differs (LMOVE's destination,
                              BITOP's sources); else 0 */
    uint16_t data_flags;   /* with keys whose names come from the data (SORT's BY and GET), which
                              nobody can find among the arguments; 0: there are none */
    uint16_t store_flags;  /* with a key that stands behind the word STORE; 0: there is none */
    uint16_t listed_flags; /* with keys that follow the word KEYS, where the first key is empty
                              (MIGRATE); 0: there are none */
    uint16_t (*actual_flags)(const struct slice *argv, size_t argc); /* with KEY_VARIABLE: enum
                              key_flag of the key in this call; else NULL */
    const char *notes; /* what COMMAND INFO says about the keys; NULL: nothing */
};

struct command {
    const char *name; /* lower case; subcommands: "config|get" */
    void (*run)(struct call *call);
    int arity;      /* argc must be this, or at least its negation; command name(s) included */
    uint64_t flags; /* enum command_flag and enum command_tip */
    struct key_positions keys;
    const char *group; /* "list", "string", "bitmap", "generic", "transactions", "connection", … */
    const char *since; /* the Redis version that brought it */
    const char *complexity;
    const char *summary;
    const char *syntax; /* arguments and changes in the notation of admin/command_syntax.h */
};

/* Joins the families of commands and builds the lookup table. Called once at start, before
 * anything else here. */
void command_table_init(void);

/* Finds a command by its name in any case; NULL when unknown. A few nanoseconds: the first eight
 * bytes, lower-cased, are hashed. */
const struct command *command_find(struct slice name);

/* As command_find, but tries `last` (NULL allowed) first: clients repeat themselves. */
const struct command *command_find_cached(const struct command *last, struct slice name);

/* Finds the subcommand `name` of a container ("config", "get"); NULL when unknown. */
const struct command *command_find_subcommand(const struct command *container, struct slice name);

/* May the command be called with so many arguments, its name or names included? */
static inline bool command_accepts(const struct command *command, size_t argc) {
    return command->arity >= 0 ? argc == (size_t)command->arity : argc >= (size_t)-command->arity;
}

/* Is it one that can be named alone, not a subcommand? */
static inline bool command_is_top_level(const struct command *command) {
    return !(command->flags & COMMAND_SUBCOMMAND);
}

/* All commands in table order, subcommands behind their container. */
const struct command *command_all(size_t *count);

/* The command's place among command_all: what statistics are indexed by. */
size_t command_index(const struct command *command);

#endif
