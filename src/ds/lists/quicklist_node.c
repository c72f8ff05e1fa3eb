/* quicklist_node: node buffers: slack, growth, trimming, compression.
 *
 *      open      [ slack | element element … | slack ]
 *                0       start               start + size <= capacity
 *      closed    [ element element … ]
 *      compressed [stream length 4][ LZF stream of the body ]
 *
 *   1. A buffer is always requested as large as its size class, so every byte of it may be used.
 *   2. A closed raw node has the capacity capacity_for(size), so its descriptor does not store it.
 *   3. A compressed node takes a smaller class than it would raw.
 *   4. The body is `count` canonical listpack elements; a plain node has one.
 *   5. A plain node's body begins at its buffer's first byte, and the capacity follows from its
 *      size, open or closed. Only plain nodes exceed 32 bits.
 *
 * A buffer grows by a quarter at least: by one or two of the allocator's classes. When the slack on
 * one side is used up but there is enough on the other (a quarter of the body), the body moves to
 * the middle, so that a queue within one node moves each byte a constant number of times. */
#include "ds/lists/quicklist_node.h"

#include "base/checked.h"
#include "base/lzf/lzf.h"
#include "base/memory/alloc.h"
#include "base/text/number.h"

#include <assert.h>
#include <string.h>

enum {
    COMPRESS_SERIALIZED_MIN = 48, /* smaller nodes are not worth compressing */
    COMPRESS_GAIN_MIN = 8,        /* bytes that a stream must save */
    STREAM_HEADER_SIZE = 4,
    STACK_WORKSPACE_SIZE = 16384, /* streams of the usual node sizes are made on the stack */
    SHRINK_CAPACITY_MIN = 512
};

_Static_assert(sizeof(struct quicklist_node) == 24,
               "a leaf of 64 nodes is one class of 1536 bytes");

/* The capacity to request so that `size` bytes fit and no byte of the class is lost. Where the size
 * has 32 bits, so has the capacity: that of a packed node is kept in as many. */
static size_t capacity_for(size_t size) {
    size_t good = mem_good_size(size);
    return size <= UINT32_MAX && good > UINT32_MAX ? size : good;
}

static size_t open_capacity(const struct quicklist_open *open) {
    return open->node.flags & QUICKLIST_NODE_PLAIN ? capacity_for(open->node.size) : open->capacity;
}

size_t quicklist_open_allocated(const struct quicklist_open *open) {
    return mem_good_size(open_capacity(open));
}

static uint8_t *buffer_new(size_t capacity, struct pieces *pieces) {
    return pieces_alloc(pieces, mem_good_size(capacity));
}

/* Drops the buffer of a node, which has this capacity. */
static void buffer_drop(struct quicklist_node *node, size_t capacity, struct pieces *pieces) {
    pieces_drop(pieces, node->epoch, node->buffer, mem_good_size(capacity));
    node->buffer = NULL;
}

/* --- Open nodes --- */

void quicklist_open_init(struct quicklist_open *open, size_t capacity, bool at_end,
                         struct pieces *pieces) {
    CHECKED_ASSERT(capacity > 0);
    size_t whole = capacity_for(capacity);
    open->capacity = (uint32_t)whole;
    open->start = at_end ? open->capacity : 0;
    open->node = (struct quicklist_node){
        .buffer = buffer_new(whole, pieces), .epoch = PIECES_UNREAD, .excess = -LISTPACK_OVERHEAD};
}

void quicklist_open_init_element(struct quicklist_open *open,
                                 const struct listpack_element *element, bool plain,
                                 size_t capacity, bool at_end, struct pieces *pieces) {
    if (plain || capacity < element->size) capacity = element->size;
    if (plain) at_end = false; /* begins at its buffer's first byte, as when it is closed */
    quicklist_open_init(open, capacity, at_end, pieces);
    if (at_end) open->start -= (uint32_t)element->size;
    open->node.size = element->size;
    open->node.count = 1;
    if (plain) {
        open->node.flags = QUICKLIST_NODE_PLAIN;
        open->node.epoch = pieces_epoch(pieces);
        open->node.excess = (int8_t)((int64_t)element->size - (int64_t)element->text.len);
    }
    listpack_write(quicklist_open_first(open), element);
}

/* Moves the body into a buffer of a new capacity, its first byte at `start`. */
static void open_rebuffer(struct quicklist_open *open, size_t capacity, uint32_t start,
                          struct pieces *pieces) {
    if (start == open->start) { /* the allocator may be able to grow in place */
        open->node.buffer = pieces_resize(pieces, open->node.buffer, mem_good_size(open->capacity),
                                          mem_good_size(capacity));
    } else {
        uint8_t *buffer = buffer_new(capacity, pieces);
        memcpy(buffer + start, quicklist_open_first(open), open->node.size);
        buffer_drop(&open->node, open->capacity, pieces);
        open->node.buffer = buffer;
    }
    open->capacity = (uint32_t)capacity;
    open->start = start;
}

