/* aof: see the head of aof.h.
 *
 *      command log → buffer → write → file → fdatasync (loop or pool)
 *
 * Invariants: the file followed by the buffer holds whole units; file_size lies inside one only
 * after a short write that could not be cut off. A job of the pool has its own descriptor, so the
 * file may be closed while the job runs. */
#include "aof/aof.h"
#include "aof/aof_files.h"
#include "aof/aof_internal.h"
#include "base/alloc.h"
#include "base/checked.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/new_file.h"
#include "engine/blocking.h"
#include "engine/slow.h"
#include "net/loop/pool.h"
#include "persist/command_reader.h"
#include "snapshot/data_lock.h"
#include "snapshot/disk_file.h"
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

/* Opens the gate for changes that were taken from the log. aof_flush calls write and, with
 * `always`, fdatasync before anything is sent. If write waits for a busy disk, replies do not.
 * While writing fails, commands that write are refused, so the gate holds nothing. */
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
    aof_rewrite_schedule(engine);
    note_errors(engine);
}

void aof_note_doubt(struct engine *engine) {
    note_sync(engine, EIO, engine->aof->generation);
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
    aof_rewrite_note_sync(engine);
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

/* Without a descriptor for the thread the loop itself calls fdatasync: skipping it would break the
 * promise. */
static void sync_in_pool_or_now(struct engine *engine, int64_t now_us) {
    if (!sync_in_pool(engine, now_us)) sync_now(engine);
}

static void sync_if_due(struct engine *engine, int64_t now_us) {
    struct aof *aof = engine->aof;
    bool waits = engine->config.no_appendfsync_on_rewrite && incremental_is_busy(engine);
    if (aof->sync_begun_size == aof->file_size || waits) return;
    if (policy_is(engine, AOF_FSYNC_ALWAYS))
        sync_before_replies(engine);
    else if (policy_is(engine, AOF_FSYNC_EVERYSEC) && aof->pending_fsyncs == 0 &&
             now_us - aof->synced_us >= SECOND_US)
        sync_in_pool_or_now(engine, now_us);
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
    else if (buffer->capacity > AOF_BUFFER_KEEP_MAX)
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
    reply_raw(&aof->buffer, slice_make(line, aof_time_line(line, now_s)));
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

/* --- Turning it on and off --- */

static void turn_off(struct engine *engine) {
    struct aof *aof = engine->aof;
    assert(!command_log_is_inside_unit(&engine->command_log));
    aof_rewrite_cancel(engine);
    aof_make_durable(engine);
    aof->rewrite.scheduled = false;
    aof->state = AOF_OFF;
    blocking_note_synced(engine->blocking);
    aof_detach(engine);
    data_lock_release_for_aof(engine);
}

/* Cancels a rewrite that began while the file was off: no increment follows its base. */
static bool turn_on(struct engine *engine) {
    aof_rewrite_cancel(engine);
    if (!aof_files_open(engine)) return false;
    engine->aof->state = AOF_STARTING;
    if (incremental_is_busy(engine)) {
        log_notice("AOF is turned on as soon as the snapshot that is being written has ended.");
        aof_rewrite_schedule(engine);
        return true;
    }
    if (aof_rewrite_begin(engine)) return true;
    turn_off(engine);
    return false;
}

void aof_suspend(struct engine *engine) {
    if (engine->aof->state != AOF_OFF) turn_off(engine);
}

/* Returns false when the file should be turned on, but cannot. */
static bool turn_as_configured(struct engine *engine) {
    bool wanted = engine->config.appendonly;
    if (wanted == (engine->aof->state != AOF_OFF)) return true;
    if (wanted) return turn_on(engine);
    turn_off(engine);
    return true;
}

/* The client that changed the directive in a transaction has its reply, so an error can only be
 * logged, and shown by the directive. */
static void configure_late(struct engine *engine) {
    if (turn_as_configured(engine)) return;
    log_warning("Unable to turn on AOF after the transaction that did so: appendonly is no again");
    engine->config.appendonly = false;
    data_lock_release_for_aof(engine);
}

/* --- Start and end --- */

/* Opens the last increment at its end, or creates one if there is none. Returns the descriptor, or
 * -1. */
static int open_increment(struct engine *engine, uint64_t *size) {
    const struct aof_file *file = aof_manifest_last(&engine->aof->manifest);
    *size = 0;
    if (file == NULL) return aof_create_increment(engine);
    sds path = aof_files_path(engine, file->name);
    int fd = file_open_plain(path, O_WRONLY | O_APPEND);
    if (fd < 0 && errno == ENOENT) fd = new_file_open(path, O_APPEND);
    if (fd < 0) log_warning("Can't open the append-only file %s: %s", path, strerror(errno));
    sds_free(path);
    if (fd >= 0) *size = (uint64_t)lseek(fd, 0, SEEK_END);
    return fd;
}

static void flush_for_gate(void *arg) {
    aof_flush(arg);
}

void aof_init(struct engine *engine) {
    engine->reply_gate.flush = flush_for_gate;
    engine->reply_gate.arg = engine;
    engine->put_off.work[PUT_OFF_APPENDONLY] = configure_late;
    engine->aof->rewrite.last_seconds = -1;
    aof_files_set_dir(engine);
    disk_file_remove_leftovers(".", "temp-rewriteaof-bg-", ".aof");
    aof_files_remove_leftovers(engine);
}

/* Returns an errno, or 0. */
static int sync_files(struct engine *engine) {
    return aof_files_sync(engine) ? 0 : errno;
}

bool aof_open(struct engine *engine, struct aof_opening *opening) {
    if (!aof_files_open(engine) || !aof_files_adopt_old(engine)) return false;
    opening->is_new = engine->aof->manifest.count == 0;
    opening->error = opening->is_new ? 0 : sync_files(engine); /* the load may take long */
    return true;
}

bool aof_begin(struct engine *engine, struct aof_opening opening) {
    struct aof *aof = engine->aof;
    assert(aof->state == AOF_OFF);
    uint64_t size = 0;
    int fd = opening.is_new ? aof_write_first_files(engine) : open_increment(engine, &size);
    if (fd < 0) return false;
    aof->state = AOF_ON;
    aof_attach(engine, fd, size);
    if (!opening.is_new && !opening.error)
        opening.error = sync_files(engine); /* the load may have cut one */
    if (!opening.is_new && !opening.error) aof_files_remove_unnamed_base(engine);
    note_sync(engine, opening.error, aof->generation);
    aof_files_drop_history(engine); /* left by a killed server */
    return true;
}

static bool has_files(struct engine *engine) {
    if (engine->aof->manifest.count > 0) return true;
    log_warning("There is no append-only file to load");
    return false;
}

/* Writes all pending changes; with `always` also syncs them. */
static bool bring_up_to_date(struct engine *engine) {
    aof_flush(engine);
    return aof_drain(engine) && !has_failed(engine);
}

bool aof_prepare_reload(struct engine *engine) {
    struct aof *aof = engine->aof;
    if (command_log_is_inside_unit(&engine->command_log)) {
        log_warning("The append-only file is not loaded in the middle of a transaction");
        return false;
    }
    if (aof->state == AOF_OFF && !aof_rewrite_is_running(engine))
        return aof_files_open(engine) && aof_files_adopt_old(engine) && has_files(engine);
    if (aof->state == AOF_ON && !aof->rewrite.apart && bring_up_to_date(engine)) return true;
    log_warning("The append-only file is not complete at the moment");
    return false;
}

bool aof_configure(struct engine *engine, sds *error) {
    if (engine->restrictions & RESTRICTED_LOADING) return true;
    if (command_log_is_inside_unit(&engine->command_log) && put_off_add(engine, PUT_OFF_APPENDONLY))
        return true;
    if (turn_as_configured(engine)) return true;
    *error = sds_new(SLICE("Unable to turn on AOF. Check server logs."));
    return false;
}

void aof_tick(struct engine *engine) {
    if (command_log_is_inside_unit(&engine->command_log)) return; /* a script's that runs on */
    aof_rewrite_tick(engine);
}

/* A rewrite that keeps failing does not prevent the end. */
bool aof_prevents_end(struct engine *engine, int options) {
    if (engine->aof->state != AOF_STARTING || options & SHUTDOWN_FORCE) return false;
    if (aof_rewrite_is_running(engine)) return true;
    return !engine->aof->rewrite.failed && !(options & SHUTDOWN_NOSAVE);
}

bool aof_at_end(struct engine *engine, int options) {
    struct aof *aof = engine->aof;
    if (aof_prevents_end(engine, options)) {
        log_warning("Writing initial AOF, can't exit.");
        return false;
    }
    if (aof_rewrite_is_running(engine)) log_warning("The AOF is being rewritten. Ending that!");
    aof_rewrite_cancel(engine);
    if (aof->sync_error) aof_rewrite_schedule(engine); /* as the server may still go on */
    return true;
}

void aof_stop(struct engine *engine) {
    struct aof *aof = engine->aof;
    aof_rewrite_cancel(engine); /* one may have begun after aof_at_end */
    if (aof->state != AOF_ON) return;
    log_notice("Calling fsync() on the AOF file.");
    if (!aof_make_durable(engine))
        log_warning("%zu bytes of changes could not be written.", aof->buffer.len);
}

void aof_free(struct engine *engine) {
    struct aof *aof = engine->aof;
    if (aof->is_open) close(aof->fd);
    reply_free(&aof->buffer);
    aof_manifest_free(&aof->manifest);
    sds_free(aof->dir);
    sds_free(aof->rewrite.apart);
}
