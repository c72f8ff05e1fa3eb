/* sort_order: puts items in the order of SORT and of the commands that search places. It knows no
 * command and no key, so that it can be tested alone. */
#ifndef PACKLIST_COMMANDS_SORT_ORDER_H
#define PACKLIST_COMMANDS_SORT_ORDER_H

#include "base/slice.h"

#include <stdbool.h>
#include <stddef.h>

struct sort_item {
    struct slice text; /* the element */
    union {
        struct slice weight; /* with ALPHA: what is compared; `ptr` is NULL where there is none */
        double carried;      /* a number of the caller's, in orders that do not compare weights */
    };
    double score; /* otherwise: the number that is compared; never a NaN */
};

enum sort_order {
    SORT_BY_SCORE,
    SORT_BY_SCORE_AND_TEXT, /* equal scores by their texts, byte for byte */
    SORT_BY_WEIGHT,         /* byte for byte; those without a weight first */
    SORT_BY_WEIGHT_AND_TEXT /* the same, and equal weights by their texts */
};

/* Sorts the items, in descending order if `descending`, but only finds the first `wanted` of them:
 * the others are lost. Stable in either direction: items that compare equal keep their order.
 * O(count * log(wanted)), and as much additional memory as `wanted` items take. */
void sort_items(struct sort_item *items, size_t count, size_t wanted, enum sort_order order,
                bool descending);

#endif
