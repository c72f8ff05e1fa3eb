/* rdb_format: the constants of RDB files.
 *
 *      file      "REDIS" version in 4 digits | "VALKEY" version in 3 digits
 *                item …
 *                [EOF] [CRC-64 of all bytes before it, 8 LE; 0: none]      from version 5 on
 *
 *      item      [AUX] string string                      a fact about the file
 *                [SELECTDB] length                        the database of the keys that follow
 *                [RESIZEDB] length length                 its keys; those with an expiry
 *                [EXPIRETIME_MS] [8 LE] | [EXPIRETIME] [4 LE]    of the next key, ms | s
 *                [IDLE] length                            of the next key, s
 *                [FREQ] [1]                               of the next key, LFU counter
 *                [type] string value                      a key
 *                [FUNCTION2] string                       a library of functions
 *                [MODULE_AUX] … [SLOT_INFO] …             see rdb_skip.c
 *
 *      length    00llllll                       6 bits
 *                01llllll [1]                   14 bits, BE
 *                10000000 [4] | 10000001 [8]    32 | 64 bits, BE
 *
 *      string    length bytes
 *                11000000 [1] | 11000001 [2] | 11000010 [4]      decimal text of an integer, LE
 *                11000011 length length bytes   LZF: compressed length, length, stream
 *
 *      payload   [type] value [RDB version, 2 LE] [CRC-64 of all bytes before it, 8 LE]     DUMP
 *
 * Source: the files and payloads that Redis 2.6 to 8.0 and Valkey 7.2 to 9.1 write and read; Redis
 * up to 8.10 and Valkey 9.2 add types, and write the others as before. */
#ifndef PACKLIST_PERSIST_RDB_FORMAT_H
#define PACKLIST_PERSIST_RDB_FORMAT_H

#include <stdbool.h>

/* The version that is written. Redis 7.0 and everything newer reads it. */
enum { RDB_VERSION = 10 };

/* The versions that are read: 1 to 15 of Redis and of Valkey up to 8; 80 and 81 of Valkey 9. */
enum { RDB_VERSION_MAX = 15, RDB_VERSION_VALKEY = 80, RDB_VERSION_VALKEY_MAX = 81 };

static inline bool rdb_version_is_valkey(unsigned version) {
    return version >= RDB_VERSION_VALKEY && version <= RDB_VERSION_VALKEY_MAX;
}

#define RDB_MAGIC        "REDIS"
#define RDB_MAGIC_VALKEY "VALKEY"

enum {
    RDB_MAGIC_SIZE = 9,             /* with the version */
    RDB_CHECKSUM_VERSION_MIN = 5,   /* older files have none */
    RDB_PAYLOAD_FOOTER_SIZE = 2 + 8 /* version, checksum */
};

enum rdb_opcode {
    RDB_VALKEY_NEWER = 242,
    RDB_SLOT_IMPORT = 243, /* Valkey 9 */
    RDB_KEY_META = 243,    /* Redis 8.6: before a key */
    RDB_SLOT_INFO = 244,
    RDB_FUNCTION2 = 245,
    RDB_FUNCTION_PRE_GA = 246,
    RDB_MODULE_AUX = 247,
    RDB_IDLE = 248,
    RDB_FREQ = 249,
    RDB_AUX = 250,
    RDB_RESIZEDB = 251,
    RDB_EXPIRETIME_MS = 252,
    RDB_EXPIRETIME = 253,
    RDB_SELECTDB = 254,
    RDB_EOF = 255
};

enum rdb_type {
    RDB_STRING = 0,
    RDB_LIST = 1,
    RDB_SET = 2,
    RDB_ZSET = 3,
    RDB_HASH = 4,
    RDB_ZSET_2 = 5,
    RDB_MODULE_PRE_GA = 6,
    RDB_MODULE_2 = 7,
    RDB_HASH_ZIPMAP = 9,
    RDB_LIST_ZIPLIST = 10,
    RDB_SET_INTSET = 11,
    RDB_ZSET_ZIPLIST = 12,
    RDB_HASH_ZIPLIST = 13,
    RDB_LIST_QUICKLIST = 14,
    RDB_STREAM_LISTPACKS = 15,
    RDB_HASH_LISTPACK = 16,
    RDB_ZSET_LISTPACK = 17,
    RDB_LIST_QUICKLIST_2 = 18,
    RDB_STREAM_LISTPACKS_2 = 19,
    RDB_SET_LISTPACK = 20,
    RDB_STREAM_LISTPACKS_3 = 21,
    /* Valkey 9: fields with expiries. Redis 7.4 before its release used another form. */
    RDB_HASH_2 = 22,
    RDB_HASH_LISTPACK_EX_PRE_GA = 23,
    RDB_HASH_METADATA = 24,
    RDB_HASH_LISTPACK_EX = 25,
    RDB_STREAM_LISTPACKS_4 = 26,
    RDB_STREAM_LISTPACKS_5 = 27,
    /* Not read: arrays, hashes with shared field names. */
    RDB_ARRAY = 28,
    RDB_HASH_TEMPLATE_FIRST = 29,
    RDB_HASH_TEMPLATE_LAST = 32
};

/* Slots of a cluster. */
enum { RDB_SLOTS = 16384 };

/* Node types of RDB_LIST_QUICKLIST_2: [container length] string. */
enum rdb_container { RDB_CONTAINER_PLAIN = 1, RDB_CONTAINER_PACKED = 2 };

/* First byte of a length … */
enum {
    RDB_LENGTH_14 = 0x40, /* or'ed with the upper 6 bits */
    RDB_LENGTH_32 = 0x80,
    RDB_LENGTH_64 = 0x81,
    RDB_LENGTH_ENCODED = 0xC0 /* … or of a string that is not stored as plain bytes */
};
enum rdb_string_encoding { RDB_STRING_INT8, RDB_STRING_INT16, RDB_STRING_INT32, RDB_STRING_LZF };

/* A text of at least RDB_LZF_TEXT_MIN bytes is compressed if that saves at least
 * RDB_LZF_GAIN_MIN. */
enum { RDB_LZF_TEXT_MIN = 21, RDB_LZF_GAIN_MIN = 4 };

#endif
