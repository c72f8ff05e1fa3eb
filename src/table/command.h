/* command: the table of commands: what each one is called, takes and does, and finding one by its
 * name. Each command is a row, written by hand, in a file for each family: family_*.c. This module
 * knows no command: command_table_init gets the families (table/families.h). */
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
    COMMAND_MOVABLE_KEYS = 1 << 13,     /* key positions depend on arguments: keys.numkeys */
    COMMAND_SKIP_SLOWLOG = 1 << 14,     /* the commands that it runs are logged, not it (EXEC) */
    COMMAND_NO_ASYNC_LOADING = 1 << 15, /* shown only: replicas may load beside their old data */
    /* COMMAND INFO does not show the flags that follow. */
    COMMAND_CONTAINER = 1 << 16,         /* has subcommands */
    COMMAND_SUBCOMMAND = 1 << 17,        /* its name is "container|subcommand" */
    COMMAND_MAY_REPLICATE = 1 << 18,     /* held back and refused as commands that write are */
    COMMAND_NO_MANDATORY_KEYS = 1 << 19, /* keys.numkeys may be 0 */
    COMMAND_RUNS_QUEUE = 1 << 20,        /* EXEC: it counts as the commands that it runs */
    COMMAND_NOT_QUEUED = 1 << 21,        /* MULTI does not queue it */
    COMMAND_FOR_SUBSCRIBERS = 1 << 22,   /* allowed while the client is subscribed in RESP2 */
    COMMAND_TELLS_HEALTH = 1 << 23,      /* refused while writes are: health checks use it */
    COMMAND_TOUCHES = 1 << 24,           /* marks keys as used despite CLIENT NO-TOUCH */
    COMMAND_FOR_FILES = 1 << 25,  /* allowed in an append-only file although it does not write */
    COMMAND_REACHES_OUT = 1 << 26 /* asks other servers: not allowed there although it writes */
};

/* Hints for proxies and cluster clients, which COMMAND INFO shows as tips. The server itself does
 * not use them. */
enum command_tip {
    TIP_NONDETERMINISTIC = 1 << 0,       /* the reply may differ from call to call */
    TIP_NONDETERMINISTIC_ORDER = 1 << 1, /* only the order of its members may */
    TIP_ALL_NODES = 1 << 2,              /* send it to all nodes of a cluster, … */
    TIP_ALL_SHARDS = 1 << 3,             /* … to all primaries, … */
    TIP_MULTI_SHARD = 1 << 4,            /* … split it by keys, … */
    TIP_SPECIAL_REQUEST = 1 << 5,        /* … or in a way of its own */
    TIP_ALL_SUCCEEDED = 1 << 6,          /* combine the replies: OK if all are, … */
    TIP_SUM = 1 << 7,                    /* … their sum, … */
    TIP_MIN = 1 << 8,                    /* … their minimum, … */
    TIP_LOGICAL_AND = 1 << 9,            /* … 1 where all are 1, … */
    TIP_SPECIAL_RESPONSE = 1 << 10       /* … or in a way of its own */
};

/* Access categories: COMMAND INFO, COMMAND LIST and ACL CAT show them. A row states those that do
 * not follow from its flags: see command_categories in table/command_categories.h. */
enum command_category {
    CATEGORY_KEYSPACE = 1 << 0,
    CATEGORY_READ = 1 << 1,
    CATEGORY_WRITE = 1 << 2,
    CATEGORY_SET = 1 << 3,
    CATEGORY_SORTED_SET = 1 << 4,
    CATEGORY_LIST = 1 << 5,
    CATEGORY_HASH = 1 << 6,
    CATEGORY_STRING = 1 << 7,
    CATEGORY_BITMAP = 1 << 8,
    CATEGORY_HYPERLOGLOG = 1 << 9,
    CATEGORY_GEO = 1 << 10,
    CATEGORY_STREAM = 1 << 11,
    CATEGORY_PUBSUB = 1 << 12,
    CATEGORY_ADMIN = 1 << 13,
    CATEGORY_FAST = 1 << 14,
    CATEGORY_SLOW = 1 << 15,
    CATEGORY_BLOCKING = 1 << 16,
    CATEGORY_DANGEROUS = 1 << 17,
    CATEGORY_CONNECTION = 1 << 18,
    CATEGORY_TRANSACTION = 1 << 19,
    CATEGORY_SCRIPTING = 1 << 20
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
    const char *name;               /* lower case; subcommands: "config|get" */
    void (*run)(struct call *call); /* NULL: a container whose subcommands alone do anything */
    int32_t arity;       /* argc must be this, or at least its negation; command name(s) included */
    uint32_t flags;      /* enum command_flag */
    uint32_t categories; /* enum command_category: those that do not follow from the flags */
    uint32_t tips;       /* enum command_tip */
    struct key_positions keys;
    /* Is argv[index] secret, so that no log and no MONITOR may show it? A function of
     * table/secret.h; NULL: no argument is. */
    bool (*is_secret)(const struct slice *argv, size_t index);
    const char *group; /* "list", "string", "bitmap", "generic", "transactions", "connection", … */
    const char *since; /* the Redis version that brought it */
    const char *complexity;
    const char *summary;
    /* Arguments and changes in the notation of admin/command_syntax.h. A row without either leaves
     * it out; in the table it is "" then. */
    const char *syntax;
};

/* At most so many commands, subcommands included. */
enum { COMMANDS_MAX = 512 };

/* The rows of one family_*.c; a container is followed by its subcommands. */
struct command_family {
    const struct command *rows;
    size_t count;
};

/* Copies the rows of all families, up to a NULL, to one table and indexes it by name. Called once,
 * at start, before anything else here. O(commands). */
void command_table_init(const struct command_family *const *families);

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

/* The command's place among command_all: what statistics are indexed by. O(1). */
size_t command_index(const struct command *command);

#endif
