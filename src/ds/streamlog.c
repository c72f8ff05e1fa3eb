/* The index of nodes, and changes. The layout and the invariants are drawn in
 * ds/streamlog_internal.h. */
#include "base/alloc.h"
#include "base/checked.h"
#include "ds/streamlog_internal.h"

#include <assert.h>

/* --- Life --- */

static size_t node_size(const struct streamlog_node *node) {
    return sizeof(*node) + node->capacity;
}

static size_t items_size(size_t capacity) {
    return mem_good_size(capacity * sizeof(struct streamlog_item));
}

struct streamlog *streamlog_new(void) {
    struct streamlog *log = mem_alloc_zeroed(sizeof(*log));
    log->epoch = 1;
    return log;
}

void streamlog_free(struct streamlog *log) {
    if (capture_adopts(&log->capture, log, streamlog_allocated(log))) return;
    for (size_t s = 0; s < log->segment_count; s++) {
        struct streamlog_segment *segment = &log->segments[s];
        for (size_t i = 0; i < segment->count; i++) {
            struct streamlog_node *node = streamlog__node(&segment->items[i]);
            mem_free_sized(node, node_size(node));
        }
        mem_free_sized(segment->items, items_size(segment->capacity));
    }
    mem_free(log->segments);
    mem_free_sized(log, sizeof(*log));
}

static struct streamlog_node *copy_node(const struct streamlog_node *node, size_t size) {
    struct streamlog_node *copy = mem_alloc(size);
    memcpy(copy, node, sizeof(*node) + node->used);
    copy->capacity = (uint32_t)(size - sizeof(*node));
    return copy;
}

struct streamlog *streamlog_copy(const struct streamlog *log) {
    struct streamlog *copy = mem_alloc(sizeof(*copy));
    *copy = *log;
    copy->capture = NULL;
    if (log->segment_capacity == 0) return copy;
    copy->segments = mem_alloc(log->segment_capacity * sizeof(*copy->segments));
    for (size_t s = 0; s < log->segment_count; s++) {
        const struct streamlog_segment *from = &log->segments[s];
        struct streamlog_segment *to = &copy->segments[s];
        *to = *from;
        to->items = mem_alloc(items_size(from->capacity));
        for (size_t i = 0; i < from->count; i++) {
            const struct streamlog_node *node = streamlog__node(&from->items[i]);
            to->items[i].base = from->items[i].base;
            to->items[i].node = (uintptr_t)copy_node(node, node_size(node));
        }
    }
    return copy;
}

struct stream_facts *streamlog_facts(struct streamlog *log) {
    return &log->facts;
}

uint64_t streamlog_length(const struct streamlog *log) {
    return log->length;
}

size_t streamlog_nodes(const struct streamlog *log) {
    return log->nodes;
}

size_t streamlog_allocated(const struct streamlog *log) {
    size_t segments = log->segment_capacity * sizeof(*log->segments);
    return mem_good_size(sizeof(*log)) + log->node_bytes + log->index_bytes +
           (segments ? mem_good_size(segments) : 0);
}

size_t streamlog_allocations(const struct streamlog *log) {
    return log->nodes + log->segment_count + 2;
}

/* --- Memory that a capture may read --- */

/* The capture that reads the node of an open segment, or NULL. */
static struct capture *node_reader(const struct streamlog *log, const struct streamlog_item *item) {
    return item->node & STREAMLOG_SHARED ? log->capture : NULL;
}

/* Gives the segment items of its own, with room for `capacity`. */
static void replace_items(struct streamlog *log, struct streamlog_segment *segment,
                          size_t capacity) {
    struct capture *reader = capture_reading(log->capture, segment->epoch, log->epoch);
    struct streamlog_item *items = mem_alloc(items_size(capacity));
    for (size_t i = 0; i < segment->count; i++) {
        items[i] = segment->items[i];
        if (reader) items[i].node |= STREAMLOG_SHARED;
    }
    if (segment->capacity) {
        capture_drop(reader, segment->items, items_size(segment->capacity));
        log->index_bytes -= items_size(segment->capacity);
    }
    log->index_bytes += items_size(capacity);
    *segment = (struct streamlog_segment){items, segment->count, (uint32_t)capacity, log->epoch};
}

