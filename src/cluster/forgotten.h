/* forgotten: nodes that CLUSTER FORGET has removed. Others still speak of them, so for a while they
 * must not be added again. */
#ifndef PACKLIST_CLUSTER_FORGOTTEN_H
#define PACKLIST_CLUSTER_FORGOTTEN_H

#include "base/slice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct forgotten_node; /* in forgotten.c */

/* All zero: none. Freed with forgotten_clear. */
struct forgotten {
    struct forgotten_node *nodes;
    size_t count;
    size_t capacity;
};

/* Notes the node of this name (CLUSTER_ID_LEN bytes) for so many seconds. Times are of the
 * monotonic clock. O(forgotten nodes), as the next one. */
void forgotten_add(struct forgotten *forgotten, const char *id, int64_t steady_ms, int64_t seconds);

/* Returns whether the node of this name was forgotten lately. */
bool forgotten_has(struct forgotten *forgotten, struct slice id, int64_t steady_ms);

void forgotten_clear(struct forgotten *forgotten);

#endif
