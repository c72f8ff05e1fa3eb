#include "types/zset_embedded.h"

#include "base/checked.h"

#include <math.h>

void zset_pair_prepare(struct zset_pair *pair, struct slice member, double score) {
    CHECKED_ASSERT(!isnan(score));
    listpack_prepare(&pair->member, member);
    size_t len = number_format_double(pair->score_text, zset_score(score));
    listpack_prepare(&pair->score, slice_make(pair->score_text, len));
}

bool zset_parse_score(const uint8_t *element, double *score) {
    struct listpack_value value;
    listpack_get(element, &value);
    if (value.ptr) return number_parse_double(slice_make(value.ptr, value.len), score);
    *score = (double)value.integer;
    return true;
}

static double score_at(const uint8_t *element) {
    double score = 0;
    zset_parse_score(element, &score);
    return score;
}

const uint8_t *zset_embedded_read_text(const uint8_t **at, bool forward,
                                       struct zset_member *member) {
    const uint8_t *one = listpack_step(at, forward), *two = listpack_step(at, forward);
    struct listpack_value value;
    listpack_get(forward ? one : two, &value);
    member->text = listpack_value_text(&value, member->digits);
    return forward ? two : one;
}

void zset_embedded_read(const uint8_t **at, bool forward, struct zset_member *member) {
    member->score = score_at(zset_embedded_read_text(at, forward, member));
}

static void set_counts(struct entry *entry, size_t size, uint32_t count) {
    uint32_t both[] = {(uint32_t)size, count};
    memcpy(entry_value(entry), both, sizeof(both));
}

struct entry *zset_embedded_new(struct slice key, size_t size) {
    struct entry *entry = entry_new(key, VALUE_ZSET, ZSET_EMBEDDED, ZSET_EMBEDDED_OFFSET + size);
    set_counts(entry, size, 0);
    return entry;
}

static void write_pair(uint8_t *at, const struct zset_pair *pair) {
    listpack_write(at, &pair->member);
    listpack_write(at + pair->member.size, &pair->score);
}

size_t zset_embedded_append(struct entry *entry, size_t size, uint32_t count,
                            const struct zset_pair *pair) {
    write_pair(zset_embedded_first(entry) + size, pair);
    size += pair->member.size + pair->score.size;
    set_counts(entry, size, count + 1);
    return size;
}

/* Replaces `remove` bytes of the body at offset `at` by `add` bytes, which the caller writes where
 * the result points. */
static uint8_t *splice(struct keyref *ref, size_t at, size_t remove, size_t add, uint32_t count) {
    size_t old_size = zset_embedded_size(ref->entry), new_size = old_size - remove + add;
    size_t tail = old_size - at - remove;
    CHECKED_ASSERT(at + remove <= old_size);
    uint8_t *gap = zset_embedded_first(ref->entry) + at;
    /* The tail moves while the entry has the larger of both sizes. */
    if (add < remove) memmove(gap + add, gap + remove, tail);
    struct entry *entry =
        entry_resize(ref->entry, ZSET_EMBEDDED_OFFSET + old_size, ZSET_EMBEDDED_OFFSET + new_size);
    if (entry != ref->entry) keyref_moved(ref, entry);
    gap = zset_embedded_first(ref->entry) + at;
    if (add > remove) memmove(gap + add, gap + remove, tail);
    set_counts(ref->entry, new_size, count);
    return gap;
}

void zset_embedded_find(const struct entry *entry, struct slice member, struct zset_place *place) {
    const uint8_t *first = zset_embedded_first(entry), *end = zset_embedded_end(entry);
    struct listpack_element needle;
    *place = (struct zset_place){.found = false};
    if (member.len > LISTPACK_TEXT_MAX) return;
    listpack_prepare(&needle, member);
    size_t elements = 0, skipped;
    for (const uint8_t *at = first; at < end; at += listpack_size(at), elements++) {
        at = listpack_find(at, end, &needle, SIZE_MAX, &skipped);
        if (!at) return;
        elements += skipped;
        if (elements % 2 == 1) continue; /* a score that looks like the member */
        place->found = true;
        place->index = elements / 2;
        place->score = score_at(at + listpack_size(at));
        return;
    }
}

static bool is_before(const struct zset_member *a, double score, struct slice member) {
    return a->score < score || (a->score == score && slice_compare(a->text, member) < 0);
}

void zset_embedded_insert(struct keyref *ref, const struct zset_pair *pair, struct slice member,
                          double score) {
    const uint8_t *first = zset_embedded_first(ref->entry), *end = zset_embedded_end(ref->entry);
    const uint8_t *at = first;
    while (at < end) {
        const uint8_t *next = at;
        struct zset_member other;
        zset_embedded_read(&next, true, &other);
        if (!is_before(&other, score, member)) break;
        at = next;
    }
    size_t size = pair->member.size + pair->score.size;
    write_pair(splice(ref, (size_t)(at - first), 0, size, zset_embedded_count(ref->entry) + 1),
               pair);
}

const uint8_t *zset_embedded_seek(const struct entry *entry, uint64_t rank) {
    CHECKED_ASSERT(rank <= zset_embedded_count(entry));
    return listpack_seek_in(zset_embedded_first(entry), zset_embedded_end(entry),
                            2 * (size_t)zset_embedded_count(entry), 2 * (size_t)rank);
}

void zset_embedded_remove(struct keyref *ref, uint64_t from, uint64_t count) {
    const uint8_t *first = zset_embedded_first(ref->entry);
    const uint8_t *begin = zset_embedded_seek(ref->entry, from);
    const uint8_t *end = zset_embedded_seek(ref->entry, from + count);
    splice(ref, (size_t)(begin - first), (size_t)(end - begin), 0,
           zset_embedded_count(ref->entry) - (uint32_t)count);
}

bool zset_embedded_check(const struct entry *entry) {
    const uint8_t *at = zset_embedded_first(entry), *end = zset_embedded_end(entry);
    uint32_t count = zset_embedded_count(entry);
    struct zset_member member, last;
    if (!listpack_body_check(at, end, 2 * (size_t)count)) return false;
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *pair = at;
        zset_embedded_read(&at, true, &member);
        if (isnan(member.score) || !zset_parse_score(pair + listpack_size(pair), &member.score))
            return false;
        if (i > 0) {
            const uint8_t *before = pair;
            zset_embedded_read(&before, false, &last);
            if (!is_before(&last, member.score, member.text)) return false;
        }
        struct zset_place place;
        zset_embedded_find(entry, member.text, &place);
        if (!place.found || place.index != i) return false;
    }
    return true;
}
