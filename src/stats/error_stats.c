#include "stats/error_stats.h"

/* Returns the code of an error, cut to the size that fits. */
static struct slice code_of(struct slice text) {
    size_t len = 0;
    while (len < text.len && len < ERROR_CODE_SIZE - 1 && text.ptr[len] > ' ') len++;
    return slice_make(text.ptr, len);
}

void error_stats_count(struct error_stats *stats, struct slice text) {
    struct slice code = code_of(text);
    for (unsigned i = 0; i < stats->count; i++) {
        if (!slice_equal(slice_of_cstr(stats->codes[i].name), code)) continue;
        stats->codes[i].count++;
        return;
    }
    if (stats->count == ERROR_CODES_MAX) return;
    struct error_code *added = &stats->codes[stats->count++];
    memcpy(added->name, code.ptr, code.len);
    added->name[code.len] = 0;
    added->count = 1;
}
