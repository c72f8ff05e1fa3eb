#include "ds/sorted_sets/skiplist_node.h"

#include "base/checked.h"
#include "base/hash/hash.h"
#include "base/memory/alloc.h"
#include "base/prefetch.h"
#include "base/processor.h"

#include <assert.h>

#ifdef PROCESSOR_X86_64
#include <emmintrin.h>
#endif

/* The first byte of a record. */
enum { RECORD_SHORT_MAX = 251, RECORD_MEDIUM = 252, RECORD_APART = 253 };

enum { NODE_SIZE_MAX = UINT16_MAX / 16 * 16 };
_Static_assert(SKIPLIST_LARGE_NODE_BYTES + 8 * SKIPLIST_LARGE_NODE_MEMBERS +
                       2 * SKIPLIST_INLINE_MAX <
                   NODE_SIZE_MAX,
               "the offsets of a node have 16 bits, also when its scores become wider");
_Static_assert(SKIPLIST_NODE_BYTES > 6 * SKIPLIST_INLINE_MAX, "a node has several members");

/* --- Records --- */

static unsigned read_uint16(const uint8_t *at) {
    uint16_t value;
    memcpy(&value, at, sizeof(value));
    return value;
}

static void write_uint16(uint8_t *at, unsigned value) {
    uint16_t word = (uint16_t)value;
    memcpy(at, &word, sizeof(word));
}

static struct skiplist_text *read_pointer(const uint8_t *at) {
    struct skiplist_text *text;
    memcpy(&text, at, sizeof(text));
    return text;
}

static const uint8_t *record_at(const struct skiplist_node *node, unsigned slot) {
    CHECKED_ASSERT(slot < skiplist_node_count(node));
    return (const uint8_t *)node + read_uint16(skiplist_node__offsets(node) + 2 * slot);
}

static struct slice record_text(const uint8_t *at) {
    if (*at <= RECORD_SHORT_MAX) return slice_make(at + 1, *at);
    if (*at == RECORD_MEDIUM) return slice_make(at + 3, read_uint16(at + 1));
    const struct skiplist_text *text = read_pointer(at + 1);
    return slice_make(text->bytes, text->len);
}

static unsigned record_size(const uint8_t *at) {
    if (*at <= RECORD_SHORT_MAX) return 1u + *at;
    if (*at == RECORD_MEDIUM) return 3u + read_uint16(at + 1);
    return 1u + (unsigned)sizeof(struct skiplist_text *);
}

static struct skiplist_text *text_new(struct slice member, struct pieces *pieces) {
    struct skiplist_text *text = pieces_alloc(pieces, mem_good_size(sizeof(*text) + member.len));
    *text = (struct skiplist_text){.len = member.len, .epoch = pieces_epoch(pieces)};
    memcpy(text->bytes, member.ptr, member.len);
    return text;
}

size_t skiplist_text_size(const struct skiplist_text *text) {
    return mem_good_size(sizeof(*text) + text->len);
}

void skiplist_record_prepare(struct skiplist_record *record, struct slice member, bool apart,
                             struct pieces *pieces) {
    assert(apart || member.len <= SKIPLIST_INLINE_MAX);
    *record = (struct skiplist_record){.text = member};
    size_t header = member.len <= RECORD_SHORT_MAX ? 1 : 3;
    if (apart) {
        record->apart = text_new(member, pieces);
        header = 1, member.len = sizeof(record->apart);
    }
    record->size = (unsigned)(header + member.len);
}

static void record_write(uint8_t *at, const struct skiplist_record *record) {
    if (record->apart) {
        *at = RECORD_APART;
        memcpy(at + 1, &record->apart, sizeof(record->apart));
        return;
    }
    if (record->text.len <= RECORD_SHORT_MAX) {
        *at++ = (uint8_t)record->text.len;
    } else {
        *at = RECORD_MEDIUM;
        write_uint16(at + 1, (unsigned)record->text.len);
        at += 3;
    }
    slice_copy((char *)at, record->text);
}

struct slice skiplist_node_member(const struct skiplist_node *node, unsigned slot) {
    return record_text(record_at(node, slot));
}

