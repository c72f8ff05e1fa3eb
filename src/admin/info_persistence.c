#include "admin/info_persistence.h"

#include "aof/aof.h"
#include "engine/engine.h"
#include "snapshot/child.h"
#include "snapshot/incremental.h"
#include "snapshot/load.h"
#include "snapshot/save.h"

typedef unsigned long long llu; /* the type of %llu */

/* --- Background writing --- */

struct progress {
    size_t peak; /* bytes of additional memory */
    size_t size;
    int64_t size_age_s;
    uint64_t keys_done;
    uint64_t keys_total;
};

static struct progress progress_of_child(struct engine *engine, const struct child *child) {
    return (struct progress){
        .peak = child->cow_peak,
        .size = child->cow_size,
        .size_age_s = child->cow_ms ? (engine->steady_ms - child->cow_ms) / 1000 : 0,
        .keys_done = child->keys_done,
        .keys_total = child->keys_total,
    };
}

static struct progress progress_of_incremental(struct engine *engine,
                                               const struct incremental_stats *stats) {
    return (struct progress){
        .peak = stats->memory_peak + stats->left_bytes,
        .size = incremental_pending(engine),
        .keys_done = stats->keys_done,
        .keys_total = stats->keys_total,
    };
}

static struct progress progress(struct engine *engine) {
    child_tick(engine);
    if (engine->child->pid) return progress_of_child(engine, engine->child);
    if (engine->incremental->purpose == BACKGROUND_NONE) return (struct progress){0};
    return progress_of_incremental(engine, &engine->incremental->stats);
}

static sds append_progress(struct engine *engine, sds out) {
    struct progress now = progress(engine);
    double percent = now.keys_total ? 100.0 * (double)now.keys_done / (double)now.keys_total : 0;
    const struct incremental_stats *incremental = &engine->incremental->stats;
    return sds_append_format(out,
                             "current_cow_peak:%zu\r\n"
                             "current_cow_size:%zu\r\n"
                             "current_cow_size_age:%lld\r\n"
                             "current_fork_perc:%.2f\r\n"
                             "current_save_keys_processed:%llu\r\n"
                             "current_save_keys_total:%llu\r\n"
                             "slices_last_keys_early:%llu\r\n"
                             "slices_last_longest_usec:%llu\r\n",
                             now.peak, now.size, (long long)now.size_age_s, percent,
                             (llu)now.keys_done, (llu)now.keys_total, (llu)incremental->keys_early,
                             (llu)incremental->longest_step_us);
}

/* --- RDB --- */

static sds append_rdb(struct engine *engine, sds out) {
    const struct save *save = engine->save;
    const struct load *load = engine->load;
    bool runs = save_is_running(engine);
    int64_t now_s = engine->steady_ms / 1000;
    return sds_append_format(out,
                             "rdb_changes_since_last_save:%llu\r\n"
                             "rdb_bgsave_in_progress:%d\r\n"
                             "rdb_last_save_time:%lld\r\n"
                             "rdb_last_bgsave_status:%s\r\n"
                             "rdb_last_bgsave_time_sec:%lld\r\n"
                             "rdb_current_bgsave_time_sec:%lld\r\n"
                             "rdb_saves:%llu\r\n"
                             "rdb_last_cow_size:%zu\r\n"
                             "rdb_last_load_keys_expired:%llu\r\n"
                             "rdb_last_load_keys_loaded:%llu\r\n",
                             (llu)save_changes(engine), runs, (long long)save->saved_s,
                             save->failed ? "err" : "ok", (long long)save->last_seconds,
                             runs ? (long long)(now_s - save->begun_s) : -1, (llu)save->saves,
                             save->last_cow_size, (llu)load->keys_expired, (llu)load->keys_loaded);
}

/* --- AOF --- */

static sds append_aof_file(struct engine *engine, sds out) {
    const struct aof *aof = engine->aof;
    if (aof->state == AOF_OFF) return out;
    return sds_append_format(out,
                             "aof_current_size:%llu\r\n"
                             "aof_base_size:%llu\r\n"
                             "aof_pending_rewrite:%d\r\n"
                             "aof_buffer_length:%zu\r\n"
                             "aof_pending_bio_fsync:%llu\r\n"
                             "aof_delayed_fsync:%llu\r\n",
                             (llu)aof->total_size, (llu)aof->size_after_rewrite,
                             aof->rewrite.scheduled, aof->buffer.len, (llu)aof->pending_fsyncs,
                             (llu)aof->delayed_fsyncs);
}

static sds append_aof(struct engine *engine, sds out) {
    const struct aof_rewrite *rewrite = &engine->aof->rewrite;
    bool runs = aof_rewrite_is_running(engine);
    out = sds_append_format(
        out,
        "aof_enabled:%d\r\n"
        "aof_rewrite_in_progress:%d\r\n"
        "aof_rewrite_scheduled:%d\r\n"
        "aof_last_rewrite_time_sec:%lld\r\n"
        "aof_current_rewrite_time_sec:%lld\r\n"
        "aof_last_bgrewrite_status:%s\r\n"
        "aof_rewrites:%llu\r\n"
        "aof_rewrites_consecutive_failures:%llu\r\n"
        "aof_last_write_status:%s\r\n"
        "aof_last_cow_size:%zu\r\n"
        "module_fork_in_progress:0\r\n"
        "module_fork_last_cow_size:0\r\n",
        engine->aof->state != AOF_OFF, runs, rewrite->scheduled, (long long)rewrite->last_seconds,
        runs ? (long long)(engine->steady_ms / 1000 - rewrite->begun_s) : -1,
        rewrite->failed ? "err" : "ok", (llu)rewrite->count, (llu)rewrite->failures,
        aof_error(engine) ? "err" : "ok", rewrite->last_cow_size);
    return append_aof_file(engine, out);
}

/* --- Loading --- */

static sds append_loading(struct engine *engine, sds out) {
    const struct load *load = engine->load;
    if (!load->running) return out;
    return sds_append_format(out,
                             "loading_start_time:%lld\r\n"
                             "loading_total_bytes:%llu\r\n"
                             "loading_rdb_used_mem:%llu\r\n"
                             "loading_loaded_bytes:%llu\r\n"
                             "loading_loaded_perc:%.2f\r\n"
                             "loading_eta_seconds:%lld\r\n",
                             (long long)load->begin_s, (llu)load->total_bytes,
                             (llu)load->used_memory, (llu)load->loaded_bytes, load_percent(engine),
                             (long long)load_seconds_left(engine));
}

sds info_append_persistence(struct engine *engine, sds out) {
    bool is_beside = engine->restrictions & RESTRICTED_LOADING_BESIDE;
    out = sds_append_format(out, "loading:%d\r\nasync_loading:%d\r\n",
                            engine->load->running && !is_beside, is_beside);
    out = append_rdb(engine, append_progress(engine, out));
    return append_loading(engine, append_aof(engine, out));
}
