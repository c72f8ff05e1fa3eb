#include "fuzz/rdb_digest.h"

#include "base/hash/hash.h"
#include "base/memory/alloc.h"
#include "base/text/number.h"
#include "types/hash.h"
#include "types/list.h"
#include "types/set.h"
#include "types/stream.h"
#include "types/string.h"
#include "types/value.h"
#include "types/zset.h"

#include <stdio.h>
#include <stdlib.h>

void require(bool holds, const char *what) {
    if (holds) return;
    fprintf(stderr, "does not hold: %s\n", what);
    abort();
}

uint64_t digest_word(uint64_t digest, uint64_t word) {
    digest = (digest ^ word) * 0x9E3779B97F4A7C15u;
    return digest ^ digest >> 32;
}

uint64_t digest_bytes(uint64_t digest, struct slice bytes) {
    return digest_word(digest_word(digest, bytes.len), hash_bytes(bytes));
}

static uint64_t digest_list(uint64_t digest, const struct entry *entry) {
    struct quicklist_iter iter;
    const uint8_t *element;
    uint64_t count = 0;
    list_iter_start(&iter, entry, 0, LIST_FORWARD);
    for (; (element = quicklist_iter_next(&iter)); count++)
        digest = digest_bytes(digest, slice_make(element, listpack_size(element)));
    quicklist_iter_end(&iter);
    require(count == list_length(entry), "a list is as long as it says");
    return digest_word(digest, count);
}

/* The members of a set have no order. */
static uint64_t digest_set(uint64_t digest, const struct entry *entry) {
    struct set_iter iter;
    struct slice member;
    uint64_t count = 0, sum = 0;
    set_iter_start(&iter, entry);
    for (; set_iter_next(&iter, &member); count++) {
        sum += digest_bytes(0, member);
        require(set_contains(entry, member), "a set contains its members");
    }
    require(count == set_length(entry), "a set is as long as it says");
    return digest_word(digest, sum);
}

static uint64_t digest_hash(uint64_t digest, const struct entry *entry) {
    struct hash_iter iter;
    struct record record, found;
    uint64_t count = 0, sum = 0;
    hash_iter_start(&iter, entry, HASH_ALL);
    for (; hash_iter_next(&iter, &record); count++) {
        sum += digest_word(digest_bytes(digest_bytes(0, record.field), record.value),
                           (uint64_t)record.expiry_ms);
        require(hash_find(entry, record.field, HASH_ALL, &found), "a hash has its fields");
    }
    require(count == hash_length(entry), "a hash is as long as it says");
    return digest_word(digest, sum);
}

static uint64_t digest_zset(uint64_t digest, const struct entry *entry) {
    struct zset_iter iter;
    struct zset_member member;
    uint64_t count = 0, bits;
    zset_iter_start(&iter, entry, 0, true);
    for (; zset_iter_next(&iter, &member); count++) {
        if (member.score == 0) member.score = 0; /* a listpack has no -0 */
        memcpy(&bits, &member.score, sizeof(bits));
        digest = digest_word(digest_bytes(digest, member.text), bits);
    }
    require(count == zset_length(entry), "a sorted set is as long as it says");
    return digest_word(digest, count);
}

static uint64_t digest_id(uint64_t digest, struct stream_id id) {
    return digest_word(digest_word(digest, id.ms), id.seq);
}

static uint64_t digest_groups(uint64_t digest, const struct consumer_groups *groups) {
    for (size_t i = 0; i < consumer_groups_count(groups); i++) {
        const struct consumer_group *group = consumer_groups_at(groups, i);
        struct pending_iter iter;
        struct pending_entry entry;
        digest = digest_id(digest_bytes(digest, group->name), group->last_id);
        digest = digest_word(digest, (uint64_t)group->entries_read);
        for (size_t c = 0; c < group->consumers.count; c++) {
            const struct consumer *consumer = consumer_group_at(group, c);
            digest = digest_word(digest_bytes(digest, consumer->name), consumer->ids.length);
            digest = digest_word(digest_word(digest, (uint64_t)consumer->seen_ms),
                                 (uint64_t)consumer->active_ms);
        }
        pending_iter_start(&iter, &group->pending, STREAM_ID_MIN);
        while (pending_iter_next(&iter, &entry)) {
            const struct consumer *consumer = consumer_group_numbered(group, entry.consumer);
            struct slice name = consumer ? consumer->name : SLICE("(nobody)");
            digest = digest_bytes(digest_id(digest, entry.id), name);
            digest =
                digest_word(digest_word(digest, (uint64_t)entry.delivered_ms), entry.deliveries);
        }
    }
    return digest;
}

static uint64_t digest_producers(uint64_t digest, const struct producers *producers) {
    if (!producers) return digest;
    digest = digest_word(digest_word(digest, producers->added), producers->duplicates);
    digest = digest_word(digest_word(digest, producers->limits.duration_s), producers->limits.iids);
    for (size_t p = 0; p < producers->table.count; p++) {
        const struct producer *producer = producers_at(producers, p);
        digest = digest_bytes(digest, producer->name);
        for (uint32_t i = 0; i < producer->count; i++)
            digest = digest_id(digest_bytes(digest, producer_iid(producer, i)),
                               producer_id(producer, i));
    }
    return digest;
}

static uint64_t digest_stream(uint64_t digest, const struct entry *entry) {
    struct stream_facts facts = stream_facts(entry);
    struct stream_iter iter;
    struct stream_entry one;
    struct stream_pair pair;
    uint64_t count = 0;
    streamlog_iter_start(&iter, stream_log(entry), STREAM_ID_MIN, STREAM_ID_MAX, false);
    for (; streamlog_iter_next(&iter, &one); count++) {
        digest = digest_id(digest, one.id);
        while (streamlog_next_pair(&one, &pair))
            digest = digest_bytes(digest_bytes(digest, pair.field), pair.value);
    }
    require(count == stream_length(entry), "a stream is as long as it says");
    digest =
        digest_word(digest_id(digest_id(digest, facts.last_id), facts.max_deleted_id), facts.added);
    digest = digest_groups(digest, stream_groups(entry));
    return digest_producers(digest, stream_producers(entry));
}

uint64_t digest_entry(const struct entry *entry) {
    char digits[INT64_TEXT_MAX];
    require(value_check(entry), "the value's invariant");
    require(!value_is_empty(entry), "a value is not empty");
    uint64_t digest = digest_bytes((uint64_t)entry_type(entry), entry_key(entry));
    digest = digest_word(digest, (uint64_t)entry_expiry(entry));
    if (entry_type(entry) == VALUE_LIST) return digest_list(digest, entry);
    if (entry_type(entry) == VALUE_SET) return digest_set(digest, entry);
    if (entry_type(entry) == VALUE_HASH) return digest_hash(digest, entry);
    if (entry_type(entry) == VALUE_ZSET) return digest_zset(digest, entry);
    if (entry_type(entry) == VALUE_STREAM) return digest_stream(digest, entry);
    require(entry_type(entry) == VALUE_STRING, "the type has a digest here");
    return digest_bytes(digest, string_text(entry, digits));
}
