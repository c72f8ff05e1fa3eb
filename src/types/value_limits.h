/* value_limits: the limits of all encodings, in one struct, so that code which handles values
 * of any type (loading, DUMP, commands) passes on those of every type. */
#ifndef PACKLIST_TYPES_VALUE_LIMITS_H
#define PACKLIST_TYPES_VALUE_LIMITS_H

#include "ds/quicklist.h"

/* A sorted set that exceeds one of them becomes a skiplist. */
struct zset_limits {
    size_t listpack_entries; /* zset-max-listpack-entries: members */
    size_t listpack_value;   /* zset-max-listpack-value: bytes of a member */
};

struct value_limits {
    struct quicklist_limits list; /* list-max-listpack-size, list-compress-depth */
    struct zset_limits zset;
};

/* The default limits of the directives. */
static const struct value_limits value_limits_default = {
    .list = {.fill = -2},
    .zset = {.listpack_entries = 128, .listpack_value = 64},
};

#endif
