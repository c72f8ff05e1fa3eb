/* The index of nodes: changes, iterators, captures. The layout and the invariants are drawn in
 * ds/streams/streamlog_internal.h. */
#include "base/checked.h"
#include "base/memory/alloc.h"
#include "base/memory/relocate.h"
#include "ds/streams/streamlog_internal.h"

#include <assert.h>

/* --- Life --- */

struct streamlog *streamlog_new(void) {
    struct streamlog *log = mem_alloc_zeroed(sizeof(*log));
    log->pieces = pieces_begin();
    return log;
}

static size_t node_size(const void *node) {
    return streamlog__node_size(node);
}

/* Leads the visitor through all of the log's memory but its struct (ds/pieces.h). */
static void visit(struct streamlog *log, const struct piece_visitor *visitor) {
    idindex_pieces(&log->index, node_size, visitor);
    consumer_groups_pieces(&log->groups, visitor);
    if (log->producers) log->producers = producers_pieces(log->producers, visitor);
}

void streamlog_free(struct streamlog *log) {
    if (captures_adopt(&log->pieces.captures, log, streamlog_allocated(log))) return;
    struct piece_dropper dropper = pieces_dropper(&log->pieces);
    visit(log, &dropper.visitor);
    mem_free_sized(log, sizeof(*log));
}

struct streamlog *streamlog_copy(const struct streamlog *log) {
    struct streamlog *copy = mem_alloc(sizeof(*copy));
    *copy = *log;
    copy->pieces = pieces_begin_copy(&log->pieces);
    idindex_own(&copy->index, &copy->pieces, node_size);
    consumer_groups_own(&copy->groups, &copy->pieces);
    copy->producers = producers_copy(log->producers, &copy->pieces);
    return copy;
}

struct producers *streamlog_need_producers(struct streamlog *log, struct producers_limits limits) {
    if (!log->producers) log->producers = producers_new(&log->pieces, limits);
    return log->producers;
}

void streamlog_drop_producers(struct streamlog *log) {
    struct piece_dropper dropper = pieces_dropper(&log->pieces);
    if (log->producers) producers_pieces(log->producers, &dropper.visitor);
    log->producers = NULL;
}

/* --- Memory that a capture may read --- */

static bool is_read(const struct streamlog *log, const struct idindex_item *item) {
    return pieces_is_read(&log->pieces, item->node->epoch);
}

static void drop_node(struct streamlog *log, struct streamlog_node *node) {
    pieces_drop(&log->pieces, node->node.epoch, node, streamlog__node_size(node));
}

static struct idindex_segment *open_segment(struct streamlog *log, size_t index) {
    return idindex_open(&log->index, &log->pieces, index);
}

/* Moves a node of an open segment to memory of `size` bytes, if a capture reads it or it has
 * another size. */
static struct streamlog_node *resize_node(struct streamlog *log, struct idindex_segment *segment,
                                          struct idindex_item *item, size_t size) {
    struct streamlog_node *old = streamlog__node(item), *node = old;
    size_t old_size = streamlog__node_size(old);
    size = mem_good_size(size);
    if (is_read(log, item)) {
        node = pieces_alloc(&log->pieces, size);
        memcpy(node, old, sizeof(*node) + old->used);
        node->node.epoch = pieces_epoch(&log->pieces);
        drop_node(log, old);
    } else if (size != old_size) {
        node = pieces_resize(&log->pieces, old, old_size, size);
    }
    segment->bytes += size - old_size;
    node->capacity = (uint32_t)(size - sizeof(*node));
    item->node = &node->node;
    return node;
}

/* A node of an open segment, which may be changed. */
static struct streamlog_node *open_node(struct streamlog *log, struct idindex_segment *segment,
                                        struct idindex_item *item) {
    struct streamlog_node *node = streamlog__node(item);
    return is_read(log, item) ? resize_node(log, segment, item, streamlog__node_size(node)) : node;
}

/* Gives back what the node does not use, if it is more than an eighth. */
static void fit_node(struct streamlog *log, struct idindex_segment *segment,
                     struct idindex_item *item) {
    const struct streamlog_node *node = streamlog__node(item);
    size_t used = mem_good_size(sizeof(*node) + node->used);
    if (used + used / 8 < streamlog__node_size(node)) resize_node(log, segment, item, used);
}

