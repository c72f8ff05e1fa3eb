/* value_limits: the limits of all encodings, in one struct, so that code which handles values
 * of any type (loading, DUMP, commands) passes on those of every type. */
#ifndef PACKLIST_TYPES_VALUE_LIMITS_H
#define PACKLIST_TYPES_VALUE_LIMITS_H

#include "ds/lists/quicklist.h"
#include "ds/streams/streamlog.h"
#include "ds/strings/hyperloglog.h"

/* A collection that exceeds one of them becomes a table. */
struct set_limits {
    size_t intset_entries;   /* set-max-intset-entries */
    size_t listpack_entries; /* set-max-listpack-entries */
    size_t listpack_value;   /* set-max-listpack-value: bytes of a member */
};

/* Those of hashes and sorted sets: the same two for hash-max-listpack-… and zset-max-listpack-…; a
 * sorted set that exceeds one of them becomes a skiplist. */
struct listpack_limits {
    size_t listpack_entries; /* fields, or members */
    size_t listpack_value;   /* bytes of a field, a value, or a member */
};

struct value_limits {
    struct quicklist_limits list; /* list-max-listpack-size, list-compress-depth */
    struct set_limits set;
    struct listpack_limits hash;
    struct listpack_limits zset;
    struct stream_limits stream;
    struct producers_limits producers; /* of streams: stream-idmp-duration, stream-idmp-maxsize */
    struct hll_limits hyperloglog;     /* of strings that are HyperLogLogs: hll-sparse-max-bytes */
};

/* The default limits of the directives. */
static const struct value_limits value_limits_default = {
    .list = {.fill = -2},
    .set = {.intset_entries = 512, .listpack_entries = 128, .listpack_value = 64},
    .hash = {.listpack_entries = 512, .listpack_value = 64},
    .zset = {.listpack_entries = 128, .listpack_value = 64},
    .stream = {.node_bytes = 4096, .node_entries = 100},
    .producers = {.duration_s = 100, .iids = 100},
    .hyperloglog = {.sparse_bytes = 3000},
};

#endif
