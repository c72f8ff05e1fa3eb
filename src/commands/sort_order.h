/* sort_order: putting items in SORT's order. Knows no command and no key, so that it can be tested
 * alone. */
#ifndef PACKLIST_COMMANDS_SORT_ORDER_H
#define PACKLIST_COMMANDS_SORT_ORDER_H

#include "base/slice.h"

#include <stdbool.h>
#include <stddef.h>

struct sort_item {
    struct slice text;   /* the element */
    struct slice weight; /* ALPHA: what it is compared by; `ptr` is NULL where there is none */
    double score;        /* else: what it is compared by; never a NaN */
};

enum sort_order {
    SORT_BY_SCORE, /* equal scores by the texts, byte for byte */
    SORT_BY_WEIGHT /* byte for byte; those without a weight first */
};

/* Puts the items in order, descending if so wanted, as far as the first `wanted` of them go: the
 * others are lost. Stable in either direction: items that compare equal stay as they were. O(count
 * * log(wanted)) and as much memory again as `wanted` items take. */
void sort_items(struct sort_item *items, size_t count, size_t wanted, enum sort_order order,
                bool descending);

#endif
