/* incremental_copy: copies entries into chunks, in steps of the loop or before they change. */
#include "base/clock.h"
#include "base/memory/alloc.h"
#include "engine/slow.h"
#include "persist/rdb_file.h"
#include "persist/type_format.h"
#include "persist/value_commands.h"
#include "snapshot/incremental.h"
#include "snapshot/incremental_internal.h"
#include "snapshot/snapshot.h"
#include "types/value.h"

enum {
    READ_CLOCK_EVERY = 16 * 1024, /* bytes copied between two reads of the clock */
    FORCED_PENDING_MAX = 64 * 1024 * 1024
};

/* --- The sink: pieces of chunks --- */

void incremental_put_filling(struct engine *engine) {
    struct incremental *incremental = engine->incremental;
    struct snapshot_chunk *chunk = incremental->filling;
    if (!chunk) return;
    incremental->filling = NULL;
    snapshot_job_put(incremental->job, chunk);
    size_t pending = snapshot_thread_pending(incremental->thread);
    struct incremental_stats *stats = &incremental->stats;
    if (pending > stats->memory_peak) stats->memory_peak = pending;
}

static struct snapshot_chunk *chunk_for(struct engine *engine, size_t size) {
    struct incremental *incremental = engine->incremental;
    if (incremental->filling && !snapshot_chunk_has_room(incremental->filling, size))
        incremental_put_filling(engine);
    if (!incremental->filling) incremental->filling = snapshot_chunk_new(size);
    return incremental->filling;
}

static bool take_literal(void *arg, const void *bytes, size_t len) {
    struct engine *engine = arg;
    snapshot_chunk_add_literal(chunk_for(engine, len), bytes, len);
    return true;
}

static void take_string(void *arg, struct slice text) {
    struct engine *engine = arg;
    snapshot_chunk_add_string(chunk_for(engine, text.len), text);
    engine->incremental->deferred += text.len;
}

static void take_listpack(void *arg, struct slice body, size_t count) {
    struct engine *engine = arg;
    snapshot_chunk_add_listpack(chunk_for(engine, body.len), body, count);
    engine->incremental->deferred += body.len;
}

struct rdb_sink incremental_sink(struct engine *engine) {
    static const struct rdb_deferral deferral = {take_string, take_listpack};
    return (struct rdb_sink){.write = take_literal, .arg = engine, .deferral = &deferral};
}

size_t incremental_pending(struct engine *engine) {
    const struct incremental *s = engine->incremental;
    if (s->purpose == BACKGROUND_NONE) return 0;
    return snapshot_thread_pending(s->thread) + (s->filling ? snapshot_chunk_size(s->filling) : 0);
}

/* --- Entries --- */

static void begin_database(struct engine *engine, struct incremental_iterator *iterator) {
    struct incremental *incremental = engine->incremental;
    struct rdb_writer *writer = &incremental->writer;
    uint64_t number = (uint64_t)iterator->iterator.number;
    if (incremental->as_commands)
        value_commands_select(writer, iterator->iterator.number);
    else if (iterator->is_begun)
        rdb_write_select(writer, number);
    else
        rdb_write_database(writer, number, iterator->keys, iterator->expiring_keys);
    iterator->is_begun = true;
    incremental->database = iterator->iterator.number;
}

/* Captures the value if it is too large to be copied. Returns whether it did. */
static bool save_capture(struct engine *engine, struct entry *entry) {
    struct incremental *s = engine->incremental;
    struct capture *capture = value_capture(entry, &s->left_bytes);
    if (!capture) return false;
    rdb_writer_flush(&s->writer);
    struct slice key = s->as_commands ? entry_key(entry) : SLICE("");
    struct snapshot_chunk *chunk = chunk_for(engine, key.len);
    s->deferred +=
        snapshot_chunk_add_capture(chunk, s->as_commands, key, entry_type(entry), capture);
    s->shared++;
    return true;
}

static void save_entry(struct engine *engine, struct incremental_iterator *iterator,
                       struct entry *entry) {
    struct incremental *s = engine->incremental;
    if (s->database != iterator->iterator.number) begin_database(engine, iterator);
    if (s->as_commands) {
        if (!save_capture(engine, entry)) type_format_write_commands(&s->writer, entry);
        value_commands_write_expiry(&s->writer, entry);
    } else {
        rdb_write_key(&s->writer, entry, snapshot_usage_of(engine, entry));
        if (!save_capture(engine, entry)) type_format_write(&s->writer, entry);
    }
    s->stats.keys_done++;
}

bool incremental_must_pause(struct engine *engine) {
    struct incremental *incremental = engine->incremental;
    int64_t delay_us = engine->config.rdb_key_save_delay;
    if (delay_us <= 0 || incremental->purpose == BACKGROUND_NONE) return false;
    int64_t elapsed_us = clock_monotonic_us() - incremental->begin_us;
    return incremental->stats.keys_done >= (uint64_t)(elapsed_us / delay_us);
}

static bool is_slice_over(struct engine *engine) {
    struct incremental *incremental = engine->incremental;
    if (incremental_must_pause(engine)) return true;
    uint64_t copied = rdb_writer_offset(&incremental->writer) + incremental->deferred;
    if (copied - incremental->checked < READ_CLOCK_EVERY) return false;
    incremental->checked = copied;
    return clock_ticks() > incremental->deadline;
}

/* Called before a key is copied because it changes. Waits for the thread if it is far behind.
 * Otherwise a slow disk would let memory fill up with copies. */
static void wait_for_thread(struct engine *engine) {
    struct incremental *s = engine->incremental;
    size_t pending = incremental_pending(engine);
    if (pending <= FORCED_PENDING_MAX) return;
    size_t most = mem_used() / 8;
    if (most < FORCED_PENDING_MAX) most = FORCED_PENDING_MAX;
    if (s->is_stream)
        s->is_overrun = pending > most;
    else
        snapshot_thread_wait_for_room(s->thread, pending - snapshot_thread_pending(s->thread),
                                      most);
}

void incremental_visit(struct snapshot_iterator *snapshot_iterator, struct entry *entry) {
    struct incremental_iterator *iterator = (struct incremental_iterator *)snapshot_iterator;
    struct engine *engine = iterator->engine;
    struct incremental *incremental = engine->incremental;
    if (incremental->in_step) {
        save_entry(engine, iterator, entry);
        snapshot_iterator->paused = is_slice_over(engine);
        return;
    }
    uint64_t begin = slow_begin(engine);
    wait_for_thread(engine);
    save_entry(engine, iterator, entry);
    incremental->stats.keys_early++;
    slow_end(engine, LATENCY_EARLY_SAVE, begin);
}
