/* stream_id: the ids of entries of streams. O(1) each. */
#ifndef PACKLIST_DS_STREAMS_STREAM_ID_H
#define PACKLIST_DS_STREAMS_STREAM_ID_H

#include "base/text/number.h"

#include <stdbool.h>
#include <stdint.h>

struct stream_id {
    uint64_t ms;
    uint64_t seq;
};

#define STREAM_ID_MIN ((struct stream_id){0, 0})
#define STREAM_ID_MAX ((struct stream_id){UINT64_MAX, UINT64_MAX})

/* Negative, 0 or positive as `a` is before `b`, equal, or after it. */
static inline int stream_id_compare(struct stream_id a, struct stream_id b) {
    if (a.ms != b.ms) return a.ms < b.ms ? -1 : 1;
    return (a.seq > b.seq) - (a.seq < b.seq);
}

/* The greatest id before *id, or the least one after it. False, with *id as it was, when there is
 * none. */
static inline bool stream_id_decrement(struct stream_id *id) {
    if (id->ms == 0 && id->seq == 0) return false;
    id->ms -= id->seq == 0;
    id->seq--;
    return true;
}
static inline bool stream_id_increment(struct stream_id *id) {
    if (id->ms == UINT64_MAX && id->seq == UINT64_MAX) return false;
    id->ms += ++id->seq == 0;
    return true;
}

/* The text of an id, "ms-seq", written to `buffer`. */
enum { STREAM_ID_TEXT_MAX = 2 * INT64_TEXT_MAX + 1 };
static inline struct slice stream_id_text(char buffer[STREAM_ID_TEXT_MAX], struct stream_id id) {
    size_t len = number_format_uint64(buffer, id.ms);
    buffer[len++] = '-';
    return slice_make(buffer, len + number_format_uint64(buffer + len, id.seq));
}

#endif
