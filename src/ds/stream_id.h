/* stream_id: the ids of entries of streams. */
#ifndef PACKLIST_DS_STREAM_ID_H
#define PACKLIST_DS_STREAM_ID_H

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

#endif
