/* fenwick: an array of counts that knows their sums: how many there are before a number, and to
 * which number the n-th of all belongs.
 *
 *      number        0   1   2   3   4   5   6   7
 *      tree[0…7]     ├─┤     ├─┤     ├─┤     ├─┤          each element is the sum of the counts
 *                    ├────┤          ├────┤               under its line: tree[7] is that of all
 *                    ├────────────┤
 *                    ├────────────────────────────┤
 *
 * The owner provides the array: `size` elements, a power of two, all zero at first. Source: P.
 * Fenwick, "A new data structure for cumulative frequency tables", 1994. */
#ifndef PACKLIST_DS_FENWICK_H
#define PACKLIST_DS_FENWICK_H

#include <stddef.h>
#include <stdint.h>

/* Adds to the count of a number; to subtract, `more` is the negative, modulo 2^64. O(log size). */
static inline void fenwick_add(uint64_t *tree, size_t size, size_t number, uint64_t more) {
    for (size_t i = number + 1; i <= size; i += i & -i) tree[i - 1] += more;
}

/* The sum of all counts. O(1). */
static inline uint64_t fenwick_sum(const uint64_t *tree, size_t size) {
    return tree[size - 1];
}

/* The sum of the counts of lower numbers. O(log size). */
static inline uint64_t fenwick_before(const uint64_t *tree, size_t number) {
    uint64_t sum = 0;
    for (size_t i = number; i > 0; i &= i - 1) sum += tree[i - 1];
    return sum;
}

/* The number to which what has `rank`, less than the sum, belongs: the last one that has no more
 * than `rank` before it. Its count is not 0. O(log size). */
static inline size_t fenwick_find(const uint64_t *tree, size_t size, uint64_t rank) {
    size_t number = 0;
    for (size_t half = size / 2; half > 0; half /= 2) {
        if (tree[number + half - 1] > rank) continue;
        rank -= tree[number + half - 1];
        number += half;
    }
    return number;
}

#endif
