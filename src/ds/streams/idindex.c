/* idindex: see the head of idindex.h. */
#include "ds/streams/idindex.h"

#include "base/checked.h"
#include "base/memory/alloc.h"
#include "base/memory/relocate.h"

#include <string.h>

static size_t items_size(size_t capacity) {
    return mem_good_size(capacity * sizeof(struct idindex_item));
}

static size_t segments_size(size_t capacity) {
    return mem_good_size(capacity * sizeof(struct idindex_segment));
}

/* --- Finding --- */

bool idindex_find(const struct idindex *index, struct stream_id id,
                  struct idindex_position *position) {
    size_t low = 0, high = index->segment_count; /* segments below `low` begin at or before id */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (stream_id_compare(index->segments[middle].items[0].base, id) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0) return false;
    position->segment = low - 1;
    const struct idindex_segment *segment = &index->segments[low - 1];
    for (low = 0, high = segment->count; low < high;) {
        size_t middle = low + (high - low) / 2;
        if (stream_id_compare(segment->items[middle].base, id) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    position->item = low - 1;
    return true;
}

struct idindex_item *idindex_last(const struct idindex *index) {
    if (index->segment_count == 0) return NULL;
    const struct idindex_segment *segment = &index->segments[index->segment_count - 1];
    return &segment->items[segment->count - 1];
}

/* --- Items --- */

/* Gives the segment items of its own, with room for `capacity`. */
static void replace_items(struct pieces *pieces, struct idindex_segment *segment, size_t capacity) {
    struct idindex_item *items = pieces_alloc(pieces, items_size(capacity));
    if (segment->capacity) {
        memcpy(items, segment->items, segment->count * sizeof(*items));
        pieces_drop(pieces, segment->epoch, segment->items, items_size(segment->capacity));
    }
    segment->items = items;
    segment->capacity = (uint32_t)capacity;
    segment->epoch = pieces_epoch(pieces);
}

struct idindex_segment *idindex_open_copy(struct pieces *pieces, struct idindex_segment *segment) {
    replace_items(pieces, segment, segment->capacity);
    return segment;
}

/* --- Segments --- */

static void resize_segments(struct idindex *index, struct pieces *pieces, size_t capacity) {
    size_t old = index->segment_capacity ? segments_size(index->segment_capacity) : 0;
    index->segments = pieces_resize(pieces, index->segments, old, segments_size(capacity));
    index->segment_capacity = (uint32_t)capacity;
}

static void drop_segments(struct idindex *index, struct pieces *pieces) {
    pieces_drop(pieces, PIECES_UNREAD, index->segments, segments_size(index->segment_capacity));
    *index = (struct idindex){0};
}

/* Inserts a segment without items, which has room for `capacity`. */
static struct idindex_segment *insert_segment(struct idindex *index, struct pieces *pieces,
                                              size_t at, size_t capacity) {
    size_t count = index->segment_count;
    if (count == index->segment_capacity) resize_segments(index, pieces, count ? 2 * count : 1);
    struct idindex_segment *segment = &index->segments[at];
    memmove(segment + 1, segment, (count - at) * sizeof(*segment));
    *segment = (struct idindex_segment){.least = UINT64_MAX};
    index->segment_count++;
    replace_items(pieces, segment, capacity);
    return segment;
}

/* Removes a segment, whose nodes were dropped. */
static void remove_segment(struct idindex *index, struct pieces *pieces, size_t at) {
    struct idindex_segment *segment = &index->segments[at];
    pieces_drop(pieces, segment->epoch, segment->items, items_size(segment->capacity));
    index->segment_count--;
    memmove(segment, segment + 1, (index->segment_count - at) * sizeof(*segment));
    if (index->segment_count == 0)
        drop_segments(index, pieces);
    else if (index->segment_count * 4 <= index->segment_capacity)
        resize_segments(index, pieces, index->segment_capacity / 2);
}

/* Moves the upper half of a full segment to a new one. */
static void split(struct idindex *index, struct pieces *pieces, struct idindex_position *at) {
    struct idindex_segment *low = idindex_open(index, pieces, at->segment);
    uint32_t keep = low->count / 2, move = low->count - keep;
    struct idindex_segment *high = insert_segment(index, pieces, at->segment + 1, IDINDEX_SEGMENT);
    low = high - 1;
    memcpy(high->items, low->items + keep, move * sizeof(*low->items));
    high->count = move;
    high->least = low->least;
    low->count = keep;
    if (at->item <= keep) return;
    at->segment++;
    at->item -= keep;
}

/* --- Changing --- */

struct idindex_item *idindex_insert(struct idindex *index, struct pieces *pieces,
                                    struct idindex_position *at) {
    enum { FIRST_CAPACITY = 2 };
    size_t count = index->segment_count;
    bool at_end = count == 0 || (at->segment + 1 == count && at->item == IDINDEX_SEGMENT);
    if (at_end) {
        *at = (struct idindex_position){count, 0};
        insert_segment(index, pieces, count, FIRST_CAPACITY);
    } else if (index->segments[at->segment].count == IDINDEX_SEGMENT) {
        split(index, pieces, at);
    }
    struct idindex_segment *segment = idindex_open(index, pieces, at->segment);
    size_t capacity = (size_t)segment->capacity * 2;
    if (capacity > IDINDEX_SEGMENT) capacity = IDINDEX_SEGMENT;
    if (segment->count == segment->capacity) replace_items(pieces, segment, capacity);
    struct idindex_item *item = &segment->items[at->item];
    memmove(item + 1, item, (segment->count - at->item) * sizeof(*item));
    segment->count++;
    return item;
}

void idindex_remove(struct idindex *index, struct pieces *pieces, size_t at, size_t from,
                    size_t to) {
    if (to - from == index->segments[at].count) {
        remove_segment(index, pieces, at);
        return;
    }
    struct idindex_segment *segment = idindex_open(index, pieces, at);
    memmove(segment->items + from, segment->items + to,
            (segment->count - to) * sizeof(*segment->items));
    segment->count -= (uint32_t)(to - from);
    if (segment->count * 4 <= segment->capacity)
        replace_items(pieces, segment, segment->capacity / 2);
}

void idindex_cut(struct idindex *index, struct pieces *pieces, size_t count, struct idindex *cut,
                 struct pieces *cut_pieces) {
    CHECKED_ASSERT(!pieces_are_captured(pieces) && count <= index->segment_count && !cut->segments);
    if (count == 0) return;
    resize_segments(cut, cut_pieces, count);
    memcpy(cut->segments, index->segments, count * sizeof(*cut->segments));
    cut->segment_count = (uint32_t)count;
    index->segment_count -= (uint32_t)count;
    memmove(index->segments, index->segments + count,
            index->segment_count * sizeof(*index->segments));
    for (size_t s = 0; s < count; s++) {
        size_t size = items_size(cut->segments[s].capacity);
        pieces->bytes -= size;
        pieces->allocations--;
        pieces_count(cut_pieces, size);
    }
    if (index->segment_count == 0)
        drop_segments(index, pieces);
    else if (index->segment_count * 4 <= index->segment_capacity)
        resize_segments(index, pieces, index->segment_count);
}

void idindex_image(struct idindex *index, char **to) {
    size_t size = idindex_image_size(index);
    if (size > 0) index->segments = memcpy(*to, index->segments, size);
    *to += size;
}

/* --- Pieces --- */

static void visit_node(struct idindex_item *item, size_t (*node_size)(const void *node),
                       const struct piece_visitor *visitor) {
    size_t size = node_size(item->node);
    struct idindex_node *now = visitor->enter(visitor, item->node, size);
    if (now != item->node) item->node = now;
    visitor->leave(visitor, now, size, &now->epoch);
}

static void visit_segment(struct idindex_segment *segment, size_t (*node_size)(const void *node),
                          const struct piece_visitor *visitor) {
    size_t room = items_size(segment->capacity);
    segment->items = visitor->enter(visitor, segment->items, room);
    for (size_t i = 0; i < segment->count; i++) {
        idindex_prefetch(segment, i);
        visit_node(&segment->items[i], node_size, visitor);
    }
    visitor->leave(visitor, segment->items, room, &segment->epoch);
}

void idindex_pieces(struct idindex *index, size_t (*node_size)(const void *node),
                    const struct piece_visitor *visitor) {
    if (index->segment_count == 0) return;
    size_t size = segments_size(index->segment_capacity);
    index->segments = visitor->enter(visitor, index->segments, size);
    for (size_t s = 0; s < index->segment_count; s++)
        visit_segment(&index->segments[s], node_size, visitor);
    visitor->leave(visitor, index->segments, size, NULL);
}

void idindex_own(struct idindex *index, struct pieces *pieces,
                 size_t (*node_size)(const void *node)) {
    struct piece_copier copier = pieces_copier(pieces);
    const struct idindex from = *index;
    *index = (struct idindex){0};
    if (from.segment_count == 0) return;
    resize_segments(index, pieces, from.segment_capacity);
    memcpy(index->segments, from.segments, from.segment_count * sizeof(*index->segments));
    index->segment_count = from.segment_count;
    for (size_t s = 0; s < index->segment_count; s++)
        visit_segment(&index->segments[s], node_size, &copier.visitor);
}

enum { ITEM_BITS = 16 }; /* of a position; above them is the segment */

uint64_t idindex_relocate(struct idindex *index, uint64_t at, size_t (*node_size)(const void *node),
                          struct relocator *relocator) {
    uint64_t s = at >> ITEM_BITS, i = at & ((1u << ITEM_BITS) - 1);
    struct piece_relocator pieces = pieces_relocator(relocator);
    if (at == 0 && index->segment_count > 0)
        index->segments =
            relocate(relocator, index->segments, segments_size(index->segment_capacity));
    for (; s < index->segment_count; s++, i = 0) {
        struct idindex_segment *segment = &index->segments[s];
        if (i == 0)
            segment->items = relocate(relocator, segment->items, items_size(segment->capacity));
        while (i < segment->count) {
            visit_node(&segment->items[i++], node_size, &pieces.visitor);
            if (relocator_is_due(relocator)) return s << ITEM_BITS | i;
        }
    }
    return 0;
}

/* --- Checking --- */

bool idindex_check(const struct idindex *index, const struct pieces *pieces) {
    for (size_t s = 0; s < index->segment_count; s++) {
        const struct idindex_segment *segment = &index->segments[s];
        if (segment->count == 0 || segment->count > segment->capacity ||
            segment->capacity > IDINDEX_SEGMENT || segment->epoch > pieces_epoch(pieces))
            return false;
    }
    return index->segment_count <= index->segment_capacity &&
           (index->segment_count > 0 || index->segment_capacity == 0);
}
