/* dump: payloads for DUMP, RESTORE and MIGRATE, of one value; and for FUNCTION DUMP and RESTORE, of
 * libraries of functions:
 *
 *      [FUNCTION2] string …    then version and checksum, as in every payload (rdb_format.h)
 *
 * Source: the payloads that Redis 7.0 to 8.0 and Valkey 9.1 write and read. */
#ifndef PACKLIST_PERSIST_DUMP_H
#define PACKLIST_PERSIST_DUMP_H

#include "base/text/sds.h"
#include "persist/rdb_writer.h"
#include "persist/type_format.h"
#include "store/entry.h"

/* --- Payloads of any kind: what they hold, then version and checksum --- */

/* Starts a writer that appends to *payload (an empty sds). dump_end adds version and checksum and
 * ends the writer. `compress` as for rdb_writer_start. */
void dump_start(struct rdb_writer *writer, sds *payload, bool compress);
void dump_end(struct rdb_writer *writer);

/* --- Values --- */

/* Returns the payload of the entry's value; the caller frees it. `compress` as for
 * rdb_writer_start. O(value). Builds with CHECKED=1 read it back (dump_check). */
sds dump_new(const struct entry *entry, bool compress);

/* What dump_new_captured needs to know of the entry whose value was captured. */
struct dump_captured {
    struct capture *capture; /* value_capture */
    const struct type_format *format;
    unsigned written; /* type_format_written */
};

/* The same for a captured value, in any thread. Reads the capture, which can be done only once.
 * `go_on` is called now and then; where it returns false, the payload stays incomplete. */
sds dump_new_captured(const struct dump_captured *value, bool compress, bool (*go_on)(void *arg),
                      void *arg);

enum dump_error {
    DUMP_OK,
    DUMP_BAD_FOOTER, /* bad version or checksum; the value was not checked */
    DUMP_BAD_VALUE   /* an unsupported type, or a malformed value */
};

/* Returns a new entry under `key` with the payload's value, or NULL with *error set. The caller
 * owns the entry. *reason, if wanted, says for a log what is bad after DUMP_BAD_VALUE, and the
 * caller frees it; else it is NULL. Accepted versions: rdb_format.h. Validates everything, see
 * type_format_read. O(payload). */
struct entry *dump_read(struct slice payload, struct slice key,
                        const struct rdb_load_options *options, enum dump_error *error,
                        sds *reason);

/* Returns the name of the type of a payload that dump_read has refused, if only other servers have
 * that type ("array"): static text; otherwise NULL. O(1). */
const char *dump_foreign_type(struct slice payload);

/* Returns whether reading the payload gives the value of the entry, with the same digest
 * (persist/type_format.h). Passes a value of more than DUMP_CHECK_MAX bytes unread. O(value). */
enum { DUMP_CHECK_MAX = 64 * 1024 };
bool dump_check(struct slice payload, const struct entry *entry);

/* --- Libraries of functions --- */

/* Writing: dump_start, rdb_write_function for each library, dump_end.
 *
 * Reads a payload: calls `take` with the code of each library, in their order. The code is valid
 * during the call; `take` returns false to end reading. Returns NULL when all were taken, or when
 * `take` has ended reading; else a static text: what is wrong, as FUNCTION RESTORE replies it after
 * "ERR ". What `take` received before that is the caller's to drop. O(payload). */
const char *dump_read_function(struct slice payload, bool skip_checksum,
                               bool (*take)(void *arg, struct slice code), void *arg);

#endif
