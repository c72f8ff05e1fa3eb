/* incremental_run: how a snapshot begins, goes on in steps of the loop, and ends. */
#include "snapshot/incremental.h"

#include "base/checked.h"
#include "base/clock.h"
#include "base/log/log.h"
#include "base/memory/alloc.h"
#include "engine/lazyfree.h"
#include "engine/slow.h"
#include "snapshot/incremental_internal.h"
#include "snapshot/snapshot.h"

#include <assert.h>
#include <errno.h>

enum { ITERATOR_PENDING_MAX = 4 * 1024 * 1024, DRAIN_MS_MAX = 2 };

enum background_purpose incremental_purpose(const struct engine *engine) {
    const struct incremental *s = engine->incremental;
    return s->awaited != BACKGROUND_NONE ? s->awaited : s->purpose;
}

bool incremental_is_busy(const struct engine *engine) {
    return incremental_purpose(engine) != BACKGROUND_NONE;
}

/* --- The end --- */

/* Releases the captures of the chunk. The thread frees the rest, which may be large. */
static void release_chunk(void *arg, struct snapshot_chunk *chunk) {
    struct engine *engine = arg;
    struct incremental *s = engine->incremental;
    size_t left = snapshot_chunk_release(chunk);
    s->stats.left_bytes += left;
    s->shared -= chunk->capture_count;
    snapshot_thread_free_chunk(s->thread, chunk, left);
}

/* The visitor of an iterator whose snapshot was stopped. */
static void visit_nothing(struct snapshot_iterator *iterator, struct entry *entry) {
    (void)iterator;
    (void)entry;
}

static void forget_writer(struct engine *engine) {
    struct incremental *incremental = engine->incremental;
    rdb_writer_end(&incremental->writer);
    incremental->writer = (struct rdb_writer){0};
}

/* Stops copying, and drops the chunk that the thread has not received. */
static void stop_copying(struct engine *engine) {
    struct incremental *s = engine->incremental;
    for (int i = s->next_iterator; i < s->iterator_count; i++)
        s->iterators[i].iterator.visit = visit_nothing;
    if (s->iterating) forget_writer(engine);
    if (s->filling) {
        struct snapshot_chunk *chunk = s->filling;
        s->filling = NULL;
        release_chunk(engine, chunk);
    }
}

static void report_end(struct engine *engine, struct snapshot_result result, bool was_stopped,
                       const char *temporary) {
    struct incremental *s = engine->incremental;
    struct incremental_end end = {
        .error = result.error,
        .step = result.step,
        .was_stopped = was_stopped,
        .temporary = temporary,
        .seconds = (clock_monotonic_us() - s->begin_us) / 1000000,
        .memory_peak = s->stats.memory_peak + s->stats.left_bytes,
    };
    s->purpose = BACKGROUND_NONE;
    s->job = NULL;
    s->ended(engine, &end);
}

/* Cancels the job before it has ended: after an error, or because the caller stops it. */
static void end_early(struct engine *engine, int error, bool was_stopped) {
    struct snapshot_result result = {.error = error, .step = SNAPSHOT_WRITE};
    struct snapshot_job *job = engine->incremental->job;
    const char *path = snapshot_job_temporary(job);
    sds temporary = path ? sds_new(slice_of_cstr(path)) : NULL;
    snapshot_job_cancel(job);
    stop_copying(engine);
    report_end(engine, result, was_stopped, temporary);
    sds_free(temporary);
}

void incremental_stop(struct engine *engine, enum background_purpose purpose) {
    struct incremental *s = engine->incremental;
    if (s->awaited == purpose) s->awaited = BACKGROUND_NONE;
    if (purpose == BACKGROUND_NONE || s->purpose != purpose) return;
    end_early(engine, ECANCELED, true);
}

static void job_ended(void *arg, struct snapshot_job *job, struct snapshot_result result) {
    report_end(arg, result, false, snapshot_job_temporary(job));
}

