#include "stats/stats.h"

#include "base/memory/alloc.h"
#include "table/command.h"

#include <string.h>

/* --- Errors --- */

/* Writes the code of an error as INFO shows it: as in Redis, what is special there becomes an
 * underscore, and a text whose first bytes have no space is of the code ERR. */
static void write_code(char name[ERROR_CODE_SIZE], struct slice text) {
    size_t room = text.len < ERROR_CODE_SIZE - 1 ? text.len : ERROR_CODE_SIZE - 1;
    const char *space = memchr(text.ptr, ' ', room);
    struct slice code = space ? slice_make(text.ptr, (size_t)(space - text.ptr)) : SLICE("ERR");
    for (size_t i = 0; i < code.len; i++) {
        char byte = code.ptr[i];
        bool is_special = byte == ':' || byte == '#' || byte == '\r' || byte == '\n' || byte == 0;
        name[i] = is_special ? '_' : byte;
    }
    name[code.len] = 0;
}

void error_stats_count(struct error_stats *stats, struct slice text) {
    struct error_code added = {.count = 1};
    write_code(added.name, text);
    for (unsigned i = 0; i < stats->count; i++) {
        if (strcmp(stats->codes[i].name, added.name) != 0) continue;
        stats->codes[i].count++;
        return;
    }
    if (stats->count < ERROR_CODES_MAX) stats->codes[stats->count++] = added;
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
