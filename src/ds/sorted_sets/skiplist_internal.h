/* skiplist, inside: the layout, for ds/skiplist*.c and their test.
 *
 *      level 2   head ───────────────────────────► c ──────────► (end)
 *      level 1   head ──────────► b ─────────────► c ──────────► (end)
 *      level 0   head ──► a ◄───► b ◄───► …  ◄───► c ◄───► …  ◄─── tail
 *                                 members          members
 *
 * One node in four is in the next higher level. The header's tower is a field of the list. The key
 * of a link is a lower bound: greater or equal to every key before its node, and at most the key of
 * the node's first member, which may have been deleted since. Where the key sought equals it, the
 * first member decides. The first node takes all that is less.
 *
 * A node's number is its place in the table `nodes`:
 *
 *      word: [pointer]                                   a node
 *            [next 31 bits][previous 31 bits][0][1]      a free number, in a list; NO_NUMBER: none
 *
 * Nodes and long members are pieces (ds/pieces.h). */
#ifndef PACKLIST_DS_SORTED_SETS_SKIPLIST_INTERNAL_H
#define PACKLIST_DS_SORTED_SETS_SKIPLIST_INTERNAL_H

#include "base/hash/hash.h"
#include "base/prefetch.h"
#include "ds/pieces.h"
#include "ds/sorted_sets/skiplist.h"
#include "ds/sorted_sets/skiplist_index.h"
#include "ds/sorted_sets/skiplist_node.h"

#ifdef TINY_LIMITS
enum { SKIPLIST_LARGE_FROM = 40 };
#else
/* Node numbers have 22 bits. Above half of them nodes are larger and more members are stored out of
 * line: then the other half is enough for a billion members and more. */
enum { SKIPLIST_LARGE_FROM = 1 << (SKIPLIST_NUMBER_BITS - 1) };
#endif
enum { SKIPLIST_LEVELS = 11, SKIPLIST_NO_NUMBER = 0x7FFFFFFF };

struct skiplist {
    struct skiplist_node *tail;
    uint64_t count;
    struct skiplist_link head[SKIPLIST_LEVELS]; /* the header's tower */
    struct segmented nodes;
    struct skiplist_index index;
    struct pieces pieces; /* nodes and long members */
    size_t long_members;
    uint32_t node_count;
    uint32_t free_number; /* the first free number, or NO_NUMBER */
    uint8_t height;       /* the highest level in use */
};

/* Where a search went down. */
struct skiplist_path {
    struct skiplist_link *links[SKIPLIST_LEVELS]; /* the tower from which it did, at each level */
    uint64_t rank[SKIPLIST_LEVELS];               /* members before the node of that tower */
    struct skiplist_node *node;                   /* NULL in an empty list */
    uint64_t start;                               /* members before the node */
};

/* The node with this number. */
static inline struct skiplist_node *skiplist__node(const struct skiplist *list, uint32_t number) {
    return (struct skiplist_node *)(uintptr_t)*segmented_word(&list->nodes, number);
}

static inline bool skiplist__is_free_number(uint64_t word) {
    return word & 1;
}

/* The node whose tower this is, which is not the header's. */
static inline struct skiplist_node *skiplist__node_of_links(const struct skiplist_link *links) {
    return (struct skiplist_node *)((uintptr_t)links - offsetof(struct skiplist_node, links));
}

/* About where the first member's offset is in full nodes. */
enum { SKIPLIST_FIRST_OFFSET_NEAR = 128 };

/* Starts loading the header of a node, its tags, and most of its offsets. */
static inline void skiplist__prefetch_node(const struct skiplist_node *node) {
    for (size_t at = 0; at < 384; at += 64) prefetch((const char *)node + at);
}

/* To the node to which (key, member) belongs; to a member that was found. O(log n). */
void skiplist__path_find(const struct skiplist *list, struct skiplist_path *path, uint64_t key,
                         struct slice member);
void skiplist__path_to(const struct skiplist *list, struct skiplist_path *path,
                       const struct skiplist_place *place);

/* To the member with this rank. O(log n). */
void skiplist__path_seek(const struct skiplist *list, struct skiplist_path *path, uint64_t wanted);

/* The links to `node`, which the path has come to or which follows its node, from before it: one
 * for each level of its tower. O(its height). */
void skiplist__links_to(struct skiplist *list, const struct skiplist_path *path,
                        const struct skiplist_node *node, struct skiplist_link **to);

/* Returns whether a capture can begin; renumbers the pieces if they must be and no capture reads
 * them. O(1), or once in CAPTURES_EPOCH_MAX captures O(nodes + members stored out of line). */
bool skiplist__can_capture(struct skiplist *list);

/* The captures of ranges are told that a node is about to be dropped, which has its members still.
 * Both neighbours are those from which a search in the list goes on that has come to the node:
 * `next` forward, `previous` backward. O(captures of the list), and O(log nodes) for each that has
 * yet to read the node. */
void skiplist__tell_captures(struct skiplist *list, const struct skiplist_node *node,
                             const struct skiplist_node *next,
                             const struct skiplist_node *previous);

/* Leads the visitor through all nodes with their long members, which stay where they are. */
void skiplist__pieces(struct skiplist *list, const struct piece_visitor *visitor);

/* The hash of the member at `slot` when it matches; false else. */
bool skiplist__matches(const struct skiplist_node *node, unsigned slot,
                       struct skiplist_hash_pattern pattern, uint64_t *hash);

#endif
