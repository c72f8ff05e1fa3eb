/* skiplist_node: one node of a skiplist: members with their scores, packed in their order. A node
 * knows neither the list nor the index; links are the list's.
 *
 *      header │ links, a tower │ tags │ offsets │ scores │ (free) │ record … record
 *
 *      score     `width` (0 … 8) bytes: (key - base) >> shift, little-endian, where the key is the
 *                double as an integer of the same order
 *      tag       the low byte of the member's hash
 *      offset    2 bytes: where in the node the record begins
 *      record    [length 0 … 251] text
 *                [252] [length, 2] text         of up to SKIPLIST_INLINE_MAX bytes
 *                [253] [pointer, 8]             stored out of line: struct skiplist_text
 *
 * Records stand in any order, without gaps. A node is one allocation of a size class; what fits
 * into it is added in place, else the list replaces the node by one that is built anew. */
#ifndef PACKLIST_DS_SORTED_SETS_SKIPLIST_NODE_H
#define PACKLIST_DS_SORTED_SETS_SKIPLIST_NODE_H

#include "base/checked.h"
#include "base/slice.h"
#include "ds/pieces.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef TINY_LIMITS
enum { SKIPLIST_NODE_MEMBERS = 5, SKIPLIST_NODE_BYTES = 320, SKIPLIST_INLINE_MAX = 40 };
enum { SKIPLIST_LARGE_NODE_MEMBERS = 30, SKIPLIST_LARGE_NODE_BYTES = 2000 };
enum { SKIPLIST_LARGE_INLINE_MAX = 20 };
#else
enum { SKIPLIST_NODE_MEMBERS = 128, SKIPLIST_NODE_BYTES = 4096, SKIPLIST_INLINE_MAX = 512 };
enum { SKIPLIST_LARGE_NODE_MEMBERS = 2048, SKIPLIST_LARGE_NODE_BYTES = 40960 };
enum { SKIPLIST_LARGE_INLINE_MAX = 32 };
#endif

struct skiplist_node;

/* The list's part: where the tower leads at one level. `span` is the number of members from the
 * beginning of this node to that of the next one at this level. At level 0 that is the number of
 * the node's own members, and the top byte, which no count needs, is the height of the tower. */
struct skiplist_link {
    struct skiplist_node *next;
    uint64_t key; /* a lower bound of the next one's keys: ds/sorted_sets/skiplist_internal.h */
    uint64_t span;
};

enum { SKIPLIST_HEIGHT_SHIFT = 56 };
#define SKIPLIST_SPAN_MASK (((uint64_t)1 << SKIPLIST_HEIGHT_SHIFT) - 1)

struct skiplist_node {
    struct skiplist_node *prev;
    uint64_t base;
    uint32_t number;  /* in the list's table of nodes */
    uint32_t epoch;   /* the list's when the node was made */
    uint16_t size16;  /* bytes of the node / 16 */
    uint16_t records; /* where the first record begins; the last one ends with the node */
    uint8_t width;
    uint8_t shift;
    struct skiplist_link links[];
};
_Static_assert(sizeof(struct skiplist_node) == 32, "the header of a node");

/* A member that is stored out of line. */
struct skiplist_text {
    size_t len;
    uint32_t epoch;
    char bytes[];
};

/* How a node stores its scores. */
struct skiplist_packing {
    uint64_t base;
    uint8_t width;
    uint8_t shift;
};

/* Members [from, to) of a node. */
struct skiplist_range {
    const struct skiplist_node *node;
    unsigned from;
    unsigned to;
};

/* A member made ready to be stored. */
struct skiplist_record {
    struct slice text;
    struct skiplist_text *apart; /* holds the text, when it is long; NULL else */
    unsigned size;
};

/* --- Scores and keys --- */