/* The next capacity when `wanted` bytes are needed: a quarter more, but no growth steps over a
 * power of two, because the limits of nodes are powers of two and a full node should fit its
 * buffer. Only packed nodes grow, and their capacity has 32 bits. */
static size_t grown_capacity(size_t capacity, size_t wanted) {
    size_t roomy = wanted > UINT32_MAX / 2 ? wanted : wanted + wanted / 4;
    size_t power = (size_t)1 << (64 - __builtin_clzl(wanted - 1));
    size_t grown = capacity_for(power < roomy && power > capacity ? power : roomy);
    return grown < UINT32_MAX ? grown : UINT32_MAX;
}

/* Makes the slack at one side at least `size` bytes. The slow path of growing. */
static void open_make_slack(struct quicklist_open *open, bool front, size_t size,
                            struct pieces *pieces) {
    size_t used = open->node.size;
    size_t free = open->capacity - used;
    if (free >= size + used / 4) {
        size_t here = size + (free - size) / 2;
        uint32_t start = (uint32_t)(front ? here : free - here);
        memmove(open->node.buffer + start, quicklist_open_first(open), used);
        open->start = start;
        return;
    }
    /* The slack of the other side stays as it is, up to a quarter of the body. */
    size_t other = front ? free - open->start : open->start;
    if (other > used / 4) other = used / 4;
    size_t capacity = grown_capacity(open->capacity, used + size + other);
    uint32_t start = (uint32_t)(front ? capacity - used - other : other);
    open_rebuffer(open, capacity, start, pieces);
}

uint8_t *quicklist_open_grow_front(struct quicklist_open *open, size_t size,
                                   struct pieces *pieces) {
    CHECKED_ASSERT(!(open->node.flags & QUICKLIST_NODE_PLAIN));
    if (__builtin_expect(open->start < size, 0)) open_make_slack(open, true, size, pieces);
    open->start -= (uint32_t)size;
    open->node.size += size;
    return quicklist_open_first(open);
}

uint8_t *quicklist_open_grow_back(struct quicklist_open *open, size_t size, struct pieces *pieces) {
    CHECKED_ASSERT(!(open->node.flags & QUICKLIST_NODE_PLAIN));
    size_t end = open->start + open->node.size;
    if (__builtin_expect(open->capacity - end < size, 0)) {
        open_make_slack(open, false, size, pieces);
        end = open->start + open->node.size;
    }
    open->node.size += size;
    return open->node.buffer + end;
}

uint8_t *quicklist_open_splice(struct quicklist_open *open, size_t offset, size_t old_size,
                               size_t new_size, struct pieces *pieces) {
    CHECKED_ASSERT(!(open->node.flags & QUICKLIST_NODE_PLAIN) &&
                   offset + old_size <= open->node.size);
    size_t before = offset, behind = open->node.size - offset - old_size;
    bool move_front = before < behind;
    if (new_size > old_size) {
        size_t more = new_size - old_size;
        if (move_front) {
            uint8_t *first = quicklist_open_grow_front(open, more, pieces);
            memmove(first, first + more, before);
        } else {
            quicklist_open_grow_back(open, more, pieces);
            uint8_t *hole = quicklist_open_first(open) + offset;
            memmove(hole + new_size, hole + old_size, behind);
        }
    } else if (new_size < old_size) {
        size_t less = old_size - new_size;
        uint8_t *first = quicklist_open_first(open);
        if (move_front) {
            memmove(first + less, first, before);
            open->start += (uint32_t)less;
        } else {
            memmove(first + offset + new_size, first + offset + old_size, behind);
        }
        open->node.size -= less;
    }
    return quicklist_open_first(open) + offset;
}

void quicklist_open_shrink(struct quicklist_open *open, struct pieces *pieces) {
    if (open->node.flags & QUICKLIST_NODE_PLAIN || open->capacity <= SHRINK_CAPACITY_MIN ||
        open->node.size >= open->capacity / 4)
        return;
    size_t capacity = capacity_for(open->capacity / 2);
    uint32_t start = (uint32_t)(capacity - open->node.size) / 2;
    /* The body may reach beyond the new end: it must be copied, not resized in place. */
    if (start == open->start) start--;
    open_rebuffer(open, capacity, start, pieces);
}

