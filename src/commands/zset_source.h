/* zset_source: a value whose members ZUNION, ZINTER, ZDIFF and the commands like them combine. This
 * is the one place that knows which types of values they take. */
#ifndef PACKLIST_COMMANDS_ZSET_SOURCE_H
#define PACKLIST_COMMANDS_ZSET_SOURCE_H

#include "engine/call.h"
#include "types/set.h"
#include "types/zset.h"

struct zset_source {
    const struct entry *entry; /* a sorted set or a set; NULL: there is no such key */
    double weight;
    size_t position; /* among the sources of its command */
};

/* Looks up a source. Replies WRONGTYPE and returns false when the value is of a type without
 * members. The entry stays until the command changes it. */
bool zset_source_find(struct call *call, struct slice key, struct zset_source *source);

/* Its members; 0 without a key. O(1). */
uint64_t zset_source_length(const struct zset_source *source);

/* Returns whether it has this member; if so, *score gets its score, which is not weighted; it is 1
 * in a set. Expected O(1); O(n) in a listpack. */
bool zset_source_get(const struct zset_source *source, struct slice member, double *score);

/* Lives on the caller's stack, needs no end. The value must not change during the iteration. */
struct zset_source_iter {
    enum value_type type;
    union {
        struct zset_iter zset; /* VALUE_ZSET, and without a key */
        struct set_iter set;   /* VALUE_SET */
    };
};

/* Reads all members: of a sorted set in the order of their scores, of a set in no order, each with
 * the score 1. The text lives until the next call. Amortised O(1) a member. */
void zset_source_start(const struct zset_source *source, struct zset_source_iter *iter);
bool zset_source_next(struct zset_source_iter *iter, struct zset_member *member);

#endif