/* The integer of the same order; 0 and -0 have the same. `score` is not NaN. */
static inline uint64_t skiplist_key(double score) {
    CHECKED_ASSERT(score == score);
    uint64_t bits;
    if (score == 0) score = 0;
    memcpy(&bits, &score, sizeof(bits));
    return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

static inline double skiplist_score_of_key(uint64_t key) {
    uint64_t bits = key >> 63 ? key & ~((uint64_t)1 << 63) : ~key;
    double score;
    memcpy(&score, &bits, sizeof(score));
    return score;
}

/* --- Reading --- */

static inline unsigned skiplist_node_count(const struct skiplist_node *node) {
    return (unsigned)(node->links[0].span & SKIPLIST_SPAN_MASK);
}

static inline unsigned skiplist_node_height(const struct skiplist_node *node) {
    return (unsigned)(node->links[0].span >> SKIPLIST_HEIGHT_SHIFT);
}

static inline size_t skiplist_node_size(const struct skiplist_node *node) {
    return (size_t)node->size16 * 16;
}

static inline uint8_t *skiplist_node__tags(const struct skiplist_node *node) {
    return (uint8_t *)(uintptr_t)&node->links[skiplist_node_height(node) + 1];
}

static inline uint8_t *skiplist_node__offsets(const struct skiplist_node *node) {
    return skiplist_node__tags(node) + skiplist_node_count(node);
}

static inline uint8_t *skiplist_node__scores(const struct skiplist_node *node) {
    return skiplist_node__tags(node) + (size_t)skiplist_node_count(node) * 3;
}

/* A score as it is packed. The eight bytes that end with it are read: other arrays stand
 * before. */
static inline uint64_t skiplist_node__delta(const uint8_t *scores, unsigned width, unsigned slot) {
    uint64_t word;
    memcpy(&word, scores + (slot + 1) * width - sizeof(word), sizeof(word));
    unsigned half = 32 - 4 * width;
    return word >> half >> half;
}

static inline uint64_t skiplist_node_key(const struct skiplist_node *node, unsigned slot) {
    CHECKED_ASSERT(slot < skiplist_node_count(node));
    uint64_t delta = skiplist_node__delta(skiplist_node__scores(node), node->width, slot);
    return node->base + (delta << node->shift);
}

/* The member at `slot` (< count), a view into the node; its score. O(1). */
struct slice skiplist_node_member(const struct skiplist_node *node, unsigned slot);
double skiplist_node_score(const struct skiplist_node *node, unsigned slot);

/* The `count` members from `slot` on, or, unless `forward`, those before it that end with it, in
 * that order. O(count). */
void skiplist_node_members(const struct skiplist_node *node, unsigned slot, unsigned count,
                           bool forward, struct slice *members);

/* Starts loading the member at `slot`. */
void skiplist_node_prefetch_member(const struct skiplist_node *node, unsigned slot);

/* The text of the member if it is stored out of line; otherwise NULL. */
struct skiplist_text *skiplist_node_text(const struct skiplist_node *node, unsigned slot);

/* The first slot whose member is not before (key, member); `*found` tells whether it is equal. With
 * `key` alone: the first one whose key is greater, or, unless `behind`, equal. O(log members). */
unsigned skiplist_node_seek(const struct skiplist_node *node, uint64_t key, struct slice member,
                            bool *found);
unsigned skiplist_node_seek_key(const struct skiplist_node *node, uint64_t key, bool behind);

/* Returns whether the first member is before (key, member), or equal. */
bool skiplist_node_begins_by(const struct skiplist_node *node, uint64_t key, struct slice member);

/* The slot of the member with this hash: true and where. O(members / 16). */
bool skiplist_node_find(const struct skiplist_node *node, struct slice member, uint64_t hash,
                        unsigned *slot);

/* The next slot from `*slot` on whose tag has `bits` where `mask` has ones; false at the end. */
bool skiplist_node_next_tag(const struct skiplist_node *node, uint8_t bits, uint8_t mask,
                            unsigned *slot);

/* --- Changing: all that is needed must fit --- */

/* Fills the record for a member. If it is to be stored out of line (`apart`), as it must be if it
 * is longer than SKIPLIST_INLINE_MAX, its text is copied into a piece of its own. */
void skiplist_record_prepare(struct skiplist_record *record, struct slice member, bool apart,
                             struct pieces *pieces);

/* Bytes of a node with so many members of this width, with records of so many bytes. */
size_t skiplist_node_size_for(unsigned height, unsigned members, unsigned width, size_t records);

/* Bytes of the records of the members [from, to). O(to - from), O(1) for all. */
size_t skiplist_range_records(const struct skiplist_range *range);

/* Returns whether the node's packing can store this key. */
bool skiplist_node_packs(const struct skiplist_node *node, uint64_t key);

/* The tightest packing for the ranges, in order, and, unless NULL, for one key more. A key below
 * all others leaves spare values below: more such keys are expected. */
struct skiplist_packing skiplist_packing_of(const struct skiplist_range *ranges, unsigned count,
                                            const uint64_t *more);

/* A new node with the members of the ranges and room for `more` bytes: an empty tower, which the
 * list fills, and neither number nor epoch. O(members). */
struct skiplist_node *skiplist_node_build(unsigned height, struct skiplist_packing packing,
                                          const struct skiplist_range *ranges, unsigned count,
                                          size_t more);

/* Adds a member at `slot`. All but level 0 of the tower is left to the list. O(node). */
void skiplist_node_insert(struct skiplist_node *node, unsigned slot, uint64_t key, uint8_t tag,
                          const struct skiplist_record *record);

/* Removes the member at `slot`; a text that is stored out of line is not freed. O(node). */
void skiplist_node_delete(struct skiplist_node *node, unsigned slot);

/* Gives the member at `slot` another score, which keeps its place and can be packed. O(1). */
void skiplist_node_set_key(struct skiplist_node *node, unsigned slot, uint64_t key);

/* Leads the visitor through the node and, if the list `has_texts`, those of its members that are
 * stored out of line. Returns where the node is then. O(1), or O(members). */
struct skiplist_node *skiplist_node_pieces(struct skiplist_node *node, bool has_texts,
                                           const struct piece_visitor *visitor);

/* Gives a node that was built from another list's its own copies of the members that are stored out
 * of line, and returns how many there are. O(members). */
size_t skiplist_node_own_texts(struct skiplist_node *node, struct pieces *pieces);

size_t skiplist_text_size(const struct skiplist_text *text);

/* The executable invariant of a node by itself. O(node). */
bool skiplist_node_check(const struct skiplist_node *node);

#endif
