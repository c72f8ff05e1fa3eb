/* lcs: the longest common subsequence of two texts.
 *
 * Of all solutions the one is told that is found from the ends of both texts backwards: where their
 * bytes are the same both steps are taken, else the one that loses nothing, and that in the second
 * text where both do. */
#ifndef PACKLIST_TYPES_LCS_H
#define PACKLIST_TYPES_LCS_H

#include "base/slice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Length of the longest common subsequence. O(a × b / 64) time, O(b) memory. */
size_t lcs_length(struct slice a, struct slice b);

/* What is needed to walk over the subsequence: one bit for each pair of bytes. */
struct lcs {
    struct slice a, b;
    uint64_t *rows;
    size_t words; /* of a row */
    size_t length;
    size_t at_a, at_b; /* what of the texts is still in front of the walk */
};

/* Prepares the walk; false when the memory can't be had. The texts must stay. Freed with lcs_end.
 * O(a × b / 64) time, O(a × b) bits of memory. */
bool lcs_begin(struct lcs *lcs, struct slice a, struct slice b);
void lcs_end(struct lcs *lcs);

/* The next stretch of bytes that stand in both texts without a gap, from the last one to the first:
 * where it begins in either, and its length. False when there is none. O(steps taken). */
struct lcs_match {
    size_t a, b, length;
};
bool lcs_next(struct lcs *lcs, struct lcs_match *match);

#endif
