#include "snapshot/incremental.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "engine/slow.h"
#include "persist/rdb_file.h"
#include "snapshot/incremental_internal.h"

#include <errno.h>

enum { ITERATOR_PENDING_MAX = 4 * 1024 * 1024, DRAIN_MS_MAX = 2 };

size_t incremental_pending(struct engine *engine) {
    const struct incremental *s = engine->incremental;
    if (s->purpose == CHILD_NONE) return 0;
    return snapshot_thread_pending() + (s->filling ? snapshot_chunk_size(s->filling) : 0);
}

/* --- The end --- */

/* What the chunk shares with the data is released; the thread frees what only the chunk has, which
 * may be large. */
static void take_back(struct engine *engine, struct snapshot_chunk *chunk) {
    snapshot_thread_free_chunk(chunk, incremental_release(engine, chunk));
}

/* A walk that nobody is interested in any more. */
static void visit_in_silence(struct snapshot_iterator *iterator, struct entry *entry) {
    (void)iterator;
    (void)entry;
}

static void forget_writer(struct engine *engine) {
    struct incremental *incremental = engine->incremental;
    rdb_writer_end(&incremental->writer);
    incremental->writer = (struct rdb_writer){0};
}

/* Nothing more is copied. The chunk that the thread has not got is dropped. */
static void give_up(struct engine *engine) {
    struct incremental *s = engine->incremental;
    for (int i = s->next_iterator; i < s->iterator_count; i++)
        s->iterators[i].iterator.visit = visit_in_silence;
    if (s->iterating) forget_writer(engine);
    if (s->filling) {
        struct snapshot_chunk *chunk = s->filling;
        s->filling = NULL;
        take_back(engine, chunk);
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
    s->purpose = CHILD_NONE;
    s->job = NULL;
    s->ended(engine, &end);
}

/* Cancels the job, with what the thread has said, or because nobody wants it any more. */
static void end_early(struct engine *engine, struct snapshot_result result, bool was_stopped) {
    struct snapshot_job *job = engine->incremental->job;
    sds temporary = sds_new(slice_of_cstr(snapshot_job_temporary(job)));
    snapshot_job_cancel(job);
    give_up(engine);
    report_end(engine, result, was_stopped, temporary);
    sds_free(temporary);
}

void incremental_stop(struct engine *engine, enum child_purpose purpose) {
    if (purpose == CHILD_NONE || engine->incremental->purpose != purpose) return;
    end_early(engine, (struct snapshot_result){.error = ECANCELED}, true);
}

static void on_returned(void *arg, struct snapshot_chunk *chunk) {
    take_back(arg, chunk);
}

static void job_ended(void *arg, struct snapshot_job *job, struct snapshot_result result) {
    report_end(arg, result, false, snapshot_job_temporary(job));
}

static void job_moved(void *arg) {
    struct engine *engine = arg;
    struct incremental *incremental = engine->incremental;
    int error = incremental->job ? snapshot_job_error(incremental->job) : 0;
    if (error && incremental->iterating)
        end_early(engine, (struct snapshot_result){.error = error, .step = SNAPSHOT_WRITE}, false);
}

/* --- The walks --- */

/* One after the other, while there is time; true when all are over. */
static bool iterate(struct engine *engine) {
    struct incremental *s = engine->incremental;
    for (; s->next_iterator < s->iterator_count; s->next_iterator++) {
        struct incremental_iterator *own = &s->iterators[s->next_iterator];
        struct snapshot_iterator *iterator = &own->iterator;
        while (snapshot_iterator_step(iterator))
            if (iterator->paused || clock_ticks() > s->deadline) return false;
        if (iterator->adopted)
            incremental_free_keyspace(engine,
                                      (struct incremental_keyspace){.keyspace = iterator->keyspace,
                                                                    .bytes = own->adopted_bytes});
    }
    return true;
}

static void iterators_over(struct engine *engine) {
    struct incremental *s = engine->incremental;
    s->iterating = false;
    if (s->purpose == CHILD_NONE) return;
    rdb_writer_flush(&s->writer);
    incremental_put_filling(engine);
    forget_writer(engine);
    snapshot_job_finish(s->job);
}

/* As long as all else took in this turn, within limits. */
static uint64_t slice_ticks(struct engine *engine, uint64_t now) {
    uint64_t most = clock_us_to_ticks((uint64_t)engine->config.rdb_save_slice_us);
    uint64_t iteration = now - engine->incremental->iteration_end;
    return iteration < most / 8 ? most / 8 : iteration > most ? most : iteration;
}

static void note_slice(struct engine *engine, uint64_t begin, uint64_t end) {
    struct incremental *s = engine->incremental;
    uint64_t us = clock_ticks_to_us(end - begin);
    s->iteration_end = end;
    if (us > s->stats.longest_slice_us) s->stats.longest_slice_us = us;
}

/* False also when the thread, or cron, is to wake the loop up. */
bool incremental_step(struct engine *engine) {
    struct incremental *s = engine->incremental;
    if (!s->iterating) return false;
    uint64_t now = clock_ticks();
    bool is_far_ahead = incremental_pending(engine) >= ITERATOR_PENDING_MAX;
    if (is_far_ahead)
        incremental_put_filling(engine); /* when it is written the thread wakes the loop up */
    if (is_far_ahead || incremental_is_ahead(engine)) {
        s->iteration_end = now;
        return false;
    }
    uint64_t begin = slow_begin(engine);
    s->deadline = now + slice_ticks(engine, now);
    s->in_slice = true;
    bool over = iterate(engine);
    s->in_slice = false;
    if (over) iterators_over(engine);
    note_slice(engine, now, clock_ticks());
    slow_end(engine, LATENCY_SLICE, begin);
    return !over && !incremental_is_ahead(engine);
}

/* --- The beginning --- */

/* What a snapshot that was stopped has left must be over before the next one. True when it is. */
static bool end_silent_iterators(struct engine *engine, uint64_t deadline) {
    struct incremental *s = engine->incremental;
    s->deadline = deadline;
    if (s->iterating) s->iterating = !iterate(engine);
    return !s->iterating;
}

/* The same for what it shares with the data: the thread gives it back after a write to the disk at
 * most, which is not waited for if it takes long. */
static bool take_all_back(struct engine *engine) {
    return engine->incremental->shared == 0 || snapshot_thread_drain(DRAIN_MS_MAX);
}

static bool may_begin(struct engine *engine) {
    const struct snapshot_thread_events events = {engine, on_returned, job_moved, job_ended};
    if (!snapshot_thread_start(engine->net, &events)) {
        log_warning("No snapshot in slices, a child writes it: no thread: %s", strerror(errno));
        return false;
    }
    uint64_t now = clock_ticks();
    if (end_silent_iterators(engine, now + slice_ticks(engine, now)) && take_all_back(engine))
        return true;
    log_notice("No snapshot in slices, a child writes it: what a stopped one has left is not "
               "cleared away");
    return false;
}

static void start_iterators(struct engine *engine) {
    struct incremental *s = engine->incremental;
    s->iterator_count = (int)engine->config.databases;
    s->next_iterator = 0;
    if (!s->iterators) s->iterators = mem_alloc((size_t)s->iterator_count * sizeof(*s->iterators));
    for (int i = 0; i < s->iterator_count; i++) {
        struct keyspace *keyspace = engine->keyspaces[i];
        s->iterators[i] =
            (struct incremental_iterator){.iterator = {.visit = incremental_visit, .number = i},
                                          .engine = engine,
                                          .keys = keyspace_count(keyspace),
                                          .expiring_keys = keyspace_expiring_count(keyspace)};
        snapshot_iterator_start(&s->iterators[i].iterator, keyspace);
        s->stats.keys_total += s->iterators[i].keys;
    }
    s->iterating = true;
}

static sds absolute(struct engine *engine, const char *path) {
    if (path[0] == '/') return sds_new(slice_of_cstr(path));
    return sds_append_format(sds_new(SLICE("")), "%s/%s", engine->config.dir, path);
}

/* Paths are made absolute: the working directory may be another one by then. */
static struct snapshot_job *begin_job(struct engine *engine,
                                      const struct incremental_order *order) {
    sds temporary = absolute(engine, order->temporary),
        name = order->name ? absolute(engine, order->name) : NULL;
    struct snapshot_job *job =
        snapshot_job_begin(temporary, name, order->incremental, engine->config.rdbcompression,
                           engine->config.rdbchecksum);
    sds_free(temporary);
    sds_free(name);
    return job;
}

bool incremental_begin(struct engine *engine, const struct incremental_order *order) {
    struct incremental *s = engine->incremental;
    if (!may_begin(engine)) return false;
    s->stats = (struct incremental_stats){0};
    s->purpose = order->purpose;
    s->ended = order->ended;
    s->job = begin_job(engine, order);
    s->database = -1;
    s->checked = s->deferred = 0;
    s->begin_ms = clock_wall_ms();
    s->begin_us = clock_monotonic_us();
    s->iteration_end = clock_ticks();
    rdb_writer_start(&s->writer, incremental_sink(engine), engine->config.rdbcompression, false);
    rdb_write_header(&s->writer, &(struct rdb_facts){.server_version = PACKLIST_REDIS_VERSION,
                                                     .created_s = s->begin_ms / 1000,
                                                     .used_memory = mem_used(),
                                                     .aof_base = order->aof_base});
    rdb_writer_flush(&s->writer);
    incremental_put_filling(engine); /* the file is there from now on */
    start_iterators(engine);
    return true;
}

void incremental_end_all(struct engine *engine) {
    struct incremental *s = engine->incremental;
    incremental_stop(engine, s->purpose);
    end_silent_iterators(engine, UINT64_MAX);
    snapshot_thread_stop();
    mem_free(s->iterators);
    mem_free(s->entries);
    mem_free(s->keyspaces);
}
