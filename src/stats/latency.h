/* latency: records work that has blocked the event loop for at least latency-monitor-threshold
 * milliseconds, by its kind (LATENCY).
 *
 * Each kind keeps its last LATENCY_SAMPLES samples in a ring, at most one per second: the longest
 * of that second. The memory for a kind is allocated with its first sample. */
#ifndef PACKLIST_STATS_LATENCY_H
#define PACKLIST_STATS_LATENCY_H

#include "base/slice.h"

#include <stdbool.h>
#include <stdint.h>

enum { LATENCY_SAMPLES = 160 };

enum latency_kind {
    LATENCY_COMMAND,         /* "command": a command without the flag FAST */
    LATENCY_FAST_COMMAND,    /* "fast-command" */
    LATENCY_EXPIRE_CYCLE,    /* "expire-cycle": one step of the search for expired keys */
    LATENCY_DEFRAG_CYCLE,    /* "active-defrag-cycle": one step of moving memory */
    LATENCY_EXPIRE_DELETE,   /* "expire-del": the deletion of one expired key */
    LATENCY_EVICTION_CYCLE,  /* "eviction-cycle": one step of eviction */
    LATENCY_EVICTION_DELETE, /* "eviction-del": the eviction of one key */
    LATENCY_AOF_WRITE,       /* "aof-write": a write to the append-only file; also one of: */
    LATENCY_AOF_WRITE_SYNC,  /* "aof-write-pending-fsync": while a thread ran fsync */
    LATENCY_AOF_WRITE_CHILD, /* "aof-write-active-child": while a snapshot was being written */
    LATENCY_AOF_WRITE_ALONE, /* "aof-write-alone": while neither ran */
    LATENCY_AOF_SYNC,        /* "aof-fsync-always": the fsync before replies */
    LATENCY_AOF_RENAME,      /* "aof-rename": putting a rewritten base in its place */
    LATENCY_SLICE,           /* "rdb-slice": one step of an incremental snapshot */
    LATENCY_EARLY_SAVE       /* "rdb-early-save": saving a key before it changes */
};

enum { LATENCY_KINDS = LATENCY_EARLY_SAVE + 1 };

struct latency_sample {
    int64_t time_s; /* wall clock */
    uint32_t ms;
};

struct latency_event {
    struct latency_sample samples[LATENCY_SAMPLES]; /* a ring */
    unsigned count;
    unsigned next; /* index of the next sample */
    uint32_t max_ms;
};

/* All zero is an empty monitor. */
struct latency_monitor {
    struct latency_event *events[LATENCY_KINDS]; /* NULL: no sample */
};

/* Returns the name of a kind, a static text. */
const char *latency_kind_name(enum latency_kind kind);

/* Returns the kind of that name (case-sensitive), or -1. */
int latency_kind_named(struct slice name);

/* Records that something took `ms` milliseconds; time_s is the wall clock. O(1). */
void latency_note(struct latency_monitor *monitor, enum latency_kind kind, int64_t time_s,
                  uint32_t ms);

/* Drops the samples of a kind. Returns whether there were any. */
bool latency_forget(struct latency_monitor *monitor, enum latency_kind kind);

/* Drops all samples and frees their memory. */
void latency_forget_all(struct latency_monitor *monitor);

/* Returns the sample number `index`, counted from the oldest; index < event->count. */
const struct latency_sample *latency_sample_at(const struct latency_event *event, unsigned index);

/* What LATENCY DOCTOR reports of an event's samples. */
struct latency_summary {
    unsigned count;
    uint32_t min_ms;
    uint32_t max_ms;
    uint32_t mean_ms;
    uint32_t deviation_ms; /* mean distance from the mean */
    double period_s;       /* mean time between samples, up to now */
};

/* Summarizes the samples of an event, which has at least one. O(samples). */
struct latency_summary latency_summarize(const struct latency_event *event, int64_t now_s);

#endif
