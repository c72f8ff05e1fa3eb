/* dump: one value as a payload for DUMP, RESTORE and MIGRATE. Layout: rdb_format.h. */
#ifndef PACKLIST_PERSIST_DUMP_H
#define PACKLIST_PERSIST_DUMP_H

#include "base/sds.h"
#include "persist/rdb_value.h"
#include "store/entry.h"

/* Returns the payload of the entry's value; the caller frees it. `compress` as for
 * rdb_writer_start. O(value). */
sds dump_new(const struct entry *entry, bool compress);

enum dump_error {
    DUMP_OK,
    DUMP_BAD_FOOTER, /* bad version or checksum; the value was not checked */
    DUMP_BAD_VALUE   /* an unsupported type, or a malformed value */
};

/* Returns a new entry under `key` with the payload's value, or NULL with *error set. The caller
 * owns the entry. Accepted versions: rdb_format.h. Validates everything, see rdb_read_value.
 * O(payload). */
struct entry *dump_read(struct slice payload, struct slice key,
                        const struct rdb_load_options *options, enum dump_error *error);

#endif
