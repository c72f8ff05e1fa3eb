/* Appends "abc" 200 times to an empty string, a million times, and prints nanoseconds per append.
 *
 *      make benchmarks
 *      build/release/utils/bench/sds_append [strings [text]] */
#include "base/text/number.h"
#include "base/text/sds.h"

#include <stdio.h>
#include <time.h>

static double now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

int main(int argc, char **argv) {
    enum { APPENDS = 200 };
    int64_t strings = 1000000;
    if (argc > 1 && !number_parse_int64(slice_of_cstr(argv[1]), &strings)) return 1;
    /* From the command line, so that the compiler does not know the length. */
    struct slice text = slice_of_cstr(argc > 2 ? argv[2] : "abc");
    size_t total = 0;
    double start = now_ns();
    for (int64_t i = 0; i < strings; i++) {
        sds s = sds_new(slice_make(NULL, 0));
        for (int n = 0; n < APPENDS; n++) s = sds_append(s, text);
        total += sds_len(s);
        sds_free(s);
    }
    double ns = now_ns() - start;
    printf("%.2f ns per append (%zu bytes appended in %.3f s)\n", ns / (double)strings / APPENDS,
           total, ns / 1e9);
    return 0;
}
