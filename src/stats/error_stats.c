#include "stats/error_stats.h"

/* Returns the code of an error reply, cut to the size that fits. */
static struct slice code_of(struct slice reply) {
    size_t len = 1;
    while (len < reply.len && len < ERROR_CODE_SIZE && reply.ptr[len] > ' ') len++;
    return slice_make(reply.ptr + 1, len - 1);
}

void error_stats_count(struct error_stats *stats, struct slice reply) {
    struct slice code = code_of(reply);
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
