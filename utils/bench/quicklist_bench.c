/* quicklist_bench: what the quicklist's operations cost, per operation or per element,
 * single-threaded, median of several runs. Pushes and pops at either end, a queue, the middle of
 * ever longer lists, searching for an absent value, reading, and inserting at random.
 *
 *      make benchmarks
 *      build/release/utils/bench/quicklist_bench */
#include "base/clock.h"
#include "base/hash/random.h"
#include "base/text/number.h"
#include "ds/lists/quicklist.h"
#include "median.h"

#include <stdio.h>
#include <stdlib.h>

enum { RUNS = 5, PUSHES = 1000000 };

static double elapsed_ns(uint64_t since) {
    return (double)clock_ticks_to_us(clock_ticks() - since) * 1000;
}

/* Small integers, or texts of `len` bytes that begin with the number. */
static struct listpack_element element_of(char *text, int64_t number, size_t len) {
    struct listpack_element element;
    size_t digits = number_format_int64(text, number);
    if (len > digits) memset(text + digits, 'x', len - digits);
    listpack_prepare(&element, slice_make(text, len > digits ? len : digits));
    return element;
}

static struct quicklist *build(size_t count, size_t len, int16_t fill, uint16_t depth) {
    char text[4096];
    struct quicklist *list =
        quicklist_new((struct quicklist_limits){.fill = fill, .compress_depth = depth});
    for (size_t i = 0; i < count; i++) {
        struct listpack_element element = element_of(text, (int64_t)i, len);
        quicklist_push(list, LIST_TAIL, &element);
    }
    return list;
}

static void bench_ends(size_t len, int16_t fill, uint16_t depth, size_t count) {
    char text[4096];
    double push[RUNS], pop[RUNS], queue[RUNS];
    struct listpack_element element = element_of(text, 12345, len);
    for (int run = 0; run < RUNS; run++) {
        struct quicklist *list =
            quicklist_new((struct quicklist_limits){.fill = fill, .compress_depth = depth});
        uint64_t since = clock_ticks();
        for (size_t i = 0; i < count; i++) quicklist_push(list, LIST_HEAD, &element);
        push[run] = elapsed_ns(since) / (double)count;
        since = clock_ticks();
        for (size_t i = 0; i < count; i++) quicklist_drop(list, LIST_HEAD, 1);
        pop[run] = elapsed_ns(since) / (double)count;
        for (int i = 0; i < 100; i++) quicklist_push(list, LIST_HEAD, &element);
        since = clock_ticks();
        for (size_t i = 0; i < count; i++) {
            quicklist_push(list, LIST_HEAD, &element);
            quicklist_drop(list, LIST_TAIL, 1);
        }
        queue[run] = elapsed_ns(since) / (double)count;
        quicklist_free(list);
    }
    printf(
        "ends    %5zu B, fill %3d, depth %d: push %6.1f ns, pop %6.1f ns, queue of 100 %6.1f ns\n",
        len, fill, depth, median(push, RUNS), median(pop, RUNS), median(queue, RUNS));
}

static void bench_middle(size_t count, size_t len, uint16_t depth) {
    enum { LOOKUPS = 20000 };
    double at_middle[RUNS], anywhere[RUNS];
    struct quicklist *list = build(count, len, -2, depth);
    struct random random;
    random_seed(&random, 1);
    size_t sum = 0;
    for (int run = 0; run < RUNS * 2; run++) {
        bool middle = run < RUNS;
        uint64_t since = clock_ticks();
        for (int i = 0; i < LOOKUPS; i++) {
            uint64_t index = middle ? count / 2 - (uint64_t)i % 64 : random_below(&random, count);
            struct quicklist_iter iter;
            quicklist_iter_start(&iter, list, index, LIST_FORWARD);
            sum += *quicklist_iter_next(&iter);
            quicklist_iter_end(&iter);
        }
        (middle ? at_middle : anywhere)[run % RUNS] = elapsed_ns(since) / LOOKUPS;
    }
    printf("index   %8zu × %2zu B, depth %d: middle %6.0f ns, anywhere %6.0f ns%s\n", count, len,
           depth, median(at_middle, RUNS), median(anywhere, RUNS), sum == 0 ? "?" : "");
    quicklist_free(list);
}

static void bench_scan(size_t count, size_t len, uint16_t depth) {
    char text[64];
    double find[RUNS], remove[RUNS], backward[RUNS];
    struct quicklist *list = build(count, len, -2, depth);
    struct listpack_element absent = element_of(text, -77, len);
    uint64_t index;
    for (int run = 0; run < RUNS; run++) {
        struct quicklist_iter iter;
        for (int back = 0; back <= 1; back++) {
            uint64_t since = clock_ticks();
            quicklist_iter_start(&iter, list, back ? count - 1 : 0,
                                 back ? LIST_BACKWARD : LIST_FORWARD);
            if (quicklist_iter_find(&iter, &absent, UINT64_MAX, &index)) abort();
            quicklist_iter_end(&iter);
            (back ? backward : find)[run] = elapsed_ns(since) / (double)count;
        }
        uint64_t since = clock_ticks();
        if (quicklist_remove_matching(list, &absent, UINT64_MAX, LIST_FORWARD) != 0) abort();
        remove[run] = elapsed_ns(since) / (double)count;
    }
    printf("absent  %8zu × %2zu B, depth %d: find %5.2f ns, from the end %5.2f ns, remove %5.2f ns "
           "an element; %.2f bytes an element\n",
           count, len, depth, median(find, RUNS), median(backward, RUNS), median(remove, RUNS),
           (double)quicklist_allocated(list) / (double)count);
    quicklist_free(list);
}

static void bench_insert(size_t count, size_t len) {
    char text[64];
    struct quicklist *list = build(count, len, -2, 0);
    struct random random;
    random_seed(&random, 2);
    double insert[RUNS], replace[RUNS];
    for (int run = 0; run < RUNS; run++) {
        uint64_t since = clock_ticks();
        for (int i = 0; i < 20000; i++) {
            struct listpack_element element = element_of(text, i, len);
            quicklist_insert(list, random_below(&random, count), false, &element);
        }
        insert[run] = elapsed_ns(since) / 20000;
        since = clock_ticks();
        for (int i = 0; i < 20000; i++) {
            struct listpack_element element = element_of(text, i, len);
            quicklist_replace(list, random_below(&random, count), &element);
        }
        replace[run] = elapsed_ns(since) / 20000;
    }
    printf("write   %8zu × %2zu B: insert anywhere %6.0f ns, replace anywhere %6.0f ns\n", count,
           len, median(insert, RUNS), median(replace, RUNS));
    quicklist_free(list);
}

int main(void) {
    clock_init();
    bench_ends(6, -2, 0, PUSHES);
    bench_ends(40, -2, 0, PUSHES);
    bench_ends(1000, -2, 0, PUSHES / 4);
    bench_ends(6, 1, 0, PUSHES / 4);
    bench_ends(40, -2, 1, PUSHES / 4);
    for (size_t count = 1000; count <= 10000000; count *= 10) bench_middle(count, 6, 0);
    for (size_t count = 1000; count <= 10000000; count *= 10) bench_middle(count, 40, 0);
    bench_middle(1000000, 40, 1);
    bench_scan(10000000, 6, 0);
    bench_scan(10000000, 40, 0);
    bench_scan(1000000, 40, 1);
    bench_insert(10000, 40);
    bench_insert(1000000, 40);
    return 0;
}
