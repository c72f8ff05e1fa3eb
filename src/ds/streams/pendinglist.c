/* pendinglist: blocks in their index. The layout is drawn in ds/streams/pendinglist_internal.h. */
#include "ds/streams/pendinglist.h"

#include "base/checked.h"
#include "base/memory/alloc.h"
#include "ds/streams/pendinglist_internal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 4 };
_Static_assert((int)FIRST_ROOM <= PENDING_BLOCK, "a block has room for the first entries");

static struct pending_block *block_of(const struct idindex_item *item) {
    return (struct pending_block *)item->node;
}

static struct pending_block *block_at(const struct idindex *index, struct idindex_position at) {
    return block_of(idindex_at(index, at));
}

/* --- Blocks that may be changed --- */

static void drop_block(struct pieces *pieces, const struct idindex_item *item) {
    struct pending_block *block = block_of(item);
    pieces_drop(pieces, block->node.epoch, block, pending_block_size(block));
}

/* No entry of a segment was delivered before its `least`. */
static void note_time(struct idindex_segment *segment, uint64_t time) {
    if (time < segment->least) segment->least = time;
}

static void put_block(struct pieces *pieces, struct idindex_segment *segment,
                      struct idindex_item *item, struct pending_block *block) {
    note_time(segment, block->base[PENDING_TIME]);
    item->node = &block->node;
    block->node.epoch = pieces_epoch(pieces);
    pieces_count(pieces, pending_block_size(block));
}

/* An item of an open segment gets another block. */
static void replace_block(struct pieces *pieces, struct idindex_segment *segment,
                          struct idindex_item *item, struct pending_block *block) {
    drop_block(pieces, item);
    put_block(pieces, segment, item, block);
}

/* The block of an item of an open segment, which may then be changed. */
static struct pending_block *open_block(struct pieces *pieces, struct idindex_segment *segment,
                                        struct idindex_item *item) {
    if (pieces_is_read(pieces, item->node->epoch))
        replace_block(pieces, segment, item,
                      pending_block_resized(block_of(item), block_of(item)->room));
    return block_of(item);
}

/* Encodes the block anew, with room for `room`, and with `changed`, unless that is NULL, in the
 * row. */
static void refit(struct pieces *pieces, struct idindex_segment *segment, struct idindex_item *item,
                  unsigned room, unsigned row, const struct pending_entry *changed) {
    struct pending_entry entries[PENDING_BLOCK];
    const struct pending_block *block = block_of(item);
    pending_block_get_all(block, entries);
    if (changed) entries[row] = *changed;
    replace_block(pieces, segment, item, pending_block_new(entries, block->count, room));
}

/* --- Inserting --- */

static void insert_block(struct pendinglist *list, struct pieces *pieces,
                         struct idindex_position at, struct stream_id base,
                         struct pending_block *block) {
    struct idindex_item *item = idindex_insert(&list->index, pieces, &at);
    item->base = base;
    put_block(pieces, &list->index.segments[at.segment], item, block);
}

/* A full last block is closed, and the entry begins the next one. */
static void begin_block(struct pendinglist *list, struct pieces *pieces, struct idindex_position at,
                        const struct pending_entry *entry) {
    struct idindex_segment *segment = idindex_open(&list->index, pieces, at.segment);
    refit(pieces, segment, &segment->items[at.item], PENDING_BLOCK, 0, NULL);
    struct pending_block *next = pending_block_after(block_of(&segment->items[at.item]), entry);
    at.item++;
    insert_block(list, pieces, at, entry->id, next);
}

