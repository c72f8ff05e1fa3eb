/* stream_trim: trimming streams, and what becomes of the references that consumer groups have to
 * what is trimmed: their pending entries. */
#ifndef PACKLIST_COMMANDS_STREAM_TRIM_H
#define PACKLIST_COMMANDS_STREAM_TRIM_H

#include "commands/stream_common.h"

/* Returns whether trimming removes the first entries only, so that the caller propagates it: as
 * trimming to the length that is left. O(1). */
bool stream_trims_to_length(const struct entry *entry, const struct stream_trim_options *options);

/* Trims as the options say, which were checked, and returns how many entries are gone. Propagates
 * what the caller does not: the deletion of entries that are not the first ones, and what becomes
 * of references. Publishes nothing. */
uint64_t stream_trim_referenced(struct call *call, struct keyref *ref, struct slice key,
                                const struct stream_trim_options *options);

#endif
