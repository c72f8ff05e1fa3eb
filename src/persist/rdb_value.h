/* rdb_value: values in RDB form, as in a file after their key, and in a DUMP payload after their
 * type.
 *
 * A value is written in a form that Redis 7.0 reads (a hash with expiries of fields: Redis 7.4, a
 * stream that knows of producers: Redis 8.6), and read in every form that ever existed
 * (persist/type_format.h). rdb_skip.h skips values of unsupported types. */
#ifndef PACKLIST_PERSIST_RDB_VALUE_H
#define PACKLIST_PERSIST_RDB_VALUE_H

#include "ds/capture.h"
#include "persist/rdb_reader.h"
#include "persist/rdb_writer.h"
#include "store/entry.h"
#include "types/value_limits.h"

/* Returns the type byte of the form that rdb_write_value writes. */
unsigned rdb_value_type(const struct entry *entry);

/* The form that this writer, which may write for Valkey, writes in the place of that one. */
unsigned rdb_type_for(const struct rdb_writer *writer, unsigned type);

/* Writes the value without type and key. O(value). */
void rdb_write_value(struct rdb_writer *writer, const struct entry *entry);

/* Writes the same bytes for a captured value of this type, as it was when it was captured
 * (value_capture). In any thread. A capture can be written only once. O(value). */
void rdb_write_capture(struct rdb_writer *writer, enum value_type type, struct capture *capture);

/* Options for loading values. */
struct rdb_load_options {
    struct value_limits limits;
    bool skip_checksum; /* tests only: accept payloads (persist/dump.h) with a wrong checksum */
};

/* Reads a value of this form (an enum rdb_type, or any byte) into a new entry under `key`. The
 * caller owns the entry (value_free). `key` must not be a view of the reader's. The entry has no
 * expiry, and its clock is 0. Returns NULL when the reader has failed, or the form cannot be read
 * (type_format_reading). Validates every element of every node, and makes encodings canonical;
 * members that occur twice are errors, and collections without elements, too, which
 * rdb_reader_pass_empty passes over; a stream may be empty. Memory grows only in proportion to the
 * bytes that have arrived. O(value). */
struct entry *rdb_read_value(struct rdb_reader *reader, unsigned type, struct slice key,
                             const struct rdb_load_options *options);

/* Returns the bytes of the entry's value with rdbcompression on, without type, key and expiry:
 * what DEBUG OBJECT shows as serializedlength. Exact for this implementation of LZF: another one
 * may compress to a byte more or less. O(value), as it compresses every node. */
size_t rdb_length_value(const struct entry *entry);

#endif
