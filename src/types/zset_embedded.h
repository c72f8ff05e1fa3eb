/* zset_embedded: sorted sets that live inside their entry as a listpack. For types/zset*.c only.
 *
 *      value: [body size 4][members 4] (member, score) …         numbers in native order
 *
 * Pairs stand in the order of the sorted set. A score is the text that number_format_double writes,
 * so that most are integers. The entry is exactly as long as its body. */
#ifndef PACKLIST_TYPES_ZSET_EMBEDDED_H
#define PACKLIST_TYPES_ZSET_EMBEDDED_H

#include "base/checked.h"
#include "ds/listpack.h"
#include "types/zset.h"

enum { ZSET_EMBEDDED_OFFSET = 8 };

/* The encoding nibble of a sorted set's entry. */
enum zset_encoding { ZSET_EMBEDDED, ZSET_SKIPLIST = ENTRY_OUT_OF_LINE };

static inline bool zset_is_embedded(const struct entry *entry) {
    CHECKED_ASSERT(entry_type(entry) == VALUE_ZSET);
    return entry_encoding(entry) == ZSET_EMBEDDED;
}

static inline uint32_t zset_embedded_size(const struct entry *entry) {
    uint32_t size;
    memcpy(&size, entry_value(entry), sizeof(size));
    return size;
}

static inline uint32_t zset_embedded_count(const struct entry *entry) {
    uint32_t count;
    memcpy(&count, entry_value(entry) + sizeof(uint32_t), sizeof(count));
    return count;
}

static inline uint8_t *zset_embedded_first(const struct entry *entry) {
    return entry_value(entry) + ZSET_EMBEDDED_OFFSET;
}

static inline uint8_t *zset_embedded_end(const struct entry *entry) {
    return zset_embedded_first(entry) + zset_embedded_size(entry);
}

/* A pair made ready to be written. A view of the member. */
struct zset_pair {
    struct listpack_element member;
    struct listpack_element score;
    char score_text[DOUBLE_TEXT_MAX];
};

/* `pair` must not be copied. */
void zset_pair_prepare(struct zset_pair *pair, struct slice member, double score);

/* The pair at `at`, which is moved past it (before it, when not `forward`). */
void zset_embedded_read(const uint8_t **at, bool forward, struct zset_member *member);

/* The same without the score; returns its element. */
const uint8_t *zset_embedded_read_text(const uint8_t **at, bool forward,
                                       struct zset_member *member);

/* A new entry without members, but with room for a body of `size` bytes; see the next function. */
struct entry *zset_embedded_new(struct slice key, size_t size);

/* Writes the pair at the end of a body of `size` bytes and `count` members, and counts it. */
size_t zset_embedded_append(struct entry *entry, size_t size, uint32_t count,
                            const struct zset_pair *pair);

/* Fills `place`. O(n). */
void zset_embedded_find(const struct entry *entry, struct slice member, struct zset_place *place);

/* Puts the pair where it belongs; it is not in the sorted set. May move the entry. O(n). */
void zset_embedded_insert(struct keyref *ref, const struct zset_pair *pair, struct slice member,
                          double score);

/* Removes `count` members from rank `from` on. May move the entry. O(n). */
void zset_embedded_remove(struct keyref *ref, uint64_t from, uint64_t count);

/* The pair of this rank (== count: the end). O(n). */
const uint8_t *zset_embedded_seek(const struct entry *entry, uint64_t rank);

bool zset_embedded_check(const struct entry *entry);

#endif
