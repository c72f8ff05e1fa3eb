/* slices_copy: entries are copied out of the data into chunks: by the walks, for as long as a slice
 * lasts, and before they change. */
#include "base/alloc.h"
#include "base/clock.h"
#include "engine/slow.h"
#include "persist/rdb_file.h"
#include "snapshot/slices.h"
#include "snapshot/slices_internal.h"
#include "snapshot/snapshot.h"

enum {
    LOOK_EVERY = 16 * 1024, /* bytes that are copied between two looks at the time */
    FORCED_PENDING_MAX = 64 * 1024 * 1024
};

/* --- The sink: pieces of chunks --- */

void slices_put_filling(struct engine *engine) {
    struct slices *slices = engine->slices;
    struct snapshot_chunk *chunk = slices->filling;
    if (!chunk) return;
    slices->filling = NULL;
    snapshot_job_put(slices->job, chunk);
    size_t pending = snapshot_thread_pending();
    struct slices_figures *figures = &slices->figures;
    if (pending > figures->memory_peak) figures->memory_peak = pending;
}

static struct snapshot_chunk *chunk_for(struct engine *engine, size_t size) {
    struct slices *slices = engine->slices;
    if (slices->filling && !snapshot_chunk_has_room(slices->filling, size))
        slices_put_filling(engine);
    if (!slices->filling) slices->filling = snapshot_chunk_new(size);
    return slices->filling;
}

static bool take_literal(void *arg, const void *bytes, size_t len) {
    struct engine *engine = arg;
    snapshot_chunk_add_literal(chunk_for(engine, len), bytes, len);
    return true;
}

static void take_string(void *arg, struct slice text) {
    struct engine *engine = arg;
    snapshot_chunk_add_string(chunk_for(engine, text.len), text);
    engine->slices->deferred += text.len;
}

static void take_listpack(void *arg, struct slice body, size_t count) {
    struct engine *engine = arg;
    snapshot_chunk_add_listpack(chunk_for(engine, body.len), body, count);
    engine->slices->deferred += body.len;
}

struct rdb_sink slices_sink(struct engine *engine) {
    static const struct rdb_deferral deferral = {take_string, take_listpack};
    return (struct rdb_sink){.write = take_literal, .arg = engine, .deferral = &deferral};
}

/* --- Entries --- */

static void begin_database(struct engine *engine, struct slices_walk *walk) {
    struct slices *slices = engine->slices;
    struct rdb_writer *writer = &slices->writer;
    uint64_t number = (uint64_t)walk->walk.number;
    if (walk->is_begun)
        rdb_write_select(writer, number);
    else
        rdb_write_database(writer, number, walk->keys, walk->expiring_keys);
    walk->is_begun = true;
    slices->database = walk->walk.number;
}

/* True when the value is too large to be copied, and was captured. */
static bool save_capture(struct engine *engine, struct entry *entry) {
    struct slices *s = engine->slices;
    struct value_capture capture;
    if (!value_capture_begin(&capture, entry, &s->left_bytes)) return false;
    rdb_writer_flush(&s->writer);
    s->deferred += snapshot_chunk_add_capture(chunk_for(engine, 0), capture);
    s->shared++;
    return true;
}

static void save_entry(struct engine *engine, struct slices_walk *walk, struct entry *entry) {
    struct slices *slices = engine->slices;
    if (slices->database != walk->walk.number) begin_database(engine, walk);
    rdb_write_key(&slices->writer, entry, snapshot_usage_of(engine, entry));
    if (!save_capture(engine, entry)) rdb_write_value(&slices->writer, entry);
    slices->figures.keys_done++;
}

bool slices_are_ahead(struct engine *engine) {
    struct slices *slices = engine->slices;
    int64_t delay_us = engine->config.rdb_key_save_delay;
    if (delay_us <= 0 || slices->purpose == CHILD_NONE) return false;
    int64_t elapsed_us = clock_monotonic_us() - slices->begin_us;
    return slices->figures.keys_done >= (uint64_t)(elapsed_us / delay_us);
}

static bool is_slice_over(struct engine *engine) {
    struct slices *slices = engine->slices;
    if (slices_are_ahead(engine)) return true;
    uint64_t copied = rdb_writer_offset(&slices->writer) + slices->deferred;
    if (copied - slices->checked < LOOK_EVERY) return false;
    slices->checked = copied;
    return clock_ticks() > slices->deadline;
}

/* Before a key is saved because it changes: waits for the thread where it has fallen far behind, or
 * a slow disk would let memory fill up with copies. */
static void wait_for_thread(struct engine *engine) {
    size_t pending = slices_pending(engine);
    if (pending <= FORCED_PENDING_MAX) return;
    size_t most = mem_used() / 8;
    if (most < FORCED_PENDING_MAX) most = FORCED_PENDING_MAX;
    snapshot_thread_wait_for_room(pending - snapshot_thread_pending(), most);
}

void slices_visit(struct keyspace_walk *keyspace_walk, struct entry *entry) {
    struct slices_walk *walk = (struct slices_walk *)keyspace_walk;
    struct engine *engine = walk->engine;
    struct slices *slices = engine->slices;
    if (slices->in_slice) {
        save_entry(engine, walk, entry);
        keyspace_walk->paused = is_slice_over(engine);
        return;
    }
    uint64_t begin = slow_begin(engine);
    wait_for_thread(engine);
    save_entry(engine, walk, entry);
    slices->figures.keys_early++;
    slow_end(engine, LATENCY_EARLY_SAVE, begin);
}
