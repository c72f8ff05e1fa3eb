/* records_random: records chosen at random from a value (types/records.h). For types/ and, where
 * the value is a hash, for its commands.
 *
 * Only records are chosen that had not expired by `now_ms`, each with the same probability. */
#ifndef PACKLIST_TYPES_RECORDS_RANDOM_H
#define PACKLIST_TYPES_RECORDS_RANDOM_H

#include "types/packed.h"
#include "types/records.h"

/* Draws from a value that does not change between the draws; a record may come more than once.
 * Lives on the caller's stack.
 *
 * Where single draws are slow, an index makes further ones fast. A packed value gets one when the
 * draws have passed as many records as it has (types/packed.h). A table gets one when most
 * draws hit expired records: the positions of the others, 8 bytes for each. */
struct records_draws {
    const struct entry *entry;
    int64_t now_ms;
    /* A packed value */
    const uint8_t *first; /* the first record that has not expired; NULL: it is a table */
    size_t count;         /* such records */
    struct packed_index index;
    /* A table */
    size_t patience;     /* so many more expired records may be drawn before the index is made */
    uint64_t *positions; /* of records that have not expired; NULL: not collected */
    size_t living;
};

/* O(1); O(expired records) while packed. */
void records_draws_begin(struct records_draws *draws, const struct entry *entry, int64_t now_ms);

/* The next record; false when all have expired. All n draws together are expected to cost O(n) in a
 * table, where recordtable_random is O(1), and O(records) once if nearly all have expired;
 * O(records + n) while packed. */
bool records_draws_next(struct records_draws *draws, struct random *random, struct record *record);

void records_draws_end(struct records_draws *draws);

/* Visits up to `count` different records, every choice with the same probability: all when there
 * are no more. `living` is what records_living returns. visit() must not change the value, and ends
 * the visit when it returns false. As `count` draws; O(records) while packed or for more than a
 * third of the living. */
void records_sample(const struct entry *entry, struct random *random, uint64_t count,
                    uint64_t living, int64_t now_ms,
                    bool (*visit)(const struct record *record, void *arg), void *arg);

/* Removes `count` different records, of which there are more, from a packed value without expiries;
 * every choice has the same probability. Visits each before; visit() must not use the value. May
 * move the entry. O(records). */
void records_take_sample(struct entry **entry, struct random *random, uint64_t count,
                         void (*visit)(const struct record *record, void *arg), void *arg);

#endif
