#include "commands/hashes/hash_common.h"

bool hash_find_read(struct call *call, struct slice key, struct keyref *ref) {
    if (!call_find_typed_read(call, key, VALUE_HASH, ref)) return false;
    if (ref->entry && entry_fields_expire(ref->entry)) call_expire_fields(call, ref, key);
    return true;
}

bool hash_find_write(struct call *call, struct slice key, struct keyref *ref) {
    if (!call_find_typed_write(call, key, VALUE_HASH, ref)) return false;
    if (ref->entry && entry_fields_expire(ref->entry)) call_expire_fields(call, ref, key);
    return true;
}

void hash_expire_named(struct call *call, struct keyref *ref, struct slice key,
                       const struct slice *fields, size_t count, size_t stride) {
    if (ref->entry && entry_fields_expire(ref->entry))
        call_expire_named(call, ref, key, fields, count, stride);
}

bool hash_find_write_field(struct call *call, struct slice key, struct slice field,
                           struct keyref *ref) {
    call->refills = true;
    if (!hash_find_write(call, key, ref)) return false;
    hash_expire_named(call, ref, key, &field, 1, 1);
    return true;
}

size_t hash_set_pairs(struct call *call, struct keyref *ref, struct slice key,
                      const struct slice *pairs, size_t count, enum hash_expiry_mode mode) {
    const struct listpack_limits *limits = &call->limits->hash;
    size_t added = 0, at = 0;
    if (ref->entry) {
        hash_expect(ref, count, limits);
    } else {
        hash_create(ref, key, pairs[0], pairs[1], count, limits);
        added = at = 1;
    }
    for (; at < count; at++)
        added += hash_set(ref, pairs[2 * at], pairs[2 * at + 1], mode, hash_now(call), limits);
    return added;
}

void hash_reply_value(struct call *call, const struct entry *entry, struct slice field) {
    struct record record;
    if (entry && hash_find(entry, field, hash_now(call), &record))
        reply_bulk(call->reply, record.value);
    else
        reply_null(call->reply);
}
