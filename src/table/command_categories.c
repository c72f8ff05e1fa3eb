#include "table/command_categories.h"

/* Includes categories of types that this server lacks; no command has them. */
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

uint32_t command_categories(const struct command *command) {
    uint32_t flags = command->flags;
    uint32_t categories = command->categories;
    categories |= flags & COMMAND_FAST ? CATEGORY_FAST : CATEGORY_SLOW;
    if (flags & COMMAND_READONLY && !(categories & CATEGORY_SCRIPTING)) categories |= CATEGORY_READ;
    if (flags & COMMAND_WRITE) categories |= CATEGORY_WRITE;
    if (flags & COMMAND_PUBSUB) categories |= CATEGORY_PUBSUB;
    if (flags & COMMAND_BLOCKING) categories |= CATEGORY_BLOCKING;
    if (flags & COMMAND_ADMIN) categories |= CATEGORY_ADMIN | CATEGORY_DANGEROUS;
    return categories;
}

uint32_t command_category_find(struct slice name) {
    for (const struct named_bit *at = command_category_names; at->name; at++)
        if (slice_is(name, at->name)) return at->bit;
    return 0;
}
