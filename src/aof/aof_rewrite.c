/* aof_rewrite: replaces the append-only file by a shorter one, written from memory.
 *
 *      manifest        base 1   incr 1                  while the base is written:
 *      begin           base 1   incr 1   incr 2         changes go to incr 2
 *      done            base 2            incr 2         base 1 and incr 1 are history
 *      failed          base 1   incr 1   incr 2         nothing is lost
 *
 * incr 1 must be on the disk before incr 2 exists. The thread pool syncs it, several times, while
 * changes still go to it. The loop itself then syncs only what came after the last time:
 *
 *      requested ── waits (0 to SYNCS_MAX times) ── aof_make_durable, base begins, incr 2
 *
 * It also waits while a stopped snapshot still holds data (incremental_is_released).
 *
 * While the file is being turned on, and after a failed fsync, changes go to a pending increment,
 * which only the manifest of the new base names. docs/durability.md, section 6, gives the order of
 * all steps and the reason for each fsync. */
#include "aof/aof.h"
#include "aof/aof_files.h"
#include "aof/aof_internal.h"
#include "base/clock.h"
#include "base/files/new_file.h"
#include "base/log/log.h"
#include "base/memory/alloc.h"
#include "engine/claim.h"
#include "engine/slow.h"
#include "snapshot/disk_file.h"
#include "snapshot/incremental.h"
#include "snapshot/snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    /* After this many failures in a row, the next attempt waits for a minute, then twice as long
     * each time, up to an hour. While changes are refused it waits for only REFUSING_WAIT_US. */
    FAILURES_AT_ONCE = 3,
    WAIT_MAX_MINUTES = 60,
    MINUTE_US = 60 * 1000 * 1000,
    REFUSING_WAIT_US = 5 * 1000 * 1000
};

/* Each sync takes less time than the one before, as fewer bytes are new. */
enum { SYNCS_MAX = 4 };

bool aof_rewrite_is_running(struct engine *engine) {
    return incremental_purpose(engine) == BACKGROUND_AOF;
}

/* --- Names --- */

static sds new_temporary(struct engine *engine) {
    sds name = new_file_name("temp-rewriteaof-bg-", ".aof");
    sds path = aof_files_path_beside(engine, name);
    sds_free(name);
    return path;
}

static uint64_t size_of(const char *path) {
    struct stat facts;
    return stat(path, &facts) == 0 ? (uint64_t)facts.st_size : 0;
}

/* --- The base --- */

static void log_write_error(const char *path, int error) {
    log_warning("Write error writing append only file on disk: %s (%s)", strerror(error), path);
}

static enum snapshot_form form_of_base(const struct engine *engine) {
    return engine->aof->rewrite.is_rdb ? SNAPSHOT_AOF_BASE : SNAPSHOT_COMMANDS;
}

/* --- Increments --- */

static int create(const char *path) {
    unlink(path); /* not O_TRUNC: after a power failure the old bytes could be back */
    int fd = new_file_open(path, O_APPEND);
    if (fd < 0) log_warning("Can't create the append-only file %s: %s", path, strerror(errno));
    return fd;
}

/* Creates a file that the next manifest names: its own name must be on the disk first. */
static int create_for_manifest(const char *path) {
    int fd = create(path);
    if (fd < 0 || new_file_sync_folder_of(path)) return fd;
    log_warning("Can't bring the name of the append-only file %s to disk: %s", path,
                strerror(errno));
    close(fd);
    unlink(path);
    return -1;
}

int aof_create_increment(struct engine *engine) {
    struct aof *aof = engine->aof;
    struct aof_manifest next;
    aof_manifest_copy(&next, &aof->manifest);
    const char *name = aof_manifest_add_incr(&next, engine->config.appendfilename)->name;
    log_notice("Creating AOF incr file %s on %s", name,
               aof->is_open ? "background rewrite" : "server start");
    sds path = aof_files_path(engine, name);
    int fd = create_for_manifest(path);
    enum aof_adoption adoption = AOF_NOT_ADOPTED;
    if (fd < 0)
        aof_manifest_free(&next);
    else
        adoption = aof_files_adopt(engine, &next);
    if (fd >= 0 && adoption != AOF_ADOPTED) close(fd);
    if (fd >= 0 && adoption == AOF_NOT_ADOPTED) unlink(path);
    sds_free(path);
    return adoption == AOF_ADOPTED ? fd : -1;
}

