/* producers: which entries of a stream its producers have added, so that none is added twice.
 *
 *      producers    producer "p" │ producer "q" │ …            in the order of their names
 *      producer     ids │ ends │ hashes     three columns, one item an iid, the oldest first
 *                   iid iid …               their bytes; an iid ends where the column says
 *
 * A producer gives each entry that it adds an idempotent id (iid) of its own: any bytes. Here they
 * lead to the entry's id. An iid is remembered until the entry is older than a duration, by the
 * time in its id, or until the producer has as many newer iids as are remembered of each.
 *
 * What the columns and bytes hold from the first iid on does not change, so that captures of the
 * stream share it. All memory consists of the stream's pieces (ds/pieces.h). */
#ifndef PACKLIST_DS_STREAMS_PRODUCERS_H
#define PACKLIST_DS_STREAMS_PRODUCERS_H

#include "ds/nametable.h"
#include "ds/streams/idindex.h"

/* How long iids are remembered, and how many of each producer. */
struct producers_limits {
    uint32_t duration_s;
    uint32_t iids;
};

enum { PRODUCERS_DURATION_MAX = 86400, PRODUCERS_IIDS_MAX = 10000 };

/* The name and the count may be read. */
struct producer {
    struct slice name;     /* the first member: see nametable.h */
    struct stream_id *ids; /* the columns, in one allocation */
    uint64_t *ends;
    uint32_t *hashes;
    char *bytes;
    uint64_t begin; /* of the first iid's bytes; after the last iid, where the next one begins */
    uint64_t byte_capacity;
    uint32_t first; /* index of the first iid in the columns */
    uint32_t count;
    uint32_t capacity;
    uint32_t epoch; /* in which `ids` and `bytes` were allocated */
};

/* The fields may be read; added and duplicates also be set. */
struct producers {
    struct producers_limits limits;
    uint64_t added;      /* iids that were ever remembered */
    uint64_t duplicates; /* entries that were not added, because they had been added before */
    struct nametable table;
    size_t next; /* the producer at which producers_expire goes on */
};

/* New ones, without iids. */
struct producers *producers_new(struct pieces *pieces, struct producers_limits limits);

/* Leads the visitor through their memory (ds/pieces.h). Returns where `producers` is then.
 * O(producers). */
struct producers *producers_pieces(struct producers *producers,
                                   const struct piece_visitor *visitor);

/* Sets the limits. If they change, all iids are forgotten. O(1), or O(producers). */
void producers_set_limits(struct producers *producers, struct pieces *pieces,
                          struct producers_limits limits);

/* Returns whether there is a producer of this name. O(log producers). */
bool producers_has(const struct producers *producers, struct slice name);

/* Finds the entry that a producer has added under this iid, unless it is too old; none is at the
 * time 0. O(log producers + iids of the producer): 3 us for the greatest number of them. */
bool producers_find(const struct producers *producers, struct slice name, struct slice iid,
                    int64_t now_ms, struct stream_id *id);

/* Remembers the iid of an entry, and forgets the producer's oldest one if it is one too many.
 * Amortised O(iid), and for a new producer O(producers): moves pointers. */
void producers_add(struct producers *producers, struct pieces *pieces, struct slice name,
                   struct slice iid, struct stream_id id);

/* Forgets what is too old: of some producers, others at each call. Called once for each iid that is
 * added, it keeps old producers from gathering. Amortised O(1), and O(producers) for each that
 * is dropped: moves pointers. */
void producers_expire(struct producers *producers, struct pieces *pieces, int64_t now_ms);

/* Counts the iids that are not too old, and the producers that have any. One that is too old counts
 * if an iid that is not was remembered before it: XIDMPRECORD follows no order. O(producers + iids
 * that are too old). */
void producers_count(const struct producers *producers, int64_t now_ms, uint64_t *producer_count,
                     uint64_t *iid_count);

/* Moves their memory to better places (base/memory/relocate.h), from producer *at on, 0 at first,
 * until the step is due. Sets *at, to 0 when all were visited. Returns where `producers` is now.
 * There must be no capture. */
struct producers *producers_relocate(struct producers *producers, uint64_t *at,
                                     struct relocator *relocator);

/* --- For captures --- */

/* Copies the structs to *to, which is moved behind them: so many bytes, a multiple of 8. What is
 * returned, NULL of NULL, shares all other memory, and is valid as long as the image of consumer
 * groups (ds/streams/consumer_groups.h). O(producers). */
size_t producers_image_size(const struct producers *producers);
struct producers *producers_image(const struct producers *producers, char **to);

/* A copy with memory of its own, of producers or of their image; NULL of NULL. In any thread.
 * O(bytes). */
struct producers *producers_copy(const struct producers *producers, struct pieces *pieces);

/* --- Reading --- */

static inline struct producer *producers_at(const struct producers *producers, size_t at) {
    return (struct producer *)(void *)producers->table.items[at];
}

/* The iid at this place (0 … count - 1), as a view, and the id of its entry. O(1). */
static inline struct slice producer_iid(const struct producer *producer, uint32_t place) {
    uint32_t at = producer->first + place;
    uint64_t begin = place == 0 ? producer->begin : producer->ends[at - 1];
    return slice_make(producer->bytes + begin, producer->ends[at] - begin);
}

static inline struct stream_id producer_id(const struct producer *producer, uint32_t place) {
    return producer->ids[producer->first + place];
}

/* Checks the invariant. O(bytes). */
bool producers_check(const struct producers *producers, const struct pieces *pieces);

#endif
