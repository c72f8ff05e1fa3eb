/* pieces: the memory of a structure for large values.
 *
 * It consists of pieces: allocations, each of which is changed, freed, moved and left to a capture
 * (ds/capture.h) as a whole. A structure says what its pieces are and which of them point to
 * others; what they have in common is here:
 *
 *      struct pieces     the epoch, the capture, how many pieces there are, and their bytes
 *
 * Copy on write. Each capture begins an epoch, and reads the pieces that were made before it.
 * There are two ways for the structure to know which these are:
 *   - The piece, or what points to it, has the epoch in which it was made.
 *   - Where pieces are too many for that, one piece with an epoch is a table of pointers to others.
 *     Before a table that is older than the epoch changes, it is replaced by a copy in which all
 *     pointers have the bit PIECES_SHARED.
 * The structure replaces a piece that is read by a copy before it changes it. What is replaced or
 * dropped is left to the capture. While there is no capture, epochs and the bit mean nothing. */
#ifndef PACKLIST_DS_PIECES_H
#define PACKLIST_DS_PIECES_H

#include "base/alloc.h"
#include "ds/capture.h"

#include <stddef.h>
#include <stdint.h>

/* A field of the structure, or of the value that consists of several; begins with epoch 1. */
struct pieces {
    uint64_t epoch;          /* of what is made now */
    struct capture *capture; /* the one that was not released, or NULL */
    size_t bytes;            /* of all pieces, by size class */
    size_t allocations;
};

enum { PIECES_SHARED = 1 }; /* in a pointer to a piece */

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
    return capture_reading(pieces->capture, epoch, pieces->epoch);
}

/* Frees a piece, or leaves it to `reader`, unless that is NULL. O(1). */
static inline void pieces_drop(struct pieces *pieces, struct capture *reader, void *piece,
                               size_t size) {
    pieces->bytes -= size;
    pieces->allocations--;
    capture_drop(reader, piece, size);
}

#endif
