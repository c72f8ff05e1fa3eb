#include "snapshot/save.h"

#include "base/clock.h"
#include "base/files/new_file.h"
#include "base/memory/alloc.h"
#include "base/text/number.h"
#include "engine/claim.h"
#include "engine/engine.h"
#include "engine/slow.h"
#include "snapshot/data_lock.h"
#include "snapshot/disk_file.h"
#include "snapshot/incremental.h"
#include "snapshot/snapshot.h"
#include "snapshot/snapshot_thread.h"

#include <assert.h>
#include <errno.h>
#include <unistd.h>

enum { RETRY_AFTER_S = 5 };

static int64_t now_s(struct engine *engine) {
    return engine->steady_ms / 1000;
}

uint64_t save_changes(struct engine *engine) {
    return engine->dirty - engine->save->saved_dirty;
}

bool save_is_running(struct engine *engine) {
    return incremental_purpose(engine) == BACKGROUND_RDB;
}

/* --- Configuration --- */

static void update_refusal(struct engine *engine) {
    struct save *save = engine->save;
    bool refuses =
        save->failed && save->point_count > 0 && engine->config.stop_writes_on_bgsave_error;
    if (refuses)
        engine->restrictions |= RESTRICTED_UNSAVED;
    else
        engine->restrictions &= ~(uint32_t)RESTRICTED_UNSAVED;
}

/* Parses the number at *at and moves *at past the space that follows it. */
static int64_t take_number(const char **at) {
    size_t len = strcspn(*at, " ");
    int64_t number = 0;
    number_parse_int64(slice_make(*at, len), &number);
    *at += len + ((*at)[len] != 0);
    return number;
}

void save_configure(struct engine *engine) {
    struct save *save = engine->save;
    const char *at = engine->config.save;
    size_t capacity = 0;
    mem_free(save->points);
    save->points = NULL;
    save->point_count = 0;
    while (*at) {
        MEM_RESERVE(save->points, capacity, save->point_count + 1);
        int64_t seconds = take_number(&at);
        uint64_t changes = (uint64_t)take_number(&at);
        save->points[save->point_count++] = (struct save_point){seconds, changes};
    }
    update_refusal(engine);
}

void save_start(struct engine *engine) {
    struct save *save = engine->save;
    save->last_seconds = -1;
    save->saved_s = engine->now_ms / 1000;
    save->changes_since_s = now_s(engine);
    save_configure(engine);
    disk_file_remove_leftovers(".", "temp-", ".rdb");
}

void save_stop(struct engine *engine) {
    struct save *save = engine->save;
    mem_free(save->points);
    sds_free(save->begun_dir);
}

/* --- Writing --- */

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

static bool write_snapshot(struct engine *engine, const char *temporary) {
    const char *name = engine->config.dbfilename;
    if (!snapshot_write_file(engine, temporary, engine->config.rdb_save_incremental_fsync,
                             SNAPSHOT_RDB)) {
        log_error(errno, SNAPSHOT_WRITE, temporary, name, engine->config.dir);
        return false;
    }
    if (!disk_file_rename(temporary, name)) {
        log_error(errno, SNAPSHOT_RENAME, temporary, name, engine->config.dir);
        unlink(temporary);
        return false;
    }
    log_notice("DB saved on disk");
    return true;
}

static void note_saved(struct engine *engine, uint64_t dirty) {
    struct save *save = engine->save;
    save->saved_dirty = dirty;
    save->saved_s = clock_wall_ms() / 1000;
    save->changes_since_s = clock_monotonic_ms() / 1000;
    save->failed = false;
    update_refusal(engine);
}

bool save_now(struct engine *engine) {
    claims_end_all(engine);
    if (!data_lock_take_or_log(engine)) return false;
    sds temporary = new_file_name("temp-", ".rdb");
    bool done = write_snapshot(engine, temporary);
    sds_free(temporary);
    if (done) note_saved(engine, engine->dirty);
    return done;
}

/* --- In the background --- */

static void note_failed(struct engine *engine) {
    engine->save->failed = true;
    engine->save->failures++;
    update_refusal(engine);
}

