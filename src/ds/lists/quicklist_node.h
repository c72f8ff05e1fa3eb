/* quicklist_node: the bytes of one quicklist node: a listpack body in a buffer of its own.
 * Internal to the quicklist.
 *
 * A node is *closed* or *open*. A closed node is a 24-byte descriptor; its body fills its buffer
 * from the first byte on, raw or as an LZF stream. The nodes between the ends are closed and in the
 * tree. An open node may be written to: it is raw, with slack on either side of the body. The
 * list's first and last node are always open.
 *
 * A buffer is a piece (ds/pieces.h). That of an open node is read by no capture, unless the node is
 * plain: nothing is ever written to a plain node. */
#ifndef PACKLIST_DS_LISTS_QUICKLIST_NODE_H
#define PACKLIST_DS_LISTS_QUICKLIST_NODE_H

#include "ds/lists/listpack.h"
#include "ds/pieces.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum quicklist_node_flags {
    QUICKLIST_NODE_PLAIN = 1,         /* one large element that has the node to itself */
    QUICKLIST_NODE_LZF = 2,           /* the buffer holds an LZF stream of the body */
    QUICKLIST_NODE_INCOMPRESSIBLE = 4 /* LZF was tried on these bytes and gained nothing */
};

struct quicklist_node {
    uint8_t *buffer;
    size_t size;    /* bytes of the body, uncompressed; above 4 GB only in a plain node */
    uint32_t epoch; /* of the buffer; PIECES_UNREAD in open nodes that are not plain */
    uint16_t count; /* elements; 0 only in a node that is being made or emptied */
    uint8_t flags;
    /* Size less serialized size: -LISTPACK_OVERHEAD; in a plain node the bytes that the encoding
     * adds to the text. */
    int8_t excess;
};

struct quicklist_open {
    struct quicklist_node node;
    uint32_t start;    /* where in the buffer the body begins */
    uint32_t capacity; /* bytes of the buffer; of no use in a plain node */
};

/* Serialized bytes: body + LISTPACK_OVERHEAD, the text's length for a plain node. O(1). */
static inline size_t quicklist_node_serialized(const struct quicklist_node *node) {
    return (size_t)((int64_t)node->size - node->excess);
}

/* --- Open nodes --- */

static inline uint8_t *quicklist_open_first(const struct quicklist_open *open) {
    return open->node.buffer + open->start;
}

static inline uint8_t *quicklist_open_end(const struct quicklist_open *open) {
    return quicklist_open_first(open) + open->node.size;
}

/* Bytes of the buffer, as allocated. O(1). */
size_t quicklist_open_allocated(const struct quicklist_open *open);

/* Makes an empty open node with room for at least `capacity` (> 0) bytes; with `at_end` the free
 * bytes are at the front. */
void quicklist_open_init(struct quicklist_open *open, size_t capacity, bool at_end,
                         struct pieces *pieces);

/* Makes an open node with one element: a plain node, or a packed one with room for `capacity`
 * bytes. */
void quicklist_open_init_element(struct quicklist_open *open,
                                 const struct listpack_element *element, bool plain,
                                 size_t capacity, bool at_end, struct pieces *pieces);

/* The functions that change a body are not for plain nodes: these are replaced as a whole. */

/* Extends the body by `size` bytes, before its first or after its last byte, and returns their
 * address; the caller writes them. When the slack there is used up, moves the body or takes a
 * larger buffer: amortised O(size). */
uint8_t *quicklist_open_grow_front(struct quicklist_open *open, size_t size, struct pieces *pieces);
uint8_t *quicklist_open_grow_back(struct quicklist_open *open, size_t size, struct pieces *pieces);

/* Replaces `old_size` bytes at `offset` of the body by `new_size` bytes, which the caller writes;
 * returns their address. Moves the shorter side where slack allows. O(body). */
uint8_t *quicklist_open_splice(struct quicklist_open *open, size_t offset, size_t old_size,
                               size_t new_size, struct pieces *pieces);

/* Reduces the buffer when it is much larger than the body. O(body). */
void quicklist_open_shrink(struct quicklist_open *open, struct pieces *pieces);

/* Opens a closed node: takes over its buffer, but makes a new one when the node is compressed or
 * a capture reads it. A plain node keeps its buffer. `closed` is invalid afterwards. */
void quicklist_node_open(struct quicklist_open *open, const struct quicklist_node *closed,
                         struct pieces *pieces);

/* Closes an open node: trims its buffer to the body, but does not compress it. `open` is invalid
 * afterwards. */
struct quicklist_node quicklist_node_close(struct quicklist_open *open, struct pieces *pieces);

/* Makes an open node with a copy of another one's body, and no slack. O(body). */
void quicklist_open_copy(struct quicklist_open *copy, const struct quicklist_open *open,
                         struct pieces *pieces);

/* Drops the buffer. */
void quicklist_open_free(struct quicklist_open *open, struct pieces *pieces);

/* --- Closed nodes --- */

/* Makes a raw closed node for a body of `size` (> 0) bytes and `count` elements. Returns its
 * buffer, to which the caller writes the body. */
uint8_t *quicklist_node_init(struct quicklist_node *node, size_t size, size_t count,
                             struct pieces *pieces);

/* Makes a compressed node with a copy of the LZF stream of a body of `size` bytes. Returns false,
 * having made nothing, when quicklist_node_compress would leave the node raw. O(stream). */
bool quicklist_node_init_compressed(struct quicklist_node *node, struct slice stream, size_t size,
                                    size_t count, struct pieces *pieces);

/* Returns the bytes of the buffer, as allocated. */
size_t quicklist_node_allocated(const struct quicklist_node *node);

/* Returns the LZF stream of a compressed node: a view of its buffer. Put after the literal run
 * [5][6 header bytes] and before the literal run [0][FF] it is the LZF stream of the node's
 * serialized form. */
struct slice quicklist_node_stream(const struct quicklist_node *node);

/* quicklist_node_compress compresses a raw node of 48 serialized bytes to 4 GB if it takes less
 * memory afterwards, which only trying can show; otherwise it marks the node as incompressible.
 * O(body). quicklist_node_may_compress returns whether it would try. O(1). */
bool quicklist_node_may_compress(const struct quicklist_node *node);
void quicklist_node_compress(struct quicklist_node *node, struct pieces *pieces);

/* Makes a compressed node raw again. O(body). */
void quicklist_node_decompress(struct quicklist_node *node, struct pieces *pieces);

/* Decompresses the body of a compressed node to `dst`, which has room for node->size bytes; the
 * node stays compressed. O(body). */
void quicklist_node_decompress_to(const struct quicklist_node *node, uint8_t *dst);

/* Drops the buffer. */
void quicklist_node_free(struct quicklist_node *node, struct pieces *pieces);

/* Lead the visitor to the buffer. */
void quicklist_node_pieces(struct quicklist_node *node, const struct piece_visitor *visitor);
void quicklist_open_pieces(struct quicklist_open *open, const struct piece_visitor *visitor);

/* Return whether the invariants hold. O(body). */
bool quicklist_node_check(const struct quicklist_node *node);
bool quicklist_open_check(const struct quicklist_open *open);

#endif
