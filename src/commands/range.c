#include "commands/range.h"

void range_clamp(int64_t start, int64_t stop, uint64_t length, uint64_t *from, uint64_t *count) {
    int64_t signed_length = (int64_t)length;
    if (start < 0) start += signed_length;
    if (stop < 0) stop += signed_length;
    if (start < 0) start = 0;
    if (stop >= signed_length) stop = signed_length - 1;
    *from = start <= stop ? (uint64_t)start : 0;
    *count = start <= stop ? (uint64_t)(stop - start) + 1 : 0;
}