static void incremental_ended(struct engine *engine, const struct incremental_end *end) {
    struct save *save = engine->save;
    data_lock_note_save_ended(engine);
    if (!end->error) {
        log_notice("DB saved on disk");
        log_notice("Background saving terminated with success");
        note_saved(engine, save->begun_dirty);
        save->failures = 0;
    } else if (!end->was_stopped) {
        log_error(end->error, end->step, end->temporary, engine->config.dbfilename,
                  save->begun_dir);
        log_warning("Background saving error");
        note_failed(engine);
    }
    save->last_seconds = end->seconds;
    save->last_cow_size = end->memory_peak;
}

static bool begin(struct engine *engine) {
    struct save *save = engine->save;
    claims_end_all(engine);
    sds temporary = new_file_name("temp-", ".rdb");
    struct incremental_order order = {
        .purpose = BACKGROUND_RDB,
        .temporary = temporary,
        .name = engine->config.dbfilename,
        .sync_in_stretches = engine->config.rdb_save_incremental_fsync,
        .ended = incremental_ended,
    };
    save->begun_dirty = engine->dirty;
    save->begun_s = now_s(engine);
    sds_free(save->begun_dir);
    save->begun_dir = sds_new(sds_slice(engine->config.dir));
    bool has_begun = incremental_begin(engine, &order);
    sds_free(temporary);
    if (has_begun)
        log_notice("Background saving started in slices of the loop");
    else
        note_failed(engine);
    return has_begun;
}

bool save_begin(struct engine *engine) {
    struct save *save = engine->save;
    assert(!incremental_is_busy(engine));
    if (!data_lock_take_or_log(engine)) return false;
    save->saves++;
    save->scheduled = false;
    if (incremental_try_release(engine)) return begin(engine);
    log_notice("Background saving starts when a stopped snapshot has released its data");
    save->begun_s = now_s(engine);
    engine->incremental->awaited = BACKGROUND_RDB;
    return true;
}

void save_schedule(struct engine *engine) {
    engine->save->scheduled = true;
}

bool save_unschedule(struct engine *engine) {
    bool was_scheduled = engine->save->scheduled;
    engine->save->scheduled = false;
    return was_scheduled;
}

/* --- When --- */

static const struct save_point *due_point(struct engine *engine) {
    struct save *save = engine->save;
    for (size_t i = 0; i < save->point_count; i++) {
        const struct save_point *point = &save->points[i];
        if (save_changes(engine) >= point->changes &&
            now_s(engine) - save->changes_since_s > point->seconds)
            return point;
    }
    return NULL;
}

void save_tick(struct engine *engine) {
    struct save *save = engine->save;
    struct incremental *incremental = engine->incremental;
    if (incremental->awaited == BACKGROUND_RDB && incremental_is_released(engine)) {
        incremental->awaited = BACKGROUND_NONE;
        if (!begin(engine)) data_lock_note_save_ended(engine);
    }
    if (incremental_is_busy(engine)) return;
    if (save->failed && now_s(engine) - save->begun_s <= RETRY_AFTER_S) return;
    const struct save_point *point = due_point(engine);
    if (point)
        log_notice("%llu changes in %lld seconds. Saving...", (unsigned long long)point->changes,
                   (long long)point->seconds);
    if (point || save->scheduled) save_begin(engine);
}

void save_cancel(struct engine *engine) {
    if (!save_is_running(engine)) return;
    incremental_stop(engine, BACKGROUND_RDB);
    data_lock_note_save_ended(engine); /* of one that was awaited */
}

void save_after_flush(struct engine *engine) {
    if (engine->save->point_count > 0) save_now(engine);
}

bool save_at_end(struct engine *engine, int options) {
    if (save_is_running(engine)) {
        log_warning("A snapshot is being written. Ending it!");
        save_cancel(engine);
    }
    bool wanted = options & SHUTDOWN_SAVE || engine->save->point_count > 0;
    if (!wanted || options & SHUTDOWN_NOSAVE) return true;
    log_notice("Saving the final RDB snapshot before exiting.");
    if (save_now(engine)) return true;
    if (options & SHUTDOWN_FORCE) {
        log_warning("Error trying to save the DB. Exit anyway.");
        return true;
    }
    log_warning("Error trying to save the DB, can't exit.");
    return false;
}