void skiplist_node_members(const struct skiplist_node *node, unsigned slot, unsigned count,
                           bool forward, struct slice *members) {
    CHECKED_ASSERT(forward ? slot + count <= skiplist_node_count(node) : count <= slot + 1);
    const uint8_t *offsets = skiplist_node__offsets(node) + 2 * (size_t)slot;
    ptrdiff_t step = forward ? 2 : -2;
    for (unsigned i = 0; i < count; i++, offsets += step)
        members[i] = record_text((const uint8_t *)node + read_uint16(offsets));
}

void skiplist_node_prefetch_member(const struct skiplist_node *node, unsigned slot) {
    prefetch(record_at(node, slot));
}

struct skiplist_text *skiplist_node_text(const struct skiplist_node *node, unsigned slot) {
    const uint8_t *at = record_at(node, slot);
    return *at == RECORD_APART ? read_pointer(at + 1) : NULL;
}

static void visit_text(uint8_t *at, const struct piece_visitor *visitor) {
    if (*at != RECORD_APART) return;
    struct skiplist_text *text = read_pointer(at + 1);
    size_t size = skiplist_text_size(text);
    struct skiplist_text *now = visitor->enter(visitor, text, size);
    if (now != text) memcpy(at + 1, &now, sizeof(now));
    visitor->leave(visitor, now, size, &now->epoch);
}

struct skiplist_node *skiplist_node_pieces(struct skiplist_node *node, bool has_texts,
                                           const struct piece_visitor *visitor) {
    size_t size = mem_good_size(skiplist_node_size(node));
    unsigned count = has_texts ? skiplist_node_count(node) : 0;
    node = visitor->enter(visitor, node, size);
    for (unsigned slot = 0; slot < count; slot++)
        visit_text((uint8_t *)(uintptr_t)record_at(node, slot), visitor);
    visitor->leave(visitor, node, size, &node->epoch);
    return node;
}

size_t skiplist_node_own_texts(struct skiplist_node *node, struct pieces *pieces) {
    size_t texts = 0;
    for (unsigned slot = 0; slot < skiplist_node_count(node); slot++) {
        struct skiplist_text *text = skiplist_node_text(node, slot);
        if (!text) continue;
        text = text_new(skiplist_node_member(node, slot), pieces);
        memcpy((uint8_t *)(uintptr_t)record_at(node, slot) + 1, &text, sizeof(text));
        texts++;
    }
    return texts;
}

double skiplist_node_score(const struct skiplist_node *node, unsigned slot) {
    return skiplist_score_of_key(skiplist_node_key(node, slot));
}

/* --- Finding --- */

/* The first slot from `from` on whose packed score is not below `delta`. */
static unsigned seek_delta(const struct skiplist_node *node, unsigned from, uint64_t delta) {
    const uint8_t *scores = skiplist_node__scores(node);
    unsigned width = node->width, left = skiplist_node_count(node) - from;
    while (left > 0) {
        unsigned half = left / 2;
        bool below = skiplist_node__delta(scores, width, from + half) < delta;
        from = below ? from + half + 1 : from;
        left = below ? left - half - 1 : half;
    }
    return from;
}

unsigned skiplist_node_seek_key(const struct skiplist_node *node, uint64_t key, bool behind) {
    if (key < node->base) return 0;
    uint64_t delta = (key - node->base) >> node->shift;
    bool between = (key - node->base) & (((uint64_t)1 << node->shift) - 1);
    if (!between && !behind) return seek_delta(node, 0, delta);
    return delta == UINT64_MAX ? skiplist_node_count(node) : seek_delta(node, 0, delta + 1);
}

