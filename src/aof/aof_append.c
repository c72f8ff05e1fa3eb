/* aof_append: the file that changes are appended to.
 *
 *      command log → buffer → write → file → fdatasync (loop or pool)
 *
 * Invariants: the file followed by the buffer holds whole units; file_size lies inside one only
 * after a short write that could not be cut off. A job of the pool has its own descriptor, so the
 * file may be closed while the job runs. */
#include "aof/aof.h"
#include "aof/aof_internal.h"
#include "base/checked.h"
#include "base/clock.h"
#include "base/files/file.h"
#include "base/log/log.h"
#include "base/memory/alloc.h"
#include "engine/blocking.h"
#include "engine/slow.h"
#include "net/loop/pool.h"
#include "persist/command_reader.h"
#include "snapshot/incremental.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

enum {
    SECOND_US = 1000 * 1000,
    POSTPONE_MAX_US = 2 * SECOND_US, /* longest time that a write waits for a slow fdatasync */
    LOG_ERROR_EVERY_US = 30 * SECOND_US
};

/* A larger buffer of the file is freed when it is empty. */
enum { BUFFER_KEEP_MAX = 1024 * 1024 };

static bool policy_is(struct engine *engine, enum aof_fsync policy) {
    return engine->config.appendfsync == (int64_t)policy;
}

/* --- What is on the disk --- */

/* Returns the offset of the command log up to which everything is written. While the buffer is not
 * empty, that is the offset at which it was last empty: the buffer also holds annotations, so its
 * length says nothing. */
static uint64_t written_position(struct engine *engine) {
    struct aof *aof = engine->aof;
    if (aof->buffer.len == 0) aof->written_position = aof->reader.offset;
    return aof->written_position;
}

/* A pending increment, and a file whose fsync failed, prove nothing until the new base is
 * complete. */
static void publish_position(struct engine *engine) {
    struct aof *aof = engine->aof;
    if (aof->state != AOF_ON || aof->sync_error || aof->rewrite.apart) return;
    aof->synced_position = aof->file_position;
    blocking_note_synced(engine->blocking);
}

/* --- Errors --- */

static bool has_failed(struct engine *engine) {
    return engine->restrictions & RESTRICTED_UNWRITTEN;
}

/* Opens the gate for changes that were taken from the log: aof_flush calls write and, with
 * `always`, fdatasync (sync_if_due has the exception) before anything is sent. While writing fails,
 * commands that write are refused, so the gate holds nothing. */
static void update_gate(struct engine *engine) {
    struct aof *aof = engine->aof;
    bool gate_is_closed = aof->is_open && !has_failed(engine);
    engine->reply_gate.released = gate_is_closed ? aof->reader.offset : REPLY_GATE_OPEN;
}

/* Call after write_error or sync_error has changed. */
static void note_errors(struct engine *engine) {
    struct aof *aof = engine->aof;
    bool had_failed = has_failed(engine);
    engine->restrictions &= ~(uint32_t)RESTRICTED_UNWRITTEN;
    if (aof->write_error || aof->sync_error) engine->restrictions |= RESTRICTED_UNWRITTEN;
    if (has_failed(engine) && !had_failed && policy_is(engine, AOF_FSYNC_ALWAYS))
        engine->reply_gate.denies = true;
    update_gate(engine);
}

bool aof_forget_sync_error(struct engine *engine) {
    struct aof *aof = engine->aof;
    if (aof->sync_error) {
        if (aof->failed_generation == aof->generation) return false;
        log_warning(
            "The AOF file was rewritten after fsync had failed. The server can write again.");
        aof->sync_error = 0;
        note_errors(engine);
    }
    publish_position(engine);
    return true;
}

/* --- fdatasync --- */

struct sync_job {
    struct engine *engine;
    int fd;
    int error;
    unsigned generation;  /* of the file */
    uint64_t position;    /* written_position when the job began */
    pthread_mutex_t lock; /* held by the thread during fdatasync */
    bool has_ended;
    bool is_noted; /* of the loop: note_sync knows its error */
};

/* Notes that an fdatasync has succeeded which began when everything up to `position` was
 * written. */
static void note_position(struct engine *engine, uint64_t position) {
    struct aof *aof = engine->aof;
    if (position > aof->file_position) aof->file_position = position;
    publish_position(engine);
}

