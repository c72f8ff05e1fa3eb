/* median: of the repeated measurements of a benchmark. */
#ifndef PACKLIST_BENCH_MEDIAN_H
#define PACKLIST_BENCH_MEDIAN_H

#include <stdlib.h>

static inline int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts the values; `count` > 0. */
static inline double median(double *values, size_t count) {
    qsort(values, count, sizeof(*values), compare_doubles);
    return values[count / 2];
}

#endif
