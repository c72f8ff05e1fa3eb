/* latency: what held the server up for at least latency-monitor-threshold milliseconds, by the kind
 * of work (LATENCY).
 *
 * Each kind keeps its last LATENCY_SAMPLES samples in a ring, one for a second at most: the worst
 * of it. Memory is taken for a kind when its first sample comes. */
#ifndef PACKLIST_STATS_LATENCY_H
#define PACKLIST_STATS_LATENCY_H

#include "base/slice.h"

#include <stdbool.h>
#include <stdint.h>

enum { LATENCY_SAMPLES = 160 };

enum latency_kind {
    LATENCY_COMMAND,         /* "command": one that is not marked as fast */
    LATENCY_FAST_COMMAND,    /* "fast-command" */
    LATENCY_EXPIRE_CYCLE,    /* "expire-cycle": a stretch of the search for expired keys */
    LATENCY_EXPIRE_DELETE,   /* "expire-del": one of them deleted */
    LATENCY_EVICTION_CYCLE,  /* "eviction-cycle": a stretch of eviction */
    LATENCY_EVICTION_DELETE, /* "eviction-del": one key evicted */
    LATENCY_FORK,            /* "fork": a child made */
    LATENCY_AOF_WRITE, /* "aof-write": what the turn told written to the file; and as one of: */
    LATENCY_AOF_WRITE_SYNC,  /* "aof-write-pending-fsync": while a thread brought it to the disk */
    LATENCY_AOF_WRITE_CHILD, /* "aof-write-active-child": while a child wrote */
    LATENCY_AOF_WRITE_ALONE, /* "aof-write-alone": while neither did */
    LATENCY_AOF_SYNC,        /* "aof-fsync-always": brought to the disk before the replies */
    LATENCY_AOF_RENAME,      /* "aof-rename": a base that was rewritten put in its place */
    LATENCY_RDB_UNLINK,      /* "rdb-unlink-temp-file": what a child left that was ended */
    LATENCY_SLICE,           /* "rdb-slice": a stretch of a snapshot in the loop */
    LATENCY_EARLY_SAVE       /* "rdb-early-save": a key saved before a change */
};

enum { LATENCY_KINDS = LATENCY_EARLY_SAVE + 1 };

struct latency_sample {
    int64_t time_s; /* wall clock */
    uint32_t ms;
};

struct latency_event {
    struct latency_sample samples[LATENCY_SAMPLES]; /* a ring */
    unsigned count;
    unsigned next; /* where the next one goes */
    uint32_t max_ms;
};

/* All zero is an empty one. */
struct latency_monitor {
    struct latency_event *events[LATENCY_KINDS]; /* NULL: nothing was noted */
};

const char *latency_kind_name(enum latency_kind kind);

/* The kind of that name, in this case; -1 when there is none. */
int latency_kind_named(struct slice name);

/* Notes that something took `ms`. O(1). */
void latency_note(struct latency_monitor *monitor, enum latency_kind kind, int64_t time_s,
                  uint32_t ms);

/* Forgets a kind; was there anything? */
bool latency_forget(struct latency_monitor *monitor, enum latency_kind kind);

void latency_forget_all(struct latency_monitor *monitor);

/* The sample number `index` from the oldest on; index < event->count. */
const struct latency_sample *latency_sample_at(const struct latency_event *event, unsigned index);

/* What can be said of an event's samples. */
struct latency_summary {
    unsigned count;
    uint32_t min_ms;
    uint32_t max_ms;
    uint32_t mean_ms;
    uint32_t deviation_ms; /* from the mean, on average */
    double period_s;       /* between samples, up to now */
};

struct latency_summary latency_summarize(const struct latency_event *event, int64_t now_s);

#endif