static void job_progressed(void *arg) {
    struct engine *engine = arg;
    struct incremental *incremental = engine->incremental;
    int error = incremental->job ? snapshot_job_error(incremental->job) : 0;
    if (error && incremental->iterating) end_early(engine, error, false);
}

/* --- Iterators --- */

/* Runs the iterators one after another until the deadline. Returns true when all have finished. */
static bool iterate(struct engine *engine) {
    struct incremental *s = engine->incremental;
    for (; s->next_iterator < s->iterator_count; s->next_iterator++) {
        struct incremental_iterator *own = &s->iterators[s->next_iterator];
        struct snapshot_iterator *iterator = &own->iterator;
        while (snapshot_iterator_step(iterator))
            if (iterator->paused || clock_ticks() > s->deadline) return false;
        if (!iterator->adopted) continue;
        s->kept_bytes -= own->adopted_bytes;
        lazyfree_keyspace(engine->lazyfree, iterator->keyspace, 0);
    }
    return true;
}

static void finish_iterators(struct engine *engine) {
    struct incremental *s = engine->incremental;
    s->iterating = false;
    if (s->purpose == BACKGROUND_NONE) return;
    rdb_writer_flush(&s->writer);
    incremental_put_filling(engine);
    forget_writer(engine);
    snapshot_job_finish(s->job);
}

/* A slice may take as long as the rest of the loop iteration took, within limits. */
static uint64_t slice_ticks(struct engine *engine, uint64_t now) {
    uint64_t most = clock_us_to_ticks((uint64_t)engine->config.rdb_save_slice_us);
    uint64_t iteration = now - engine->incremental->slice_end;
    return iteration < most / 8 ? most / 8 : iteration > most ? most : iteration;
}

/* Returns false also when the thread or cron will wake the loop. */
bool incremental_step(struct engine *engine) {
    struct incremental *s = engine->incremental;
    assert(!s->in_step);
    if (!s->iterating) return false;
    /* Keys have changed faster than the stream takes their copies. */
    if (s->is_overrun && s->purpose != BACKGROUND_NONE) end_early(engine, ENOBUFS, false);
    uint64_t now = clock_ticks();
    bool is_far_ahead = incremental_pending(engine) >= ITERATOR_PENDING_MAX;
    /* The thread wakes the loop when it has written a chunk. One that is hardly filled counts as
     * much as a full one, so it is put only if the thread has no other. */
    if (is_far_ahead && snapshot_thread_pending(s->thread) == 0) incremental_put_filling(engine);
    if (is_far_ahead || incremental_must_pause(engine)) {
        s->slice_end = now;
        return false;
    }
    uint64_t begin = slow_begin(engine);
    s->deadline = now + slice_ticks(engine, now);
    s->in_step = true;
    bool over = iterate(engine);
    s->in_step = false;
    if (over) finish_iterators(engine);
    s->slice_end = clock_ticks();
    uint64_t us = clock_ticks_to_us(s->slice_end - now);
    if (us > s->stats.longest_step_us) s->stats.longest_step_us = us;
    slow_end(engine, LATENCY_SLICE, begin);
    return !over && !incremental_must_pause(engine);
}

/* --- The beginning --- */

/* Runs the iterators that a stopped snapshot left. Returns true when they have finished: the next
 * snapshot needs that. */
static bool run_stopped_iterators(struct engine *engine, uint64_t deadline) {
    struct incremental *s = engine->incremental;
    s->deadline = deadline;
    if (s->iterating) s->iterating = !iterate(engine);
    return !s->iterating;
}

bool incremental_is_released(const struct engine *engine) {
    return !engine->incremental->iterating && engine->incremental->shared == 0;
}

