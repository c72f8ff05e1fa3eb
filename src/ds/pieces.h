/* pieces: the memory of a structure for large values.
 *
 * It consists of pieces. A piece is an allocation, which is changed, freed, moved or left to a
 * capture (ds/capture.h) as a whole. A structure says what its pieces are and which of them point
 * to others; what they have in common is here:
 *
 *      struct pieces     the epoch, the capture, how many pieces there are, and their bytes
 *
 * Copy on write. Each capture begins an epoch, and reads the pieces that were made before it.
 * There are three ways for the structure to know which these are:
 *   - The piece, or what points to it, has the epoch in which it was made.
 *   - Where pieces are too many for that, one piece with an epoch is a table of pointers to others.
 *     Before a table that is older than the epoch changes, it is replaced by a copy in which all
 *     pointers have the bit PIECES_SHARED.
 *   - What points to the root of a tree has a flag, which stands for all below. Before a piece with
 *     the flag changes, it is replaced by a copy in which all pointers have the flag.
 * The structure replaces a piece that is read by a copy before it changes it. What is replaced or
 * dropped is left to the capture. While there is no capture, epochs, bits and flags mean nothing.
 *
 * A new structure writes x__pieces, which leads a visitor through its pieces: x_free, x_copy and
 * x_allocated follow from that. x_relocate moves them (base/memory/relocate.h); x_capture_begin,
 * x_is_captured and x_captured are for captures (ds/capture.h); x_check is the invariant. The type
 * that has such values puts these into its row (types/type_operations.h). An example is
 * quicklist__pieces in ds/lists/quicklist_place.c. */
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
    uint64_t epoch;          /* of what is made now */
    struct capture *capture; /* the one that was not released, or NULL */
    size_t bytes;            /* of all pieces, by size class */
    size_t allocations;
};

enum { PIECES_SHARED = 1 }; /* in a pointer to a piece */

/* Epochs of pieces that have none: of one that the capture reads if there is one, and of one that
 * no capture reads. */
#define PIECES_READ   0
#define PIECES_UNREAD UINT64_MAX

static inline struct pieces pieces_begin(void) {
    return (struct pieces){.epoch = 1};
}

/* Counts a piece that was allocated: `size` bytes, a mem_good_size. O(1). */
static inline void pieces_count(struct pieces *pieces, size_t size) {
    pieces->bytes += size;
    pieces->allocations++;
}

/* The capture that reads a piece of this epoch, or NULL. O(1). */
static inline struct capture *pieces_reader(const struct pieces *pieces, uint64_t epoch) {
    return pieces->capture && epoch < pieces->epoch ? pieces->capture : NULL;
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

/* Leaves a piece to `reader`; frees it if that is NULL. O(1). */
static inline void pieces_drop(struct pieces *pieces, struct capture *reader, void *piece,
                               size_t size) {
    pieces->bytes -= size;
    pieces->allocations--;
    capture_drop(reader, piece, size);
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
    /* `epoch` is that of the piece; PIECES_READ or PIECES_UNREAD where it has none. */
    void (*leave)(const struct piece_visitor *visitor, void *piece, size_t size, uint64_t epoch);
};

/* An `enter` that does nothing. */
void *piece_enter(const struct piece_visitor *visitor, void *piece, size_t size);

/* For a piece that points to no others. Returns where it is now. */
static inline void *piece_visit(const struct piece_visitor *visitor, void *piece, size_t size,
                                uint64_t epoch) {
    piece = visitor->enter(visitor, piece, size);
    visitor->leave(visitor, piece, size, epoch);
    return piece;
}

/* Drops the pieces. */
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

/* Counts pieces in *totals, which the caller has set to 0. */
struct piece_counter {
    struct piece_visitor visitor;
    struct pieces *totals;
};
struct piece_counter pieces_counter(struct pieces *totals);

/* Returns whether the structure counts what a visit has counted. */
static inline bool pieces_are_counted(const struct pieces *pieces, const struct pieces *totals) {
    return pieces->bytes == totals->bytes && pieces->allocations == totals->allocations;
}

#endif