/* Creates the pending increment: it receives changes when no file of the manifest may precede
 * them. */
static int create_apart(struct engine *engine) {
    struct aof_rewrite *rewrite = &engine->aof->rewrite;
    sds path = aof_files_temporary(engine, ".incr");
    int fd = create(path);
    if (fd < 0) {
        sds_free(path);
        return -1;
    }
    flock(fd, LOCK_EX | LOCK_NB);
    if (rewrite->apart) unlink(rewrite->apart); /* that of a rewrite that has failed */
    sds_free(rewrite->apart);
    rewrite->apart = path;
    return fd;
}

/* --- The end --- */

/* Renames the pending increment and adds it to `next`. */
static bool name_apart(struct engine *engine, struct aof_manifest *next) {
    sds path =
        aof_files_path(engine, aof_manifest_add_incr(next, engine->config.appendfilename)->name);
    bool done = disk_file_rename(engine->aof->rewrite.apart, path);
    sds_free(path);
    return done;
}

/* Call when the manifest that names the new base is in force. */
static void note_new_base(struct engine *engine, uint64_t base_size) {
    struct aof *aof = engine->aof;
    aof->size_after_rewrite = aof->total_size = base_size + aof->file_size;
    sds_free(aof->rewrite.apart);
    aof->rewrite.apart = NULL;
    if (aof->state == AOF_STARTING) aof->state = AOF_ON;
}

/* Makes the file at `temporary` the base, and puts a manifest with it in force. */
static enum aof_adoption adopt_base(struct engine *engine, const char *temporary) {
    struct aof *aof = engine->aof;
    struct aof_rewrite *rewrite = &engine->aof->rewrite;
    enum aof_adoption adoption = AOF_NOT_ADOPTED;
    struct aof_manifest next;
    aof_manifest_copy(&next, &aof->manifest);
    const char *prefix = engine->config.appendfilename;
    sds path = aof_files_path(engine, aof_manifest_add_base(&next, prefix, rewrite->is_rdb)->name);
    uint64_t begin = slow_begin(engine);
    bool done = disk_file_rename(temporary, path);
    slow_end(engine, LATENCY_AOF_RENAME, begin);
    aof_manifest_retire_incrs(&next, aof->state == AOF_ON && !rewrite->apart);
    if (rewrite->apart) done = done && name_apart(engine, &next);
    if (!done) {
        log_warning("Error trying to rename the temporary AOF file %s into %s: %s", temporary, path,
                    strerror(errno));
        aof_manifest_free(&next);
    } else {
        adoption = aof_files_adopt(engine, &next);
    }
    if (adoption == AOF_NOT_ADOPTED)
        unlink(path);
    else
        note_new_base(engine, size_of(path));
    sds_free(path);
    return adoption;
}

static void put_off(struct engine *engine) {
    struct aof_rewrite *rewrite = &engine->aof->rewrite;
    uint64_t doublings = rewrite->failures - FAILURES_AT_ONCE;
    int64_t minutes = doublings > 6 ? WAIT_MAX_MINUTES : INT64_C(1) << doublings;
    if (minutes > WAIT_MAX_MINUTES) minutes = WAIT_MAX_MINUTES;
    rewrite->not_before_us = clock_monotonic_us() + minutes * MINUTE_US;
    log_warning("Background AOF rewrite has repeatedly failed and triggered the limit, will retry "
                "in %lld minutes",
                (long long)minutes);
}

static void note_failure(struct engine *engine) {
    struct aof *aof = engine->aof;
    struct aof_rewrite *rewrite = &engine->aof->rewrite;
    rewrite->failed = true;
    bool again = ++rewrite->failures >= FAILURES_AT_ONCE;
    if (again && aof->sync_error)
        rewrite->not_before_us = clock_monotonic_us() + REFUSING_WAIT_US;
    else if (again)
        put_off(engine);
    /* Only a rewrite can complete a file that was turned on, or replace one that lacks its end. */
    if (aof->state == AOF_STARTING || aof->sync_error) rewrite->scheduled = true;
}

