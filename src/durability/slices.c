#include "durability/slices.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "durability/slices_internal.h"
#include "persist/rdb_file.h"
#include "server/slow.h"

#include <errno.h>

enum { WALK_PENDING_MAX = 4 * 1024 * 1024, DRAIN_MS_MAX = 2 };

static struct slices *slices(void) {
    return slices_state();
}

size_t slices_pending(void) {
    const struct slices *s = slices();
    if (s->purpose == CHILD_NONE) return 0;
    return snapshot_thread_pending() + (s->filling ? snapshot_chunk_size(s->filling) : 0);
}

/* --- The end --- */

/* What the chunk shares with the data is released; the thread frees what only the chunk has, which
 * may be large. */
static void take_back(struct snapshot_chunk *chunk) {
    snapshot_thread_free_chunk(chunk, slices_release(chunk));
}

/* A walk that nobody is interested in any more. */
static void visit_in_silence(struct keyspace_walk *walk, struct entry *entry) {
    (void)walk;
    (void)entry;
}

static void forget_writer(void) {
    rdb_writer_end(&slices()->writer);
    slices()->writer = (struct rdb_writer){0};
}

/* Nothing more is copied. The chunk that the thread has not got is dropped. */
static void give_up(void) {
    struct slices *s = slices();
    for (int i = s->next_walk; i < s->walk_count; i++) s->walks[i].walk.visit = visit_in_silence;
    if (s->walking) forget_writer();
    if (s->filling) {
        struct snapshot_chunk *chunk = s->filling;
        s->filling = NULL;
        take_back(chunk);
    }
}

static void tell_end(struct snapshot_result result, bool was_stopped, const char *temporary) {
    struct slices *s = slices();
    struct slices_end end = {
        .error = result.error,
        .step = result.step,
        .was_stopped = was_stopped,
        .temporary = temporary,
        .seconds = (clock_monotonic_us() - s->begin_us) / 1000000,
        .memory_peak = s->figures.memory_peak + s->figures.left_bytes,
    };
    s->purpose = CHILD_NONE;
    s->job = NULL;
    s->ended(&end);
}

/* Cancels the job, with what the thread has said, or because nobody wants it any more. */
static void end_early(struct snapshot_result result, bool was_stopped) {
    struct snapshot_job *job = slices()->job;
    sds temporary = sds_new(slice_of_cstr(snapshot_job_temporary(job)));
    snapshot_job_cancel(job);
    give_up();
    tell_end(result, was_stopped, temporary);
    sds_free(temporary);
}

void slices_stop(enum child_purpose purpose) {
    if (purpose == CHILD_NONE || slices()->purpose != purpose) return;
    end_early((struct snapshot_result){.error = ECANCELED}, true);
}

static void job_ended(struct snapshot_job *job, struct snapshot_result result) {
    tell_end(result, false, snapshot_job_temporary(job));
}

static void job_moved(void) {
    int error = slices()->job ? snapshot_job_error(slices()->job) : 0;
    if (error && slices()->walking)
        end_early((struct snapshot_result){.error = error, .step = SNAPSHOT_WRITE}, false);
}

/* --- The walks --- */

/* One after the other, while there is time; true when all are over. */
static bool walk_on(void) {
    struct slices *s = slices();
    for (; s->next_walk < s->walk_count; s->next_walk++) {
        struct slices_walk *own = &s->walks[s->next_walk];
        struct keyspace_walk *walk = &own->walk;
        while (keyspace_walk_step(walk))
            if (walk->paused || clock_ticks() > s->deadline) return false;
        if (walk->adopted)
            slices_free_keyspace(
                (struct slices_keyspace){.keyspace = walk->keyspace, .bytes = own->adopted_bytes});
    }
    return true;
}

static void walks_over(void) {
    struct slices *s = slices();
    s->walking = false;
    if (s->purpose == CHILD_NONE) return;
    rdb_writer_flush(&s->writer);
    slices_put_filling();
    forget_writer();
    snapshot_job_finish(s->job);
}

/* As long as all else took in this turn, within limits. */
static uint64_t slice_ticks(uint64_t now) {
    uint64_t most = clock_us_to_ticks((uint64_t)server.config.rdb_save_slice_us);
    uint64_t turn = now - slices()->turn_end;
    return turn < most / 8 ? most / 8 : turn > most ? most : turn;
}

static void note_slice(uint64_t begin, uint64_t end) {
    struct slices *s = slices();
    uint64_t us = clock_ticks_to_us(end - begin);
    s->turn_end = end;
    if (us > s->figures.longest_slice_us) s->figures.longest_slice_us = us;
}