/* --- Nodes in the index --- */

/* Removes nodes [from, to) of a segment with their entries. */
static void remove_nodes(struct streamlog *log, size_t index, size_t from, size_t to) {
    struct idindex_segment *segment = &log->index.segments[index];
    CHECKED_ASSERT(from < to && to <= segment->count);
    for (size_t i = from; i < to; i++) {
        struct streamlog_node *node = streamlog__node(&segment->items[i]);
        segment->entries -= node->count;
        segment->bytes -= streamlog__node_size(node);
        log->length -= node->count;
        log->nodes--;
        drop_node(log, node);
    }
    idindex_remove(&log->index, &log->pieces, index, from, to);
}

/* --- Appending --- */

/* Begins a node; it is going to need about as much memory as the one before. */
static struct idindex_item *begin_node(struct streamlog *log,
                                       const struct streamlog_new_entry *entry) {
    enum { EXPECTED_MAX = 4096 };
    struct idindex_item *before = idindex_last(&log->index);
    struct idindex_position end = {0, 0};
    size_t expected = 0;
    if (before) {
        expected = sizeof(struct streamlog_node) + streamlog__node(before)->used;
        if (expected > EXPECTED_MAX) expected = EXPECTED_MAX;
        end.segment = log->index.segment_count - 1;
        end.item = log->index.segments[end.segment].count;
    }
    struct idindex_item *item = idindex_insert(&log->index, &log->pieces, &end);
    struct idindex_segment *segment = &log->index.segments[end.segment];
    if (end.item == 0) segment->bytes = 0;
    struct streamlog_node *node = streamlog__node_new(entry, expected);
    node->node.epoch = pieces_epoch(&log->pieces);
    *item = (struct idindex_item){.base = entry->id, .node = &node->node};
    log->nodes++;
    segment->bytes += streamlog__node_size(node);
    pieces_count(&log->pieces, streamlog__node_size(node));
    return item;
}

/* Closes the last node, which takes no more entries. */
static void close_node(struct streamlog *log) {
    struct idindex_segment *segment = open_segment(log, log->index.segment_count - 1);
    fit_node(log, segment, &segment->items[segment->count - 1]);
}

/* The last node, which may be changed and takes the entry. */
static struct idindex_item *item_to_append(struct streamlog *log,
                                           const struct streamlog_new_entry *entry,
                                           const struct stream_limits *limits) {
    struct idindex_item *last = idindex_last(&log->index);
    size_t text_bytes = 0;
    for (size_t i = 0; i < 2 * entry->pairs; i++) text_bytes += entry->texts[i].len;
    CHECKED_ASSERT(text_bytes <= STREAM_ENTRY_MAX);
    if (last && !streamlog__node_is_full(streamlog__node(last), text_bytes, limits)) {
        struct idindex_segment *segment = open_segment(log, log->index.segment_count - 1);
        last = &segment->items[segment->count - 1];
        open_node(log, segment, last);
        return last;
    }
    if (last) close_node(log);
    return begin_node(log, entry);
}

void streamlog_append(struct streamlog *log, struct stream_id id, const struct slice *texts,
                      size_t pairs, const struct stream_limits *limits) {
    const struct streamlog_new_entry entry = {id, texts, pairs};
    assert(pairs > 0 && stream_id_compare(id, log->facts.last_id) > 0);
    struct idindex_item *item = item_to_append(log, &entry, limits);
    struct idindex_segment *segment = &log->index.segments[log->index.segment_count - 1];
    struct streamlog_node *node = streamlog__node(item);
    bool own_fields = !streamlog__has_fields(node, &entry);
    size_t size = streamlog__entry_size(item->base, &entry, own_fields);
    if (size > node->capacity - node->used) {
        size_t needed = sizeof(*node) + node->used + size;
        size_t more = node->count > 0 ? needed + needed / 2 : needed;
        node = resize_node(log, segment, item, more);
    }
    streamlog__node_append(node, item->base, &entry, own_fields);
    CHECKED_ASSERT(stream_id_compare(streamlog__last_id(node, item->base), id) == 0);
    log->length++;
    segment->entries++;
    log->facts.last_id = id;
    if (log->facts.added < INT64_MAX) log->facts.added++;
}

/* --- Removing --- */

