/* command_categories: see command_categories.h. Most categories follow from a command's flags and
 * group; tables below list the exceptions. */
#include "admin/command_categories.h"

enum category {
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

/* Also those of types that do not exist here: they are known, and have no commands. */
const struct named_bit command_category_names[] = {
    {CATEGORY_KEYSPACE, "keyspace"},
    {CATEGORY_READ, "read"},
    {CATEGORY_WRITE, "write"},
    {CATEGORY_SET, "set"},
    {CATEGORY_SORTED_SET, "sortedset"},
    {CATEGORY_LIST, "list"},
    {CATEGORY_HASH, "hash"},
    {CATEGORY_STRING, "string"},
    {CATEGORY_BITMAP, "bitmap"},
    {CATEGORY_HYPERLOGLOG, "hyperloglog"},
    {CATEGORY_GEO, "geo"},
    {CATEGORY_STREAM, "stream"},
    {CATEGORY_PUBSUB, "pubsub"},
    {CATEGORY_ADMIN, "admin"},
    {CATEGORY_FAST, "fast"},
    {CATEGORY_SLOW, "slow"},
    {CATEGORY_BLOCKING, "blocking"},
    {CATEGORY_DANGEROUS, "dangerous"},
    {CATEGORY_CONNECTION, "connection"},
    {CATEGORY_TRANSACTION, "transaction"},
    {CATEGORY_SCRIPTING, "scripting"},
    {0, NULL},
};

/* Categories by group, of commands that do something themselves. */
static const struct named_bit group_categories[] = {
    {CATEGORY_LIST, "list"},
    {CATEGORY_STRING, "string"},
    {CATEGORY_BITMAP, "bitmap"},
    {CATEGORY_KEYSPACE, "generic"},
    {CATEGORY_CONNECTION, "connection"},
    {CATEGORY_TRANSACTION, "transactions"},
    {CATEGORY_SCRIPTING, "scripting"},
    {0, NULL},
};

/* Commands whose categories are not their group's. */
static const struct named_bit other_categories[] = {
    {CATEGORY_LIST | CATEGORY_SET | CATEGORY_SORTED_SET | CATEGORY_DANGEROUS, "sort"},
    {CATEGORY_LIST | CATEGORY_SET | CATEGORY_SORTED_SET | CATEGORY_DANGEROUS, "sort_ro"},
    {CATEGORY_CONNECTION, "wait"},
    {CATEGORY_CONNECTION, "waitaof"},
    {0, NULL},
};

/* Categories that follow from neither group nor flags; the name of a container stands for its
 * subcommands too. */
static const struct named_bit more_categories[] = {
    {CATEGORY_CONNECTION, "command"},
    {CATEGORY_CONNECTION, "asking"},
    {CATEGORY_CONNECTION, "readonly"},
    {CATEGORY_CONNECTION, "readwrite"},
    {CATEGORY_DANGEROUS, "keys"},
    {CATEGORY_DANGEROUS, "migrate"},
    {CATEGORY_DANGEROUS, "restore"},
    {CATEGORY_DANGEROUS, "info"},
    {CATEGORY_ADMIN | CATEGORY_DANGEROUS, "lastsave"},
    {CATEGORY_ADMIN | CATEGORY_DANGEROUS, "role"},
    {CATEGORY_KEYSPACE, "dbsize"},
    {CATEGORY_KEYSPACE | CATEGORY_DANGEROUS, "flushall"},
    {CATEGORY_KEYSPACE | CATEGORY_DANGEROUS, "flushdb"},
    {CATEGORY_KEYSPACE | CATEGORY_DANGEROUS, "swapdb"},
    {0, NULL},
};

static uint32_t bits_named(const struct named_bit *names, struct slice name) {
    uint32_t bits = 0;
    for (const struct named_bit *at = names; at->name; at++)
        if (slice_is(name, at->name)) bits |= at->bit;
    return bits;
}

uint32_t command_categories(const struct command *command) {
    uint32_t flags = command->flags;
    uint32_t categories = flags & COMMAND_FAST ? CATEGORY_FAST : CATEGORY_SLOW;
    if (!command->run) return categories; /* a mere container */
    if (flags & COMMAND_READONLY) categories |= CATEGORY_READ;
    if (flags & COMMAND_WRITE) categories |= CATEGORY_WRITE;
    if (flags & COMMAND_PUBSUB) categories |= CATEGORY_PUBSUB;
    if (flags & COMMAND_BLOCKING) categories |= CATEGORY_BLOCKING;
    if (flags & COMMAND_ADMIN) categories |= CATEGORY_ADMIN | CATEGORY_DANGEROUS;
    struct slice name = slice_make(command->name, strcspn(command->name, "|"));
    uint32_t other = bits_named(other_categories, name);
    categories |= other ? other : bits_named(group_categories, slice_of_cstr(command->group));
    return categories | bits_named(more_categories, name);
}

uint32_t command_category_find(struct slice name) {
    return bits_named(command_category_names, name);
}
