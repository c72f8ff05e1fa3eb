/* zset_source: a value whose members ZUNION, ZINTER, ZDIFF and the commands like them combine. This
 * is the one place that knows which types of values they take. */
#ifndef PACKLIST_COMMANDS_ZSET_SOURCE_H
#define PACKLIST_COMMANDS_ZSET_SOURCE_H

#include "engine/call.h"
#include "types/zset.h"

struct zset_source {
    const struct entry *entry; /* NULL: there is no such key */
    double weight;
};

/* Looks up a source. Replies WRONGTYPE and returns false when the value is of a type without
 * members. The entry stays until the command changes it. */
bool zset_source_find(struct call *call, struct slice key, struct zset_source *source);

/* Its members; 0 without a key. O(1). */
uint64_t zset_source_length(const struct zset_source *source);

/* Has it this member? Then *score gets its score, which is not weighted. Expected O(1); O(n) in a
 * listpack. */
bool zset_source_get(const struct zset_source *source, struct slice member, double *score);

/* Reads all members, in the order of their scores. The iterator ends by itself. */
void zset_source_start(const struct zset_source *source, struct zset_iter *iter);
bool zset_source_next(struct zset_iter *iter, struct zset_member *member);

#endif
