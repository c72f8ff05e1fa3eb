/* A payload is the bytes of one full synchronization, of which each of its replicas takes a copy at
 * its own pace (outflow.h).
 *
 *      $EOF:<mark> | snapshot … | <mark>        streamed: written by the snapshot's thread
 *      $<length>   | snapshot …                 from a file: read by threads of the pool
 *
 *      thread   block, block … ── lock ──┐
 *      loop                              └─ collect ── backlog ── outflows
 *
 * At most PAYLOAD_AHEAD_MAX bytes are ahead of the slowest replica; then the writer of the payload
 * waits. Everything belongs to the loop, but for what the lock protects; for `filling`, which
 * belongs to the thread until the stream is released; and for `reading`, the pool's while
 * is_reading. */
#include "replication/primary/full_sync.h"

#include "base/chain.h"
#include "base/files/file.h"
#include "base/files/new_file.h"
#include "base/hash/random.h"
#include "base/log/log.h"
#include "base/memory/alloc.h"
#include "base/text/sds.h"
#include "engine/claim.h"
#include "engine/engine.h"
#include "net/loop/pool.h"
#include "net/loop/wake.h"
#include "replication/history/history.h"
#include "replication/primary/replicas.h"
#include "session/outbox.h"
#include "session/session.h"
#include "snapshot/data_lock.h"
#include "snapshot/disk_file.h"
#include "snapshot/incremental.h"
#include "snapshot/snapshot.h"
#include "snapshot/snapshot_thread.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef TINY_LIMITS
enum { PAYLOAD_AHEAD_MAX = 64 };
#else
enum { PAYLOAD_AHEAD_MAX = 4 * 1024 * 1024 };
#endif
enum { MARK_LEN = 40, RETRY_AFTER_MS = 1000 };

struct payload {
    struct net *net;
    struct net_wake *wake;
    struct backlog *bytes;
    uint64_t header; /* bytes before the snapshot */
    char mark[MARK_LEN + 1];
    bool is_streamed;
    bool has_thread; /* the snapshot's thread may use it */
    bool is_whole;
    bool has_failed;
    bool is_given_up;
    /* A file. */
    int fd; /* -1: none */
    uint64_t unread;
    bool is_reading;
    int read_error;
    struct backlog_block *reading;
    /* Shared with the snapshot's thread; the lock protects it. */
    pthread_mutex_t lock;
    pthread_cond_t moved;
    struct backlog_block *first; /* written, but not collected */
    struct backlog_block *last;
    uint64_t written; /* bytes of all blocks so far */
    uint64_t taken;   /* of these, what all replicas have */
    bool is_closed;   /* nothing more is wanted */
    struct backlog_block *filling;
};

static struct payload *payload_new(struct net *net, struct net_wake *wake) {
    struct payload *payload = mem_alloc_zeroed(sizeof(*payload));
    payload->net = net;
    payload->wake = wake;
    payload->bytes = backlog_new(0, 0);
    payload->fd = -1;
    pthread_mutex_init(&payload->lock, NULL);
    pthread_cond_init(&payload->moved, NULL);
    return payload;
}

/* Appends what the thread has written. */
static void collect(struct payload *payload) {
    pthread_mutex_lock(&payload->lock);
    struct backlog_block *block = payload->first, *next;
    payload->first = payload->last = NULL;
    pthread_mutex_unlock(&payload->lock);
    for (; block; block = next) {
        next = block->next;
        backlog_append_block(payload->bytes, block);
    }
}

static void free_if_unused(struct payload *payload) {
    if (!payload->is_given_up || payload->has_thread || payload->is_reading) return;
    collect(payload);
    mem_free(payload->filling);
    mem_free(payload->reading);
    if (payload->fd >= 0) close(payload->fd);
    backlog_free(payload->bytes);
    pthread_cond_destroy(&payload->moved);
    pthread_mutex_destroy(&payload->lock);
    mem_free(payload);
}

/* --- The snapshot's thread --- */

/* Passes the block that is being filled to the loop. */
static void pass_filling(struct payload *payload) {
    struct backlog_block *block = payload->filling;
    payload->filling = NULL;
    if (!block) return;
    pthread_mutex_lock(&payload->lock);
    CHAIN_QUEUE(payload->first, payload->last, block, next);
    payload->written += block->used;
    pthread_mutex_unlock(&payload->lock);
    net_wake(payload->wake);
}

