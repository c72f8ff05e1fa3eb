/* aof_life: turns the append-only file on and off, at the start, at the end and in between. */
#include "aof/aof.h"
#include "aof/aof_files.h"
#include "aof/aof_internal.h"
#include "base/files/file.h"
#include "base/files/new_file.h"
#include "base/log/log.h"
#include "engine/blocking.h"
#include "engine/put_off.h"
#include "snapshot/data_lock.h"
#include "snapshot/disk_file.h"
#include "snapshot/incremental.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

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
        engine->aof->rewrite.scheduled = true;
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

void aof_configure_late(struct engine *engine) {
    if (turn_as_configured(engine)) return;
    log_warning("Unable to turn on AOF after the transaction that did so: appendonly is no again");
    engine->config.appendonly = false;
    data_lock_release_for_aof(engine);
}

/* --- Start and end --- */

/* Opens the last increment at its end, or creates the first increment. Returns the descriptor, or
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
    engine->aof->sync_ended = aof_rewrite_note_sync;
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
    aof_note_sync(engine, opening.error);
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
    return aof_drain(engine) && !(engine->restrictions & RESTRICTED_UNWRITTEN);
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
    if (aof->sync_error) aof->rewrite.scheduled = true; /* as the server may still go on */
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