/* Gives a raw node a buffer that no capture reads. */
static void unshare(struct quicklist_node *node, struct pieces *pieces) {
    if (!pieces_is_read(pieces, node->epoch)) return;
    size_t capacity = capacity_for(node->size);
    uint8_t *buffer = buffer_new(capacity, pieces);
    memcpy(buffer, node->buffer, node->size);
    buffer_drop(node, capacity, pieces);
    node->buffer = buffer;
}

void quicklist_node_open(struct quicklist_open *open, const struct quicklist_node *closed,
                         struct pieces *pieces) {
    open->node = *closed;
    open->start = 0;
    open->capacity = (uint32_t)capacity_for(closed->size);
    open->node.flags &= (uint8_t)~QUICKLIST_NODE_INCOMPRESSIBLE;
    bool plain = closed->flags & QUICKLIST_NODE_PLAIN;
    if (closed->flags & QUICKLIST_NODE_LZF)
        quicklist_node_decompress(&open->node, pieces);
    else if (!plain)
        unshare(&open->node, pieces);
    if (!plain) open->node.epoch = PIECES_UNREAD;
}

struct quicklist_node quicklist_node_close(struct quicklist_open *open, struct pieces *pieces) {
    if (open->node.flags & QUICKLIST_NODE_PLAIN) return open->node;
    size_t capacity = capacity_for(open->node.size);
    if (open->start != 0) {
        memmove(open->node.buffer, quicklist_open_first(open), open->node.size);
        open->start = 0;
    }
    if (capacity != open->capacity) open_rebuffer(open, capacity, 0, pieces);
    open->node.epoch = pieces_epoch(pieces);
    return open->node;
}

void quicklist_open_copy(struct quicklist_open *to, const struct quicklist_open *from,
                         struct pieces *pieces) {
    size_t size = from->node.size;
    quicklist_open_init(to, size, false, pieces);
    uint8_t *buffer = memcpy(to->node.buffer, quicklist_open_first(from), size);
    to->node = from->node;
    to->node.buffer = buffer;
    if (to->node.flags & QUICKLIST_NODE_PLAIN) to->node.epoch = pieces_epoch(pieces);
}

void quicklist_open_free(struct quicklist_open *open, struct pieces *pieces) {
    buffer_drop(&open->node, open_capacity(open), pieces);
}

/* --- Closed nodes --- */

static uint32_t stream_size(const struct quicklist_node *node) {
    uint32_t size;
    memcpy(&size, node->buffer, sizeof(size));
    return size;
}

struct slice quicklist_node_stream(const struct quicklist_node *node) {
    CHECKED_ASSERT(node->flags & QUICKLIST_NODE_LZF);
    return slice_make(node->buffer + STREAM_HEADER_SIZE, stream_size(node));
}

/* The size with which a closed node's buffer was requested. */
static size_t node_capacity(const struct quicklist_node *node) {
    return node->flags & QUICKLIST_NODE_LZF ? STREAM_HEADER_SIZE + (size_t)stream_size(node)
                                            : capacity_for(node->size);
}

size_t quicklist_node_allocated(const struct quicklist_node *node) {
    return mem_good_size(node_capacity(node));
}

void quicklist_node_free(struct quicklist_node *node, struct pieces *pieces) {
    buffer_drop(node, node_capacity(node), pieces);
}

uint8_t *quicklist_node_init(struct quicklist_node *node, size_t size, size_t count,
                             struct pieces *pieces) {
    CHECKED_ASSERT(size > 0 && count <= UINT16_MAX);
    *node = (struct quicklist_node){.buffer = buffer_new(capacity_for(size), pieces),
                                    .size = size,
                                    .epoch = pieces_epoch(pieces),
                                    .count = (uint16_t)count,
                                    .excess = -LISTPACK_OVERHEAD};
    return node->buffer;
}

bool quicklist_node_may_compress(const struct quicklist_node *node) {
    return !(node->flags & (QUICKLIST_NODE_LZF | QUICKLIST_NODE_INCOMPRESSIBLE)) &&
           node->size <= UINT32_MAX && quicklist_node_serialized(node) >= COMPRESS_SERIALIZED_MIN &&
           node->size > COMPRESS_GAIN_MIN;
}

/* Returns whether the node would take less memory with a stream of this size. */
static bool compressing_gains(const struct quicklist_node *node, size_t stream_size) {
    return mem_good_size(STREAM_HEADER_SIZE + stream_size) < mem_good_size(node->size);
}