/* The segment, whose items may be changed. */
static struct streamlog_segment *open_segment(struct streamlog *log, size_t index) {
    struct streamlog_segment *segment = &log->segments[index];
    if (__builtin_expect(capture_reading(log->capture, segment->epoch, log->epoch) != NULL, 0))
        replace_items(log, segment, segment->capacity);
    return segment;
}

/* Moves the node of an open segment to memory of `size` bytes, if it is shared or has another
 * size. */
static struct streamlog_node *resize_node(struct streamlog *log, struct streamlog_item *item,
                                          size_t size) {
    struct streamlog_node *old = streamlog__node(item), *node = old;
    size_t old_size = node_size(old);
    size = mem_good_size(size);
    struct capture *reader = node_reader(log, item);
    if (reader) {
        node = copy_node(old, size);
        capture_drop(reader, old, old_size);
    } else if (size != old_size) {
        node = mem_resize(old, old_size, size);
        node->capacity = (uint32_t)(size - sizeof(*node));
    }
    log->node_bytes += size - old_size;
    item->node = (uintptr_t)node;
    return node;
}

/* The node, which may be changed. */
static struct streamlog_node *open_node(struct streamlog *log, struct streamlog_item *item) {
    struct streamlog_node *node = streamlog__node(item);
    return node_reader(log, item) ? resize_node(log, item, node_size(node)) : node;
}

/* Gives back what the node does not use, if it is more than an eighth. */
static void fit_node(struct streamlog *log, struct streamlog_item *item) {
    const struct streamlog_node *node = streamlog__node(item);
    size_t used = mem_good_size(sizeof(*node) + node->used);
    if (used + used / 8 < node_size(node)) resize_node(log, item, used);
}

/* --- Nodes in the index --- */