/* Waits until the replicas are not too far behind. Returns false when nothing more is wanted. */
static bool wait_for_room(struct payload *payload) {
    pthread_mutex_lock(&payload->lock);
    while (!payload->is_closed && payload->written - payload->taken >= PAYLOAD_AHEAD_MAX)
        pthread_cond_wait(&payload->moved, &payload->lock);
    bool is_open = !payload->is_closed;
    pthread_mutex_unlock(&payload->lock);
    return is_open;
}

static bool take_streamed(void *arg, const void *bytes, size_t len) {
    struct payload *payload = arg;
    const char *at = bytes;
    while (len > 0) {
        if (!payload->filling) {
            if (!wait_for_room(payload)) {
                errno = ECANCELED;
                return false;
            }
            payload->filling = mem_alloc(sizeof(*payload->filling));
            payload->filling->used = 0;
        }
        struct backlog_block *block = payload->filling;
        size_t room = BACKLOG_BLOCK - block->used, part = len < room ? len : room;
        memcpy(block->bytes + block->used, at, part);
        block->used += part;
        at += part;
        len -= part;
        if (block->used == BACKLOG_BLOCK) pass_filling(payload);
    }
    return true;
}

static void release_stream(void *arg) {
    struct payload *payload = arg;
    payload->has_thread = false;
    free_if_unused(payload);
}

/* --- A payload that is streamed, in the loop --- */

static void put_header(struct payload *payload, const char *text) {
    backlog_append(payload->bytes, slice_of_cstr(text));
    payload->header = payload->bytes->end;
}

static struct snapshot_stream payload_begin_stream(struct payload *payload) {
    char header[MARK_LEN + 16];
    random_hex(payload->mark, MARK_LEN);
    snprintf(header, sizeof(header), "$EOF:%s\r\n", payload->mark);
    put_header(payload, header);
    payload->is_streamed = payload->has_thread = true;
    return (struct snapshot_stream){take_streamed, release_stream, payload};
}

/* The thread has written its last byte. */
static void payload_end_stream(struct payload *payload) {
    pass_filling(payload);
    collect(payload);
    backlog_append(payload->bytes, slice_make(payload->mark, MARK_LEN));
    payload->is_whole = true;
}

static void note_taken(struct payload *payload) {
    uint64_t begin = payload->bytes->begin;
    pthread_mutex_lock(&payload->lock);
    payload->taken = begin > payload->header ? begin - payload->header : 0;
    pthread_cond_signal(&payload->moved);
    pthread_mutex_unlock(&payload->lock);
}

/* --- A payload from a file --- */

/* Runs in a thread of the pool. */
static void read_block(void *arg) {
    struct payload *payload = arg;
    struct backlog_block *block = payload->reading;
    size_t most = payload->unread < BACKLOG_BLOCK ? (size_t)payload->unread : BACKLOG_BLOCK;
    ssize_t got = file_read_some(payload->fd, block->bytes, most);
    payload->read_error = got > 0 ? 0 : got < 0 ? errno : EIO;
    block->used = got > 0 ? (size_t)got : 0;
}

static void read_on(struct payload *payload);

static void after_read(void *arg) {
    struct payload *payload = arg;
    struct backlog_block *block = payload->reading;
    payload->is_reading = false;
    payload->reading = NULL;
    if (payload->is_given_up || payload->read_error) {
        mem_free(block);
        payload->has_failed = true;
        free_if_unused(payload);
        return;
    }
    payload->unread -= block->used;
    backlog_append_block(payload->bytes, block);
    payload->is_whole = payload->unread == 0;
    read_on(payload);
}

/* Reads the next block, unless the replicas are too far behind. */
static void read_on(struct payload *payload) {
    bool is_full = backlog_len(payload->bytes) >= PAYLOAD_AHEAD_MAX;
    if (payload->fd < 0 || payload->is_reading || payload->is_whole || is_full) return;
    if (payload->has_failed) return;
    payload->reading = mem_alloc(sizeof(*payload->reading));
    payload->is_reading = true;
    net_pool_run(payload->net, read_block, after_read, payload);
}

static void put_length(struct payload *payload, uint64_t len) {
    char header[32];
    snprintf(header, sizeof(header), "$%llu\r\n", (unsigned long long)len);
    put_header(payload, header);
}

static bool payload_begin_file(struct payload *payload, const char *path) {
    struct stat facts;
    payload->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (payload->fd < 0) return false;
    unlink(path);
    if (fstat(payload->fd, &facts) != 0) return false;
    payload->unread = (uint64_t)facts.st_size;
    put_length(payload, payload->unread);
    read_on(payload);
    return true;
}

