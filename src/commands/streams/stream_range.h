/* stream_range: entries of a range as a reply. Where they are many, all but the first are written
 * while the reply is sent. */
#ifndef PACKLIST_COMMANDS_STREAMS_STREAM_RANGE_H
#define PACKLIST_COMMANDS_STREAMS_STREAM_RANGE_H

#include "engine/call.h"
#include "types/stream.h"

/* Up to `count` entries with ids from `first` to `last`, the last ones first if `reverse`. */
struct stream_range {
    struct stream_id first;
    struct stream_id last;
    bool reverse;
    uint64_t count;
};

/* Replies the range as an array. Returns how many entries it has. O(log n + entries); where there
 * are many, O(nodes / 512 + 512) for those that follow later. */
uint64_t stream_reply_range(struct call *call, struct entry *stream,
                            const struct stream_range *range);

#endif