static void note_success(struct engine *engine) {
    struct aof_rewrite *rewrite = &engine->aof->rewrite;
    rewrite->failed = false;
    rewrite->failures = 0;
    rewrite->not_before_us = 0;
    rewrite->scheduled = !aof_forget_sync_error(engine);
    aof_files_drop_history(engine);
    log_notice("Background AOF rewrite finished successfully");
}

/* The base is complete (`ok`), or writing it has failed. */
static void base_ended(struct engine *engine, bool ok, bool was_stopped, const char *temporary) {
    bool was_starting = engine->aof->state == AOF_STARTING;
    enum aof_adoption adoption = ok ? adopt_base(engine, temporary) : AOF_NOT_ADOPTED;
    if (adoption == AOF_ADOPTED) {
        note_success(engine);
        return;
    }
    if (adoption == AOF_NOT_ADOPTED) unlink(temporary);
    if (adoption == AOF_IN_DOUBT && was_starting) aof_note_sync(engine, EIO);
    if (!was_stopped) note_failure(engine);
}

static void incremental_ended(struct engine *engine, const struct incremental_end *end) {
    struct aof_rewrite *rewrite = &engine->aof->rewrite;
    rewrite->last_seconds = end->seconds;
    rewrite->last_cow_size = end->memory_peak;
    if (!end->error)
        log_notice("Background AOF rewrite terminated with success");
    else if (!end->was_stopped)
        log_write_error(end->temporary, end->error);
    if (end->error) log_warning("Background AOF rewrite terminated with error");
    base_ended(engine, !end->error, end->was_stopped, end->temporary);
}

/* --- The beginning --- */

/* Makes changes go to a new increment, unless the file is off. */
static bool change_increment(struct engine *engine) {
    struct aof *aof = engine->aof;
    if (aof->state == AOF_OFF) return true;
    bool is_apart = aof->state == AOF_STARTING || aof->sync_error;
    int fd = is_apart ? create_apart(engine) : aof_create_increment(engine);
    if (fd < 0) return false;
    aof_attach(engine, fd, 0);
    return true;
}

static bool begin_base(struct engine *engine) {
    sds temporary = new_temporary(engine);
    struct incremental_order order = {
        .purpose = BACKGROUND_AOF,
        .temporary = temporary,
        .sync_in_stretches = engine->config.aof_incremental_fsync,
        .form = form_of_base(engine),
        .ended = incremental_ended,
    };
    bool has_begun = incremental_begin(engine, &order);
    sds_free(temporary);
    return has_begun;
}

/* The base holds the current data. No change may come before the new increment exists. */
static bool begin(struct engine *engine) {
    claims_end_all(engine);
    if (engine->aof->state == AOF_OFF && !aof_files_open(engine)) return false;
    if (!aof_make_durable(engine)) {
        log_warning("Can't rewrite the append-only file while it cannot be written");
        return false;
    }
    if (!begin_base(engine)) return false;
    if (change_increment(engine)) return true;
    aof_rewrite_cancel(engine);
    return false;
}

/* Returns whether the base must wait: for an fdatasync in the pool, or for what a stopped snapshot
 * holds. */
static bool must_wait(struct engine *engine) {
    struct aof_rewrite *rewrite = &engine->aof->rewrite;
    return (rewrite->syncs_left > 0 && rewrite->syncs_left-- && aof_make_durable_begin(engine)) ||
           !incremental_try_release(engine);
}

static bool begin_or_wait(struct engine *engine) {
    if (must_wait(engine)) {
        engine->incremental->awaited = BACKGROUND_AOF;
        return true;
    }
    engine->incremental->awaited = BACKGROUND_NONE;
    if (!begin(engine)) {
        note_failure(engine);
        return false;
    }
    log_notice("Background append only file rewriting started in slices of the loop");
    return true;
}