static void payload_put(struct payload *payload, struct slice bytes) {
    put_length(payload, bytes.len);
    backlog_append(payload->bytes, bytes);
    payload->is_whole = true;
}

/* --- Any payload --- */

static bool payload_step(struct payload *payload) {
    if (payload->has_thread) collect(payload);
    uint64_t begin = payload->bytes->begin;
    bool more = backlog_trim(payload->bytes);
    if (payload->has_thread && payload->bytes->begin != begin) note_taken(payload);
    read_on(payload);
    return more;
}

static void payload_give_up(struct payload *payload) {
    payload->is_given_up = true;
    pthread_mutex_lock(&payload->lock);
    payload->is_closed = true;
    pthread_cond_signal(&payload->moved);
    pthread_mutex_unlock(&payload->lock);
    free_if_unused(payload);
}

/* --- Groups --- */

struct sync_group {
    struct payload *payload;
    uint64_t offset;     /* of the stream, at which the data is */
    bool takes_replicas; /* its snapshot is being written to a file */
    bool for_valkey;     /* see struct rdb_writer */
    size_t replicas;
    struct sync_group *prev;
    struct sync_group *next;
};

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
    engine->full_sync->retry_ms = engine->steady_ms + RETRY_AFTER_MS;
    replicas_close(engine, group);
}

/* The replica begins to get the payload. */
static void send_bulk(struct engine *engine, struct replica *replica) {
    replica->state = REPLICA_LOADS;
    replica->progress_ms = engine->steady_ms;
    outflow_begin(&replica->bulk, replica->group->payload->bytes, 0);
}

/* The replica gets the payload, and later the stream. Its session may be closed by that. */
static void join_group(struct engine *engine, struct sync_group *group, struct replica *replica) {
    replica->group = group;
    group->replicas++;
    outflow_begin(&replica->stream, engine->history->backlog, group->offset);
    if (group->takes_replicas)
        replica->state = REPLICA_WAITS_FILE;
    else
        send_bulk(engine, replica);
    if (replica->is_silent) return;
    sds line = sds_format("+FULLRESYNC %s %llu\r\n", engine->history->id,
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
    *marked = payload->is_streamed;
    return payload->is_whole && outflow_left(&replica->bulk) == 0;
}

/* --- Snapshots --- */

/* The file is complete: the replicas that wait for it are sent it. */
static void send_file(struct engine *engine, struct sync_group *group, const char *path) {
    group->takes_replicas = false;
    if (!payload_begin_file(group->payload, path)) {
        log_warning("Cannot read the snapshot for replicas %s: %s", path, strerror(errno));
        group_fail(engine, group);
        return;
    }
    for (struct replica *replica = engine->replicas->first; replica; replica = replica->next)
        if (replica->group == group) send_bulk(engine, replica);
}

static void snapshot_ended(struct engine *engine, const struct incremental_end *end) {
    struct full_sync *sync = engine->full_sync;
    struct sync_group *group = sync->writing;
    sync->writing = NULL;
    data_lock_note_save_ended(engine);
    if (end->error && end->temporary) unlink(end->temporary);
    if (end->error && !end->was_stopped)
        log_warning("The snapshot for replicas has failed: %s",
                    end->error == ENOBUFS ? "keys change faster than it is sent"
                                          : strerror(end->error));
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
    if (!has_begun && streamed) group->payload->has_thread = false;
    sds_free(path);
    return has_begun;
}

/* Begins a synchronization for all replicas that wait for the same form. */
static void begin_group(struct engine *engine, bool streamed, bool for_valkey) {
    struct full_sync *sync = engine->full_sync;
    claims_end_all(engine);
    history_feed(engine); /* the snapshot has what these works have just written */
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

/* The replica wants only the libraries of functions: these are a payload of known length. */
static void send_functions(struct engine *engine, struct replica *replica) {
    sds text = sds_new(SLICE(""));
    struct rdb_writer writer;
    rdb_writer_start(&writer, (struct rdb_sink){.write = rdb_sink_append, .arg = &text},
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
        if (group->payload->has_failed) {
            log_warning("Cannot read the snapshot for replicas");
            group_fail(engine, group);
        }
    }
    return more;
}

size_t full_sync_allocated(const struct engine *engine) {
    size_t bytes = 0;
    for (const struct sync_group *group = engine->full_sync->first; group; group = group->next)
        bytes +=
            sizeof(*group) + sizeof(*group->payload) + backlog_allocated(group->payload->bytes);
    return bytes;
}
