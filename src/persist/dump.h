/* dump: one value as a payload that travels: DUMP, RESTORE, MIGRATE. Layout: rdb_format.h. */
#ifndef PACKLIST_PERSIST_DUMP_H
#define PACKLIST_PERSIST_DUMP_H

#include "base/sds.h"
#include "persist/rdb_value.h"
#include "store/entry.h"

/* The payload of the entry's value, which the caller frees. `compress` as rdb_writer_start's.
 * O(value). */
sds dump_new(const struct entry *entry, bool compress);

enum dump_error {
    DUMP_OK,
    DUMP_BAD_FOOTER, /* version or checksum; nothing else was looked at */
    DUMP_BAD_VALUE   /* a type that we do not have, or a malformed value */
};

/* A new entry under `key` with the payload's value, or NULL with *error set. Versions that are
 * read: rdb_format.h. Everything is checked: see rdb_read_value. The caller owns the entry.
 * O(payload). */
struct entry *dump_read(struct slice payload, struct slice key,
                        const struct rdb_load_options *options, enum dump_error *error);

#endif
