/* type_format: the representations of values outside of memory: in RDB files and DUMP payloads, in
 * digests, and as commands. Each type has one row, the counterpart of its row in
 * types/type_operations.h; persist/type_format.c joins the rows in a table. */
#ifndef PACKLIST_PERSIST_TYPE_FORMAT_H
#define PACKLIST_PERSIST_TYPE_FORMAT_H

#include "persist/digest.h"
#include "persist/rdb_reader.h"
#include "persist/rdb_writer.h"
#include "persist/value_commands.h"
#include "store/entry.h"

struct capture;
struct rdb_load_options; /* persist/rdb_value.h */

/* A value that is written: that of an entry, or a captured one, which can be written only once. */
struct value_source {
    const struct entry *entry; /* NULL: it was captured */
    struct capture *capture;
};

/* Each function receives only values of its type, and costs O(value). */
struct type_format {
    /* See rdb_value_type: the enum rdb_type of what write() writes of this entry. O(1). */
    unsigned (*written)(const struct entry *entry);

    /* See rdb_write_value and rdb_write_capture. */
    void (*write)(struct rdb_writer *writer, struct value_source source);

    /* See rdb_read_value; `type` is a form that holds this type (rdb_type_holds). */
    struct entry *(*read)(struct rdb_reader *reader, unsigned type, struct slice key,
                          const struct rdb_load_options *options);

    /* Mixes the members of the value into `to`: with digest_mix if they have an order, otherwise
     * with digest_add. */
    void (*digest)(struct digest *digest, uint8_t to[DIGEST_SIZE], const struct entry *entry);

    /* See type_format_write_commands and type_format_write_capture_commands. */
    void (*write_commands)(struct rdb_writer *writer, struct slice key, struct value_source source);
};

/* The row of the type whose functions begin with `prefix`. The initialisers have the order of the
 * members; a row that lacks the last ones is a compile error. */
#define TYPE_FORMAT(prefix)                                                                        \
    {                                                                                              \
        prefix##_format_written, prefix##_format_write, prefix##_format_read,                      \
            prefix##_format_digest, prefix##_format_write_commands                                 \
    }
#pragma GCC diagnostic error "-Wmissing-field-initializers"

/* The rows. */
extern const struct type_format string_format; /* persist/string_format.c */
extern const struct type_format list_format;   /* persist/list_format.c */
extern const struct type_format set_format;    /* persist/set_format.c */
extern const struct type_format zset_format;   /* persist/zset_format.c */
extern const struct type_format hash_format;   /* persist/hash_format.c */
extern const struct type_format stream_format; /* persist/stream_format.c */

/* Returns the row of a type (any number); NULL when there is no such type. O(1). */
const struct type_format *type_format_of(enum value_type type);

/* Returns the row of the entry's type; aborts when there is no such type. O(1). */
const struct type_format *type_format_of_entry(const struct entry *entry);

/* Returns the row that reads values of this form (an enum rdb_type, or any byte), or NULL. O(1). */
const struct type_format *type_format_reading(unsigned rdb_type);

/* Write the commands that create the key with its value, also a captured one (in any thread; only
 * once), for an append-only file whose base is not an RDB file. The key must not exist when they
 * run. A command has at most VALUE_COMMANDS_MEMBERS members of a collection. O(value). */
void type_format_write_commands(struct rdb_writer *writer, const struct entry *entry);
void type_format_write_capture_commands(struct rdb_writer *writer, struct slice key,
                                        enum value_type type, struct capture *capture);

/* --- Digests: 20 bytes that identify a value or a whole dataset ---
 *
 * They are the same on every server, whatever the order of keys and the encodings, but where a
 * stream has consumer groups: other servers leave these out (stream_groups_format.h).
 *
 *      value(d)        d mixed (digest.h) with the type (4 BE), then with each text of the value in
 *                      order; SHA-1 ("!!expire!!") added when the key has an expiry
 *      key             value (mix (0, key))
 *      dataset         from 0 on, for each database that has keys: mixed with its number (4 BE),
 *                      then each key added
 *
 * Source: the replies of DEBUG DIGEST and DEBUG DIGEST-VALUE of Redis 7.0 and 8.0 and Valkey
 * 9.1. */

/* Begins a database of a dataset, which must have keys; its keys follow. Call in the order of the
 * numbers. O(1). */
void type_format_digest_database(struct digest *digest, unsigned number);

/* Adds a key with its value. O(value). */
void type_format_digest_entry(struct digest *digest, const struct entry *entry);

/* Computes the digest of a value alone, which compares values of keys with different names. Does
 * not change the bytes of `digest`. O(value). */
void type_format_digest_value(struct digest *digest, const struct entry *entry,
                              uint8_t bytes[DIGEST_SIZE]);

#endif