/* Encodes the block anew with one entry more; a full one becomes two. */
static void rebuild_with(struct pendinglist *list, struct pieces *pieces,
                         struct idindex_position at, unsigned row,
                         const struct pending_entry *entry) {
    struct pending_entry entries[PENDING_BLOCK + 1];
    struct idindex_segment *segment = idindex_open(&list->index, pieces, at.segment);
    struct idindex_item *item = &segment->items[at.item];
    const struct pending_block *block = block_of(item);
    unsigned count = block->count, room = block->room;
    pending_block_get_all(block, entries);
    memmove(entries + row + 1, entries + row, (count - row) * sizeof(*entries));
    entries[row] = *entry;
    count++;
    if (count <= PENDING_BLOCK) {
        if (count > room) room = room * 2 < PENDING_BLOCK ? room * 2 : PENDING_BLOCK;
        replace_block(pieces, segment, item, pending_block_new(entries, count, room));
        return;
    }
    unsigned low = count / 2, high = count - low;
    replace_block(pieces, segment, item, pending_block_new(entries, low, low));
    at.item++;
    insert_block(list, pieces, at, entries[low].id, pending_block_new(entries + low, high, high));
}

void pendinglist_insert(struct pendinglist *list, struct pieces *pieces,
                        const struct pending_entry *entry) {
    struct idindex_position at = {0, 0};
    if (list->length++ == 0) {
        insert_block(list, pieces, at, entry->id, pending_block_new(entry, 1, FIRST_ROOM));
        return;
    }
    bool is_behind = idindex_find(&list->index, entry->id, &at);
    struct idindex_segment *segment = idindex_open(&list->index, pieces, at.segment);
    struct idindex_item *item = &segment->items[at.item];
    if (!is_behind) item->base = entry->id;
    note_time(segment, (uint64_t)entry->delivered_ms);
    const struct pending_block *block = block_of(item);
    unsigned row = pending_block_search(block, entry->id);
    assert(row == block->count || stream_id_compare(pending_block_id(block, row), entry->id) != 0);
    if (row == PENDING_BLOCK && item == idindex_last(&list->index))
        begin_block(list, pieces, at, entry);
    else if (block->count < block->room && pending_block_takes(block, entry))
        pending_block_insert(open_block(pieces, segment, item), row, entry);
    else
        rebuild_with(list, pieces, at, row, entry);
}

/* --- Finding --- */

/* Finds block and row of an id. */
static bool find(const struct idindex *index, struct stream_id id, struct idindex_position *at,
                 unsigned *row) {
    if (!idindex_find(index, id, at)) return false;
    const struct pending_block *block = block_at(index, *at);
    *row = pending_block_search(block, id);
    return *row < block->count && stream_id_compare(pending_block_id(block, *row), id) == 0;
}

bool pendinglist_find(const struct pendinglist *list, struct stream_id id,
                      struct pending_entry *entry) {
    struct idindex_position at;
    unsigned row;
    if (!find(&list->index, id, &at, &row)) return false;
    *entry = pending_block_get(block_at(&list->index, at), row);
    return true;
}

/* Some ids, which ascend, on their way through a list. */
struct id_walk {
    const struct stream_id *ids;
    size_t count;
    size_t next; /* the id that is looked for */
};

/* Goes on to the next block that may have one of the ids, from `next` on. *row gets the first row
 * that is not less than that id. Returns false when there is none. */
static bool walk_to_block(struct id_walk *walk, const struct pendinglist *list,
                          struct idindex_position *at, unsigned *row) {
    for (; walk->next < walk->count; walk->next++) {
        if (!idindex_find(&list->index, walk->ids[walk->next], at)) continue;
        const struct pending_block *block = block_at(&list->index, *at);
        *row = pending_block_search(block, walk->ids[walk->next]);
        if (*row < block->count) return true;
    }
    return false;
}

/* Finds the next of the ids in this block, from *row on. Returns false at the end of either. */
static bool walk_in_block(struct id_walk *walk, const struct pending_block *block, unsigned *row) {
    while (*row < block->count && walk->next < walk->count) {
        int order = stream_id_compare(pending_block_id(block, *row), walk->ids[walk->next]);
        if (order == 0) return true;
        if (order < 0)
            ++*row;
        else
            walk->next++;
    }
    return false;
}

