/* rdb_value: values in RDB form, as they stand behind their key in a file and behind their type in
 * a DUMP payload.
 *
 * A value is written in a form that Redis 7.0 reads, or, a hash with expiries of fields, Redis 7.4;
 * it is read in every form that there has been (persist/type_format.h). Values of types that are
 * not in that table can be skipped (persist/rdb_skip.h). */
#ifndef PACKLIST_PERSIST_RDB_VALUE_H
#define PACKLIST_PERSIST_RDB_VALUE_H

#include "persist/rdb_reader.h"
#include "persist/rdb_writer.h"
#include "store/entry.h"
#include "types/value_capture.h"
#include "types/value_limits.h"

/* The type byte that rdb_write_value's form has. */
unsigned rdb_value_type(const struct entry *entry);

/* Writes the value (no type, no key). O(value). */
void rdb_write_value(struct rdb_writer *writer, const struct entry *entry);

/* The same bytes for a value that was captured, as it was then. In any thread; a capture is written
 * once. */
void rdb_write_capture(struct rdb_writer *writer, const struct value_capture *capture);

/* What values are loaded with. */
struct rdb_load_options {
    struct value_limits limits;
    bool skip_checksum; /* payloads (persist/dump.h) with a wrong checksum are read; tests only */
};

/* Is there a type for the values of this form (an enum rdb_type, or any byte)? */
bool rdb_can_read(unsigned type);

/* Reads a value of a type that rdb_can_read names into a new entry, which the caller owns (free it
 * by value_free), under `key`, which must not be a view of the reader's. No expiry, clock 0. NULL
 * when the reader has failed. All of the value is checked: every element of every node, whose
 * encodings are made canonical where they are not. Collections without members, empty nodes, and
 * members that a set or hash has twice are errors. Memory is taken only in proportion to bytes that
 * have arrived. O(value). */
struct entry *rdb_read_value(struct rdb_reader *reader, unsigned type, struct slice key,
                             const struct rdb_load_options *options);

#endif