static void run_sync(void *arg) {
    struct sync_job *job = arg;
    pthread_mutex_lock(&job->lock);
    job->error = fdatasync(job->fd) == 0 ? 0 : errno;
    job->has_ended = true;
    pthread_mutex_unlock(&job->lock);
    close(job->fd);
}

/* After an error, no further fdatasync of this file proves anything: docs/durability.md, section
 * 8. */
static void note_sync(struct engine *engine, int error, unsigned generation) {
    struct aof *aof = engine->aof;
    if (!error || aof->state == AOF_OFF) return;
    if (!aof->sync_error) {
        log_warning("Fail to fsync the AOF file: %s. It is rewritten as soon as that can be done.",
                    strerror(error));
        aof->rewrite.not_before_us = 0;
    }
    if (!aof->sync_error || generation == aof->generation) aof->failed_generation = generation;
    aof->sync_error = error;
    aof->rewrite.scheduled = true;
    note_errors(engine);
}

void aof_note_sync(struct engine *engine, int error) {
    note_sync(engine, error, engine->aof->generation);
}

static void on_synced(void *arg) {
    struct sync_job *job = arg;
    struct engine *engine = job->engine;
    struct aof *aof = engine->aof;
    aof->pending_fsyncs--;
    aof->sync_job = NULL;
    if (!job->is_noted) note_sync(engine, job->error, job->generation);
    if (!job->error && job->generation == aof->generation) note_position(engine, job->position);
    pthread_mutex_destroy(&job->lock);
    mem_free(job);
    aof->sync_ended(engine);
}

/* Starts an fdatasync in the pool. Returns false when no descriptor is left for it. */
static bool sync_in_pool(struct engine *engine, int64_t now_us) {
    struct aof *aof = engine->aof;
    int fd = fcntl(aof->fd, F_DUPFD_CLOEXEC, 0);
    aof->synced_us = now_us;
    if (fd < 0) return false;
    struct sync_job *job = mem_alloc(sizeof(*job));
    *job = (struct sync_job){.engine = engine,
                             .fd = fd,
                             .generation = aof->generation,
                             .position = written_position(engine)};
    pthread_mutex_init(&job->lock, NULL);
    CHECKED_ASSERT(!aof->sync_job);
    aof->sync_job = job;
    aof->sync_begun_size = aof->file_size;
    aof->pending_fsyncs++;
    net_pool_run(engine->net, run_sync, on_synced, job);
    return true;
}

static void sync_now(struct engine *engine) {
    struct aof *aof = engine->aof;
    aof->sync_begun_size = aof->file_size;
    uint64_t begin = slow_begin(engine);
    int error = fdatasync(aof->fd) == 0 ? 0 : errno;
    slow_end(engine, LATENCY_AOF_SYNC, begin);
    note_sync(engine, error, aof->generation);
    if (!error) note_position(engine, written_position(engine));
}

/* For the policy `always`. The system reports lost data to one fdatasync only. That may be one in
 * the pool, begun before the policy was set, whose result the loop does not have yet: so replies
 * wait for it, too. One that has not begun yet leaves the report to the loop's own. */
static void sync_before_replies(struct engine *engine) {
    struct sync_job *job = engine->aof->sync_job;
    sync_now(engine);
    if (!job || engine->aof->sync_error) return;
    pthread_mutex_lock(&job->lock);
    bool has_ended = job->has_ended;
    pthread_mutex_unlock(&job->lock);
    if (!has_ended || job->is_noted) return;
    job->is_noted = true;
    note_sync(engine, job->error, job->generation);
}

static void sync_if_due(struct engine *engine, int64_t now_us) {
    struct aof *aof = engine->aof;
    bool waits = engine->config.no_appendfsync_on_rewrite && incremental_is_busy(engine);
    if (aof->sync_begun_size == aof->file_size || waits) return;
    if (policy_is(engine, AOF_FSYNC_ALWAYS)) sync_before_replies(engine);
    if (!policy_is(engine, AOF_FSYNC_EVERYSEC) || aof->pending_fsyncs > 0 ||
        now_us - aof->synced_us < SECOND_US)
        return;
    /* Without a descriptor for the thread the loop itself calls fdatasync: skipping it would break
     * the promise. */
    if (!sync_in_pool(engine, now_us)) sync_now(engine);
}

