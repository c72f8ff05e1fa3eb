/* pieces: the memory of a structure for large values.
 *
 * It consists of pieces. A piece is an allocation, which is changed, freed, moved or left to
 * captures (ds/capture.h) as a whole. A structure says what its pieces are and which of them point
 * to others; what they have in common is here:
 *
 *      struct pieces     the captures, the epoch, how many pieces there are, and their bytes
 *
 * Copy on write. Each capture begins an epoch, and reads the pieces that were made before it. Every
 * piece that a capture may read has the epoch in which it was made: in the piece, or in what points
 * to it. Before the structure changes a piece that is read (pieces_is_read), it replaces the piece
 * by a copy, which is of the present epoch, and drops it: captures that read it get it. While there
 * is no capture, epochs mean nothing.
 *
 * A new structure writes
 *      x__pieces(x, visitor)                   leads the visitor through the pieces: x_copy and
 *                                              x_allocated follow from that
 *      x_free(x)                               first asks captures_adopt, then drops them
 *      x_relocate(x, relocator, cursor)        moves them in steps (base/memory/relocate.h);
 *                                              returns where x is then
 *      x_capture_begin(x, left), x_captured    capture_begin, after pieces_are_used_up is asked
 *      x_check(x)                              the invariant
 * and the type that has such values puts them into its row (types/type_operations.h). An example
 * is recordtable: recordtable_block.c, recordtable.c, and recordtable_read.c for captures. */
#ifndef PACKLIST_DS_PIECES_H
#define PACKLIST_DS_PIECES_H

#include "base/memory/alloc.h"
#include "ds/capture.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct relocator; /* base/memory/relocate.h */

/* A field of the structure, or of the value that consists of several; begins with epoch 1. */
struct pieces {
    struct captures captures;
    size_t bytes; /* of all pieces, by size class */
    size_t allocations;
};

/* Epochs of pieces that have none: of one that all captures read, and of one that none reads. */
#define PIECES_READ   0u
#define PIECES_UNREAD UINT32_MAX

static inline struct pieces pieces_begin(void) {
    return (struct pieces){.captures = {.epoch = 1}};
}

/* For a copy of the structure, whose pieces are going to keep their epochs; it has none yet. */
static inline struct pieces pieces_begin_copy(const struct pieces *pieces) {
    return (struct pieces){.captures = {.epoch = pieces->captures.epoch}};
}

/* The epoch of what is made now. */
static inline uint32_t pieces_epoch(const struct pieces *pieces) {
    return pieces->captures.epoch;
}

/* Returns whether there is a capture that was not released. In any thread (ds/capture.h). O(1). */
static inline bool pieces_are_captured(const struct pieces *pieces) {
    return __atomic_load_n(&pieces->captures.newest, __ATOMIC_ACQUIRE) != NULL;
}

/* Returns whether a capture reads a piece of this epoch. O(1). */
static inline bool pieces_is_read(const struct pieces *pieces, uint32_t epoch) {
    return epoch < pieces->captures.read_below;
}

/* Counts a piece that was allocated: `size` bytes, a mem_good_size. O(1). */
static inline void pieces_count(struct pieces *pieces, size_t size) {
    pieces->bytes += size;
    pieces->allocations++;
}

/* A new piece, counted: `size` bytes, a mem_good_size, not initialised, or all zero. O(1), and
 * O(size). */
static inline void *pieces_alloc(struct pieces *pieces, size_t size) {
    pieces_count(pieces, size);
    return mem_alloc(size);
}
static inline void *pieces_alloc_zeroed(struct pieces *pieces, size_t size) {
    pieces_count(pieces, size);
    return mem_alloc_zeroed(size);
}

/* Resizes a piece that no capture reads to `size`, a mem_good_size. Returns its address, which may
 * be a new one. `piece` NULL, with old_size 0, makes a new piece. O(size). */