void aof_rewrite_note_sync(struct engine *engine) {
    if (engine->incremental->awaited != BACKGROUND_AOF) return;
    if (!command_log_is_inside_unit(&engine->command_log)) {
        begin_or_wait(engine);
        return;
    }
    /* A script lets the loop poll: the base would hold one half of its changes. */
    engine->incremental->awaited = BACKGROUND_NONE;
    engine->aof->rewrite.scheduled = true;
}

bool aof_rewrite_begin(struct engine *engine) {
    struct aof_rewrite *rewrite = &engine->aof->rewrite;
    rewrite->scheduled = false;
    rewrite->begun_s = engine->steady_ms / 1000;
    rewrite->is_rdb = engine->config.aof_rdb_preamble;
    rewrite->count++;
    rewrite->syncs_left = SYNCS_MAX;
    return begin_or_wait(engine);
}

void aof_rewrite_cancel(struct engine *engine) {
    incremental_stop(engine, BACKGROUND_AOF);
    if (engine->aof->rewrite.apart) unlink(engine->aof->rewrite.apart);
}

/* Returns whether the file has grown by auto-aof-rewrite-percentage since the last rewrite. */
static bool has_grown(struct engine *engine) {
    struct aof *aof = engine->aof;
    int64_t percentage = engine->config.aof_rewrite_percentage;
    uint64_t base = aof->size_after_rewrite ? aof->size_after_rewrite : 1;
    if (aof->state != AOF_ON || percentage == 0) return false;
    if (aof->total_size <= (uint64_t)engine->config.aof_rewrite_min_size) return false;
    if (aof->total_size < base) return false;
    uint64_t growth = (aof->total_size - base) * 100 / base;
    if (growth < (uint64_t)percentage) return false;
    log_notice("Starting automatic rewriting of AOF on %llu%% growth", (unsigned long long)growth);
    return true;
}

void aof_rewrite_tick(struct engine *engine) {
    struct aof_rewrite *rewrite = &engine->aof->rewrite;
    bool waits = engine->incremental->awaited == BACKGROUND_AOF && !engine->aof->pending_fsyncs;
    if (waits && incremental_is_released(engine)) begin_or_wait(engine);
    if (engine->aof->state == AOF_OFF && !rewrite->scheduled) return;
    if (incremental_is_busy(engine)) return;
    if (rewrite->not_before_us && clock_monotonic_us() < rewrite->not_before_us) return;
    if (rewrite->scheduled || has_grown(engine)) aof_rewrite_begin(engine);
}

int aof_write_first_files(struct engine *engine) {
    struct aof *aof = engine->aof;
    struct aof_rewrite *rewrite = &aof->rewrite;
    struct aof_manifest next = {0};
    aof_manifest_copy(&next, &aof->manifest);
    sds temporary = new_temporary(engine);
    const char *name = engine->config.appendfilename;
    rewrite->is_rdb = engine->config.aof_rdb_preamble;
    sds base = aof_files_path(engine, aof_manifest_add_base(&next, name, rewrite->is_rdb)->name);
    sds increment = aof_files_path(engine, aof_manifest_add_incr(&next, name)->name);
    log_notice("Creating AOF base file %s and incr file %s on server start", base, increment);
    int fd = -1;
    enum aof_adoption adoption = AOF_NOT_ADOPTED;
    if (!snapshot_write_file(engine, temporary, engine->config.aof_incremental_fsync,
                             form_of_base(engine)))
        log_write_error(temporary, errno);
    else if (disk_file_rename(temporary, base))
        fd = create_for_manifest(increment);
    if (fd >= 0)
        adoption = aof_files_adopt(engine, &next);
    else
        aof_manifest_free(&next);
    if (adoption == AOF_ADOPTED)
        aof->total_size = aof->size_after_rewrite = size_of(base);
    else if (fd >= 0)
        close(fd);
    if (adoption == AOF_NOT_ADOPTED) { /* otherwise each failed start would leave a base */
        unlink(base);
        unlink(increment);
    }
    sds_free(temporary);
    sds_free(base);
    sds_free(increment);
    return adoption == AOF_ADOPTED ? fd : -1;
}