/* Returns whether all of the ids are before or behind all of the list. */
static bool is_apart(const struct pendinglist *list, const struct stream_id *ids, size_t count) {
    if (list->length == 0 || count == 0) return true;
    const struct pending_block *last = block_of(idindex_last(&list->index));
    return stream_id_compare(ids[count - 1], list->index.segments[0].items[0].base) < 0 ||
           stream_id_compare(ids[0], pending_block_id(last, last->count - 1u)) > 0;
}

void pendinglist_find_ids(const struct pendinglist *list, const struct stream_id *ids, size_t count,
                          bool *found) {
    struct id_walk walk = {ids, count, 0};
    struct idindex_position at;
    unsigned row;
    if (is_apart(list, ids, count)) return;
    while (walk_to_block(&walk, list, &at, &row)) {
        const struct pending_block *block = block_at(&list->index, at);
        while (walk_in_block(&walk, block, &row)) found[walk.next++] = true;
    }
}

bool pendinglist_edge(const struct pendinglist *list, bool last, struct pending_entry *entry) {
    if (list->length == 0) return false;
    const struct idindex_item *item =
        last ? idindex_last(&list->index) : &list->index.segments[0].items[0];
    const struct pending_block *block = block_of(item);
    *entry = pending_block_get(block, last ? block->count - 1u : 0);
    return true;
}

/* --- Changing --- */

bool pendinglist_update(struct pendinglist *list, struct pieces *pieces,
                        const struct pending_entry *entry, struct pending_entry *before) {
    struct idindex_position at;
    unsigned row;
    if (!find(&list->index, entry->id, &at, &row)) return false;
    struct idindex_segment *segment = idindex_open(&list->index, pieces, at.segment);
    struct idindex_item *item = &segment->items[at.item];
    const struct pending_block *block = block_of(item);
    note_time(segment, (uint64_t)entry->delivered_ms);
    *before = pending_block_get(block, row);
    if (pending_block_takes(block, entry))
        pending_block_set(open_block(pieces, segment, item), row, entry);
    else
        refit(pieces, segment, item, block->room, row, entry);
    return true;
}

/* Joins the block of an open segment with the next one, if both together are small. */
static bool join(struct pendinglist *list, struct pieces *pieces, struct idindex_position at) {
    struct pending_entry entries[PENDING_BLOCK];
    struct idindex_segment *segment = &list->index.segments[at.segment];
    if (at.item + 1 >= segment->count) return false;
    struct idindex_item *low = &segment->items[at.item], *high = low + 1;
    const struct pending_block *first = block_of(low), *second = block_of(high);
    unsigned count = first->count + (unsigned)second->count;
    if (count > PENDING_BLOCK / 2) return false;
    pending_block_get_all(first, entries);
    pending_block_get_all(second, entries + first->count);
    replace_block(pieces, segment, low, pending_block_new(entries, count, count));
    drop_block(pieces, high);
    idindex_remove(&list->index, pieces, at.segment, at.item + 1, at.item + 2);
    return true;
}

/* Entries of the block, in an open segment, were removed: gives back memory, if it is worth it. */
static void note_removal(struct pendinglist *list, struct pieces *pieces,
                         struct idindex_position at) {
    struct idindex_segment *segment = &list->index.segments[at.segment];
    struct idindex_item *item = &segment->items[at.item];
    const struct pending_block *block = block_of(item);
    if (block->count == 0) {
        drop_block(pieces, item);
        idindex_remove(&list->index, pieces, at.segment, at.item, at.item + 1);
        return;
    }
    if (block->count * 4u > block->room || block->room <= FIRST_ROOM) return;
    struct idindex_position before = {at.segment, at.item - 1};
    bool is_small = block->count <= PENDING_BLOCK / 8;
    if (is_small && join(list, pieces, at)) return;
    if (is_small && at.item > 0 && join(list, pieces, before)) return;
    replace_block(pieces, segment, item, pending_block_resized(block, block->room / 2u));
}