static inline void *pieces_resize(struct pieces *pieces, void *piece, size_t old_size,
                                  size_t size) {
    pieces->bytes += size - old_size;
    pieces->allocations += old_size == 0;
    return mem_resize(piece, old_size, size);
}

/* Leaves memory that was made in `epoch` to the captures that read it; frees it if none does. For
 * memory that is counted elsewhere. O(1), O(captures). */
static inline void pieces_leave(struct pieces *pieces, uint32_t epoch, void *memory, size_t size) {
    if (__builtin_expect(pieces_is_read(pieces, epoch), 0))
        captures_leave(&pieces->captures, epoch, memory, size);
    else
        mem_free_sized(memory, size);
}

/* The same for a piece of `size` bytes. */
static inline void pieces_drop(struct pieces *pieces, uint32_t epoch, void *piece, size_t size) {
    pieces->bytes -= size;
    pieces->allocations--;
    pieces_leave(pieces, epoch, piece, size);
}

/* --- Visiting --- */

/* What is done with each piece. A structure has a function that leads a visitor through its pieces,
 * or through those of one of its parts: it calls `enter` before it goes on to the pieces to which
 * this one points, refers to the piece from then on by what was returned, and calls `leave` after
 * them. A visitor with more data embeds this struct:
 *
 *      struct piece_dropper dropper = pieces_dropper(&list->pieces);
 *      quicklist__pieces(list, &dropper.visitor); */
struct piece_visitor {
    void *(*enter)(const struct piece_visitor *visitor, void *piece, size_t size);
    /* *epoch is that of the piece, and may be changed; `epoch` is NULL for a piece that has none,
     * because no capture reads it. */
    void (*leave)(const struct piece_visitor *visitor, void *piece, size_t size, uint32_t *epoch);
};

/* An `enter` that does nothing. */
void *piece_enter(const struct piece_visitor *visitor, void *piece, size_t size);

/* For a piece that points to no others. Returns where it is now. */
static inline void *piece_visit(const struct piece_visitor *visitor, void *piece, size_t size,
                                uint32_t *epoch) {
    piece = visitor->enter(visitor, piece, size);
    visitor->leave(visitor, piece, size, epoch);
    return piece;
}

/* Drops the pieces; those without an epoch are read by no capture. */
struct piece_dropper {
    struct piece_visitor visitor;
    struct pieces *pieces;
};
struct piece_dropper pieces_dropper(struct pieces *pieces);

/* Puts copies in the place of the pieces. For a struct that was copied from another byte by byte,
 * whose `pieces` have the other's epoch and nothing else. */
struct piece_copier {
    struct piece_visitor visitor;
    struct pieces *pieces; /* of the copy */
};
struct piece_copier pieces_copier(struct pieces *pieces);

/* Moves pieces to better places. No capture may read them. `leave` may be left out, so that a
 * structure can go through its pieces in steps. */
struct piece_relocator {
    struct piece_visitor visitor;
    struct relocator *relocator; /* base/memory/relocate.h */
};
struct piece_relocator pieces_relocator(struct relocator *relocator);

/* Counts pieces in *totals, which the caller has set to 0; its epoch becomes their latest one. */
struct piece_counter {
    struct piece_visitor visitor;
    struct pieces *totals;
};
struct piece_counter pieces_counter(struct pieces *totals);

/* Returns whether no capture can begin before the pieces are renewed. */
static inline bool pieces_are_used_up(const struct pieces *pieces) {
    return pieces->captures.epoch == CAPTURES_EPOCH_MAX;
}

/* Returns a visitor that gives each piece the least epoch; what is made now is of the first one. No
 * capture may read them. */
const struct piece_visitor *pieces_renew(struct pieces *pieces);

/* Returns whether the structure counts what a visit has counted, and no piece is of the future. */
static inline bool pieces_are_counted(const struct pieces *pieces, const struct pieces *totals) {
    return pieces->bytes == totals->bytes && pieces->allocations == totals->allocations &&
           totals->captures.epoch <= pieces->captures.epoch;
}

#endif
