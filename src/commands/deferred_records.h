/* deferred_records: all members of a large set, or fields of a large hash, that are written while
 * the reply is sent. */
#ifndef PACKLIST_COMMANDS_DEFERRED_RECORDS_H
#define PACKLIST_COMMANDS_DEFERRED_RECORDS_H

#include "commands/common.h"
#include "types/records.h"

/* Replies these parts (enum record_parts) of the `count` (> 0) records that had not expired by
 * `now_ms`, each as a bulk, later, if they are so many that this is better. Returns false, and does
 * nothing, if they should be written at once. O(blocks / 512). */
bool deferred_records_reply_table(const struct call *call, struct entry *entry, unsigned parts,
                                  int64_t now_ms, uint64_t count);
static inline bool deferred_records_reply(const struct call *call, struct entry *entry,
                                          unsigned parts, int64_t now_ms, uint64_t count) {
    return entry_is_out_of_line(entry) &&
           deferred_records_reply_table(call, entry, parts, now_ms, count);
}

#endif
