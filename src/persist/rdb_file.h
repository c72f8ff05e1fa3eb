/* rdb_file: whole RDB files: written item by item, read item by item.
 *
 * Writing: rdb_write_header; for each database that has keys rdb_write_database and then an
 * rdb_write_entry for each key; rdb_write_end. Errors are the writer's.
 *
 * Reading is left to the caller's pace, who decides what becomes of each item and may do other
 * things in between:
 *
 *      struct rdb_file file;
 *      struct rdb_file_item item;
 *      rdb_file_start(&file, source, &options);
 *      while (rdb_file_next(&file, &item) && item.kind != RDB_ITEM_END) …
 *      … rdb_file_error(&file) …
 *      rdb_file_finish(&file);                                                          */
#ifndef PACKLIST_PERSIST_RDB_FILE_H
#define PACKLIST_PERSIST_RDB_FILE_H

#include "persist/rdb_format.h"
#include "persist/rdb_reader.h"
#include "persist/rdb_value.h"
#include "persist/rdb_writer.h"

/* --- Writing --- */

/* What a file tells of itself (AUX). */
struct rdb_facts {
    const char *server_version; /* redis-ver: a version of Redis that the file is like */
    int64_t created_s;          /* ctime, since the epoch */
    uint64_t used_memory;       /* used-mem */
    bool aof_base;              /* aof-base: it begins an append-only file */
};

/* How a key was used, in the form that the eviction policy keeps. */
enum rdb_usage_kind { RDB_USAGE_NONE, RDB_USAGE_IDLE, RDB_USAGE_FREQUENCY };
struct rdb_usage {
    enum rdb_usage_kind kind;
    uint64_t value; /* seconds since the last use; LFU counter (0 … 255) */
};

void rdb_write_header(struct rdb_writer *writer, const struct rdb_facts *facts);
void rdb_write_database(struct rdb_writer *writer, uint64_t database, uint64_t keys,
                        uint64_t expiring_keys);

/* The same where the database was begun before. */
void rdb_write_select(struct rdb_writer *writer, uint64_t database);

/* One key with its value, expiry and usage. O(value). */
void rdb_write_entry(struct rdb_writer *writer, const struct entry *entry, struct rdb_usage usage);

/* The same without the value, which the caller writes next (persist/rdb_value.h). O(key). */
void rdb_write_key(struct rdb_writer *writer, const struct entry *entry, struct rdb_usage usage);

/* The end, with the checksum where the writer keeps one; flushes: false when anything has failed
 * (writer->error). */
bool rdb_write_end(struct rdb_writer *writer);

/* --- Reading --- */

struct rdb_file_options {
    struct rdb_load_options values;
    bool checksum;     /* verify it (rdbchecksum) */
    bool skip_unknown; /* rdb-skip-unknown-types: leave out what there is no type for */
    bool hide_keys;    /* hide-user-data-from-log: errors show RDB_HIDDEN_KEY instead of keys */
};

#define RDB_HIDDEN_KEY "*redacted*"

enum rdb_item_kind {
    RDB_ITEM_AUX,      /* name, text */
    RDB_ITEM_DATABASE, /* database */
    RDB_ITEM_RESIZE,   /* keys, expiring_keys: a hint, not to be trusted */
    RDB_ITEM_ENTRY,    /* entry, usage: the caller owns the entry (value_free) */
    RDB_ITEM_SKIPPED,  /* type_name, key: something that was left out; the key may be empty */
    RDB_ITEM_END       /* the checksum is right, or was not to be verified */
};

/* What was read. Slices live until the next call. */
struct rdb_file_item {
    enum rdb_item_kind kind;
    struct slice name, text;
    uint64_t database;
    uint64_t keys, expiring_keys;
    struct slice key;      /* of an entry too */
    const char *type_name; /* static */
    struct entry *entry;   /* with its expiry (perhaps past: the caller drops it then); clock 0 */
    struct rdb_usage usage;
};

/* Lives on the caller's stack, and must not be copied. Private but for `version`. */
struct rdb_file {
    struct rdb_reader reader;
    struct rdb_file_options options;
    unsigned version;        /* 0 until the first item was asked for */
    bool valkey;             /* of Valkey's own version */
    struct rdb_scratch kept; /* key or name of the item */
};

/* Do these bytes begin as such a file does? RDB_MAGIC_SIZE of them tell. */
bool rdb_file_begins(struct slice bytes);

/* Is a file of this name to hold a snapshot (….rdb)? Then it is bad when it is empty, which a file
 * of commands may be. */
bool rdb_file_is_named(const char *path);

void rdb_file_start(struct rdb_file *file, struct rdb_source source,
                    const struct rdb_file_options *options);

/* The same over bytes in memory, which stay where they are. */
void rdb_file_start_memory(struct rdb_file *file, struct slice bytes,
                           const struct rdb_file_options *options);

/* Reads the next item; false when the file is bad: see rdb_file_error. Not to be called after
 * RDB_ITEM_END. O(item). */
bool rdb_file_next(struct rdb_file *file, struct rdb_file_item *item);

/* NULL, or what is wrong, with the key where it is known (in quotes, with escapes for what can't
 * be printed), and where in the file. As of the reader's; errors that only the caller can see (a
 * key that is there already) are noted by rdb_reader_fail(&file->reader, …). */
const char *rdb_file_error(const struct rdb_file *file);
uint64_t rdb_file_error_offset(const struct rdb_file *file);

/* Bytes consumed so far: after RDB_ITEM_END the size of the file, or where the commands of an
 * append-only file with a preamble begin. */
uint64_t rdb_file_offset(const struct rdb_file *file);

/* Frees what the file holds (not entries that were given out). */
void rdb_file_finish(struct rdb_file *file);

#endif