bool incremental_try_release(struct engine *engine) {
    struct incremental *s = engine->incremental;
    CHECKED_ASSERT(s->purpose == BACKGROUND_NONE);
    uint64_t now = clock_ticks();
    if (!run_stopped_iterators(engine, now + slice_ticks(engine, now))) return false;
    /* The thread returns all captures, normally after one write to the disk: waits for that. */
    return s->shared == 0 || snapshot_thread_drain(s->thread, DRAIN_MS_MAX);
}

static bool start_thread(struct engine *engine) {
    const struct snapshot_thread_events events = {engine, release_chunk, job_progressed, job_ended};
    if (snapshot_thread_start(&engine->incremental->thread, engine->net, &events)) return true;
    log_warning("Cannot create the snapshot thread: %s", strerror(errno));
    return false;
}

static void start_iterators(struct engine *engine) {
    struct incremental *s = engine->incremental;
    s->iterator_count = engine->databases;
    s->next_iterator = 0;
    if (!s->iterators) s->iterators = mem_alloc((size_t)s->iterator_count * sizeof(*s->iterators));
    for (int i = 0; i < s->iterator_count; i++) {
        struct keyspace *keyspace = engine->keyspaces[i];
        s->iterators[i] = (struct incremental_iterator){
            .iterator = {.visit = incremental_visit, .number = i},
            .engine = engine,
            .keys = keyspace_count(keyspace),
            .expiring_keys = keyspace_count_of(keyspace, EXPIRING_KEYS)};
        snapshot_iterator_start(&s->iterators[i].iterator, keyspace);
        s->stats.keys_total += s->iterators[i].keys;
    }
    s->iterating = true;
}

static sds absolute(struct engine *engine, const char *path) {
    if (!path) return NULL;
    if (path[0] == '/') return sds_new(slice_of_cstr(path));
    return sds_format("%s/%s", engine->config.dir, path);
}

/* Makes the paths absolute: the working directory may change before the file is renamed. */
static struct snapshot_job *begin_job(struct engine *engine,
                                      const struct incremental_order *order) {
    bool is_rdb = order->form != SNAPSHOT_COMMANDS;
    struct snapshot_task task = {.stream = order->stream,
                                 .temporary = absolute(engine, order->temporary),
                                 .name = absolute(engine, order->name),
                                 .sync_in_stretches = order->sync_in_stretches,
                                 .is_rdb = is_rdb,
                                 .for_valkey = order->for_valkey,
                                 .compress = engine->config.rdbcompression,
                                 .checksum = engine->config.rdbchecksum && is_rdb};
    return snapshot_job_begin(engine->incremental->thread, &task);
}

bool incremental_begin(struct engine *engine, const struct incremental_order *order) {
    struct incremental *s = engine->incremental;
    assert(s->purpose == BACKGROUND_NONE && order->purpose != BACKGROUND_NONE && order->ended);
    assert(incremental_is_released(engine));
    if (!start_thread(engine)) return false;
    s->awaited = BACKGROUND_NONE;
    s->stats = (struct incremental_stats){0};
    s->purpose = order->purpose;
    s->ended = order->ended;
    s->job = begin_job(engine, order);
    s->is_stream = order->stream;
    s->as_commands = order->form == SNAPSHOT_COMMANDS;
    s->is_overrun = false;
    s->database = -1;
    s->checked = s->deferred = 0;
    s->begin_us = clock_monotonic_us();
    s->slice_end = clock_ticks();
    rdb_writer_start(&s->writer, incremental_sink(engine), engine->config.rdbcompression, false);
    s->writer.for_valkey = order->for_valkey;
    snapshot_write_header(engine, &s->writer, order->form);
    rdb_writer_flush(&s->writer);
    incremental_put_filling(engine); /* makes the thread create the file */
    start_iterators(engine);
    return true;
}

void incremental_end_all(struct engine *engine) {
    struct incremental *s = engine->incremental;
    incremental_stop(engine, s->purpose);
    run_stopped_iterators(engine, UINT64_MAX);
    snapshot_thread_free(s->thread);
    mem_free(s->iterators);
}