/* --- write --- */

static void drop_written(struct engine *engine, size_t count) {
    struct aof *aof = engine->aof;
    struct reply *buffer = &aof->buffer;
    aof->file_size += count;
    aof->total_size += count;
    buffer->len -= count;
    if (buffer->len > 0)
        memmove(buffer->data, buffer->data + count, buffer->len);
    else if (buffer->capacity > BUFFER_KEEP_MAX)
        reply_free(buffer);
}

/* Truncates the part of the buffer that was written, so that no incomplete command stays in the
 * file. If that fails, the part counts as written. */
static void remove_short_write(struct engine *engine, size_t written) {
    struct aof *aof = engine->aof;
    if (written == 0 || ftruncate(aof->fd, (off_t)aof->file_size) == 0) return;
    log_warning("Could not remove a short write from the append-only file: %s. The part stays "
                "until the rest can be written.",
                strerror(errno));
    drop_written(engine, written);
}

static void note_write_error(struct engine *engine, int error, int64_t now_us) {
    struct aof *aof = engine->aof;
    if (!aof->write_error || now_us - aof->error_logged_us > LOG_ERROR_EVERY_US) {
        log_warning("Error writing to the AOF file: %s", strerror(error));
        aof->error_logged_us = now_us;
    }
    aof->write_error = error;
    aof->tried_us = now_us;
    note_errors(engine);
}

/* Names what else is using the disk, as that may explain a slow write. */
static enum latency_kind kind_of_write(struct engine *engine) {
    if (engine->aof->pending_fsyncs) return LATENCY_AOF_WRITE_SYNC;
    return incremental_is_busy(engine) ? LATENCY_AOF_WRITE_CHILD : LATENCY_AOF_WRITE_ALONE;
}

static void write_buffer(struct engine *engine, int64_t now_us) {
    struct aof *aof = engine->aof;
    size_t written;
    aof->postponed_us = 0;
    uint64_t begin = slow_begin(engine);
    const struct reply *buffer = &aof->buffer;
    int error = file_write(aof->fd, buffer->data, buffer->len, &written) ? 0 : errno;
    slow_end(engine, kind_of_write(engine), begin);
    slow_end(engine, LATENCY_AOF_WRITE, begin);
    if (error) {
        remove_short_write(engine, written);
        note_write_error(engine, error, now_us);
        return;
    }
    drop_written(engine, written);
    if (!aof->write_error) return;
    log_warning("AOF write error looks solved. The server can write again.");
    aof->write_error = 0;
    note_errors(engine);
}

/* --- Each loop iteration --- */

/* Returns whether the buffer still waits for the fdatasync in the pool. */
static bool is_postponed(struct engine *engine, int64_t now_us) {
    struct aof *aof = engine->aof;
    if (!policy_is(engine, AOF_FSYNC_EVERYSEC) || aof->pending_fsyncs == 0) return false;
    if (aof->postponed_us == 0) aof->postponed_us = now_us;
    if (now_us - aof->postponed_us < POSTPONE_MAX_US) return true;
    aof->delayed_fsyncs++;
    log_notice("Asynchronous AOF fsync is taking too long (disk is busy?). Writing the AOF buffer "
               "without waiting for fsync to complete, this may slow down the server.");
    return false;
}

/* With aof-timestamp-enabled, the time precedes the first change of each second. It never goes
 * back, even if the clock does: a tool that cuts a file at a given time looks for the first later
 * one. */
static void annotate(struct command_log_reader *reader) {
    struct engine *engine = reader->arg;
    struct aof *aof = engine->aof;
    int64_t now_s = engine->now_ms / 1000;
    char line[AOF_TIME_LINE_MAX];
    if (!engine->config.aof_timestamps || now_s <= aof->timestamp_s) return;
    command_log_read(&engine->command_log, reader, &aof->buffer); /* earlier units first */
    reply_raw(&aof->buffer, slice_make(line, command_reader_time_line(line, now_s)));
    aof->timestamp_s = now_s;
}

static void read_log(struct engine *engine) {
    struct aof *aof = engine->aof;
    if (aof->reader.offset == command_log_units_end(&engine->command_log)) return;
    command_log_read(&engine->command_log, &aof->reader, &aof->buffer);
    update_gate(engine);
}

