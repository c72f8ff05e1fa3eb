#include "commands/lists/list_common.h"

uint64_t list_search_steps(const struct entry *entry, uint64_t elements) {
    enum { ELEMENTS_PER_STEP = 16, BYTES_PER_STEP = 512, COMPRESSED_BYTES_PER_STEP = 128 };
    const struct quicklist *list = list_quicklist(entry);
    bool is_compressed = quicklist_limits_of(list).compress_depth > 0;
    size_t bytes = quicklist_serialized_size(list) /
                   (is_compressed ? COMPRESSED_BYTES_PER_STEP : BYTES_PER_STEP);
    double part = (double)elements / (double)quicklist_count(list);
    return elements / ELEMENTS_PER_STEP + (uint64_t)(part * (double)bytes);
}