/* False also when the thread, or cron, is to wake the loop up. */
bool slices_step(void) {
    struct slices *s = slices();
    if (!s->walking) return false;
    uint64_t now = clock_ticks();
    bool is_far_ahead = slices_pending() >= WALK_PENDING_MAX;
    if (is_far_ahead) slices_put_filling(); /* when it is written the thread wakes the loop up */
    if (is_far_ahead || slices_are_ahead()) {
        s->turn_end = now;
        return false;
    }
    uint64_t begin = slow_begin();
    s->deadline = now + slice_ticks(now);
    s->in_slice = true;
    bool over = walk_on();
    s->in_slice = false;
    if (over) walks_over();
    note_slice(now, clock_ticks());
    slow_end(LATENCY_SLICE, begin);
    return !over && !slices_are_ahead();
}

/* --- The beginning --- */

/* What a snapshot that was stopped has left must be over before the next one. True when it is. */
static bool end_silent_walks(uint64_t deadline) {
    struct slices *s = slices();
    s->deadline = deadline;
    if (s->walking) s->walking = !walk_on();
    return !s->walking;
}

/* The same for what it shares with the data: the thread gives it back after a write to the disk at
 * most, which is not waited for if it takes long. */
static bool take_all_back(void) {
    return slices()->shared == 0 || snapshot_thread_drain(DRAIN_MS_MAX);
}

static bool may_begin(void) {
    static const struct snapshot_thread_events events = {take_back, job_moved, job_ended};
    if (!snapshot_thread_start(server.net, &events)) {
        log_warning("No snapshot in slices, a child writes it: no thread: %s", strerror(errno));
        return false;
    }
    uint64_t now = clock_ticks();
    if (end_silent_walks(now + slice_ticks(now)) && take_all_back()) return true;
    log_notice("No snapshot in slices, a child writes it: what a stopped one has left is not "
               "cleared away");
    return false;
}

static void start_walks(void) {
    struct slices *s = slices();
    s->walk_count = (int)server.config.databases;
    s->next_walk = 0;
    if (!s->walks) s->walks = mem_alloc((size_t)s->walk_count * sizeof(*s->walks));
    for (int i = 0; i < s->walk_count; i++) {
        struct keyspace *keyspace = server.keyspaces[i];
        s->walks[i] = (struct slices_walk){.walk = {.visit = slices_visit, .number = i},
                                           .keys = keyspace_count(keyspace),
                                           .expiring_keys = keyspace_expiring_count(keyspace)};
        keyspace_walk_start(&s->walks[i].walk, keyspace);
        s->figures.keys_total += s->walks[i].keys;
    }
    s->walking = true;
}

static sds absolute(const char *path) {
    if (path[0] == '/') return sds_new(slice_of_cstr(path));
    return sds_append_format(sds_new(SLICE("")), "%s/%s", server.config.dir, path);
}

/* Paths are made absolute: the working directory may be another one by then. */
static struct snapshot_job *begin_job(const struct slices_order *order) {
    sds temporary = absolute(order->temporary), name = order->name ? absolute(order->name) : NULL;
    struct snapshot_job *job =
        snapshot_job_begin(temporary, name, order->incremental, server.config.rdbcompression,
                           server.config.rdbchecksum);
    sds_free(temporary);
    sds_free(name);
    return job;
}

bool slices_begin(const struct slices_order *order) {
    struct slices *s = slices();
    if (!may_begin()) return false;
    s->figures = (struct slices_figures){0};
    s->purpose = order->purpose;
    s->ended = order->ended;
    s->job = begin_job(order);
    s->database = -1;
    s->checked = s->deferred = 0;
    s->begin_ms = clock_wall_ms();
    s->begin_us = clock_monotonic_us();
    s->turn_end = clock_ticks();
    rdb_writer_start(&s->writer, slices_sink(), server.config.rdbcompression, false);
    rdb_write_header(&s->writer, &(struct rdb_facts){.server_version = PACKLIST_REDIS_VERSION,
                                                     .created_s = s->begin_ms / 1000,
                                                     .used_memory = mem_used(),
                                                     .aof_base = order->aof_base});
    rdb_writer_flush(&s->writer);
    slices_put_filling(); /* the file is there from now on */
    start_walks();
    return true;
}

void slices_end_all(void) {
    struct slices *s = slices();
    slices_stop(s->purpose);
    end_silent_walks(UINT64_MAX);
    snapshot_thread_stop();
    mem_free(s->walks);
    mem_free(s->entries);
    mem_free(s->keyspaces);
}