bool streamlog__find(struct streamlog_index index, struct stream_id id,
                     struct streamlog_position *position) {
    size_t low = 0, high = index.segment_count; /* segments below `low` begin at or before id */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (stream_id_compare(index.segments[middle].items[0].base, id) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0) return false;
    position->segment = low - 1;
    const struct streamlog_segment *segment = &index.segments[low - 1];
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

struct streamlog_index streamlog_index_of(const struct streamlog *log) {
    return (struct streamlog_index){log->segments, log->segment_count};
}

/* A segment that has room for one more item, after the others. */
static struct streamlog_segment *segment_to_append(struct streamlog *log) {
    enum { FIRST_CAPACITY = 2 };
    size_t count = log->segment_count;
    if (count > 0 && log->segments[count - 1].count < STREAMLOG_SEGMENT) {
        struct streamlog_segment *segment = open_segment(log, count - 1);
        size_t capacity = (size_t)segment->capacity * 2;
        if (capacity > STREAMLOG_SEGMENT) capacity = STREAMLOG_SEGMENT;
        if (segment->count == segment->capacity) replace_items(log, segment, capacity);
        return segment;
    }
    if (count == log->segment_capacity) {
        log->segment_capacity = count ? 2 * count : 1;
        log->segments = mem_realloc(log->segments, log->segment_capacity * sizeof(*log->segments));
    }
    struct streamlog_segment *segment = &log->segments[log->segment_count++];
    *segment = (struct streamlog_segment){0};
    replace_items(log, segment, FIRST_CAPACITY);
    return segment;
}

static struct streamlog_item *last_item(const struct streamlog *log) {
    if (log->segment_count == 0) return NULL;
    const struct streamlog_segment *segment = &log->segments[log->segment_count - 1];
    return &segment->items[segment->count - 1];
}

/* Removes a segment without items. */
static void remove_segment(struct streamlog *log, size_t index) {
    size_t size = items_size(log->segments[index].capacity);
    mem_free_sized(log->segments[index].items, size);
    log->index_bytes -= size;
    log->segment_count--;
    memmove(log->segments + index, log->segments + index + 1,
            (log->segment_count - index) * sizeof(*log->segments));
    if (log->segment_count == 0) {
        mem_free(log->segments);
        log->segments = NULL;
        log->segment_capacity = 0;
    } else if (log->segment_count * 4 <= log->segment_capacity) {
        log->segment_capacity /= 2;
        log->segments = mem_realloc(log->segments, log->segment_capacity * sizeof(*log->segments));
    }
}

/* Removes nodes [from, to) of a segment with their entries. */
static void remove_nodes(struct streamlog *log, size_t index, size_t from, size_t to) {
    struct streamlog_segment *segment = open_segment(log, index);
    CHECKED_ASSERT(from < to && to <= segment->count);
    for (size_t i = from; i < to; i++) {
        struct streamlog_node *node = streamlog__node(&segment->items[i]);
        log->length -= node->count;
        log->nodes--;
        log->node_bytes -= node_size(node);
        capture_drop(node_reader(log, &segment->items[i]), node, node_size(node));
    }
    memmove(segment->items + from, segment->items + to,
            (segment->count - to) * sizeof(*segment->items));
    segment->count -= (uint32_t)(to - from);
    if (segment->count == 0)
        remove_segment(log, index);
    else if (segment->count * 4 <= segment->capacity)
        replace_items(log, segment, segment->capacity / 2);
}

/* --- Appending --- */

/* Begins a node; it is going to need about as much memory as the one before. */
static struct streamlog_item *begin_node(struct streamlog *log,
                                         const struct streamlog_new_entry *entry) {
    enum { EXPECTED_MAX = 4096 };
    struct streamlog_item *before = last_item(log);
    size_t expected = 0;
    if (before) {
        expected = sizeof(struct streamlog_node) + streamlog__node(before)->used;
        if (expected > EXPECTED_MAX) expected = EXPECTED_MAX;
    }
    struct streamlog_segment *segment = segment_to_append(log);
    struct streamlog_node *node = streamlog__node_new(entry, expected);
    struct streamlog_item *item = &segment->items[segment->count++];
    *item = (struct streamlog_item){.base = entry->id, .node = (uintptr_t)node};
    log->nodes++;
    log->node_bytes += node_size(node);
    return item;
}

/* Closes the last node, which takes no more entries. */
static void close_node(struct streamlog *log) {
    struct streamlog_segment *segment = open_segment(log, log->segment_count - 1);
    fit_node(log, &segment->items[segment->count - 1]);
}

/* The last node, which may be changed and takes the entry. */
static struct streamlog_item *item_to_append(struct streamlog *log,
                                             const struct streamlog_new_entry *entry,
                                             const struct stream_limits *limits) {
    struct streamlog_item *last = last_item(log);
    size_t text_bytes = 0;
    for (size_t i = 0; i < 2 * entry->pairs; i++) text_bytes += entry->texts[i].len;
    CHECKED_ASSERT(text_bytes <= STREAM_ENTRY_MAX);
    if (last && !streamlog__node_is_full(streamlog__node(last), text_bytes, limits)) {
        struct streamlog_segment *segment = open_segment(log, log->segment_count - 1);
        last = &segment->items[segment->count - 1];
        open_node(log, last);
        return last;
    }
    if (last) close_node(log);
    return begin_node(log, entry);
}

void streamlog_append(struct streamlog *log, struct stream_id id, const struct slice *texts,
                      size_t pairs, const struct stream_limits *limits) {
    const struct streamlog_new_entry entry = {id, texts, pairs};
    assert(pairs > 0 && stream_id_compare(id, log->facts.last_id) > 0);
    struct streamlog_item *item = item_to_append(log, &entry, limits);
    struct streamlog_node *node = streamlog__node(item);
    bool own_fields = !streamlog__has_fields(node, &entry);
    size_t size = streamlog__entry_size(item->base, &entry, own_fields);
    if (size > node->capacity - node->used) {
        size_t needed = sizeof(*node) + node->used + size;
        size_t more = node->count > 0 ? needed + needed / 2 : needed;
        node = resize_node(log, item, more);
    }
    streamlog__node_append(node, item->base, &entry, own_fields);
    CHECKED_ASSERT(stream_id_compare(streamlog__last_id(node, item->base), id) == 0);
    log->length++;
    log->facts.last_id = id;
    log->facts.added++;
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
    struct streamlog_position position;
    if (!streamlog__find(streamlog_index_of(log), id, &position)) return false;
    struct streamlog_item *item = &log->segments[position.segment].items[position.item];
    size_t at = offset_of(streamlog__node(item), item->base, id);
    if (at == 0) return false;
    if (stream_id_compare(id, log->facts.max_deleted_id) > 0) log->facts.max_deleted_id = id;
    if (streamlog__node(item)->count == 1) {
        remove_nodes(log, position.segment, position.item, position.item + 1);
        return true;
    }
    item = &open_segment(log, position.segment)->items[position.item];
    streamlog__node_cut(open_node(log, item), at);
    if (item != last_item(log)) fit_node(log, item);
    log->length--;
    return true;
}

/* Returns whether all entries of the first node are to be trimmed. */
static bool trims_node(const struct streamlog *log, const struct streamlog_item *item,
                       const struct stream_trim *trim) {
    const struct streamlog_node *node = streamlog__node(item);
    if (!trim->by_id) return log->length - node->count >= trim->max_length;
    return stream_id_compare(streamlog__last_id(node, item->base), trim->min_id) < 0;
}

/* Removes entries of the first node, which keeps at least one. */
static uint64_t trim_entries(struct streamlog *log, const struct stream_trim *trim) {
    struct streamlog_item *item = &log->segments[0].items[0];
    const struct streamlog_node *node = streamlog__node(item);
    const uint8_t *at = streamlog__first(node);
    uint64_t count = 0;
    for (;; count++) {
        struct stream_entry entry;
        streamlog__read(node, item->base, at, &entry);
        bool stays = trim->by_id ? stream_id_compare(entry.id, trim->min_id) >= 0
                                 : log->length - count <= trim->max_length;
        if (stays) break;
        at = streamlog__after(at);
    }
    if (count == 0) return 0;
    size_t offset = (size_t)(at - node->bytes);
    item = &open_segment(log, 0)->items[0];
    streamlog__node_cut_front(open_node(log, item), offset, (size_t)count);
    log->length -= count;
    return count;
}

uint64_t streamlog_trim(struct streamlog *log, const struct stream_trim *trim) {
    uint64_t removed = 0;
    while (log->segment_count > 0 && (trim->by_id || log->length > trim->max_length)) {
        const struct streamlog_segment *segment = &log->segments[0];
        uint64_t length = log->length, planned = 0;
        size_t nodes = 0;
        bool is_over = false;
        /* The nodes of a segment are removed at once. The length is set as it would be between. */
        for (; nodes < segment->count; nodes++) {
            uint64_t count = streamlog__node(&segment->items[nodes])->count;
            is_over = trim->limit > 0 && removed + planned + count > trim->limit;
            if (is_over || !trims_node(log, &segment->items[nodes], trim)) break;
            planned += count;
            log->length -= count;
        }
        bool is_whole = nodes == segment->count;
        log->length = length;
        if (nodes > 0) remove_nodes(log, 0, 0, nodes);
        removed += planned;
        if (is_whole) continue;
        if (!is_over && !trim->whole_nodes) removed += trim_entries(log, trim);
        break;
    }
    return removed;
}
