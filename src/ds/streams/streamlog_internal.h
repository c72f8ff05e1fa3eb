/* streamlog_internal: the layout of a streamlog, for its source files.
 *
 *      log        [base id, node] [base id, node] …          in an index (ds/streams/idindex.h)
 *      node       head │ master: count, field … │ (removed) │ entry …
 *
 *      entry      [pairs * 2 + own] [ms] [seq] value …               own 0: the master's fields
 *                                              field value …         own 1
 *                 [back length]
 *      text       [length * 2] bytes, or, for the canonical decimal of an integer, [zigzag * 2 + 1]
 *
 * Numbers in brackets are varints: 7 bits a byte, the lowest first; all bytes but the last have the
 * top bit set. The back length is the size of what precedes it in the entry, as a varint that is
 * read from its last byte backwards.
 *
 * ms is the difference to the base id. seq is the difference to it when ms is 0, otherwise the
 * number itself. As no id refers to the entry before it, entries are removed without changing
 * others: those at the node's beginning by moving `first`. The master's fields are those of the
 * entry with which the node began.
 *
 * Invariants: no node is empty. Ids ascend. Nodes are appended at the end only. */
#ifndef PACKLIST_DS_STREAMS_STREAMLOG_INTERNAL_H
#define PACKLIST_DS_STREAMS_STREAMLOG_INTERNAL_H

#include "ds/streams/streamlog.h"

struct streamlog_node {
    struct idindex_node node;
    uint32_t capacity;   /* of bytes */
    uint32_t used;       /* bytes up to the last entry's end */
    uint32_t first;      /* where the first entry begins */
    uint32_t count;      /* entries */
    uint32_t added;      /* entries that the node ever had */
    uint32_t serialized; /* the size of all of them in an RDB file, without the two counts */
    uint8_t bytes[];
};

static inline struct streamlog_node *streamlog__node(const struct idindex_item *item) {
    return (struct streamlog_node *)item->node;
}

static inline size_t streamlog__node_size(const struct streamlog_node *node) {
    return sizeof(*node) + node->capacity;
}

/* --- The bytes of nodes (streamlog_node.c) --- */

/* An entry that is about to be written. */
struct streamlog_new_entry {
    struct stream_id id;
    const struct slice *texts;
    size_t pairs;
};

/* A node for this entry with its fields as master, and memory for at least `expected` bytes. The
 * entry is not written yet. */
struct streamlog_node *streamlog__node_new(const struct streamlog_new_entry *entry,
                                           size_t expected);

/* Returns whether the limits demand a new node for an entry with texts of so many bytes. O(1). */
bool streamlog__node_is_full(const struct streamlog_node *node, size_t text_bytes,
                             const struct stream_limits *limits);

/* Returns whether the entry's fields are the master's. */
bool streamlog__has_fields(const struct streamlog_node *node,
                           const struct streamlog_new_entry *entry);

/* The bytes that the entry will take. */
size_t streamlog__entry_size(struct stream_id base, const struct streamlog_new_entry *entry,
                             bool own_fields);

/* Writes the entry after the last one; there is room for it. */
void streamlog__node_append(struct streamlog_node *node, struct stream_id base,
                            const struct streamlog_new_entry *entry, bool own_fields);

/* Reads the entry at `at`, as a view, without looking for its end. */
void streamlog__read(const struct streamlog_node *node, struct stream_id base, const uint8_t *at,
                     struct stream_entry *entry);

/* The master's fields, for streamlog_next_field. */
struct stream_entry streamlog__master(const struct streamlog_node *node);

/* The end of the entry at `at`; and the beginning of the one that ends at `end`. */
const uint8_t *streamlog__after(const uint8_t *at);
const uint8_t *streamlog__before(const uint8_t *end);

static inline const uint8_t *streamlog__first(const struct streamlog_node *node) {
    return node->bytes + node->first;
}

static inline const uint8_t *streamlog__end(const struct streamlog_node *node) {
    return node->bytes + node->used;
}

/* The id of the node's last entry. */
struct stream_id streamlog__last_id(const struct streamlog_node *node, struct stream_id base);

/* Removes the entry at `at`, or all entries before `at`, of which there are `count`. The node is
 * writable. */
void streamlog__node_cut(struct streamlog_node *node, size_t at);
void streamlog__node_cut_front(struct streamlog_node *node, size_t at, size_t count);

/* Checks the node's bytes. */
bool streamlog__node_check(const struct streamlog_node *node, struct stream_id base);

#endif
