#include "replication/primary/full_sync.h"

#include "base/alloc.h"
#include "base/chain.h"
#include "base/log.h"
#include "base/new_file.h"
#include "base/sds.h"
#include "engine/engine.h"
#include "replication/history/history.h"
#include "replication/primary/payload.h"
#include "replication/primary/replicas.h"
#include "session/outbox.h"
#include "session/session.h"
#include "snapshot/data_lock.h"
#include "snapshot/disk_file.h"
#include "snapshot/incremental.h"
#include "snapshot/snapshot.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { RETRY_AFTER_MS = 1000 };

struct sync_group {
    struct payload *payload;
    uint64_t offset;     /* of the stream, at which the data is */
    bool takes_replicas; /* its snapshot is being written to a file */
    bool for_valkey;     /* see struct rdb_writer */
    size_t replicas;
    struct sync_group *prev;
    struct sync_group *next;
};

/* --- Groups --- */

static struct sync_group *group_new(struct engine *engine) {
    struct full_sync *sync = engine->full_sync;
    struct sync_group *group = mem_alloc_zeroed(sizeof(*group));
    group->offset = engine->history->backlog->end;
    group->payload = payload_new(engine->net, sync->wake);
    CHAIN_APPEND(sync->first, sync->last, group, prev, next);
    return group;
}

static void group_free(struct engine *engine, struct sync_group *group) {
    struct full_sync *sync = engine->full_sync;
    if (sync->writing == group) sync->writing = NULL;
    CHAIN_REMOVE(sync->first, sync->last, group, prev, next);
    payload_give_up(group->payload);
    mem_free(group);
}

/* Nobody needs the payload any more. */
static void give_up_group(struct engine *engine, struct sync_group *group) {
    if (engine->full_sync->writing == group)
        incremental_stop(engine, BACKGROUND_SYNC); /* calls snapshot_ended */
    group_free(engine, group);
}

/* Closes the replicas of a group whose payload has failed, and with the last one the group. */
static void group_fail(struct engine *engine, struct sync_group *group) {
    struct replica *next;
    engine->full_sync->retry_ms = engine->steady_ms + RETRY_AFTER_MS;
    for (struct replica *replica = engine->replicas->first; replica; replica = next) {
        next = replica->next;
        if (replica->group == group) session_close(replica->session);
    }
}

/* The replica gets the payload, and later the stream. Its session may be closed by that. */
static void join_group(struct engine *engine, struct sync_group *group, struct replica *replica) {
    replica->group = group;
    group->replicas++;
    replica_hold_stream(replica, group->offset);
    replica->state = group->takes_replicas ? REPLICA_WAITS_FILE : REPLICA_LOADS;
    replica->progress_ms = engine->steady_ms;
    if (replica->state == REPLICA_LOADS)
        outflow_begin(&replica->bulk, payload_bytes(group->payload), 0);
    if (replica->is_silent) return;
    sds line = sds_append_format(sds_new(SLICE("")), "+FULLRESYNC %s %llu\r\n", engine->history->id,
                                 (unsigned long long)group->offset);
    outbox_send(replica->session, sds_slice(line));
    sds_free(line);
}

void full_sync_release(struct engine *engine, struct replica *replica) {
    struct sync_group *group = replica->group;
    if (!group) return;
    outflow_end(&replica->bulk);
    replica->group = NULL;
    if (--group->replicas == 0) give_up_group(engine, group);
}

bool full_sync_is_sent(const struct replica *replica, bool *marked) {
    const struct payload *payload = replica->group->payload;
    *marked = payload_is_streamed(payload);
    return payload_is_whole(payload) && outflow_left(&replica->bulk) == 0;
}

/* --- Snapshots --- */

static void log_failure(const struct incremental_end *end) {
    log_warning("The snapshot for replicas has failed: %s",
                end->error == ENOBUFS ? "keys change faster than it is sent"
                                      : strerror(end->error));
}

