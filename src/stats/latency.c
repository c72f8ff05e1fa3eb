#include "stats/latency.h"

#include "base/memory/alloc.h"

static const char *const names[LATENCY_KINDS] = {
    [LATENCY_COMMAND] = "command",
    [LATENCY_FAST_COMMAND] = "fast-command",
    [LATENCY_EXPIRE_CYCLE] = "expire-cycle",
    [LATENCY_DEFRAG_CYCLE] = "active-defrag-cycle",
    [LATENCY_EXPIRE_DELETE] = "expire-del",
    [LATENCY_EVICTION_CYCLE] = "eviction-cycle",
    [LATENCY_EVICTION_DELETE] = "eviction-del",
    [LATENCY_SLICE] = "rdb-slice",
    [LATENCY_EARLY_SAVE] = "rdb-early-save",
    [LATENCY_AOF_WRITE] = "aof-write",
    [LATENCY_AOF_WRITE_SYNC] = "aof-write-pending-fsync",
    [LATENCY_AOF_WRITE_CHILD] = "aof-write-active-child",
    [LATENCY_AOF_WRITE_ALONE] = "aof-write-alone",
    [LATENCY_AOF_SYNC] = "aof-fsync-always",
    [LATENCY_AOF_RENAME] = "aof-rename",
};

const char *latency_kind_name(enum latency_kind kind) {
    return names[kind];
}

int latency_kind_named(struct slice name) {
    for (int i = 0; i < LATENCY_KINDS; i++)
        if (slice_equal(name, slice_of_cstr(names[i]))) return i;
    return -1;
}

void latency_note(struct latency_monitor *monitor, enum latency_kind kind, int64_t time_s,
                  uint32_t ms) {
    struct latency_event *event = monitor->events[kind];
    if (!event) event = monitor->events[kind] = mem_alloc_zeroed(sizeof(*event));
    if (ms > event->max_ms) event->max_ms = ms;
    struct latency_sample *last =
        &event->samples[(event->next + LATENCY_SAMPLES - 1) % LATENCY_SAMPLES];
    if (event->count && last->time_s == time_s) {
        if (ms > last->ms) last->ms = ms;
        return;
    }
    event->samples[event->next] = (struct latency_sample){time_s, ms};
    event->next = (event->next + 1) % LATENCY_SAMPLES;
    if (event->count < LATENCY_SAMPLES) event->count++;
}

bool latency_forget(struct latency_monitor *monitor, enum latency_kind kind) {
    bool existed = monitor->events[kind] != NULL;
    mem_free(monitor->events[kind]);
    monitor->events[kind] = NULL;
    return existed;
}

void latency_forget_all(struct latency_monitor *monitor) {
    for (int i = 0; i < LATENCY_KINDS; i++) latency_forget(monitor, (enum latency_kind)i);
}

const struct latency_sample *latency_sample_at(const struct latency_event *event, unsigned index) {
    unsigned oldest = (event->next + LATENCY_SAMPLES - event->count) % LATENCY_SAMPLES;
    return &event->samples[(oldest + index) % LATENCY_SAMPLES];
}

struct latency_summary latency_summarize(const struct latency_event *event, int64_t now_s) {
    struct latency_summary summary = {.count = event->count, .min_ms = UINT32_MAX};
    uint64_t sum = 0, deviations = 0;
    for (unsigned i = 0; i < event->count; i++) {
        uint32_t ms = latency_sample_at(event, i)->ms;
        if (ms < summary.min_ms) summary.min_ms = ms;
        if (ms > summary.max_ms) summary.max_ms = ms;
        sum += ms;
    }
    summary.mean_ms = (uint32_t)(sum / event->count);
    for (unsigned i = 0; i < event->count; i++) {
        uint32_t ms = latency_sample_at(event, i)->ms;
        deviations += ms > summary.mean_ms ? ms - summary.mean_ms : summary.mean_ms - ms;
    }
    summary.deviation_ms = (uint32_t)(deviations / event->count);
    int64_t span_s = now_s - latency_sample_at(event, 0)->time_s;
    summary.period_s = (double)(span_s > 0 ? span_s : 1) / event->count;
    return summary;
}
