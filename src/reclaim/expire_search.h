/* expire_search: the places in which expired keys and fields are searched for, step by step, round
 * and round. Each database has a table of the keys with an expiry, and one of hashes with fields
 * that expire; a hash counts as expired when such a field has. A replica searches only the list of
 * the keys to which its own clients have given an expiry (engine/own_expiry.h). */
#ifndef PACKLIST_RECLAIM_EXPIRE_SEARCH_H
#define PACKLIST_RECLAIM_EXPIRE_SEARCH_H

#include <stddef.h>
#include <stdint.h>

struct engine;

enum expire_kind { EXPIRE_KEYS, EXPIRE_HASHES, EXPIRE_OWN_KEYS, EXPIRE_KINDS };

/* A place. Set kind, but for EXPIRE_OWN_KEYS database, and cursor to 0. */
struct expire_search {
    enum expire_kind kind;
    int database;
    uint64_t cursor; /* where the next step continues */
};

/* What was searched. */
struct expire_tally {
    uint64_t visited; /* keys */
    uint64_t expired; /* of them */
};

/* Returns the number of keys in the place. O(1). */
size_t expire_search_count(struct engine *engine, const struct expire_search *search);

/* Visits the next few keys, those of one bucket, and deletes what has expired: keys, or fewer than
 * 2 * CALL_EXPIRED_FIELDS fields of hashes, after which the next step visits the bucket again. An
 * expired key costs the freeing of its value: O(value), or O(1) where a thread frees it
 * (lazyfree-lazy-expire). Fields cost what hash_expire says; a hash that is visited, what
 * hash_first_expiry says. EXPIRE_OWN_KEYS: see own_expiry_step. */
struct expire_tally expire_search_step(struct engine *engine, struct expire_search *search);

#endif
