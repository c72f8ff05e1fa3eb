/* hash_common: what the hash commands share. */
#ifndef PACKLIST_COMMANDS_HASHES_HASH_COMMON_H
#define PACKLIST_COMMANDS_HASHES_HASH_COMMON_H

#include "engine/call.h"
#include "types/hash.h"

/* The time by which fields have expired, for functions of types/hash.h. For a command that comes
 * from a file, from the primary or from a client that imports none has: their source deletes the
 * fields. */
static inline int64_t hash_now(const struct call *call) {
    return call_sees_expired(call) ? HASH_ALL : call->now_ms;
}

/* The same for an expiry that is given to a field: one by this time deletes it instead. Fields that
 * have expired must have been deleted (hash_expire_named). */
static inline int64_t hash_past(const struct call *call) {
    return call_sets_past(call) ? HASH_ALL : call->now_ms;
}

/* As call_find_typed_read and call_find_typed_write for a hash, from which they delete fields that
 * have expired. It may have more of them: see call_expire_fields. */
bool hash_find_read(struct call *call, struct slice key, struct keyref *ref);
bool hash_find_write(struct call *call, struct slice key, struct keyref *ref);

/* Deletes those of `count` fields that have expired, `stride` slices apart: for commands that write
 * and whose effect depends on them. See call_expire_named. ref->entry may be NULL. */
void hash_expire_named(struct call *call, struct keyref *ref, struct slice key,
                       const struct slice *fields, size_t count, size_t stride);

/* As hash_find_write, for a command that sets one field, at least if it is not there: deletes it if
 * it has expired. */
bool hash_find_write_field(struct call *call, struct slice key, struct slice field,
                           struct keyref *ref);

/* Sets `count` fields to the values that follow each of them at `pairs`, making the hash if there
 * is none (ref->entry is NULL). Returns how many fields were not there. The caller reports the
 * change. */
size_t hash_set_pairs(struct call *call, struct keyref *ref, struct slice key,
                      const struct slice *pairs, size_t count, enum hash_expiry_mode mode);

/* Replies the value of a field, or null. `entry` may be NULL. */
void hash_reply_value(struct call *call, const struct entry *entry, struct slice field);

#endif
