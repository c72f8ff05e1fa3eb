/* How to skip values of unsupported types:
 *
 *      RDB_MODULE_2          [module id] field … [0]       field: [1 | 2] length, [3] [4], [4] [8],
 *                                                                 [5] string
 *      RDB_SLOT_IMPORT       string [ranges] [first slot] [last slot] …
 *
 * Source: files that Redis 5.0 to 8.0 and Valkey 9.1 write. */
#include "persist/rdb_skip.h"

#include "base/checked.h"
#include "persist/rdb_format.h"
#include "types/value.h"

unsigned rdb_type_holds(unsigned type) {
    switch (type) {
    case RDB_STRING: return VALUE_STRING;
    case RDB_LIST:
    case RDB_LIST_ZIPLIST:
    case RDB_LIST_QUICKLIST:
    case RDB_LIST_QUICKLIST_2: return VALUE_LIST;
    case RDB_SET:
    case RDB_SET_INTSET:
    case RDB_SET_LISTPACK: return VALUE_SET;
    case RDB_ZSET:
    case RDB_ZSET_2:
    case RDB_ZSET_ZIPLIST:
    case RDB_ZSET_LISTPACK: return VALUE_ZSET;
    case RDB_HASH:
    case RDB_HASH_ZIPMAP:
    case RDB_HASH_ZIPLIST:
    case RDB_HASH_LISTPACK:
    case RDB_HASH_2:
    case RDB_HASH_LISTPACK_EX_PRE_GA:
    case RDB_HASH_METADATA:
    case RDB_HASH_LISTPACK_EX: return VALUE_HASH;
    case RDB_STREAM_LISTPACKS:
    case RDB_STREAM_LISTPACKS_2:
    case RDB_STREAM_LISTPACKS_3:
    case RDB_STREAM_LISTPACKS_4:
    case RDB_STREAM_LISTPACKS_5: return VALUE_STREAM;
    case RDB_MODULE_PRE_GA:
    case RDB_MODULE_2: return VALUE_MODULE;
    }
    return VALUE_TYPES;
}

const char *rdb_type_name(unsigned type) {
    unsigned held = rdb_type_holds(type);
    if (held < VALUE_TYPES) return value_type_name((enum value_type)held);
    if (type == RDB_ARRAY) return "array";
    bool is_template = type >= RDB_HASH_TEMPLATE_FIRST && type <= RDB_HASH_TEMPLATE_LAST;
    return is_template ? "hash with a template" : NULL;
}

static bool skip_lengths(struct rdb_reader *reader, unsigned n) {
    uint64_t length;
    for (; n > 0; n--)
        if (!rdb_read_length(reader, &length)) return false;
    return true;
}

static bool skip_module_fields(struct rdb_reader *reader) {
    enum { MODULE_END, MODULE_SIGNED, MODULE_UNSIGNED, MODULE_FLOAT, MODULE_DOUBLE, MODULE_STRING };
    for (;;) {
        uint64_t kind;
        bool good = rdb_read_length(reader, &kind);
        if (!good || kind == MODULE_END) return good;
        switch (kind) {
        case MODULE_SIGNED:
        case MODULE_UNSIGNED: good = skip_lengths(reader, 1); break;
        case MODULE_FLOAT: good = rdb_skip_bytes(reader, 4); break;
        case MODULE_DOUBLE: good = rdb_skip_bytes(reader, 8); break;
        case MODULE_STRING: good = rdb_skip_string(reader); break;
        default: good = rdb_reader_fail(reader, "malformed value of a module");
        }
        if (!good) return false;
    }
}

/* --- All --- */

bool rdb_can_skip_value(unsigned type) {
    return type == RDB_MODULE_2;
}

bool rdb_skip_value(struct rdb_reader *reader, unsigned type) {
    CHECKED_ASSERT(rdb_can_skip_value(type));
    return skip_lengths(reader, 1) && skip_module_fields(reader);
}

/* --- Besides keys --- */

const char *rdb_foreign_name(unsigned opcode, bool is_valkey) {
    switch (opcode) {
    case RDB_FUNCTION_PRE_GA: return "function of a release candidate";
    case RDB_MODULE_AUX: return "data of a module";
    case RDB_VALKEY_NEWER: return is_valkey ? "part of Valkey 9.2 or newer" : NULL;
    case RDB_SLOT_IMPORT: return is_valkey ? "slot import" : "key with metadata of a module";
    }
    return NULL;
}

static bool read_slot(struct rdb_reader *reader, uint64_t *slot) {
    return rdb_read_length(reader, slot) &&
           (*slot < RDB_SLOTS || rdb_reader_fail(reader, "slot out of range"));
}

static bool skip_slot_import(struct rdb_reader *reader) {
    uint64_t ranges, first, last;
    if (!rdb_skip_string(reader) || !rdb_read_length(reader, &ranges)) return false;
    if (ranges > RDB_SLOTS) return rdb_reader_fail(reader, "too many ranges of slots");
    for (; ranges > 0; ranges--) {
        if (!read_slot(reader, &first) || !read_slot(reader, &last)) return false;
        if (first > last) return rdb_reader_fail(reader, "a range of slots ends before it begins");
    }
    return true;
}

bool rdb_skip_slot_info(struct rdb_reader *reader) {
    uint64_t slot;
    return read_slot(reader, &slot) && skip_lengths(reader, 2);
}

bool rdb_can_skip_foreign(unsigned opcode, bool is_valkey) {
    return opcode == RDB_MODULE_AUX || (opcode == RDB_SLOT_IMPORT && is_valkey);
}

bool rdb_skip_foreign(struct rdb_reader *reader, unsigned opcode, bool is_valkey) {
    CHECKED_ASSERT(rdb_can_skip_foreign(opcode, is_valkey));
    if (opcode == RDB_MODULE_AUX) return skip_lengths(reader, 3) && skip_module_fields(reader);
    return skip_slot_import(reader);
}