/* Returns the offset in the node of the entry with this id; 0: the node has no such entry. */
static size_t offset_of(const struct streamlog_node *node, struct stream_id base,
                        struct stream_id id) {
    const uint8_t *end = streamlog__end(node);
    for (const uint8_t *at = streamlog__first(node); at < end; at = streamlog__after(at)) {
        struct stream_entry entry;
        streamlog__read(node, base, at, &entry);
        int order = stream_id_compare(entry.id, id);
        if (order == 0) return (size_t)(at - node->bytes);
        if (order > 0) break;
    }
    return 0;
}

bool streamlog_delete(struct streamlog *log, struct stream_id id) {
    struct idindex_position position;
    if (!idindex_find(&log->index, id, &position)) return false;
    struct idindex_item *item = idindex_at(&log->index, position);
    size_t at = offset_of(streamlog__node(item), item->base, id);
    if (at == 0) return false;
    if (stream_id_compare(id, log->facts.max_deleted_id) > 0) log->facts.max_deleted_id = id;
    if (streamlog__node(item)->count == 1) {
        remove_nodes(log, position.segment, position.item, position.item + 1);
        return true;
    }
    struct idindex_segment *segment = open_segment(log, position.segment);
    item = &segment->items[position.item];
    streamlog__node_cut(open_node(log, segment, item), at);
    if (item != idindex_last(&log->index)) fit_node(log, segment, item);
    segment->entries--;
    log->length--;
    return true;
}

/* Returns whether all entries of the node are to be trimmed, where `length` entries are left from
 * it on. Its ids are less than the base of the next one. */
static bool trims_node(const struct idindex_segment *segment, size_t at, uint64_t length,
                       const struct stream_trim *trim) {
    const struct idindex_item *item = &segment->items[at];
    const struct streamlog_node *node = streamlog__node(item);
    if (!trim->by_id) return length - node->count >= trim->max_length;
    if (at + 1 < segment->count && stream_id_compare(item[1].base, trim->min_id) <= 0) return true;
    return stream_id_compare(streamlog__last_id(node, item->base), trim->min_id) < 0;
}

/* Returns how many entries of the node, which keeps at least one, are to be trimmed. */
static uint64_t trimmed_of_node(const struct idindex_item *item, uint64_t length,
                                const struct stream_trim *trim) {
    const struct streamlog_node *node = streamlog__node(item);
    const uint8_t *at = streamlog__first(node);
    if (!trim->by_id) return length > trim->max_length ? length - trim->max_length : 0;
    for (uint64_t count = 0;; count++) {
        struct stream_entry entry;
        streamlog__read(node, item->base, at, &entry);
        if (stream_id_compare(entry.id, trim->min_id) >= 0) return count;
        at = streamlog__after(at);
    }
}

/* Returns whether all entries of the segment are to be trimmed, where so many before them are, as
 * far as the segments tell. */
static bool trims_segment(const struct streamlog *log, size_t at, uint64_t removed,
                          const struct stream_trim *trim) {
    const struct idindex_segment *segment = &log->index.segments[at];
    uint64_t with_it = removed + segment->entries;
    if (trim->limit > 0 && with_it > trim->limit) return false;
    if (!trim->by_id) return log->length - with_it >= trim->max_length;
    return at + 1 < log->index.segment_count &&
           stream_id_compare(segment[1].items[0].base, trim->min_id) <= 0;
}

uint64_t streamlog_trimmed(const struct streamlog *log, const struct stream_trim *trim) {
    uint64_t removed = 0;
    for (size_t s = 0; s < log->index.segment_count; s++) {
        const struct idindex_segment *segment = &log->index.segments[s];
        if (trims_segment(log, s, removed, trim)) {
            removed += segment->entries;
            continue;
        }
        for (size_t i = 0; i < segment->count; i++) {
            const struct idindex_item *item = &segment->items[i];
            idindex_prefetch(segment, i);
            uint64_t count = streamlog__node(item)->count, length = log->length - removed;
            if (!trim->by_id && length <= trim->max_length) return removed;
            if (trim->limit > 0 && removed + count > trim->limit) return removed;
            if (!trims_node(segment, i, length, trim))
                return removed + (trim->whole_nodes ? 0 : trimmed_of_node(item, length, trim));
            removed += count;
        }
    }
    return removed;
}