unsigned skiplist_node_seek(const struct skiplist_node *node, uint64_t key, struct slice member,
                            bool *found) {
    unsigned from = skiplist_node_seek_key(node, key, false), count = skiplist_node_count(node);
    *found = false;
    if (from == count || skiplist_node_key(node, from) != key) return from;
    bool next_is_equal = from + 1 < count && skiplist_node_key(node, from + 1) == key;
    unsigned to = next_is_equal ? skiplist_node_seek_key(node, key, true) : from + 1;
    while (from < to) {
        unsigned middle = from + (to - from) / 2;
        int order = slice_compare(skiplist_node_member(node, middle), member);
        if (order == 0) *found = true;
        if (order < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

bool skiplist_node_begins_by(const struct skiplist_node *node, uint64_t key, struct slice member) {
    uint64_t first = skiplist_node_key(node, 0);
    return first < key ||
           (first == key && slice_compare(skiplist_node_member(node, 0), member) <= 0);
}

bool skiplist_node_next_tag(const struct skiplist_node *node, uint8_t bits, uint8_t mask,
                            unsigned *slot) {
    const uint8_t *tags = skiplist_node__tags(node);
    unsigned at = *slot, count = skiplist_node_count(node);
    bits &= mask;
#ifdef PROCESSOR_X86_64
    /* The size of a node allows to read whole groups of 16 tags. */
    for (; at < count; at = (at & ~15u) + 16) {
        __m128i group = _mm_loadu_si128((const __m128i *)(const void *)(tags + (at & ~15u)));
        __m128i masked = _mm_and_si128(group, _mm_set1_epi8((char)mask));
        __m128i same = _mm_cmpeq_epi8(masked, _mm_set1_epi8((char)bits));
        unsigned match = (unsigned)_mm_movemask_epi8(same) >> (at & 15);
        if (match) {
            at += (unsigned)__builtin_ctz(match);
            break;
        }
    }
#else
    while (at < count && (tags[at] & mask) != bits) at++;
#endif
    *slot = at;
    return at < count;
}

bool skiplist_node_find(const struct skiplist_node *node, struct slice member, uint64_t hash,
                        unsigned *slot) {
    for (*slot = 0; skiplist_node_next_tag(node, (uint8_t)hash, 0xFF, slot); ++*slot)
        if (slice_equal(skiplist_node_member(node, *slot), member)) return true;
    return false;
}

/* --- Building --- */

size_t skiplist_node_size_for(unsigned height, unsigned members, unsigned width, size_t records) {
    size_t tags = sizeof(struct skiplist_node) + (height + 1) * sizeof(struct skiplist_link);
    size_t size = tags + (size_t)members * (3 + width) + records;
    size_t readable = tags + ((members + 15) & ~15u); /* tags are read in groups */
    return size > readable ? size : readable;
}

size_t skiplist_range_records(const struct skiplist_range *range) {
    if (range->from == 0 && range->to == skiplist_node_count(range->node))
        return skiplist_node_size(range->node) - range->node->records;
    size_t size = 0;
    for (unsigned i = range->from; i < range->to; i++)
        size += record_size(record_at(range->node, i));
    return size;
}

static uint64_t largest_delta(unsigned width) {
    return width == 0 ? 0 : UINT64_MAX >> (64 - 8 * width);
}

bool skiplist_node_packs(const struct skiplist_node *node, uint64_t key) {
    if (key < node->base) return false;
    uint64_t delta = (key - node->base) >> node->shift;
    return delta <= largest_delta(node->width) && node->base + (delta << node->shift) == key;
}

struct skiplist_packing skiplist_packing_of(const struct skiplist_range *ranges, unsigned count,
                                            const uint64_t *more) {
    uint64_t first = more ? *more : UINT64_MAX, last = more ? *more : 0, differ = 0;
    for (unsigned i = 0; i < count; i++) {
        if (ranges[i].from == ranges[i].to) continue;
        uint64_t low = skiplist_node_key(ranges[i].node, ranges[i].from);
        uint64_t high = skiplist_node_key(ranges[i].node, ranges[i].to - 1);
        first = low < first ? low : first;
        last = high > last ? high : last;
    }
    for (unsigned i = 0; i < count; i++) {
        for (unsigned j = ranges[i].from; j < ranges[i].to; j++)
            differ |= skiplist_node_key(ranges[i].node, j) - first;
    }
    if (more) differ |= *more - first;
    if (differ == 0) return (struct skiplist_packing){.base = first};
    struct skiplist_packing packing = {.base = first, .shift = (uint8_t)__builtin_ctzl(differ)};
    uint64_t range = (last - first) >> packing.shift;
    packing.width = (uint8_t)((64 - __builtin_clzl(range) + 7) / 8);
    if (more && *more == first) {
        uint64_t spare = largest_delta(packing.width) - range, below = first >> packing.shift;
        packing.base -= (spare < below ? spare : below) << packing.shift;
    }
    return packing;
}

static void write_delta(uint8_t *at, unsigned width, uint64_t delta) {
    for (unsigned i = 0; i < width; i++) at[i] = (uint8_t)(delta >> 8 * i);
}

static uint64_t delta_of(const struct skiplist_node *node, uint64_t key) {
    return (key - node->base) >> node->shift;
}

/* Copies the members of a range to slots from `slot` on; the count is set already. */
static void copy_range(struct skiplist_node *node, unsigned slot,
                       const struct skiplist_range *range) {
    const struct skiplist_node *from = range->node;
    unsigned n = range->to - range->from;
    uint8_t *scores = skiplist_node__scores(node) + slot * node->width;
    if (from->base == node->base && from->width == node->width && from->shift == node->shift) {
        memcpy(scores, skiplist_node__scores(from) + range->from * from->width, n * node->width);
    } else {
        for (unsigned i = 0; i < n; i++)
            write_delta(scores + i * node->width, node->width,
                        delta_of(node, skiplist_node_key(from, range->from + i)));
    }
    memcpy(skiplist_node__tags(node) + slot, skiplist_node__tags(from) + range->from, n);
    uint8_t *offsets = skiplist_node__offsets(node) + 2 * slot;
    if (n == skiplist_node_count(from)) {
        size_t size = skiplist_range_records(range);
        unsigned moved = node->records - (unsigned)size - from->records;
        node->records = (uint16_t)(node->records - size);
        memcpy((uint8_t *)node + node->records, (const uint8_t *)from + from->records, size);
        const uint8_t *old = skiplist_node__offsets(from);
        for (unsigned i = 0; i < n; i++)
            write_uint16(offsets + 2 * i, read_uint16(old + 2 * i) + moved);
        return;
    }
    for (unsigned i = 0; i < n; i++) {
        const uint8_t *record = record_at(from, range->from + i);
        unsigned size = record_size(record);
        node->records = (uint16_t)(node->records - size);
        memcpy((uint8_t *)node + node->records, record, size);
        write_uint16(offsets + 2 * i, node->records);
    }
}

struct skiplist_node *skiplist_node_build(unsigned height, struct skiplist_packing packing,
                                          const struct skiplist_range *ranges, unsigned count,
                                          size_t more) {
    unsigned members = 0;
    size_t records = more;
    for (unsigned i = 0; i < count; i++) {
        members += ranges[i].to - ranges[i].from;
        records += skiplist_range_records(&ranges[i]);
    }
    /* `more` is room for a member, too. */
    size_t size = skiplist_node_size_for(height, members + (more > 0), packing.width, records);
    size = mem_good_size(size);
    if (size > NODE_SIZE_MAX) size = NODE_SIZE_MAX;
    struct skiplist_node *node = mem_alloc(mem_good_size(size));
    *node = (struct skiplist_node){.base = packing.base,
                                   .size16 = (uint16_t)(size / 16),
                                   .records = (uint16_t)size,
                                   .width = packing.width,
                                   .shift = packing.shift};
    memset(node->links, 0, (height + 1) * sizeof(struct skiplist_link));
    node->links[0].span = members | (uint64_t)height << SKIPLIST_HEIGHT_SHIFT;
    unsigned slot = 0;
    for (unsigned i = 0; i < count; i++) {
        copy_range(node, slot, &ranges[i]);
        slot += ranges[i].to - ranges[i].from;
    }
    return node;
}

/* --- Changing --- */

/* The arrays follow each other without gaps, so that each grows by moving those after it. */
void skiplist_node_insert(struct skiplist_node *node, unsigned slot, uint64_t key, uint8_t tag,
                          const struct skiplist_record *record) {
    unsigned count = skiplist_node_count(node), width = node->width;
    uint8_t *tags = skiplist_node__tags(node), *offsets = tags + count;
    uint8_t *scores = offsets + 2 * count;
    CHECKED_ASSERT(slot <= count && skiplist_node_packs(node, key));
    node->records = (uint16_t)(node->records - record->size);
    assert(scores + (count + 1) * width + 3 <= (uint8_t *)node + node->records);
    memmove(scores + slot * width + 3 + width, scores + slot * width, (count - slot) * width);
    memmove(scores + 3, scores, slot * width);
    memmove(offsets + 2 * slot + 3, offsets + 2 * slot, 2 * (count - slot));
    memmove(offsets + 1, offsets, 2 * slot);
    memmove(tags + slot + 1, tags + slot, count - slot);
    node->links[0].span++;
    tags[slot] = tag;
    write_uint16(offsets + 1 + 2 * slot, node->records);
    write_delta(scores + 3 + slot * width, width, delta_of(node, key));
    record_write((uint8_t *)node + node->records, record);
    CHECKED_ASSERT(skiplist_node_key(node, slot) == key);
    CHECKED_ASSERT(slice_equal(skiplist_node_member(node, slot), record->text));
}

void skiplist_node_delete(struct skiplist_node *node, unsigned slot) {
    unsigned count = skiplist_node_count(node), width = node->width;
    uint8_t *tags = skiplist_node__tags(node), *offsets = tags + count;
    uint8_t *scores = offsets + 2 * count;
    CHECKED_ASSERT(slot < count);
    unsigned at = read_uint16(offsets + 2 * slot), size = record_size((uint8_t *)node + at);
    uint8_t *records = (uint8_t *)node + node->records;
    memmove(records + size, records, at - node->records);
    for (unsigned i = 0; i < count; i++) {
        unsigned offset = read_uint16(offsets + 2 * i);
        write_uint16(offsets + 2 * i, offset < at ? offset + size : offset);
    }
    node->records = (uint16_t)(node->records + size);
    memmove(tags + slot, tags + slot + 1, count - slot - 1);
    memmove(offsets - 1, offsets, 2 * slot);
    memmove(offsets - 1 + 2 * slot, offsets + 2 * slot + 2, 2 * (count - slot - 1));
    memmove(scores - 3, scores, slot * width);
    memmove(scores - 3 + slot * width, scores + (slot + 1) * width, (count - slot - 1) * width);
    node->links[0].span--;
}

void skiplist_node_set_key(struct skiplist_node *node, unsigned slot, uint64_t key) {
    CHECKED_ASSERT(slot < skiplist_node_count(node) && skiplist_node_packs(node, key));
    write_delta(skiplist_node__scores(node) + slot * node->width, node->width, delta_of(node, key));
}

/* --- Checking --- */

bool skiplist_node_check(const struct skiplist_node *node) {
    unsigned count = skiplist_node_count(node);
    size_t size = skiplist_node_size(node), records = 0;
    if (node->width > 8 || node->shift > 63 || node->records > size || count == 0) return false;
    if (size < skiplist_node_size_for(skiplist_node_height(node), count, node->width,
                                      size - node->records))
        return false;
    for (unsigned i = 0; i < count; i++) {
        struct slice member = skiplist_node_member(node, i);
        const uint8_t *record = record_at(node, i);
        if (record < (const uint8_t *)node + node->records) return false;
        records += record_size(record);
        if (skiplist_node__tags(node)[i] != (uint8_t)hash_bytes(member)) return false;
        bool apart = skiplist_node_text(node, i) != NULL;
        if (apart ? member.len <= SKIPLIST_LARGE_INLINE_MAX : member.len > SKIPLIST_INLINE_MAX)
            return false;
        if (i == 0) continue;
        uint64_t before = skiplist_node_key(node, i - 1), key = skiplist_node_key(node, i);
        if (before > key ||
            (before == key && slice_compare(skiplist_node_member(node, i - 1), member) >= 0))
            return false;
    }
    return records == size - node->records;
}