/* The file is complete: the replicas that wait for it are sent it. */
static void send_file(struct engine *engine, struct sync_group *group, const char *path) {
    group->takes_replicas = false;
    if (!payload_begin_file(group->payload, path)) {
        log_warning("Cannot read the snapshot for replicas %s: %s", path, strerror(errno));
        group_fail(engine, group);
        return;
    }
    for (struct replica *replica = engine->replicas->first; replica; replica = replica->next) {
        if (replica->group != group) continue;
        replica->state = REPLICA_LOADS;
        replica->progress_ms = engine->steady_ms;
        outflow_begin(&replica->bulk, payload_bytes(group->payload), 0);
    }
}

static void snapshot_ended(struct engine *engine, const struct incremental_end *end) {
    struct full_sync *sync = engine->full_sync;
    struct sync_group *group = sync->writing;
    sync->writing = NULL;
    data_lock_note_save_ended(engine);
    if (end->error && end->temporary) unlink(end->temporary);
    if (end->error && !end->was_stopped) log_failure(end);
    if (!group) return;
    if (end->error) {
        if (!end->was_stopped) group_fail(engine, group);
    } else if (end->temporary) {
        log_notice("DB saved on disk");
        send_file(engine, group, end->temporary);
    } else {
        payload_end_stream(group->payload);
    }
}

/* Returns whether the replica waits for a snapshot of this form. */
static bool is_waiting(const struct replica *replica, bool for_valkey) {
    return replica->state == REPLICA_WAITS && replica->is_valkey == for_valkey;
}

/* Begins the snapshot of a group, to a stream or to a file. */
static bool begin_snapshot(struct engine *engine, struct sync_group *group, bool streamed) {
    struct incremental_order order = {
        .purpose = BACKGROUND_SYNC, .for_valkey = group->for_valkey, .ended = snapshot_ended};
    sds path = NULL;
    struct snapshot_stream stream;
    if (!incremental_try_release(engine)) return false;
    if (streamed) {
        stream = payload_begin_stream(group->payload);
        order.stream = &stream;
    } else {
        if (!data_lock_take_or_log(engine)) return false;
        path = new_file_name("temp-", ".rdb");
        order.temporary = path;
        order.sync_in_stretches = engine->config.rdb_save_incremental_fsync;
    }
    bool has_begun = incremental_begin(engine, &order);
    if (!has_begun && streamed) payload_cancel_stream(group->payload);
    sds_free(path);
    return has_begun;
}

/* Begins a synchronization for all replicas that wait for the same form. */
static void begin_group(struct engine *engine, bool streamed, bool for_valkey) {
    struct full_sync *sync = engine->full_sync;
    struct sync_group *group = group_new(engine);
    group->for_valkey = for_valkey;
    struct replica *next;
    log_notice("Starting BGSAVE for SYNC with target: %s", streamed ? "replicas sockets" : "disk");
    sync->begun_ms = engine->steady_ms;
    sync->retry_ms = engine->steady_ms + RETRY_AFTER_MS;
    if (!begin_snapshot(engine, group, streamed)) {
        group_free(engine, group);
        return;
    }
    sync->retry_ms = 0;
    sync->writing = group;
    group->takes_replicas = !streamed;
    command_log_repeat_database(&engine->command_log);
    group->replicas++; /* so that the group outlives replicas whose sessions close here */
    for (struct replica *replica = engine->replicas->first; replica; replica = next) {
        next = replica->next;
        if (is_waiting(replica, for_valkey)) join_group(engine, group, replica);
    }
    if (--group->replicas == 0) give_up_group(engine, group);
}

/* --- Functions alone --- */

static bool take_bytes(void *arg, const void *bytes, size_t len) {
    sds *text = arg;
    *text = sds_append(*text, slice_make(bytes, len));
    return true;
}

