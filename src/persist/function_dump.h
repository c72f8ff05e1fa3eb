/* function_dump: libraries of functions as one payload, for FUNCTION DUMP and RESTORE:
 *
 *      [FUNCTION2] string …    then version and checksum, as in every payload (rdb_format.h)
 *
 * Source: the payloads that Redis 7.0 to 8.0 and Valkey 9.1 write and read. */
#ifndef PACKLIST_PERSIST_FUNCTION_DUMP_H
#define PACKLIST_PERSIST_FUNCTION_DUMP_H

#include "persist/dump.h"

/* Writing: dump_start, rdb_write_function for each library, dump_end.
 *
 * Reads a payload: calls `take` with the code of each library, in their order. The code is valid
 * during the call; `take` returns false to end reading. Returns NULL when all were taken, or when
 * `take` has ended reading; else a static text: what is wrong, as FUNCTION RESTORE replies it after
 * "ERR ". What `take` received before that is the caller's to drop. O(payload). */
const char *function_dump_read(struct slice payload, bool skip_checksum,
                               bool (*take)(void *arg, struct slice code), void *arg);

#endif
