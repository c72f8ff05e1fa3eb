#include "stats/stats.h"

#include "base/alloc.h"
#include "table/command.h"

#include <string.h>

/* --- Errors --- */

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

/* --- All counters --- */

struct tick_histogram *stats_first_histogram(struct command_stats *stats) {
    return stats->latency = mem_alloc_zeroed(sizeof(*stats->latency));
}

static size_t free_histograms(struct command_stats *by_command) {
    size_t commands;
    command_all(&commands);
    for (size_t i = 0; i < commands; i++) mem_free(by_command[i].latency);
    return commands;
}

void stats_free(struct stats *stats) {
    free_histograms(stats->by_command);
    mem_free(stats->by_command);
}

void stats_reset(struct stats *stats) {
    struct command_stats *by_command = stats->by_command;
    size_t commands = free_histograms(by_command);
    memset(by_command, 0, commands * sizeof(*by_command));
    *stats = (struct stats){.by_command = by_command};
}

void rate_sample(struct rate *rate, uint64_t value, int64_t now_ms) {
    int64_t elapsed = now_ms - rate->last_ms;
    if (elapsed <= 0) return;
    uint64_t grown = value > rate->last_value ? value - rate->last_value : 0;
    rate->samples[rate->next] = grown * 1000 / (uint64_t)elapsed;
    rate->next = (rate->next + 1) % STATS_SAMPLES;
    rate->last_value = value;
    rate->last_ms = now_ms;
}

uint64_t rate_per_second(const struct rate *rate) {
    uint64_t sum = 0;
    for (int i = 0; i < STATS_SAMPLES; i++) sum += rate->samples[i];
    return sum / STATS_SAMPLES;
}
