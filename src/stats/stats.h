/* stats: what INFO counts: plain counters, incremented where the events happen. */
#ifndef PACKLIST_STATS_STATS_H
#define PACKLIST_STATS_STATS_H

#include "base/slice.h"
#include "stats/tick_histogram.h"

#include <stdbool.h>
#include <stdint.h>

/* --- Errors by their code, the first word of the reply ("ERR", "WRONGTYPE") --- */

enum {
    ERROR_CODES_MAX = 64, /* clients can make up codes (DEBUG ERROR), so their number is limited */
    ERROR_CODE_SIZE = 32  /* bytes with terminator; a longer code counts as ERR */
};

struct error_code {
    char name[ERROR_CODE_SIZE];
    uint64_t count;
};

/* Codes in order of first appearance. */
struct error_stats {
    struct error_code codes[ERROR_CODES_MAX];
    unsigned count;
};

/* Counts one error: "CODE text…", as it is replied after the '-', or ERR. Ignores a new code when
 * there are ERROR_CODES_MAX. O(codes). */
void error_stats_count(struct error_stats *stats, struct slice text);

/* --- All counters --- */

struct command_stats {
    uint64_t calls;
    uint64_t rejected;
    uint64_t ticks; /* clock_ticks that the calls took. Beside `calls`, GCC would add to both with
                     * vectors, which takes five instructions more. */
    uint64_t failed;
    struct tick_histogram *latency; /* NULL until latency-tracking has counted a call */
};

/* Why something was refused to a user: the right to what it lacks; or it could not log in. */
enum acl_reason {
    ACL_REASON_COMMAND,
    ACL_REASON_KEY,
    ACL_REASON_CHANNEL,
    ACL_REASON_DATABASE,
    ACL_REASON_AUTH,
    ACL_REASON_TLS_CERT, /* its certificate names no user who may log in */
    ACL_REASONS
};

enum { STATS_SAMPLES = 16 };

/* A rate per second, averaged over the last samples. */
struct rate {
    uint64_t last_value;
    int64_t last_ms;
    uint64_t samples[STATS_SAMPLES];
    unsigned next;
};

/* What was loaded ahead for requests that follow: how often, and for how many requests. */
struct prefetch_totals {
    uint64_t batches;
    uint64_t requests;
};

struct stats {
    uint64_t connections_received;
    uint64_t connections_rejected;
    uint64_t commands;
    uint64_t keyspace_hits;
    uint64_t keyspace_misses;
    uint64_t expired_keys;
    uint64_t expired_fields;      /* of hashes */
    uint64_t expired_keys_active; /* of both, those that active expiry has deleted */
    uint64_t expired_fields_active;
    double expired_stale_percent; /* of the keys that active expiry examined: a running average */
    uint64_t expire_time_caps;    /* cycles of active expiry that used up their time */
    uint64_t expire_ticks;        /* clock_ticks that active expiry took */
    uint64_t evicted_keys;
    uint64_t evicted_clients;
    uint64_t evicted_scripts;
    uint64_t errors;
    uint64_t unexpected_errors; /* for commands of the primary */
    uint64_t query_buffer_limit_disconnections;
    uint64_t output_buffer_limit_disconnections;
    uint64_t denied[ACL_REASONS]; /* by enum acl_reason */
    uint64_t queued_ticks;        /* of commands inside EXEC, which EXEC's own ticks contain too */
    uint64_t replies_written;
    uint64_t reads;
    uint64_t peak_memory;
    int64_t peak_memory_s; /* wall clock when that was seen first */
    struct prefetch_totals prefetched;
    struct rate commands_rate;
    struct rate input_rate;
    struct rate output_rate;
    struct rate primary_input_rate;  /* of what the primary sends */
    struct rate replica_output_rate; /* of what replicas are sent */
    struct rate iterations_rate;     /* of the event loop */
    struct rate active_rate;         /* active microseconds of the event loop */
    struct error_stats by_error;
    struct command_stats *by_command; /* indexed by command_index */
};

/* Allocates the histogram for stats_count_call. */
struct tick_histogram *stats_first_histogram(struct command_stats *stats);

/* Counts a call that took `ticks` of clock_ticks; in the command's histogram too, if `tracked`.
 * O(1). */
static inline void stats_count_call(struct command_stats *stats, uint64_t ticks, bool tracked) {
    stats->calls++;
    stats->ticks += ticks;
    if (!tracked) return;
    struct tick_histogram *latency = stats->latency;
    if (__builtin_expect(!latency, 0)) latency = stats_first_histogram(stats);
    tick_histogram_count(latency, ticks);
}

/* Notes how much memory is used at the wall clock `now_s`. O(1). */
static inline void stats_note_memory(struct stats *stats, uint64_t used, int64_t now_s) {
    if (used <= stats->peak_memory) return;
    stats->peak_memory = used;
    stats->peak_memory_s = now_s;
}

/* Sets all counters to zero (CONFIG RESETSTAT), but keeps by_command. */
void stats_reset(struct stats *stats);

/* Adds a sample of a running total at `now_ms`; returns the average per second over the samples. */
void rate_sample(struct rate *rate, uint64_t value, int64_t now_ms);
uint64_t rate_per_second(const struct rate *rate);

/* Frees by_command and the histograms. */
void stats_free(struct stats *stats);

#endif