bool pendinglist_remove(struct pendinglist *list, struct pieces *pieces, struct stream_id id,
                        struct pending_entry *removed) {
    struct idindex_position at;
    unsigned row;
    if (!find(&list->index, id, &at, &row)) return false;
    struct idindex_segment *segment = idindex_open(&list->index, pieces, at.segment);
    struct idindex_item *item = &segment->items[at.item];
    list->length--;
    if (removed) *removed = pending_block_get(block_of(item), row);
    pending_block_remove(open_block(pieces, segment, item), row);
    note_removal(list, pieces, at);
    return true;
}

/* The rows of a block that are kept where others are removed, in ascending order. */
struct kept_rows {
    uint8_t rows[PENDING_BLOCK];
    unsigned count;
    unsigned next; /* the first row of which nothing was said yet */
};

static void keep_until(struct kept_rows *kept, unsigned row) {
    while (kept->next < row) kept->rows[kept->count++] = (uint8_t)kept->next++;
}

size_t pendinglist_remove_ids(struct pendinglist *list, struct pieces *pieces,
                              const struct stream_id *ids, size_t count,
                              struct pending_entry *removed) {
    struct id_walk walk = {ids, count, 0};
    struct idindex_position at;
    size_t total = 0;
    unsigned row;
    if (is_apart(list, ids, count)) return 0;
    while (walk_to_block(&walk, list, &at, &row)) {
        const struct pending_block *block = block_at(&list->index, at);
        struct kept_rows kept = {.count = 0};
        while (walk_in_block(&walk, block, &row)) {
            removed[total++] = pending_block_get(block, row);
            keep_until(&kept, row);
            kept.next = ++row;
            walk.next++;
        }
        if (kept.next == 0) continue;
        keep_until(&kept, block->count);
        list->length -= block->count - kept.count;
        struct idindex_segment *segment = idindex_open(&list->index, pieces, at.segment);
        pending_block_keep(open_block(pieces, segment, &segment->items[at.item]), kept.rows,
                           kept.count);
        note_removal(list, pieces, at);
    }
    return total;
}

void pendinglist_remove_all(struct pendinglist *list, struct pieces *pieces,
                            const struct pendinglist *ids, uint64_t consumer) {
    struct pending_iter iter;
    struct pending_entry one;
    struct stream_id next = STREAM_ID_MIN;
    for (;;) {
        struct idindex_position at;
        pending_iter_start(&iter, ids, next);
        if (!pending_iter_next(&iter, &one)) return;
        if (!idindex_find(&list->index, one.id, &at)) {
            CHECKED_ASSERT(false);
            return;
        }
        struct idindex_segment *segment = idindex_open(&list->index, pieces, at.segment);
        struct pending_block *block = open_block(pieces, segment, &segment->items[at.item]);
        next = pending_block_id(block, block->count - 1u);
        list->length -= pending_block_remove_all(block, consumer);
        note_removal(list, pieces, at);
        if (!stream_id_increment(&next)) return;
    }
}

/* --- The whole list --- */

static size_t block_size(const void *block) {
    return pending_block_size(block);
}

void pendinglist_fit(struct pendinglist *list, struct pieces *pieces) {
    for (size_t s = 0; s < list->index.segment_count; s++) {
        struct idindex_segment *segment = idindex_open(&list->index, pieces, s);
        for (size_t i = 0; i < segment->count; i++)
            refit(pieces, segment, &segment->items[i], block_of(&segment->items[i])->count, 0,
                  NULL);
    }
}

void pendinglist_pieces(struct pendinglist *list, const struct piece_visitor *visitor) {
    idindex_pieces(&list->index, block_size, visitor);
}

void pendinglist_own(struct pendinglist *list, struct pieces *pieces) {
    idindex_own(&list->index, pieces, block_size);
}

void pendinglist_free(struct pendinglist *list, struct pieces *pieces) {
    struct piece_dropper dropper = pieces_dropper(pieces);
    pendinglist_pieces(list, &dropper.visitor);
    *list = (struct pendinglist){0};
}

uint64_t pendinglist_relocate(struct pendinglist *list, uint64_t at, struct relocator *relocator) {
    return idindex_relocate(&list->index, at, block_size, relocator);
}

