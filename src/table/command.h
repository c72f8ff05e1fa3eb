/* command: the table of commands, and the lookup by name. Each command is a row, written by hand,
 * in its family's file: family_*.c. A row says what the command is, not what runs it: the server
 * binds the functions by name (main/command_bodies.h), and packlist-check needs none. */
#ifndef PACKLIST_TABLE_COMMAND_H
#define PACKLIST_TABLE_COMMAND_H

#include "base/slice.h"
#include "table/command_body.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the server must know of a command before it runs. */
enum command_flag {
    /* COMMAND INFO shows these. */
    COMMAND_WRITE = 1u << 0,             /* may change data */
    COMMAND_READONLY = 1u << 1,          /* reads keys, and never changes data */
    COMMAND_DENYOOM = 1u << 2,           /* may need memory: refused over maxmemory */
    COMMAND_ADMIN = 1u << 3,             /* for operators */
    COMMAND_PUBSUB = 1u << 4,            /* about channels */
    COMMAND_NOSCRIPT = 1u << 5,          /* refused to scripts */
    COMMAND_BLOCKING = 1u << 6,          /* may make the client wait */
    COMMAND_LOADING = 1u << 7,           /* allowed while data is loaded */
    COMMAND_STALE = 1u << 8,             /* allowed on a replica that has lost its primary */
    COMMAND_FAST = 1u << 9,              /* O(1) or O(log n): only shown */
    COMMAND_NO_AUTH = 1u << 10,          /* allowed before authentication */
    COMMAND_NO_MULTI = 1u << 11,         /* refused inside of MULTI */
    COMMAND_ALLOW_BUSY = 1u << 12,       /* allowed while a script is busy */
    COMMAND_MOVABLE_KEYS = 1u << 13,     /* the places of its keys depend on arguments */
    COMMAND_SKIP_SLOWLOG = 1u << 14,     /* its queued commands are logged, not itself (EXEC) */
    COMMAND_SKIP_MONITOR = 1u << 15,     /* sends itself to monitors, before what it runs */
    COMMAND_NO_ASYNC_LOADING = 1u << 16, /* only shown: not while a replica loads beside its data */
    COMMAND_NO_MANDATORY_KEYS = 1u << 17, /* keys.numkeys may be 0 */
    /* COMMAND INFO does not show these. */
    COMMAND_CONTAINER = 1u << 18,     /* has subcommands */
    COMMAND_SUBCOMMAND = 1u << 19,    /* its name is "container|subcommand" */
    COMMAND_MAY_REPLICATE = 1u << 20, /* held back and refused like commands that write */
    COMMAND_RUNS_QUEUE = 1u << 21,    /* EXEC: has the flags of the commands that it runs */
    COMMAND_RUNS_SCRIPT = 1u << 22,   /* EVAL, FCALL …: has the flags that its script declares, */
    COMMAND_BY_SHA = 1u << 23,        /* … named by its SHA1 (EVALSHA), */
    COMMAND_BY_NAME = 1u << 24,       /* … or as a function (FCALL) */
    COMMAND_NOT_QUEUED = 1u << 25,    /* MULTI does not queue it */
    COMMAND_FOR_SUBSCRIBERS = 1u << 26, /* allowed while the client is subscribed in RESP2 */
    COMMAND_TELLS_HEALTH = 1u << 27,    /* refused while writes are, because health checks use it */
    COMMAND_TOUCHES = 1u << 28,         /* marks keys as used despite CLIENT NO-TOUCH */
    COMMAND_FOR_FILES = 1u << 29,       /* allowed in an append-only file although it only reads */
    COMMAND_REACHES_OUT = 1u << 30,     /* talks to other servers: not allowed in such a file */
    COMMAND_GIVES_SCORE = 1u << 31      /* ZADD: after the key stand a score and its member */
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
 * not follow from its group and its flags: see command_categories. */
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

/* What a command does with a key, or a channel. COMMAND INFO shows those above KEY_CHANNEL. */
enum key_use {
    KEY_RO = 1 << 0,         /* reads the value, or only facts about it */
    KEY_RW = 1 << 1,         /* changes the value */
    KEY_OW = 1 << 2,         /* replaces the value */
    KEY_RM = 1 << 3,         /* deletes the key */
    KEY_ACCESS = 1 << 4,     /* returns, copies or uses data of the value */
    KEY_UPDATE = 1 << 5,     /* changes data */
    KEY_INSERT = 1 << 6,     /* adds data */
    KEY_DELETE = 1 << 7,     /* removes data */
    KEY_NOT_KEY = 1 << 8,    /* a name in the place of a key (a shard channel) */
    KEY_INCOMPLETE = 1 << 9, /* the specification does not always find all keys */
    KEY_VARIABLE = 1 << 10,  /* depends on the arguments */
    KEY_CHANNEL = 1 << 11,   /* a channel */
    KEY_PATTERN = 1 << 12,   /* … or a pattern of channels */
    KEY_RESTRICTED = 1 << 13 /* … that a user needs the right to use */
};

/* Where the keys, or channels, of a command stand among its arguments: table/command_keys.h. */
enum key_shape {
    KEYS_IN_RANGE, /* every step-th argument from `first` (0: none) to `last` */
    KEYS_COUNTED,  /* a number at argv[numkeys] and so many keys; before it, perhaps, `first` */
    KEYS_COUNTED_PAIRS, /* the same, and each key is followed by a value */
    KEYS_OF_SET,        /* the first argument, of which GET and conditions read the old value */
    KEYS_OF_BITFIELD,   /* the first argument, which operations other than GET change */
    KEYS_OF_SORT,       /* the first argument, and the last STORE's; others, which elements name */
    KEYS_OF_GEORADIUS,  /* the first argument, and the last one of STORE's and STOREDIST's */
    KEYS_OF_MIGRATE,    /* the third argument or, if that is empty, all after KEYS */
    KEYS_OF_XREAD       /* the first half of what follows STREAMS, from argv[numkeys] on */
};

struct key_positions {
    uint8_t shape; /* enum key_shape */
    int8_t first;  /* argv index of the first key; 0 = none */
    int8_t last;   /* index of the last key; negative counts from the end */
    int8_t step;
    int8_t numkeys;     /* KEYS_COUNTED: argv index of the number of keys that follow it;
                           KEYS_OF_GEORADIUS: of the first option */
    uint16_t use;       /* enum key_use */
    uint16_t other_use; /* of the second key and later ones, if it differs (LMOVE), those that are
                           counted after a destination, and what STORE names; else 0 */
    const char *notes;  /* notes on the keys in COMMAND INFO; NULL: none */
};

/* Which databases a command uses: table/command_databases.h. */
enum command_databases {
    DATABASE_OWN,        /* the client's, if the command has keys, reads or writes */
    DATABASE_OF_SELECT,  /* argv[1] */
    DATABASES_OF_SWAPDB, /* argv[1] and argv[2] */
    DATABASES_OF_MOVE,   /* the client's and argv[2] */
    DATABASES_OF_COPY,   /* the client's and those after DB */
    DATABASES_ALL
};

/* Which arguments of a command are secret: no log and no MONITOR may show them (table/secret.h). */
enum command_secrets {
    SECRETS_NONE,
    SECRETS_OF_AUTH,
    SECRETS_OF_HELLO,
    SECRETS_OF_CONFIG_SET,
    SECRETS_OF_MIGRATE,
    SECRETS_OF_ACL,
    SECRETS_OF_ACL_DRYRUN,
    SECRETS_OF_COMMAND_GETKEYS
};

struct command {
    const char *name;   /* lower case; subcommands: "config|get" */
    const char *called; /* the name by which clients call it, in lower case: command_rename; of a
                           subcommand its own; NULL: they cannot; in a row always NULL */
    void (*run)(struct call *call); /* NULL: a container, of use only with a subcommand; in a row
                                       always NULL */
    int32_t arity;  /* the exact argc, or the least one negated; includes the command's name(s) */
    uint32_t flags; /* enum command_flag */
    uint32_t categories; /* enum command_category; in a row only those that do not follow from its
                            group and flags */
    uint32_t tips;       /* enum command_tip */
    struct key_positions keys;
    enum command_secrets secrets;
    enum command_databases databases;
    bool sees_claimed; /* looks at all keys, with those that works have claimed (engine/claim.h) */
    uint16_t index;    /* in command_all; in a row always 0 */
    const char *group; /* "list", "string", "bitmap", "generic", "transactions", "connection", … */
    const char *since; /* the Redis version that introduced it */
    const char *complexity;
    const char *summary;
    /* Arguments and changes in the notation of admin/command_syntax.h. A row without either omits
     * it; it is "" in the table. */
    const char *syntax;
};

/* The flags of commands that admission_find does not find by itself: containers, and those that may
 * have secrets in their arguments. */
enum { COMMAND_FOUND_SLOWLY = COMMAND_CONTAINER | COMMAND_NO_AUTH | COMMAND_REACHES_OUT };

/* The largest number of commands, with subcommands. */
enum { COMMANDS_MAX = 512 };

/* The rows of one family_*.c. A container's subcommands follow it. */
struct command_family {
    const struct command *rows;
    size_t count;
};

/* Copies the rows of all families (the list ends with NULL) to one table, indexes them by name and
 * binds them to the functions of `bodies` (which ends with a row without a name): each command but
 * containers has one there. NULL: no command can run. Call it once, at the start, before any other
 * function of this module. O(commands). */
void command_table_init(const struct command_family *const *families,
                        const struct command_body *bodies);

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

/* As command_find, for the name in a row: also that of a subcommand, "config|get". */
const struct command *command_find_full(struct slice name);

/* Finds the subcommand `name` of a container ("config", "get") in any case; NULL when unknown. */
const struct command *command_find_subcommand(const struct command *container, struct slice name);

/* Returns whether the command may have `argc` arguments, its name or names included. */
static inline bool command_accepts(const struct command *command, size_t argc) {
    return command->arity >= 0 ? argc == (size_t)command->arity : argc >= (size_t)-command->arity;
}

/* Returns whether it may stand in an append-only file, and in the stream of a primary: it writes,
 * and talks to no other server, or says where the next one writes. */
static inline bool command_may_be_in_file(const struct command *command) {
    return command->flags & COMMAND_FOR_FILES ||
           (command->flags & (COMMAND_WRITE | COMMAND_REACHES_OUT)) == COMMAND_WRITE;
}

/* Returns the command that a file has with these words, its name or names included, by its own
 * name; NULL if there is none, it may not be in a file, or not with so many. O(1). */
const struct command *command_find_in_file(const struct slice *argv, size_t argc);

/* Returns whether some of its arguments may be keys. */
static inline bool command_has_keys(const struct command *command) {
    return command->keys.use && !(command->keys.use & (KEY_NOT_KEY | KEY_CHANNEL));
}

/* Returns whether it is a command of its own and not a subcommand. */
static inline bool command_is_top_level(const struct command *command) {
    return !(command->flags & COMMAND_SUBCOMMAND);
}

/* Returns whether COMMAND lists it: it is not a subcommand, and clients can call it. */
static inline bool command_is_listed(const struct command *command) {
    return command_is_top_level(command) && command->called;
}

/* Returns the number of subcommands of a container, which follow it in the table; 0 for other
 * commands. O(subcommands). */
size_t command_subcommand_count(const struct command *command);

/* Returns all commands in table order, subcommands after their container; *count gets their
 * number. */
const struct command *command_all(size_t *count);

/* Returns the command's index in command_all, by which statistics are indexed. O(1). */
static inline size_t command_index(const struct command *command) {
    return command->index;
}

/* --- Categories --- */

/* A name of one bit of a set. Arrays of these end with {0, NULL}. */
struct named_bit {
    uint32_t bit;
    const char *name;
};

/* All categories without the @, in ACL CAT's order. */
extern const struct named_bit command_category_names[];

enum { COMMAND_CATEGORY_NAME_MAX = 31 }; /* the longest name, in bytes */

/* Returns the command's categories (enum command_category): those of its row, that of its group if
 * it is no container, and those that follow from its flags: fast or slow; read, write, pubsub and
 * blocking; admin, which implies dangerous. O(1). */
static inline uint32_t command_categories(const struct command *command) {
    return command->categories;
}

/* Returns the bit of the category `name`, in any case, without the @; 0 when there is none. */
uint32_t command_category_find(struct slice name);

#endif