/* Gives a node that has no buffer one with a copy of the stream. */
static void set_stream(struct quicklist_node *node, struct slice stream, struct pieces *pieces) {
    uint32_t header = (uint32_t)stream.len;
    node->buffer = buffer_new(STREAM_HEADER_SIZE + stream.len, pieces);
    memcpy(node->buffer, &header, sizeof(header));
    memcpy(node->buffer + STREAM_HEADER_SIZE, stream.ptr, stream.len);
    node->flags |= QUICKLIST_NODE_LZF;
    node->epoch = pieces_epoch(pieces);
}

bool quicklist_node_init_compressed(struct quicklist_node *node, struct slice stream, size_t size,
                                    size_t count, struct pieces *pieces) {
    *node = (struct quicklist_node){
        .size = size, .count = (uint16_t)count, .excess = -LISTPACK_OVERHEAD};
    if (!quicklist_node_may_compress(node) || !compressing_gains(node, stream.len)) return false;
    set_stream(node, stream, pieces);
    return true;
}

void quicklist_node_compress(struct quicklist_node *node, struct pieces *pieces) {
    uint8_t on_stack[STACK_WORKSPACE_SIZE];
    if (!quicklist_node_may_compress(node)) return;
    uint8_t *workspace = node->size <= sizeof(on_stack) ? on_stack : mem_alloc(node->size);
    size_t size = lzf_compress_text(slice_make(node->buffer, node->size), workspace,
                                    node->size - COMPRESS_GAIN_MIN);
    if (size == 0 || !compressing_gains(node, size)) {
        node->flags |= QUICKLIST_NODE_INCOMPRESSIBLE;
    } else {
        quicklist_node_free(node, pieces);
        set_stream(node, slice_make(workspace, size), pieces);
    }
    if (workspace != on_stack) mem_free(workspace);
}

void quicklist_node_decompress_to(const struct quicklist_node *node, uint8_t *dst) {
    bool valid = lzf_decompress_text(quicklist_node_stream(node), dst, node->size);
    assert(valid);
    (void)valid;
}

void quicklist_node_decompress(struct quicklist_node *node, struct pieces *pieces) {
    uint8_t *raw = buffer_new(capacity_for(node->size), pieces);
    quicklist_node_decompress_to(node, raw);
    quicklist_node_free(node, pieces);
    node->buffer = raw;
    node->epoch = pieces_epoch(pieces);
    node->flags &= (uint8_t)~QUICKLIST_NODE_LZF;
}

/* --- Checks --- */

static bool body_check(const struct quicklist_node *node, const uint8_t *first) {
    if (node->count == 0 || !listpack_body_check(first, first + node->size, node->count))
        return false;
    if (!(node->flags & QUICKLIST_NODE_PLAIN))
        return node->excess == -LISTPACK_OVERHEAD && node->size <= UINT32_MAX;
    struct listpack_value value;
    char digits[INT64_TEXT_MAX];
    listpack_get(first, &value);
    return node->count == 1 &&
           quicklist_node_serialized(node) == listpack_value_text(&value, digits).len;
}

bool quicklist_open_check(const struct quicklist_open *open) {
    bool plain = open->node.flags & QUICKLIST_NODE_PLAIN;
    if (open->node.flags & ~(unsigned)QUICKLIST_NODE_PLAIN) return false;
    if ((open->node.epoch == PIECES_UNREAD) == plain) return false;
    if (plain && open->start != 0) return false;
    if (open->start + open->node.size > open_capacity(open)) return false;
    return body_check(&open->node, quicklist_open_first(open));
}

bool quicklist_node_check(const struct quicklist_node *node) {
    if (!(node->flags & QUICKLIST_NODE_LZF)) return body_check(node, node->buffer);
    if (quicklist_node_allocated(node) >= mem_good_size(node->size)) return false;
    uint8_t *raw = mem_alloc(node->size);
    bool valid =
        lzf_decompress_text(quicklist_node_stream(node), raw, node->size) && body_check(node, raw);
    mem_free(raw);
    return valid;
}

/* --- Pieces --- */

static void visit_buffer(struct quicklist_node *node, size_t size, uint32_t *epoch,
                         const struct piece_visitor *visitor) {
    uint8_t *now = piece_visit(visitor, node->buffer, size, epoch);
    if (now != node->buffer) node->buffer = now;
}

void quicklist_node_pieces(struct quicklist_node *node, const struct piece_visitor *visitor) {
    visit_buffer(node, quicklist_node_allocated(node), &node->epoch, visitor);
}

void quicklist_open_pieces(struct quicklist_open *open, const struct piece_visitor *visitor) {
    bool plain = open->node.flags & QUICKLIST_NODE_PLAIN;
    visit_buffer(&open->node, quicklist_open_allocated(open), plain ? &open->node.epoch : NULL,
                 visitor);
}
