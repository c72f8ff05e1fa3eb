/* lcs: the longest common subsequence of two texts.
 *
 * Of several solutions it finds the one that backtracking from the ends of both texts gives: where
 * the bytes are equal it steps back in both, else in the text where that loses nothing, and in the
 * second text where neither step loses anything. */
#ifndef PACKLIST_TYPES_LCS_H
#define PACKLIST_TYPES_LCS_H

#include "base/slice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Length of the longest common subsequence. O(a × b / 64) time, O(b) memory. */
size_t lcs_length(struct slice a, struct slice b);

/* The state of backtracking: one bit for each pair of bytes. */
struct lcs {
    struct slice a, b;
    uint64_t *rows;
    size_t words; /* of a row */
    size_t length;
    size_t at_a, at_b; /* the lengths still to be searched */
};

/* Prepares backtracking; false when the memory can't be had. The texts must stay. Freed by lcs_end.
 * O(a × b / 64) time, O(a × b) bits of memory. */
bool lcs_begin(struct lcs *lcs, struct slice a, struct slice b);
void lcs_end(struct lcs *lcs);

/* The next run of bytes that both texts have without a gap, from the last run to the first: its
 * start in either text, and its length. False when there is none. O(steps taken). */
struct lcs_match {
    size_t a, b, length;
};
bool lcs_next(struct lcs *lcs, struct lcs_match *match);

#endif
