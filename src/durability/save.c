#include "durability/save.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/number.h"
#include "durability/background.h"
#include "durability/child.h"
#include "durability/data_lock.h"
#include "durability/disk_file.h"
#include "durability/snapshot.h"
#include "server/server.h"
#include "server/slow.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

enum { RETRY_AFTER_S = 5 };

/* "temp-<pid>.rdb", of slices "temp-<pid><number>.rdb" */
enum { TEMPORARY_MAX = 64 };

static struct save *save(void) {
    return &server.durability.save;
}

static int64_t now_s(void) {
    return server.steady_ms / 1000;
}

uint64_t save_changes(void) {
    return server.dirty - save()->saved_dirty;
}

bool save_is_running(void) {
    return background_purpose() == CHILD_RDB;
}

/* --- Configuration --- */

static void update_refusal(void) {
    bool refuses =
        save()->failed && save()->point_count > 0 && server.config.stop_writes_on_bgsave_error;
    if (refuses)
        server.refusing |= REFUSING_UNSAVED;
    else
        server.refusing &= ~(uint32_t)REFUSING_UNSAVED;
}

/* The next word of a text that is separated by single blanks. */
static int64_t take_number(const char **at) {
    size_t len = strcspn(*at, " ");
    int64_t number = 0;
    number_parse_int64(slice_make(*at, len), &number);
    *at += len + ((*at)[len] != 0);
    return number;
}

void save_configure(void) {
    const char *at = server.config.save;
    size_t capacity = 0;
    mem_free(save()->points);
    save()->points = NULL;
    save()->point_count = 0;
    while (*at) {
        if (save()->point_count == capacity)
            save()->points = mem_grow(save()->points, &capacity, sizeof(struct save_point));
        int64_t seconds = take_number(&at);
        uint64_t changes = (uint64_t)take_number(&at);
        save()->points[save()->point_count++] = (struct save_point){seconds, changes};
    }
    update_refusal();
}

void save_start(void) {
    save()->last_seconds = -1;
    save()->saved_s = server.now_ms / 1000;
    save()->changes_since_s = now_s();
    save_configure();
    disk_file_remove_leftovers("temp-", ".rdb");
}

void save_stop(void) {
    mem_free(save()->points);
    sds_free(save()->begun_dir);
}

/* --- Writing --- */

static const char *temporary_name(char name[TEMPORARY_MAX], pid_t pid) {
    snprintf(name, TEMPORARY_MAX, "temp-%d.rdb", (int)pid);
    return name;
}

static void log_error(int error, enum snapshot_step step, const char *temporary, const char *name,
                      const char *dir) {
    if (step == SNAPSHOT_WRITE)
        log_warning("Write error while saving the DB to %s (in server root dir %s): %s", temporary,
                    dir, strerror(error));
    else
        log_warning("Error moving temp DB file %s on the final destination %s (in server root dir "
                    "%s): %s",
                    temporary, name, dir, strerror(error));
}

/* In the server or in a child. */
static bool write_snapshot(void) {
    char temporary[TEMPORARY_MAX];
    const char *name = server.config.dbfilename;
    temporary_name(temporary, getpid());
    if (!snapshot_write_file(temporary, server.config.rdb_save_incremental_fsync, false)) {
        log_error(errno, SNAPSHOT_WRITE, temporary, name, server.config.dir);
        return false;
    }
    if (!disk_file_rename(temporary, name)) {
        log_error(errno, SNAPSHOT_RENAME, temporary, name, server.config.dir);
        unlink(temporary);
        return false;
    }
    log_notice("DB saved on disk");
    return true;
}

static void note_saved(uint64_t dirty) {
    save()->saved_dirty = dirty;
    save()->saved_s = clock_wall_ms() / 1000;
    save()->changes_since_s = clock_monotonic_ms() / 1000;
    save()->failed = false;
    update_refusal();
}

bool save_now(void) {
    if (!data_lock_take_or_log() || !write_snapshot()) return false;
    note_saved(server.dirty);
    return true;
}

/* --- By a child --- */

static bool run_child(void *arg) {
    (void)arg;
    bool done = write_snapshot();
    child_report_end("RDB");
    return done;
}

/* The child's working directory stayed the one in which it was begun. */
static void remove_temporary(pid_t pid) {
    char name[TEMPORARY_MAX];
    sds path = sds_append_format(sds_new(SLICE("")), "%s/%s", save()->begun_dir,
                                 temporary_name(name, pid));
    unlink(path);
    sds_free(path);
}

