/* rdb_file: writes and reads whole RDB files, item by item.
 *
 * Writing: rdb_write_header; rdb_write_function for each library; for each database with keys
 * rdb_write_database, and then rdb_write_entry for each key; rdb_write_end. The writer holds the
 * error.
 *
 * Reading: rdb_file_start; rdb_file_next for one item after another, up to RDB_ITEM_END or an
 * error, with other work in between; rdb_file_finish. */
#ifndef PACKLIST_PERSIST_RDB_FILE_H
#define PACKLIST_PERSIST_RDB_FILE_H

#include "persist/rdb_format.h"
#include "persist/rdb_reader.h"
#include "persist/rdb_writer.h"
#include "persist/type_format.h"

/* --- Writing --- */

/* Where the data stands in the history of a primary: repl-id, repl-offset, repl-stream-db. */
struct rdb_history {
    struct slice id;
    uint64_t offset;
    uint64_t database; /* selected in its stream */
};

/* Facts about the file, written as AUX. */
struct rdb_facts {
    const char *server_version; /* redis-ver: the Redis version that the file corresponds to */
    int64_t created_s;          /* ctime, seconds since the epoch */
    uint64_t used_memory;       /* used-mem, bytes */
    bool aof_base;              /* aof-base: the file begins an append-only file */
    const struct rdb_history *history; /* NULL: it is not known */
};

/* The key's use, in the form that the eviction policy keeps. */
enum rdb_usage_kind { RDB_USAGE_NONE, RDB_USAGE_IDLE, RDB_USAGE_FREQUENCY };
struct rdb_usage {
    enum rdb_usage_kind kind;
    uint64_t value; /* seconds since the last use, or LFU counter (0 … 255) */
};

void rdb_write_header(struct rdb_writer *writer, const struct rdb_facts *facts);

/* Writes a library of functions: its code, with the line that names it. O(code). */
void rdb_write_function(struct rdb_writer *writer, struct slice code);

void rdb_write_database(struct rdb_writer *writer, uint64_t database, uint64_t keys,
                        uint64_t expiring_keys);

/* Selects a database that was begun before. */
void rdb_write_select(struct rdb_writer *writer, uint64_t database);

/* Write one key with expiry and usage, and with its value, O(value); or without it, O(key): then
 * the caller writes it next (persist/type_format.h). */
void rdb_write_entry(struct rdb_writer *writer, const struct entry *entry, struct rdb_usage usage);
void rdb_write_key(struct rdb_writer *writer, const struct entry *entry, struct rdb_usage usage);

/* Writes the end, with the checksum if the writer keeps one, and flushes. Returns false when
 * anything has failed (writer->error). */
bool rdb_write_end(struct rdb_writer *writer);

/* --- Reading --- */

struct rdb_file_options {
    struct rdb_load_options values;
    bool checksum; /* verify it (rdbchecksum) */
    /* rdb-skip-unknown-types: skip values of unsupported types, where that is possible */
    bool skip_unknown;
    bool hide_keys; /* hide-user-data-from-log: errors show RDB_HIDDEN_KEY instead of keys */
};

#define RDB_HIDDEN_KEY "*redacted*"

enum rdb_item_kind {
    RDB_ITEM_AUX,      /* name, text */
    RDB_ITEM_FUNCTION, /* text: the code of a library of functions; it is not checked */
    RDB_ITEM_DATABASE, /* database */
    RDB_ITEM_RESIZE,   /* keys, expiring_keys: an untrusted hint */
    RDB_ITEM_ENTRY,    /* entry, usage: the caller owns the entry (value_free) */
    RDB_ITEM_SKIPPED,  /* type_name, key: a skipped value; the key may be empty */
    RDB_ITEM_EMPTY,    /* type_name, key: a collection without elements, which some servers wrote */
    RDB_ITEM_END       /* the checksum is right, or was not verified */
};

/* An item. Its slices are valid until the next call. */
struct rdb_file_item {
    enum rdb_item_kind kind;
    struct slice name, text;
    uint64_t database;
    uint64_t keys, expiring_keys;
    struct slice key;      /* of an entry, too */
    bool can_be_skipped;   /* of RDB_ITEM_SKIPPED that was not: with skip_unknown it would be */
    const char *type_name; /* static */
    struct entry *entry;   /* with its expiry, which may have passed; its clock is 0 */
    struct rdb_usage usage;
};

/* Lives on the caller's stack, and must not be copied. */
struct rdb_file {
    /* Says what is wrong (rdb_reader_error; the text names the key, quoted and with escapes, if it
     * is known) and where reading is (rdb_reader_offset; after RDB_ITEM_END that is the size of the
     * file, or where the commands after a preamble begin). The caller reports errors of its own,
     * such as a duplicate key, with rdb_reader_fail. */
    struct rdb_reader reader;

    struct rdb_file_options options;
    unsigned version;        /* 0 before the first item */
    struct rdb_scratch kept; /* key or name of the item */
};

/* Returns whether an RDB file can begin with these bytes; RDB_MAGIC_SIZE bytes are enough. */
bool rdb_file_begins(struct slice bytes);

/* Returns whether the name is that of a snapshot (….rdb). An empty snapshot is bad, while an empty
 * file of commands is not. */
bool rdb_file_is_named(const char *path);

void rdb_file_start(struct rdb_file *file, struct rdb_source source,
                    const struct rdb_file_options *options);

/* Reads the next item. Returns false when the file is bad. Must not be called after RDB_ITEM_END.
 * O(item). */
bool rdb_file_next(struct rdb_file *file, struct rdb_file_item *item);

/* Frees the file's memory, but no entries that the caller received. */
void rdb_file_finish(struct rdb_file *file);

#endif