/* --- The oldest --- */

/* Which entries are looked for, and those found so far: a heap whose first one is the youngest, as
 * soon as there are as many as are wanted. */
struct search {
    struct pending_selection *found;
    uint64_t max; /* 0: all */
    int64_t latest_ms;
};

static bool is_older(const struct pending_entry *a, const struct pending_entry *b) {
    if (a->delivered_ms != b->delivered_ms) return a->delivered_ms < b->delivered_ms;
    return stream_id_compare(a->id, b->id) < 0;
}

static void sift_down(struct pending_entry *heap, size_t count, size_t at) {
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= count) return;
        if (child + 1 < count && is_older(&heap[child], &heap[child + 1])) child++;
        if (!is_older(&heap[at], &heap[child])) return;
        struct pending_entry moved = heap[at];
        heap[at] = heap[child];
        heap[child] = moved;
        at = child;
    }
}

static void note_found(struct search *search, const struct pending_entry *entry) {
    struct pending_selection *found = search->found;
    if (search->max > 0 && found->count == search->max) {
        if (!is_older(entry, &found->entries[0])) return;
        found->entries[0] = *entry;
        sift_down(found->entries, found->count, 0);
    } else {
        pending_select(found, entry);
        if (found->count != search->max) return;
        for (size_t i = found->count / 2; i-- > 0;) sift_down(found->entries, found->count, i);
    }
    search->latest_ms = found->entries[0].delivered_ms;
}

static int compare_ages(const void *a, const void *b) {
    return is_older(a, b) ? -1 : is_older(b, a);
}

/* Notes the entries of the block that are old enough. Returns whether there was one; *least gets
 * the time of the oldest entry. */
static bool search_block(struct search *search, const struct pending_block *block,
                         uint64_t *least) {
    int64_t latest_ms = search->latest_ms;
    bool has_any = false;
    *least = UINT64_MAX;
    for (unsigned i = 0; i < block->count; i++) {
        struct pending_entry entry = pending_block_get(block, i);
        if ((uint64_t)entry.delivered_ms < *least) *least = (uint64_t)entry.delivered_ms;
        if (entry.delivered_ms > latest_ms) continue;
        has_any = true;
        note_found(search, &entry);
    }
    return has_any;
}

/* Looks at the block of an item, if it may have an entry that is old enough. Returns a lower bound
 * of the times in it. A block that had none for all its base said is encoded anew, so that it is
 * skipped the next time. */
static uint64_t search_item(struct search *search, struct pieces *pieces,
                            struct idindex_segment *segment, size_t at) {
    struct idindex_item *item = &segment->items[at];
    const struct pending_block *block = block_of(item);
    uint64_t least = block->base[PENDING_TIME];
    if ((int64_t)least > search->latest_ms) return least;
    bool has_any = search_block(search, block, &least);
    if (!has_any && !pieces_are_captured(pieces))
        refit(pieces, segment, item, block->room, 0, NULL);
    return least;
}

/* The item whose block may have the oldest entry. */
static size_t oldest_item(const struct idindex_segment *segment) {
    size_t oldest = 0;
    for (size_t i = 1; i < segment->count; i++)
        if (block_of(&segment->items[i])->base[PENDING_TIME] <
            block_of(&segment->items[oldest])->base[PENDING_TIME])
            oldest = i;
    return oldest;
}

/* Looks at all blocks that may have one, and at that finds a better bound for the next time. Where
 * few are wanted, the block to begin with leaves little to find in the others. */
static void search_segment(struct search *search, struct pieces *pieces,
                           struct idindex_segment *segment) {
    size_t first = oldest_item(segment);
    uint64_t least = search_item(search, pieces, segment, first);
    for (size_t i = 0; i < segment->count; i++) {
        uint64_t bound = i == first ? least : search_item(search, pieces, segment, i);
        if (bound < least) least = bound;
    }
    segment->least = least;
}

