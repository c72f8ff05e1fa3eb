/* type_format: the representations of values outside of memory: in RDB form, as in a file after
 * their key, and in a DUMP payload after their type; in digests; and as commands. Each type has one
 * row, the counterpart of its row in types/type_operations.h; persist/type_format.c joins the rows
 * in a table.
 *
 * A value is written in a form that Redis 7.0 reads (a hash with expiries of fields: Redis 7.4, a
 * stream that knows of producers: Redis 8.6), and read in every form that ever existed. rdb_skip.h
 * skips values of unsupported types. */
#ifndef PACKLIST_PERSIST_TYPE_FORMAT_H
#define PACKLIST_PERSIST_TYPE_FORMAT_H

#include "ds/capture.h"
#include "persist/digest.h"
#include "persist/rdb_reader.h"
#include "persist/rdb_writer.h"
#include "persist/value_commands.h"
#include "store/entry.h"
#include "types/value_limits.h"

/* Options for loading values. */
struct rdb_load_options {
    struct value_limits limits;
    bool skip_checksum; /* tests only: accept payloads (persist/dump.h) with a wrong checksum */
};

/* A value that is written: that of an entry, or a captured one (value_capture) as it was when it
 * was captured, which can be written only once, in any thread. */
struct value_source {
    const struct entry *entry; /* NULL: it was captured */
    struct capture *capture;
};

/* Each function receives only values of its type, and costs O(value). */
struct type_format {
    /* The enum rdb_type of what write() writes of this entry. O(1). */
    unsigned (*written)(const struct entry *entry);

    /* Writes the value in RDB form, without type and key. */
    void (*write)(struct rdb_writer *writer, struct value_source source);

    /* See type_format_read; `type` is a form that holds this type (rdb_type_holds). */
    struct entry *(*read)(struct rdb_reader *reader, unsigned type, struct slice key,
                          const struct rdb_load_options *options);

    /* Mixes the members of the value into `to`: with digest_mix if they have an order, otherwise
     * with digest_add. */
    void (*digest)(struct digest *digest, uint8_t to[DIGEST_SIZE], const struct entry *entry);

    /* Writes the commands that create the key with its value, for an append-only file whose base is
     * not an RDB file. The key must not exist when they run. A command has at most
     * VALUE_COMMANDS_MEMBERS members of a collection. */
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

/* Writes the commands that create the entry's key with its value: see write_commands. O(value). */
void type_format_write_commands(struct rdb_writer *writer, const struct entry *entry);

/* --- RDB form --- */

/* Returns the type byte of the form that type_format_write writes. */
unsigned type_format_written(const struct entry *entry);

/* The form that this writer, which may write for Valkey, writes in the place of that one. */
unsigned type_format_for_writer(const struct rdb_writer *writer, unsigned type);

/* Writes the value without type and key. O(value). */
void type_format_write(struct rdb_writer *writer, const struct entry *entry);

/* Reads a value of this form (an enum rdb_type, or any byte) into a new entry under `key`. The
 * caller owns the entry (value_free). `key` must not be a view of the reader's. The entry has no
 * expiry, and its clock is 0. Returns NULL when the reader has failed, or the form cannot be read
 * (type_format_reading). Validates every element of every node, and makes encodings canonical;
 * members that occur twice are errors, and collections without elements, too, which
 * rdb_reader_pass_empty passes over; a stream may be empty. Memory grows only in proportion to the
 * bytes that have arrived. O(value). */
struct entry *type_format_read(struct rdb_reader *reader, unsigned type, struct slice key,
                               const struct rdb_load_options *options);

/* Returns the bytes of the entry's value with rdbcompression on, without type, key and expiry:
 * what DEBUG OBJECT shows as serializedlength. Exact for this implementation of LZF: another one
 * may compress to a byte more or less. O(value), as it compresses every node. */
size_t type_format_length(const struct entry *entry);

/* The same of a captured value, in any thread. Reads the capture, which can be done only once.
 * Where `go_on` (struct rdb_sink) ends it, the result means nothing. */
size_t type_format_length_captured(const struct type_format *format, struct capture *capture,
                                   bool (*go_on)(void *arg), void *arg);

/* How long writing the value takes, in steps of about 50 ns. What is written of a stream takes
 * longest, as it is compressed; small members take longer than their bytes. O(1). */
uint64_t type_format_effort(const struct entry *entry);

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
