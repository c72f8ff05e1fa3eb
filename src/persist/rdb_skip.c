/* How to skip values of unsupported types:
 *
 *      RDB_MODULE_2          [module id] field … [0]       field: [1 | 2] length, [3] [4], [4] [8],
 *                                                                 [5] string
 *
 * Source: files that Redis 5.0 to 8.0 and Valkey 9.1 write. */
#include "persist/rdb_skip.h"

#include "persist/rdb_format.h"

const char *rdb_type_name(unsigned type) {
    switch (type) {
    case RDB_STRING: return "string";
    case RDB_LIST:
    case RDB_LIST_ZIPLIST:
    case RDB_LIST_QUICKLIST:
    case RDB_LIST_QUICKLIST_2: return "list";
    case RDB_SET:
    case RDB_SET_INTSET:
    case RDB_SET_LISTPACK: return "set";
    case RDB_ZSET:
    case RDB_ZSET_2:
    case RDB_ZSET_ZIPLIST:
    case RDB_ZSET_LISTPACK: return "zset";
    case RDB_HASH:
    case RDB_HASH_ZIPMAP:
    case RDB_HASH_ZIPLIST:
    case RDB_HASH_LISTPACK:
    case RDB_HASH_2:
    case RDB_HASH_LISTPACK_EX_PRE_GA:
    case RDB_HASH_METADATA:
    case RDB_HASH_LISTPACK_EX: return "hash";
    case RDB_STREAM_LISTPACKS:
    case RDB_STREAM_LISTPACKS_2:
    case RDB_STREAM_LISTPACKS_3: return "stream";
    case RDB_MODULE_PRE_GA:
    case RDB_MODULE_2: return "module";
    }
    return NULL;
}

static bool skip_length(struct rdb_reader *reader) {
    uint64_t length;
    return rdb_read_length(reader, &length);
}

static bool skip_module_fields(struct rdb_reader *reader) {
    enum { MODULE_END, MODULE_SIGNED, MODULE_UNSIGNED, MODULE_FLOAT, MODULE_DOUBLE, MODULE_STRING };
    for (;;) {
        uint64_t kind;
        bool good = rdb_read_length(reader, &kind);
        if (!good || kind == MODULE_END) return good;
        switch (kind) {
        case MODULE_SIGNED:
        case MODULE_UNSIGNED: good = skip_length(reader); break;
        case MODULE_FLOAT: good = rdb_skip_bytes(reader, 4); break;
        case MODULE_DOUBLE: good = rdb_skip_bytes(reader, 8); break;
        case MODULE_STRING: good = rdb_skip_string(reader); break;
        default: good = rdb_reader_fail(reader, "malformed value of a module");
        }
        if (!good) return false;
    }
}

/* --- Consumer groups of streams --- */

enum { STREAM_ID_SIZE = 16 };

static bool skip_lengths(struct rdb_reader *reader, unsigned n) {
    while (n-- > 0) {
        if (!skip_length(reader)) return false;
    }
    return true;
}

/* [n] (id, and, in a group's own list, [8 time] [length deliveries]) … */
static bool skip_pending(struct rdb_reader *reader, bool with_deliveries) {
    uint64_t n;
    if (!rdb_read_length(reader, &n)) return false;
    for (; n > 0; n--) {
        if (!rdb_skip_bytes(reader, STREAM_ID_SIZE + (with_deliveries ? 8 : 0))) return false;
        if (with_deliveries && !skip_length(reader)) return false;
    }
    return true;
}

/* name [last id, 2 lengths] [2 on: entries read] pending, [consumers]
 * consumer: name [8 seen] [3 on: 8 active] pending */
static bool skip_group(struct rdb_reader *reader, unsigned version) {
    uint64_t consumers;
    if (!rdb_skip_string(reader) || !skip_lengths(reader, version >= 2 ? 3 : 2)) return false;
    if (!skip_pending(reader, true) || !rdb_read_length(reader, &consumers)) return false;
    for (; consumers > 0; consumers--) {
        if (!rdb_skip_string(reader) || !rdb_skip_bytes(reader, version >= 3 ? 16 : 8))
            return false;
        if (!skip_pending(reader, false)) return false;
    }
    return true;
}

bool rdb_skip_groups(struct rdb_reader *reader, unsigned type, uint64_t groups) {
    unsigned version = type == RDB_STREAM_LISTPACKS ? 1 : type == RDB_STREAM_LISTPACKS_2 ? 2 : 3;
    for (; groups > 0; groups--) {
        if (!skip_group(reader, version)) return false;
    }
    return true;
}

/* --- All --- */

bool rdb_skip_value(struct rdb_reader *reader, unsigned type) {
    switch (type) {
    case RDB_MODULE_2: return skip_length(reader) && skip_module_fields(reader);
    case RDB_MODULE_PRE_GA: return rdb_reader_fail(reader, "a module's value of unknown length");
    }
    return rdb_reader_fail(reader, "unknown type %u", type);
}

/* --- Besides keys --- */

const char *rdb_foreign_name(unsigned opcode) {
    switch (opcode) {
    case RDB_FUNCTION_PRE_GA: return "function of a release candidate";
    case RDB_MODULE_AUX: return "data of a module";
    case RDB_SLOT_IMPORT: return "slot import";
    }
    return NULL;
}

bool rdb_skip_foreign(struct rdb_reader *reader, unsigned opcode) {
    switch (opcode) {
    case RDB_MODULE_AUX: return skip_lengths(reader, 3) && skip_module_fields(reader);
    }
    return rdb_reader_fail(reader, "something that can't be skipped (opcode %u)", opcode);
}
