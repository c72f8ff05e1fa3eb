/* command: the table of commands: name, arguments and effect of each, and the lookup by name. Each
 * command is a row, written by hand, in its family's file: family_*.c. This module does not know
 * the commands: command_table_init gets the families (table/families.h). */
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
    COMMAND_MOVABLE_KEYS = 1 << 13,     /* the positions of keys depend on arguments */
    COMMAND_SKIP_SLOWLOG = 1 << 14,     /* its queued commands are logged, not itself (EXEC) */
    COMMAND_NO_ASYNC_LOADING = 1 << 15, /* only shown: replicas may load beside their old data */
    COMMAND_SKIP_MONITOR = 1 << 27, /* it sends itself to monitors, before the commands it runs */
    COMMAND_NO_MANDATORY_KEYS = 1 << 19, /* keys.numkeys may be 0 */
    /* COMMAND INFO does not show the following flags. */
    COMMAND_CONTAINER = 1 << 16,       /* has subcommands */
    COMMAND_SUBCOMMAND = 1 << 17,      /* its name is "container|subcommand" */
    COMMAND_MAY_REPLICATE = 1 << 18,   /* held back and refused like commands that write */
    COMMAND_RUNS_QUEUE = 1 << 20,      /* EXEC: has the flags of the commands that it runs */
    COMMAND_NOT_QUEUED = 1 << 21,      /* MULTI does not queue it */
    COMMAND_FOR_SUBSCRIBERS = 1 << 22, /* allowed while the client is subscribed in RESP2 */
    COMMAND_TELLS_HEALTH = 1 << 23,    /* refused while writes are, because health checks use it */
    COMMAND_TOUCHES = 1 << 24,         /* marks keys as used despite CLIENT NO-TOUCH */
    COMMAND_RUNS_SCRIPT = 1 << 28,     /* EVAL, FCALL …: has the flags that its script declares */
    COMMAND_BY_SHA = 1 << 29,          /* with RUNS_SCRIPT: EVALSHA names a script by its SHA1, */
    COMMAND_BY_NAME = 1 << 30,         /* … and FCALL names a function */
    COMMAND_FOR_FILES = 1 << 25, /* allowed in an append-only file although it does not write */
    COMMAND_REACHES_OUT =
        1 << 26, /* talks to other servers: not allowed in such a file although it writes */
};

/* Hints for proxies and cluster clients, which COMMAND INFO shows as tips. The server does not use
 * them. */
enum command_tip {
    TIP_NONDETERMINISTIC = 1 << 0,       /* the reply may differ from call to call */
    TIP_NONDETERMINISTIC_ORDER = 1 << 1, /* only the order of the reply's members may differ */
    TIP_ALL_NODES = 1 << 2,              /* send it to all nodes of a cluster, … */
    TIP_ALL_SHARDS = 1 << 3,             /* … to all primaries, … */
    TIP_MULTI_SHARD = 1 << 4,            /* … split it by keys, … */
    TIP_SPECIAL_REQUEST = 1 << 5,        /* … or in a way of its own */
    TIP_ALL_SUCCEEDED = 1 << 6,          /* combine the replies: OK if all are, … */
    TIP_SUM = 1 << 7,                    /* … their sum, … */
    TIP_MIN = 1 << 8,                    /* … their minimum, … */
    TIP_LOGICAL_AND = 1 << 9,            /* … 1 where all are 1, … */
    TIP_SPECIAL_RESPONSE = 1 << 10,      /* … or in a way of its own */
    TIP_ONE_SUCCEEDED = 1 << 11          /* OK if one is */
};

/* Access categories, shown by COMMAND INFO, COMMAND LIST and ACL CAT. A row states those that do
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
    KEY_NOT_KEY = 1 << 8,    /* a name in the place of a key (a shard channel) */
    KEY_INCOMPLETE = 1 << 9, /* the specification does not always find all keys */
    KEY_VARIABLE = 1 << 10   /* depends on the arguments (struct key_positions, actual_flags) */
};