static void child_ended(const struct child_end *end) {
    data_lock_note_save_ended();
    if (end->ok) {
        log_notice("Background saving terminated with success");
        note_saved(save()->begun_dirty);
    } else if (end->signal) {
        log_warning("Background saving terminated by signal %d", end->signal);
        uint64_t begin = slow_begin();
        remove_temporary(end->pid);
        slow_end(LATENCY_RDB_UNLINK, begin);
    } else {
        log_warning("Background saving error");
    }
    if (!end->ok && !end->was_killed) save()->failed = true;
    save()->last_seconds = end->seconds;
    save()->last_cow_size = end->cow_size;
    update_refusal();
}

/* --- In slices --- */

static void slices_ended(const struct slices_end *end) {
    data_lock_note_save_ended();
    if (!end->error) {
        log_notice("DB saved on disk");
        log_notice("Background saving terminated with success");
        note_saved(save()->begun_dirty);
    } else if (!end->was_stopped) {
        log_error(end->error, end->step, end->temporary, server.config.dbfilename,
                  save()->begun_dir);
        log_warning("Background saving error");
        save()->failed = true;
    }
    save()->last_seconds = end->seconds;
    save()->last_cow_size = end->memory_peak;
    update_refusal();
}

static bool begin_slices(void) {
    char temporary[TEMPORARY_MAX];
    snprintf(temporary, sizeof(temporary), "temp-%d%010llu.rdb", (int)getpid(),
             (unsigned long long)save()->saves);
    struct slices_order order = {
        .purpose = CHILD_RDB,
        .temporary = temporary,
        .name = server.config.dbfilename,
        .incremental = server.config.rdb_save_incremental_fsync,
        .ended = slices_ended,
    };
    if (!slices_begin(&order)) return false;
    log_notice("Background saving started in slices of the loop");
    return true;
}

/* --- Either --- */

bool save_begin(void) {
    if (!data_lock_take_or_log()) return false;
    save()->begun_dirty = server.dirty;
    save()->begun_s = now_s();
    sds_free(save()->begun_dir);
    save()->begun_dir = sds_new(sds_slice(server.config.dir));
    save()->saves++;
    save()->scheduled = false;
    if (server.config.rdb_save_in_slices && begin_slices()) return true;
    if (!child_start(CHILD_RDB, run_child, NULL, child_ended)) {
        int error = errno;
        log_warning("Can't save in background: fork: %s", strerror(error));
        save()->failed = true;
        update_refusal();
        errno = error;
        return false;
    }
    log_notice("Background saving started by pid %d", (int)server.durability.child.pid);
    return true;
}

void save_schedule(void) {
    save()->scheduled = true;
}

/* --- When --- */

static const struct save_point *due_point(void) {
    for (size_t i = 0; i < save()->point_count; i++) {
        const struct save_point *point = &save()->points[i];
        if (save_changes() >= point->changes && now_s() - save()->changes_since_s > point->seconds)
            return point;
    }
    return NULL;
}

void save_tick(void) {
    if (background_is_busy()) return;
    if (save()->failed && now_s() - save()->begun_s <= RETRY_AFTER_S) return;
    const struct save_point *point = due_point();
    if (point)
        log_notice("%llu changes in %lld seconds. Saving...", (unsigned long long)point->changes,
                   (long long)point->seconds);
    if (point || save()->scheduled) save_begin();
}

void save_cancel(void) {
    slices_stop(CHILD_RDB);
    if (server.durability.child.purpose != CHILD_RDB) return;
    pid_t pid = server.durability.child.pid;
    child_kill(CHILD_RDB);
    remove_temporary(pid);
}

void save_after_flush(void) {
    if (save()->point_count > 0) save_now();
}

bool save_at_end(int options) {
    if (save_is_running()) {
        log_warning(server.durability.child.pid ? "There is a child saving an .rdb. Killing it!"
                                                : "A snapshot is being written. Ending it!");
        save_cancel();
    }
    bool wanted = options & SHUTDOWN_SAVE || save()->point_count > 0;
    if (!wanted || options & SHUTDOWN_NOSAVE) return true;
    log_notice("Saving the final RDB snapshot before exiting.");
    if (save_now()) return true;
    if (options & SHUTDOWN_FORCE) {
        log_warning("Error trying to save the DB. Exit anyway.");
        return true;
    }
    log_warning("Error trying to save the DB, can't exit.");
    return false;
}