static void flush(struct engine *engine, int64_t now_us) {
    struct aof *aof = engine->aof;
    bool may_write = !aof->write_error || now_us - aof->tried_us >= SECOND_US;
    if (aof->buffer.len > 0 && may_write && !is_postponed(engine, now_us))
        write_buffer(engine, now_us);
    if (!aof->write_error) sync_if_due(engine, now_us);
}

void aof_flush(struct engine *engine) {
    struct aof *aof = engine->aof;
    if (!aof->is_open) return;
    read_log(engine);
    if (aof->buffer.len > 0 || aof->sync_begun_size != aof->file_size)
        flush(engine, clock_monotonic_us());
}

/* --- What others see --- */

const char *aof_error(struct engine *engine) {
    struct aof *aof = engine->aof;
    int error = aof->write_error ? aof->write_error : aof->sync_error;
    return error ? strerror(error) : NULL;
}

bool aof_is_synced(struct engine *engine, uint64_t position) {
    struct aof *aof = engine->aof;
    return aof->state == AOF_ON && position <= aof->synced_position;
}

/* Returns the bytes that count: a small empty buffer is kept for reuse and does not. */
static size_t size_of_buffer(const struct reply *buffer) {
    return buffer->capacity > BUFFER_KEEP_MAX ? buffer->capacity : buffer->len;
}

size_t aof_buffer_size(struct engine *engine) {
    struct aof *aof = engine->aof;
    if (aof->state == AOF_OFF) return 0;
    return size_of_buffer(&aof->buffer) + size_of_buffer(&engine->command_log.bytes);
}

/* --- The file --- */

bool aof_drain(struct engine *engine) {
    struct aof *aof = engine->aof;
    if (!aof->is_open) return true;
    read_log(engine);
    if (aof->buffer.len > 0) write_buffer(engine, clock_monotonic_us());
    return aof->buffer.len == 0;
}

/* Returns whether an fdatasync for all written bytes has ended, even in error. */
static bool is_durable(struct engine *engine) {
    struct aof *aof = engine->aof;
    return aof->pending_fsyncs == 0 && aof->sync_begun_size == aof->file_size;
}

bool aof_make_durable(struct engine *engine) {
    if (!aof_drain(engine)) return false;
    if (engine->aof->is_open && !is_durable(engine)) sync_now(engine);
    return true;
}

/* Not with `always`: replies would leave before the thread's fdatasync has ended. */
bool aof_make_durable_begin(struct engine *engine) {
    struct aof *aof = engine->aof;
    if (aof->state != AOF_ON || policy_is(engine, AOF_FSYNC_ALWAYS)) return false;
    if (aof->pending_fsyncs > 0) return true;
    return aof_drain(engine) && !is_durable(engine) && sync_in_pool(engine, clock_monotonic_us());
}

void aof_attach(struct engine *engine, int fd, uint64_t size) {
    struct aof *aof = engine->aof;
    assert(fd >= 0 && (!aof->is_open || aof->buffer.len == 0));
    if (aof->is_open) {
        close(aof->fd);
        command_log_repeat_database(&engine->command_log);
    } else {
        aof->reader.kind = COMMAND_LOG_FILE;
        aof->reader.unit_opens = annotate;
        aof->reader.arg = engine;
        command_log_add_reader(&engine->command_log, &aof->reader);
    }
    aof->is_open = true;
    aof->generation++;
    aof->fd = fd;
    aof->file_size = size;
    aof->sync_begun_size = 0; /* a killed server may have left the existing bytes unsynced */
    aof->synced_us = clock_monotonic_us();
    aof->file_position = written_position(engine);
    publish_position(engine);
    update_gate(engine);
}

void aof_detach(struct engine *engine) {
    struct aof *aof = engine->aof;
    if (!aof->is_open) return;
    close(aof->fd);
    command_log_remove_reader(&engine->command_log, &aof->reader);
    aof->is_open = false;
    sds_free(aof->rewrite.apart);
    aof->rewrite.apart = NULL;
    reply_free(&aof->buffer);
    aof->write_error = aof->sync_error = 0;
    note_errors(engine);
}