/* So many entries at least are removed, if a log of their own is worth it. */
#ifdef TINY_LIMITS
enum { CUT_MIN = 16 };
#else
enum { CUT_MIN = 16 * 1024 };
#endif

/* Removes so many entries of the first node, which keeps at least one. */
static void cut_first_node(struct streamlog *log, uint64_t count) {
    struct idindex_segment *segment = open_segment(log, 0);
    struct streamlog_node *node = open_node(log, segment, &segment->items[0]);
    const uint8_t *at = streamlog__first(node);
    for (uint64_t i = 0; i < count; i++) at = streamlog__after(at);
    streamlog__node_cut_front(node, (size_t)(at - node->bytes), (size_t)count);
    segment->entries -= (uint32_t)count;
    log->length -= count;
}

/* Returns how many segments have none but the first `left` entries, and sets *nodes to the number
 * of their nodes. */
static size_t segments_within(const struct streamlog *log, uint64_t left, size_t *nodes) {
    size_t count = 0;
    *nodes = 0;
    for (; count < log->index.segment_count; count++) {
        const struct idindex_segment *segment = &log->index.segments[count];
        if (segment->entries > left) break;
        left -= segment->entries;
        *nodes += segment->count;
    }
    return count;
}

/* Counts the nodes of a segment for `cut`. */
static void count_cut(struct streamlog *log, const struct idindex_segment *segment,
                      struct streamlog *cut) {
    cut->length += segment->entries;
    cut->nodes += segment->count;
    cut->pieces.bytes += segment->bytes;
    cut->pieces.allocations += segment->count;
    log->length -= segment->entries;
    log->nodes -= segment->count;
    log->pieces.bytes -= segment->bytes;
    log->pieces.allocations -= segment->count;
}

/* Moves the segments all of whose nodes are among the first `left` entries to a log of their own;
 * NULL: they are few, or a capture reads them. */
static struct streamlog *cut_segments(struct streamlog *log, uint64_t left) {
    size_t nodes, count = segments_within(log, left, &nodes);
    if (pieces_are_captured(&log->pieces) || nodes < IDINDEX_SEGMENT / 2) return NULL;
    struct streamlog *cut = streamlog_new();
    cut->pieces = pieces_begin_copy(&log->pieces);
    for (size_t s = 0; s < count; s++) count_cut(log, &log->index.segments[s], cut);
    cut->facts = log->facts;
    idindex_cut(&log->index, &log->pieces, count, &cut->index, &cut->pieces);
    return cut;
}

uint64_t streamlog_trim(struct streamlog *log, const struct stream_trim *trim,
                        struct streamlog **cut) {
    uint64_t removed = streamlog_trimmed(log, trim), left = removed;
    *cut = left >= CUT_MIN ? cut_segments(log, left) : NULL;
    if (*cut) left -= (*cut)->length;
    while (left > 0) {
        const struct idindex_segment *segment = &log->index.segments[0];
        size_t nodes = 0;
        for (; nodes < segment->count; nodes++) {
            uint64_t count = streamlog__node(&segment->items[nodes])->count;
            if (count > left) break;
            left -= count;
        }
        bool is_whole = nodes == segment->count;
        if (nodes > 0) remove_nodes(log, 0, 0, nodes);
        if (is_whole || left == 0) continue;
        cut_first_node(log, left);
        break;
    }
    return removed;
}

/* --- Iterating over entries --- */

/* Goes to the node at the iterator's position. */
static void enter_node(struct stream_iter *iter) {
    iter->node = streamlog__node(idindex_at(iter->index, iter->position));
    iter->at = iter->reverse ? streamlog__end(iter->node) : streamlog__first(iter->node);
}

void streamlog_iter_start(struct stream_iter *iter, const struct streamlog *log,
                          struct stream_id first, struct stream_id last, bool reverse) {
    *iter = (struct stream_iter){
        .index = &log->index, .first = first, .last = last, .reverse = reverse};
    bool found = idindex_find(iter->index, reverse ? last : first, &iter->position);
    if (log->nodes > 0 && (found || !reverse)) enter_node(iter);
}