/* The replica wants only the libraries of functions: these are a payload of known length. */
static void send_functions(struct engine *engine, struct replica *replica) {
    sds text = sds_new(SLICE(""));
    struct rdb_writer writer;
    rdb_writer_start(&writer, (struct rdb_sink){.write = take_bytes, .arg = &text},
                     engine->config.rdbcompression, engine->config.rdbchecksum);
    snapshot_write_header(engine, &writer, SNAPSHOT_RDB);
    rdb_write_end(&writer);
    rdb_writer_end(&writer);
    history_feed(engine); /* the payload is as of now */
    command_log_repeat_database(&engine->command_log);
    struct sync_group *group = group_new(engine);
    payload_put(group->payload, sds_slice(text));
    sds_free(text);
    join_group(engine, group, replica);
}

/* --- When --- */

void full_sync_ask(struct engine *engine, struct replica *replica) {
    struct sync_group *writing = engine->full_sync->writing;
    replica->state = REPLICA_WAITS;
    replica->waits_ms = engine->steady_ms;
    if (replica->only_functions) {
        send_functions(engine, replica);
    } else if (writing && writing->takes_replicas && writing->for_valkey == replica->is_valkey) {
        log_notice("Waiting for end of BGSAVE for SYNC");
        join_group(engine, writing, replica);
    }
}

/* Replicas that wait for the same form as the first one that waits. */
struct waiting {
    size_t count;
    bool for_valkey;
    bool takes_eof; /* all of them do */
    int64_t since_ms;
};

static struct waiting waiting_replicas(struct engine *engine) {
    struct waiting waiting = {.takes_eof = true, .since_ms = INT64_MAX};
    for (const struct replica *replica = engine->replicas->first; replica;
         replica = replica->next) {
        if (replica->state != REPLICA_WAITS) continue;
        if (waiting.count == 0) waiting.for_valkey = replica->is_valkey;
        if (!is_waiting(replica, waiting.for_valkey)) continue;
        waiting.count++;
        waiting.takes_eof = waiting.takes_eof && replica->takes_eof;
        if (replica->waits_ms < waiting.since_ms) waiting.since_ms = replica->waits_ms;
    }
    return waiting;
}

/* Streaming begins some time after the first replica has asked, so that others that come until then
 * are served by the same snapshot. */
static bool is_due(struct engine *engine, const struct waiting *waiting) {
    const struct config *config = &engine->config;
    const struct full_sync *sync = engine->full_sync;
    int64_t now_ms = engine->steady_ms, period_ms = config->repl_diskless_sync_period * 1000;
    if (waiting->count == 0 || incremental_is_busy(engine) || now_ms < sync->retry_ms) return false;
    if (!config->repl_diskless_sync || !waiting->takes_eof) return true;
    if (sync->begun_ms && now_ms - sync->begun_ms < period_ms) return false;
    if (config->repl_diskless_sync_max_replicas > 0 &&
        waiting->count >= (size_t)config->repl_diskless_sync_max_replicas)
        return true;
    return now_ms - waiting->since_ms >= config->repl_diskless_sync_delay * 1000;
}

bool full_sync_step(struct engine *engine) {
    struct full_sync *sync = engine->full_sync;
    struct waiting waiting = waiting_replicas(engine);
    if (is_due(engine, &waiting))
        begin_group(engine, engine->config.repl_diskless_sync && waiting.takes_eof,
                    waiting.for_valkey);
    bool more = false;
    struct sync_group *next;
    for (struct sync_group *group = sync->first; group; group = next) {
        next = group->next;
        more |= payload_step(group->payload);
        if (payload_has_failed(group->payload)) {
            log_warning("Cannot read the snapshot for replicas");
            group_fail(engine, group);
        }
    }
    return more;
}

size_t full_sync_allocated(const struct engine *engine) {
    size_t bytes = 0;
    for (const struct sync_group *group = engine->full_sync->first; group; group = group->next)
        bytes += sizeof(*group) + payload_allocated(group->payload);
    return bytes;
}
