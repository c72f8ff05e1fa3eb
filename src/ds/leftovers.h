/* leftovers: memory that a structure no longer uses, but that a capture of it may still read.
 *
 * A structure shares memory with its capture (ds/README.md, "Captures"). Where it would free shared
 * memory, it leaves it here. The memory is freed with the capture. */
#ifndef PACKLIST_DS_LEFTOVERS_H
#define PACKLIST_DS_LEFTOVERS_H

#include <stddef.h>

struct leftovers_block;

struct leftovers {
    size_t bytes;         /* of all that was left, and of the blocks that record it */
    size_t *bytes_of_all; /* the caller's sum over several captures, changed likewise; or NULL */
    struct leftovers_block *blocks;
};

/* Leaves memory, and counts its `size` bytes, a mem_good_size. O(1). */
void leftovers_add(struct leftovers *left, void *memory, size_t size);

/* Counts bytes of memory that the capture frees itself. O(1). */
void leftovers_count(struct leftovers *left, size_t bytes);

/* How many pieces of memory were left. O(what was left). */
size_t leftovers_pieces(const struct leftovers *left);

/* Frees what was left; does not count it. In any thread. O(what was left). */
void leftovers_free(struct leftovers *left);

#endif