/* Goes to the next node. Returns false at the end of the range's nodes. */
static bool leave_node(struct stream_iter *iter) {
    struct idindex_position *at = &iter->position;
    iter->node = NULL;
    if (!iter->reverse) {
        idindex_step(iter->index, at);
        if (!idindex_has(iter->index, *at)) return false;
    } else {
        if (at->item == 0 && at->segment == 0) return false;
        if (at->item == 0) at->item = iter->index->segments[--at->segment].count;
        at->item--;
    }
    enter_node(iter);
    return true;
}

/* Reads the next entry, whatever its id. */
static bool step(struct stream_iter *iter, struct stream_entry *entry) {
    if (!iter->node) return false;
    const uint8_t *limit =
        iter->reverse ? streamlog__first(iter->node) : streamlog__end(iter->node);
    if (iter->at == limit && !leave_node(iter)) return false;
    struct stream_id base = idindex_at(iter->index, iter->position)->base;
    const uint8_t *begin = iter->reverse ? streamlog__before(iter->at) : iter->at;
    streamlog__read(iter->node, base, begin, entry);
    iter->at = iter->reverse ? begin : streamlog__after(begin);
    return true;
}

bool streamlog_iter_next(struct stream_iter *iter, struct stream_entry *entry) {
    while (step(iter, entry)) {
        int before = stream_id_compare(entry->id, iter->first);
        int behind = stream_id_compare(entry->id, iter->last);
        if (before >= 0 && behind <= 0) return true;
        if (iter->reverse ? before < 0 : behind > 0) break;
    }
    iter->node = NULL;
    return false;
}

struct stream_node_size streamlog_iter_node(const struct stream_iter *iter) {
    return (struct stream_node_size){iter->node->used - iter->node->first, iter->node->count};
}

/* --- Counting --- */

/* Returns how many entries have ids less than `id`. */
static uint64_t count_before(const struct streamlog *log, struct stream_id id) {
    struct idindex_position position;
    uint64_t count = 0;
    if (!idindex_find(&log->index, id, &position)) return 0;
    for (size_t s = 0; s < position.segment; s++) count += log->index.segments[s].entries;
    const struct idindex_segment *segment = &log->index.segments[position.segment];
    for (size_t i = 0; i < position.item; i++) {
        idindex_prefetch(segment, i);
        count += streamlog__node(&segment->items[i])->count;
    }
    const struct idindex_item *item = idindex_at(&log->index, position);
    const struct streamlog_node *node = streamlog__node(item);
    const uint8_t *end = streamlog__end(node);
    for (const uint8_t *at = streamlog__first(node); at < end; at = streamlog__after(at)) {
        struct stream_entry entry;
        streamlog__read(node, item->base, at, &entry);
        if (stream_id_compare(entry.id, id) >= 0) break;
        count++;
    }
    return count;
}

uint64_t streamlog_count(const struct streamlog *log, struct stream_id first,
                         struct stream_id last) {
    if (stream_id_compare(first, last) > 0) return 0;
    uint64_t until = stream_id_increment(&last) ? count_before(log, last) : log->length;
    return until - count_before(log, first);
}

/* --- Iterating over nodes --- */

bool streamlog_next_node(struct stream_node_iter *iter, struct stream_node_view *view) {
    if (!idindex_has(&iter->log->index, iter->position)) return false;
    const struct idindex_item *item = idindex_at(&iter->log->index, iter->position);
    const struct streamlog_node *node = streamlog__node(item);
    *view = (struct stream_node_view){
        .base = item->base, .count = node->count, .node = node, .at = streamlog__first(node)};
    view->master = streamlog__master(node);
    idindex_step(&iter->log->index, &iter->position);
    return true;
}

bool streamlog_node_at(const struct streamlog *log, struct stream_id id, uint64_t *count,
                       struct stream_id *last) {
    struct idindex_position position;
    if (!idindex_find(&log->index, id, &position)) return false;
    const struct idindex_item *item = idindex_at(&log->index, position);
    *count = streamlog__node(item)->count;
    *last = streamlog__last_id(streamlog__node(item), item->base);
    return true;
}

bool streamlog_node_next(struct stream_node_view *view, struct stream_entry *entry) {
    if (view->at == streamlog__end(view->node)) return false;
    streamlog__read(view->node, view->base, view->at, entry);
    view->at = streamlog__after(view->at);
    return true;
}

/* --- Captures --- */

struct streamlog_capture {
    struct capture capture;
    struct streamlog log; /* a copy, whose arrays and structs are the image behind it */
    char image[] __attribute__((aligned(8)));
};

