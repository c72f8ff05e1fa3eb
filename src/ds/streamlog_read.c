/* Reading a streamlog: iterators, captures, checking. */
#include "base/alloc.h"
#include "base/checked.h"
#include "ds/streamlog_internal.h"

#include <assert.h>

/* --- Iterating over entries --- */

static const struct idindex_item *item_at(struct idindex_view index, size_t segment, size_t item) {
    return &index.segments[segment].items[item];
}

/* Goes to the iterator's segment and item. */
static void enter_node(struct stream_iter *iter) {
    iter->node = streamlog__node(item_at(iter->index, iter->segment, iter->item));
    iter->at = iter->reverse ? streamlog__end(iter->node) : streamlog__first(iter->node);
}

void streamlog_iter_start(struct stream_iter *iter, struct idindex_view index,
                          struct stream_id first, struct stream_id last, bool reverse) {
    struct idindex_position position = {0, 0};
    *iter = (struct stream_iter){.index = index, .first = first, .last = last, .reverse = reverse};
    bool found = idindex_find(index, reverse ? last : first, &position);
    if (index.segment_count == 0 || (reverse && !found)) return;
    iter->segment = position.segment;
    iter->item = position.item;
    enter_node(iter);
}

/* Goes to the next node. Returns false at the end of the range's nodes. */
static bool leave_node(struct stream_iter *iter) {
    iter->node = NULL;
    if (iter->reverse) {
        if (iter->item == 0 && iter->segment == 0) return false;
        if (iter->item == 0) iter->item = iter->index.segments[--iter->segment].count;
        iter->item--;
    } else if (++iter->item == iter->index.segments[iter->segment].count) {
        if (iter->segment + 1 == iter->index.segment_count) return false;
        iter->segment++;
        iter->item = 0;
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
    struct stream_id base = item_at(iter->index, iter->segment, iter->item)->base;
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

/* --- Iterating over nodes --- */

bool streamlog_next_node(struct stream_node_iter *iter, struct stream_node_view *view) {
    if (iter->segment == iter->index.segment_count) return false;
    const struct idindex_segment *segment = &iter->index.segments[iter->segment];
    const struct idindex_item *item = &segment->items[iter->item];
    const struct streamlog_node *node = streamlog__node(item);
    *view = (struct stream_node_view){
        .base = item->base, .count = node->count, .node = node, .at = streamlog__first(node)};
    view->master = streamlog__master(node);
    if (++iter->item == segment->count) {
        iter->segment++;
        iter->item = 0;
    }
    return true;
}

bool streamlog_node_at(struct idindex_view index, struct stream_id id, uint64_t *count,
                       struct stream_id *last) {
    struct idindex_position position;
    if (!idindex_find(index, id, &position)) return false;
    const struct idindex_item *item = &index.segments[position.segment].items[position.item];
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
    struct streamlog_contents contents;
    struct consumer_groups_image *groups;
    struct producers_image *producers;
    struct idindex_segment segments[];
};

static void free_rest(struct capture *capture) {
    mem_free(((struct streamlog_capture *)capture)->groups);
    mem_free(((struct streamlog_capture *)capture)->producers);
    if (capture->orphan) streamlog_free(capture->orphan);
}

static const struct capture_functions capture_functions = {.free = free_rest};

struct capture *streamlog_capture_begin(struct streamlog *log, size_t *left) {
    struct idindex_view index = streamlog_index_of(log);
    size_t size = index.segment_count * sizeof(*index.segments);
    struct streamlog_capture *capture =
        capture_begin(&capture_functions, sizeof(*capture) + size, &log->pieces.capture, left);
    capture->groups = consumer_groups_image(&log->groups);
    if (capture->groups) capture->capture.allocated += capture->groups->allocated;
    capture->producers = producers_image(log->producers);
    if (capture->producers) capture->capture.allocated += capture->producers->allocated;
    capture->contents = (struct streamlog_contents){{capture->segments, index.segment_count},
                                                    log->nodes,
                                                    log->length,
                                                    log->facts,
                                                    capture->groups,
                                                    capture->producers};
    if (size > 0) memcpy(capture->segments, index.segments, size);
    log->pieces.epoch++;
    return &capture->capture;
}

bool streamlog_is_captured(const struct streamlog *log) {
    return log->pieces.capture;
}

const struct streamlog_contents *streamlog_captured(const struct capture *capture) {
    CHECKED_ASSERT(capture->functions == &capture_functions);
    return &((const struct streamlog_capture *)capture)->contents;
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

bool streamlog_check(const struct streamlog *log) {
    struct totals totals = {0};
    struct pieces memory = {0};
    struct piece_counter counter = pieces_counter(&memory);
    if (!idindex_check(&log->index, &log->pieces) ||
        !consumer_groups_check(&log->groups, &log->pieces) ||
        (log->producers && !producers_check(log->producers, &log->pieces)))
        return false;
    streamlog__pieces((struct streamlog *)log, &counter.visitor); /* which changes nothing */
    for (size_t s = 0; s < log->index.segment_count; s++) {
        const struct idindex_segment *segment = &log->index.segments[s];
        for (size_t i = 0; i < segment->count; i++)
            if (!check_item(&segment->items[i], &totals)) return false;
    }
    if (totals.has_last && stream_id_compare(totals.last, log->facts.last_id) > 0) return false;
    return totals.length == log->length && totals.nodes == log->nodes &&
           pieces_are_counted(&log->pieces, &memory) && log->facts.added >= log->length;
}