struct key_positions {
    int8_t first; /* argv index of the first key; 0 = none */
    int8_t last;  /* index of the last key; negative counts from the end */
    int8_t step;
    int8_t numkeys;        /* > 0: argv index of the number of keys that follow it (movable keys);
                              with `first`, a destination precedes it */
    uint16_t flags;        /* enum key_flag: use of the keys */
    uint16_t second_flags; /* use of the second key and later ones, if it differs (LMOVE); else 0 */
    uint16_t data_flags;   /* use of keys that data names (SORT's BY and GET); 0: none */
    uint16_t store_flags;  /* use of a key after the word STORE; 0: none */
    uint16_t listed_flags; /* use of the keys after the word KEYS (MIGRATE); 0: none */
    uint16_t (*actual_flags)(const struct slice *argv,
                             size_t argc); /* with KEY_VARIABLE: the flags of the key; else NULL */
    /* XREAD: the keys are the first half of the arguments behind this word; NULL: none are. */
    const char *keyword;
    const char *notes; /* notes on the keys in COMMAND INFO; NULL: none */
};

struct command {
    const char *name;   /* lower case; subcommands: "config|get" */
    const char *called; /* the name by which clients call it, in lower case: command_rename; of a
                           subcommand its own; NULL: they cannot; in a row always NULL */
    void (*run)(struct call *call); /* NULL: a container, of use only with a subcommand */
    int32_t arity;  /* the exact argc, or the least one negated; includes the command's name(s) */
    uint32_t flags; /* enum command_flag */
    uint32_t categories; /* enum command_category: only those that do not follow from the flags */
    uint32_t tips;       /* enum command_tip */
    struct key_positions keys;
    /* Returns whether argv[index] is secret, so that no log and no MONITOR may show it: a function
     * of table/secret.h. NULL: no argument is. */
    bool (*is_secret)(const struct slice *argv, size_t index);
    const char *group; /* "list", "string", "bitmap", "generic", "transactions", "connection", … */
    const char *since; /* the Redis version that introduced it */
    const char *complexity;
    const char *summary;
    /* Arguments and changes in the notation of admin/command_syntax.h. A row without either omits
     * it; it is "" in the table. */
    const char *syntax;
};

/* The largest number of commands, with subcommands. */
enum { COMMANDS_MAX = 512 };

/* The rows of one family_*.c. A container's subcommands follow it. */
struct command_family {
    const struct command *rows;
    size_t count;
};

/* Copies the rows of all families (the list ends with NULL) to one table and indexes them by name.
 * Call it once, at the start, before any other function of this module. O(commands). */
void command_table_init(const struct command_family *const *families);

/* Lets clients call the command `from` by the name `to` only; an empty `to` takes the command away
 * from them. What is written to files and sent to replicas keeps the command's own name. Returns
 * NULL, or why that is not possible (static). Call it only at the start. O(commands). */
const char *command_rename(struct slice from, struct slice to);

/* Returns whether a command was renamed. */
bool command_has_renames(void);

/* Returns the command's own name without that of a subcommand: what stands first in files and in
 * the stream for replicas. */
struct slice command_own_name(const struct command *command);

/* As command_find_cached, for what comes from a file or from the primary: finds the command by its
 * own name, or else by the one that clients use, as files of Redis have that. */
const struct command *command_find_written(const struct command *last, struct slice name);

/* Finds a command by its name in any case; NULL when unknown. O(1), a few nanoseconds: it hashes
 * the first eight bytes in lower case. */
const struct command *command_find(struct slice name);

/* As command_find, but tries `last` (NULL allowed) first, because clients often repeat a
 * command. */
const struct command *command_find_cached(const struct command *last, struct slice name);

/* Finds the subcommand `name` of a container ("config", "get") in any case; NULL when unknown. */
const struct command *command_find_subcommand(const struct command *container, struct slice name);

/* Returns whether the command may have `argc` arguments, its name or names included. */
static inline bool command_accepts(const struct command *command, size_t argc) {
    return command->arity >= 0 ? argc == (size_t)command->arity : argc >= (size_t)-command->arity;
}

/* Returns whether some of its arguments may be keys. */
static inline bool command_has_keys(const struct command *command) {
    return command->keys.first || command->keys.numkeys || command->keys.keyword;
}

/* Returns whether it is a command of its own and not a subcommand. */
static inline bool command_is_top_level(const struct command *command) {
    return !(command->flags & COMMAND_SUBCOMMAND);
}

/* Returns all commands in table order, subcommands after their container; *count gets their
 * number. */
const struct command *command_all(size_t *count);

/* Returns the command's index in command_all, by which statistics are indexed. O(1). */
size_t command_index(const struct command *command);

#endif