static void free_structure(void *log) {
    streamlog_free(log);
}

static const struct capture_functions capture_functions = {.free_structure = free_structure};

struct capture *streamlog_capture_begin(struct streamlog *log, size_t *left) {
    if (pieces_are_used_up(&log->pieces)) {
        if (pieces_are_captured(&log->pieces)) return NULL;
        visit(log, pieces_renew(&log->pieces));
    }
    size_t size = idindex_image_size(&log->index) + consumer_groups_image_size(&log->groups) +
                  producers_image_size(log->producers);
    struct streamlog_capture *capture =
        capture_begin(&capture_functions, sizeof(*capture) + size, &log->pieces.captures, left);
    char *to = capture->image;
    capture->log = *log;
    capture->log.pieces = pieces_begin_copy(&log->pieces);
    idindex_image(&capture->log.index, &to);
    consumer_groups_image(&capture->log.groups, &to);
    capture->log.producers = producers_image(log->producers, &to);
    CHECKED_ASSERT(to == capture->image + size);
    return &capture->capture;
}

const struct streamlog *streamlog_captured(const struct capture *capture) {
    CHECKED_ASSERT(capture->functions == &capture_functions);
    return &((const struct streamlog_capture *)capture)->log;
}

/* --- Relocating: nodes, producers, groups --- */

enum { INDEX_PART, PRODUCERS_PART }; /* of a cursor; then those of the groups */

struct streamlog *streamlog_relocate(struct streamlog *log, struct relocator *relocator,
                                     struct relocate_cursor *cursor) {
    CHECKED_ASSERT(!pieces_are_captured(&log->pieces));
    if (relocate_is_done(cursor)) log = relocate(relocator, log, sizeof(*log));
    if (cursor->part == INDEX_PART) {
        cursor->at = idindex_relocate(&log->index, cursor->at, node_size, relocator);
        if (cursor->at) return log;
        cursor->part = PRODUCERS_PART;
    }
    if (cursor->part == PRODUCERS_PART) {
        if (log->producers)
            log->producers = producers_relocate(log->producers, &cursor->at, relocator);
        else
            cursor->at = 0; /* it may be that of another stream, which had producers */
        if (cursor->at) return log;
        cursor->part = CONSUMER_GROUPS_PART;
    }
    consumer_groups_relocate(&log->groups, relocator, cursor);
    return log;
}

/* --- Checking --- */

struct totals {
    uint64_t length;
    size_t nodes;
    struct stream_id last;
    bool has_last;
};

static bool check_item(const struct idindex_item *item, struct totals *totals) {
    const struct streamlog_node *node = streamlog__node(item);
    if (totals->has_last && stream_id_compare(item->base, totals->last) <= 0) return false;
    if (!streamlog__node_check(node, item->base)) return false;
    totals->last = streamlog__last_id(node, item->base);
    totals->has_last = true;
    totals->length += node->count;
    totals->nodes++;
    return mem_good_size(streamlog__node_size(node)) == streamlog__node_size(node);
}

static bool check_segment(const struct idindex_segment *segment, struct totals *totals) {
    uint64_t before = totals->length, bytes = 0;
    for (size_t i = 0; i < segment->count; i++) {
        if (!check_item(&segment->items[i], totals)) return false;
        bytes += streamlog__node_size(streamlog__node(&segment->items[i]));
    }
    return segment->entries == totals->length - before && segment->bytes == bytes;
}

bool streamlog_check(const struct streamlog *log) {
    struct totals totals = {0};
    struct pieces memory = {0};
    struct piece_counter counter = pieces_counter(&memory);
    if (!idindex_check(&log->index, &log->pieces) ||
        !consumer_groups_check(&log->groups, &log->pieces) ||
        (log->producers && !producers_check(log->producers, &log->pieces)))
        return false;
    visit((struct streamlog *)log, &counter.visitor); /* which changes nothing */
    for (size_t s = 0; s < log->index.segment_count; s++)
        if (!check_segment(&log->index.segments[s], &totals)) return false;
    if (totals.has_last && stream_id_compare(totals.last, log->facts.last_id) > 0) return false;
    return totals.length == log->length && totals.nodes == log->nodes &&
           pieces_are_counted(&log->pieces, &memory) && log->facts.added >= log->length;
}
