/* A merge sort, because it is stable. When only the first items are wanted, the best so far are
 * kept at the front. Items that could be among them are collected after these and merged in, a
 * block at a time:
 *
 *      | best, in order, at most `wanted` | collected, at most a block | free | to compare |
 *      0                                  kept                         end    at         count
 */
#include "commands/sort_order.h"

#include "base/memory/alloc.h"

enum {
    INSERTION_MAX = 8, /* fewer items are sorted by insertion */
#ifdef TINY_LIMITS
    BLOCK_MIN = 4
#else
    BLOCK_MIN = 256
#endif
};

struct sorter {
    struct sort_item *scratch; /* space for half of the items that are sorted or merged at once */
    enum sort_order order;
    bool descending;
};

/* --- Comparing --- */

static int compare_weights(struct slice a, struct slice b) {
    if (a.ptr && b.ptr) return slice_compare(a, b);
    return (a.ptr != NULL) - (b.ptr != NULL);
}

/* Returns whether `b`, which is after `a` now, must be before it. */
static inline bool is_wrong(const struct sorter *sorter, const struct sort_item *a,
                            const struct sort_item *b) {
    int result;
    if (sorter->order <= SORT_BY_SCORE_AND_TEXT)
        result = (a->score > b->score) - (a->score < b->score);
    else
        result = compare_weights(a->weight, b->weight);
    if (result == 0 &&
        (sorter->order == SORT_BY_SCORE_AND_TEXT || sorter->order == SORT_BY_WEIGHT_AND_TEXT))
        result = slice_compare(a->text, b->text);
    return sorter->descending ? result < 0 : result > 0;
}

/* --- Sorting --- */

static void sort_by_insertion(const struct sorter *sorter, struct sort_item *items, size_t count) {
    for (size_t i = 1; i < count; i++) {
        struct sort_item item = items[i];
        size_t at = i;
        for (; at > 0 && is_wrong(sorter, &items[at - 1], &item); at--) items[at] = items[at - 1];
        items[at] = item;
    }
}

/* Merges items[0, middle) and items[middle, count), each of which is sorted. */
static void merge(const struct sorter *sorter, struct sort_item *items, size_t middle,
                  size_t count) {
    if (middle == 0 || middle == count) return;
    if (!is_wrong(sorter, &items[middle - 1], &items[middle])) return;
    struct sort_item *left = sorter->scratch, *left_end = left + middle;
    struct sort_item *right = items + middle, *right_end = items + count;
    memcpy(left, items, middle * sizeof(*items));
    while (left < left_end && right < right_end)
        *items++ = is_wrong(sorter, left, right) ? *right++ : *left++;
    memcpy(items, left, (size_t)(left_end - left) * sizeof(*items));
}

static void sort_all(const struct sorter *sorter, struct sort_item *items, size_t count) {
    if (count <= INSERTION_MAX) {
        sort_by_insertion(sorter, items, count);
        return;
    }
    size_t middle = count / 2;
    sort_all(sorter, items, middle);
    sort_all(sorter, items + middle, count - middle);
    merge(sorter, items, middle, count);
}

/* Merges the `collected` items with the best ones before them. Returns the new number of best
 * ones. */
static size_t merge_block(const struct sorter *sorter, struct sort_item *items, size_t kept,
                          size_t collected, size_t wanted) {
    sort_all(sorter, items + kept, collected);
    merge(sorter, items, kept, kept + collected);
    return kept + collected < wanted ? kept + collected : wanted;
}

static void sort_first(const struct sorter *sorter, struct sort_item *items, size_t count,
                       size_t wanted, size_t block) {
    size_t kept = 0, end = 0;
    for (size_t at = 0; at < count; at++) {
        if (kept == wanted && !is_wrong(sorter, &items[kept - 1], &items[at])) continue;
        items[end++] = items[at];
        if (end - kept < block) continue;
        end = kept = merge_block(sorter, items, kept, end - kept, wanted);
    }
    merge_block(sorter, items, kept, end - kept, wanted);
}

void sort_items(struct sort_item *items, size_t count, size_t wanted, enum sort_order order,
                bool descending) {
    struct sorter sorter = {.order = order, .descending = descending};
    size_t block = wanted > BLOCK_MIN ? wanted : BLOCK_MIN;
    if (wanted == 0 || count == 0) return;
    bool all = block >= count / 2;
    sorter.scratch = mem_alloc((all ? count / 2 + 1 : block) * sizeof(*items));
    if (all)
        sort_all(&sorter, items, count);
    else
        sort_first(&sorter, items, count, wanted, block);
    mem_free(sorter.scratch);
}