/* The segment that may have the oldest entry. The list is not empty. */
static size_t oldest_segment(const struct pendinglist *list) {
    const struct idindex_segment *segments = list->index.segments;
    size_t oldest = 0;
    for (size_t s = 1; s < list->index.segment_count; s++)
        if (segments[s].least < segments[oldest].least) oldest = s;
    return oldest;
}

void pendinglist_oldest(struct pendinglist *list, struct pieces *pieces, int64_t latest_ms,
                        uint64_t max, struct pending_selection *found) {
    struct search search = {found, max, latest_ms};
    struct idindex_segment *segments = list->index.segments;
    if (list->length == 0) return;
    size_t first = oldest_segment(list);
    if ((int64_t)segments[first].least > latest_ms) return;
    search_segment(&search, pieces, &segments[first]);
    for (size_t s = 0; s < list->index.segment_count; s++)
        if (s != first && (int64_t)segments[s].least <= search.latest_ms)
            search_segment(&search, pieces, &segments[s]);
    if (found->count > 1)
        qsort(found->entries, found->count, sizeof(*found->entries), compare_ages);
}

int64_t pendinglist_oldest_bound(const struct pendinglist *list) {
    if (list->length == 0) return INT64_MAX;
    return (int64_t)list->index.segments[oldest_segment(list)].least;
}

/* --- Iterating --- */

void pending_iter_start(struct pending_iter *iter, const struct pendinglist *list,
                        struct stream_id first) {
    *iter = (struct pending_iter){.index = &list->index};
    if (idindex_find(iter->index, first, &iter->at))
        iter->row = pending_block_search(block_at(iter->index, iter->at), first);
}

/* The block that the iterator is in; NULL at the end. */
static const struct pending_block *current_block(const struct pending_iter *iter) {
    return idindex_has(iter->index, iter->at) ? block_at(iter->index, iter->at) : NULL;
}

static void next_block(struct pending_iter *iter) {
    iter->row = 0;
    idindex_step(iter->index, &iter->at);
}

bool pending_iter_next(struct pending_iter *iter, struct pending_entry *entry) {
    for (const struct pending_block *block; (block = current_block(iter)); next_block(iter)) {
        if (iter->row == block->count) continue;
        *entry = pending_block_get(block, iter->row++);
        return true;
    }
    return false;
}

/* Returns whether the block, or its segment, has only entries that were delivered later. */
static bool is_younger(const struct pending_iter *iter, const struct pending_block *block,
                       int64_t latest_ms) {
    return (int64_t)iter->index->segments[iter->at.segment].least > latest_ms ||
           (int64_t)block->base[PENDING_TIME] > latest_ms;
}

bool pending_iter_next_old(struct pending_iter *iter, int64_t latest_ms,
                           struct pending_entry *entry) {
    for (const struct pending_block *block; (block = current_block(iter)); next_block(iter)) {
        if (is_younger(iter, block, latest_ms)) continue;
        while (iter->row < block->count) {
            *entry = pending_block_get(block, iter->row++);
            if (entry->delivered_ms <= latest_ms) return true;
        }
    }
    return false;
}

/* --- Checking --- */

bool pendinglist_check(const struct pendinglist *list, const struct pieces *pieces) {
    const struct idindex *index = &list->index;
    struct stream_id last = STREAM_ID_MIN;
    uint64_t length = 0;
    if (!idindex_check(index, pieces)) return false;
    for (struct idindex_position at = {0, 0}; idindex_has(index, at); idindex_step(index, &at)) {
        const struct pending_block *block = block_at(index, at);
        struct stream_id base = idindex_at(index, at)->base;
        bool is_behind = length == 0 || stream_id_compare(last, base) < 0;
        if (!pending_block_check(block) || !is_behind ||
            stream_id_compare(pending_block_id(block, 0), base) < 0)
            return false;
        for (unsigned row = 0; row < block->count; row++)
            if ((uint64_t)pending_block_get(block, row).delivered_ms <
                index->segments[at.segment].least)
                return false;
        length += block->count;
        last = pending_block_id(block, block->count - 1u);
    }
    return length == list->length;
}
