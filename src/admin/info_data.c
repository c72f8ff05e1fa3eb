/* info_data: INFO's sections about data: Memory, Persistence, Replication, Keyspace, Keysizes. */
#include "admin/info.h"

#include "admin/memory_stats.h"
#include "aof/aof.h"
#include "engine/claim.h"
#include "engine/engine.h"
#include "engine/functions.h"
#include "engine/lazyfree.h"
#include "reclaim/defrag.h"
#include "reclaim/evict.h"
#include "reclaim/expire.h"
#include "replication/history/history.h"
#include "replication/link/link.h"
#include "replication/primary/failover.h"
#include "replication/primary/replicas.h"
#include "script/script.h"
#include "snapshot/incremental.h"
#include "snapshot/load.h"
#include "snapshot/save.h"

#include <unistd.h>

typedef unsigned long long llu; /* the type of %llu */

/* --- Memory --- */

/* Appends a field of bytes, and NAME_human as people read them: "%.2f" and a unit. */
static sds append_bytes(sds out, const char *name, size_t bytes) {
    static const char units[] = "BKMGTP";
    int unit = 0;
    double shown = (double)bytes;
    for (; shown >= 1024 && units[unit + 1]; unit++) shown /= 1024;
    return sds_append_format(out, "%s:%zu\r\n%s_human:%.*f%c\r\n", name, bytes, name, unit ? 2 : 0,
                             shown, units[unit]);
}

static sds append_used_memory(sds out, const struct memory_stats *memory, int64_t peak_s) {
    size_t peak = memory->peak;
    out = append_bytes(out, "used_memory", memory->used);
    out = append_bytes(out, "used_memory_rss", memory->resident);
    out = append_bytes(out, "used_memory_peak", peak);
    return sds_append_format(out,
                             "used_memory_peak_time:%lld\r\n"
                             "used_memory_peak_perc:%.2f%%\r\n"
                             "used_memory_overhead:%zu\r\n"
                             "used_memory_startup:%zu\r\n"
                             "used_memory_dataset:%zu\r\n"
                             "used_memory_dataset_perc:%.2f%%\r\n",
                             (long long)peak_s, 100 * memory_ratio(memory->used, peak),
                             memory->overhead, memory->startup, memory->dataset,
                             100 * memory_ratio(memory->dataset, memory->grown));
}

/* Appends a directive's value as CONFIG GET shows it. */
static sds append_directive(struct engine *engine, sds out, const char *field, const char *name) {
    out = sds_append_format(out, "%s:", field);
    out = config_append_value(&engine->config, config_find(slice_of_cstr(name)), out);
    return sds_append_cstr(out, "\r\n");
}

/* The machines (VM), and what belongs to the scripts and functions beside them. */
static sds append_scripts(struct engine *engine, sds out) {
    const struct function_set *set = engine->functions->set;
    size_t machine = machine_memory(engine->scripts->machine);
    size_t cache = script_cache_memory(&engine->scripts->cache);
    size_t functions_machine = machine_memory(engine->scripts->functions->machine);
    size_t libraries = function_set_memory(set);
    out = append_bytes(out, "used_memory_lua", machine);
    out = sds_append_format(out,
                            "used_memory_vm_eval:%zu\r\n"
                            "used_memory_scripts_eval:%zu\r\n"
                            "number_of_cached_scripts:%zu\r\n"
                            "number_of_functions:%zu\r\n"
                            "number_of_libraries:%zu\r\n"
                            "used_memory_vm_functions:%zu\r\n",
                            machine, cache, script_cache_count(&engine->scripts->cache),
                            function_set_count(set), set->library_count, functions_machine);
    out = append_bytes(out, "used_memory_vm_total", machine + functions_machine);
    out = sds_append_format(out, "used_memory_functions:%zu\r\n", libraries);
    return append_bytes(out, "used_memory_scripts", cache + libraries);
}

static sds append_limits(struct engine *engine, sds out) {
    size_t physical = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    out = append_bytes(out, "total_system_memory", physical);
    out = append_scripts(engine, out);
    out = append_bytes(out, "maxmemory", (size_t)engine->config.maxmemory);
    out = append_directive(engine, out, "maxmemory_policy", "maxmemory-policy");
    out = append_directive(engine, out, "maxmemory_rss", "maxmemory-rss");
    if (!engine->config.maxmemory_rss || !engine->config.maxmemory) return out;
    const struct rss_limit *limit = &engine->evict->rss;
    return sds_append_format(out,
                             "maxmemory_rss_state:%s\r\n"
                             "maxmemory_rss_allowed:%zu\r\n"
                             "maxmemory_rss_purges:%llu\r\n",
                             rss_state_name(limit->state), limit->allowed, (llu)limit->purges);
}

static sds append_fragmentation(const struct engine *engine, sds out,
                                const struct memory_stats *memory) {
    const struct mem_stats *stats = &memory->stats;
    return sds_append_format(
        out,
        "allocator_frag_ratio:%.2f\r\n"
        "allocator_frag_bytes:%zu\r\n"
        "allocator_rss_ratio:%.2f\r\n"
        "allocator_rss_bytes:%lld\r\n"
        "rss_overhead_ratio:%.2f\r\n"
        "rss_overhead_bytes:%lld\r\n"
        "mem_fragmentation_ratio:%.2f\r\n"
        "mem_fragmentation_bytes:%lld\r\n"
        "mem_not_counted_for_evict:%zu\r\n"
        "mem_replication_backlog:%zu\r\n"
        "mem_total_replication_buffers:%zu\r\n"
        "mem_replica_full_sync_buffer:%zu\r\n"
        "mem_clients_slaves:%zu\r\n"
        "mem_clients_normal:%zu\r\n"
        "mem_cluster_links:0\r\n"
        "mem_aof_buffer:%zu\r\n"
        "mem_allocator:%s\r\n"
        "mem_overhead_db_hashtable_rehashing:0\r\n"
        "active_defrag_running:%lld\r\n"
        "lazyfree_pending_objects:%llu\r\n"
        "lazyfreed_objects:%llu\r\n",
        memory_gap_ratio(memory), memory->gaps, memory_ratio(stats->resident, stats->active),
        memory_difference(stats->resident, stats->active),
        memory_ratio(memory->resident, stats->resident),
        memory_difference(memory->resident, stats->resident),
        memory_ratio(memory->resident, memory->used),
        memory_difference(memory->resident, memory->used), memory->uncounted,
        memory->replication - memory->replicas, memory->replication, memory->full_sync,
        memory->replicas, memory->sessions, memory->aof_buffer, mem_allocator_name(),
        (long long)defrag_running_percent(engine), (llu)lazyfree_pending_objects(engine->lazyfree),
        (llu)lazyfree_freed_objects(engine->lazyfree));
}

sds info_append_memory(struct engine *engine, sds out) {
    struct memory_stats memory = memory_stats_read(engine);
    out = append_used_memory(out, &memory, engine->stats.peak_memory_s);
    out = sds_append_format(out,
                            "allocator_allocated:%zu\r\n"
                            "allocator_active:%zu\r\n"
                            "allocator_resident:%zu\r\n"
                            "allocator_muzzy:%zu\r\n",
                            memory.stats.allocated, memory.stats.active, memory.stats.resident,
                            memory.stats.muzzy);
    out = append_limits(engine, out);
    return append_fragmentation(engine, out, &memory);
}

/* --- Persistence: what is written in the background --- */

static sds append_progress(struct engine *engine, sds out) {
    const struct incremental_stats *last = &engine->incremental->stats;
    bool runs = engine->incremental->purpose != BACKGROUND_NONE;
    struct incremental_stats now = runs ? *last : (struct incremental_stats){0};
    double percent = now.keys_total ? 100.0 * (double)now.keys_done / (double)now.keys_total : 0;
    return sds_append_format(out,
                             "current_cow_peak:%zu\r\n"
                             "current_cow_size:%zu\r\n"
                             "current_cow_size_age:0\r\n"
                             "current_fork_perc:%.2f\r\n"
                             "current_save_keys_processed:%llu\r\n"
                             "current_save_keys_total:%llu\r\n"
                             "slices_last_keys_early:%llu\r\n"
                             "slices_last_longest_usec:%llu\r\n",
                             now.memory_peak + now.left_bytes, incremental_pending(engine), percent,
                             (llu)now.keys_done, (llu)now.keys_total, (llu)last->keys_early,
                             (llu)last->longest_step_us);
}

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
                             "rdb_saves_consecutive_failures:%llu\r\n"
                             "rdb_last_cow_size:%zu\r\n"
                             "rdb_last_load_keys_expired:%llu\r\n"
                             "rdb_last_load_keys_loaded:%llu\r\n",
                             (llu)save_changes(engine), runs, (long long)save->saved_s,
                             save->failed ? "err" : "ok", (long long)save->last_seconds,
                             runs ? (long long)(now_s - save->begun_s) : -1, (llu)save->saves,
                             (llu)save->failures, save->last_cow_size, (llu)load->keys_expired,
                             (llu)load->keys_loaded);
}

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

/* --- Replication --- */

/* Returns the seconds since `then_ms`, a time of steady_ms; -1 if that is negative: never. */
static long long seconds_since(const struct engine *engine, int64_t then_ms) {
    return then_ms < 0 ? -1 : (long long)((engine->steady_ms - then_ms) / 1000);
}

static bool is_syncing(const struct link *link) {
    return link->state == LINK_HEADER || link->state == LINK_RECEIVES || link->state == LINK_LOADS;
}

static sds append_payload(const struct engine *engine, sds out) {
    const struct link *link = engine->link;
    const struct link_payload *payload = &link->payload;
    uint64_t total = payload->is_marked ? 0 : payload->total;
    uint64_t left = total > payload->received ? total - payload->received : 0;
    double percent = total ? 100.0 * (double)payload->received / (double)total : 0;
    return sds_append_format(out,
                             "master_sync_total_bytes:%llu\r\n"
                             "master_sync_read_bytes:%llu\r\n"
                             "master_sync_left_bytes:%llu\r\n"
                             "master_sync_perc:%.2f\r\n"
                             "master_sync_last_io_seconds_ago:%lld\r\n",
                             (llu)total, (llu)payload->received, (llu)left, percent,
                             seconds_since(engine, link->io_ms));
}

/* Before the first synchronization Redis shows the offset 1. */
static llu shown_offset(const struct engine *engine) {
    const struct link *link = engine->link;
    return link->has_position ? (llu)history_offset(engine) : 1;
}

/* Bytes of a unit that has not ended are read, but not applied. */
static llu read_offset(const struct engine *engine) {
    const struct link *link = engine->link;
    return shown_offset(engine) + (link_is_up(engine) ? (llu)link->stream.unit.len : 0);
}

static sds append_link(const struct engine *engine, sds out) {
    const struct link *link = engine->link;
    const struct config *config = &engine->config;
    bool is_up = link_is_up(engine);
    out = sds_append_format(out,
                            "master_host:%s\r\n"
                            "master_port:%d\r\n"
                            "master_link_status:%s\r\n"
                            "master_last_io_seconds_ago:%lld\r\n"
                            "master_sync_in_progress:%d\r\n"
                            "slave_read_repl_offset:%llu\r\n"
                            "slave_repl_offset:%llu\r\n",
                            link->host, link->port, is_up ? "up" : "down",
                            is_up ? seconds_since(engine, link->io_ms) : -1, is_syncing(link),
                            read_offset(engine), shown_offset(engine));
    if (is_syncing(link)) out = append_payload(engine, out);
    if (!is_up)
        out = sds_append_format(out, "master_link_down_since_seconds:%lld\r\n",
                                seconds_since(engine, link->down_ms));
    if (link->refusals.count > 0)
        out = sds_append_format(out,
                                "master_refused_commands:%llu\r\n"
                                "master_last_refused_command:%s\r\n",
                                (llu)link->refusals.count, link->refusals.recent[0].name);
    return sds_append_format(out,
                             "slave_priority:%lld\r\n"
                             "slave_read_only:%d\r\n"
                             "replica_announced:%d\r\n",
                             (long long)config->replica_priority, config->replica_read_only,
                             config->replica_announced);
}

static sds append_replica(const struct engine *engine, sds out, const struct replica *replica,
                          size_t number) {
    int64_t lag_ms =
        replica->state == REPLICA_ONLINE ? engine->steady_ms - replica_heard_ms(replica) : 0;
    return sds_append_format(out, "slave%zu:ip=%s,port=%d,state=%s,offset=%llu,lag=%lld\r\n",
                             number, replica_ip(replica), replica->listening_port,
                             replica_state_name(replica), (llu)replica->ack,
                             (long long)(lag_ms / 1000));
}

static sds append_replicas(const struct engine *engine, sds out) {
    const struct replicas *replicas = engine->replicas;
    size_t number = 0;
    out = sds_append_format(out, "connected_slaves:%zu\r\n", replicas->count);
    if (engine->config.min_replicas_to_write > 0 && engine->config.min_replicas_max_lag > 0)
        out = sds_append_format(out, "min_slaves_good_slaves:%zu\r\n", replicas->good);
    for (const struct replica *replica = replicas->first; replica; replica = replica->next)
        out = append_replica(engine, out, replica, number++);
    return out;
}

static sds append_backlog(const struct engine *engine, sds out) {
    const struct backlog *backlog = engine->history->backlog;
    return sds_append_format(out,
                             "repl_backlog_active:%d\r\n"
                             "repl_backlog_size:%lld\r\n"
                             "repl_backlog_first_byte_offset:%llu\r\n"
                             "repl_backlog_histlen:%llu\r\n",
                             backlog != NULL, (long long)engine->config.repl_backlog_size,
                             backlog ? (llu)backlog->begin + 1 : 0,
                             backlog ? (llu)backlog_len(backlog) : 0);
}

sds info_append_replication(struct engine *engine, sds out) {
    const struct history *history = engine->history;
    out = sds_append_format(out, "role:%s\r\n", engine->is_replica ? "slave" : "master");
    if (engine->link) out = append_link(engine, out);
    out = append_replicas(engine, out);
    out = sds_append_format(out,
                            "master_failover_state:%s\r\n"
                            "master_replid:%s\r\n"
                            "master_replid2:%s\r\n"
                            "master_repl_offset:%llu\r\n"
                            "second_repl_offset:%lld\r\n",
                            failover_state_name(engine->failover), history->id, history->second_id,
                            (llu)history_offset(engine), (long long)history->second_offset);
    return append_backlog(engine, out);
}

/* --- Keyspace, Keysizes --- */

static sds append_database(struct engine *engine, sds out, int64_t number) {
    int database = (int)number;
    /* No fifth field, keys_with_volatile_items as in Valkey: widespread versions of redis_exporter
     * then read none of them. */
    return sds_append_format(out, "db%lld:keys=%zu,expires=%zu,avg_ttl=%lld,subexpiry=%zu\r\n",
                             (long long)number, claims_count_keys(engine, database, ALL_KEYS),
                             claims_count_keys(engine, database, EXPIRING_KEYS),
                             (long long)expire_average_ttl(engine, engine->keyspaces[number]),
                             claims_count_keys(engine, database, EXPIRING_FIELDS));
}

sds info_append_keyspace(struct engine *engine, sds out) {
    for (int i = 0; i < engine->databases; i++) {
        if (claims_count_keys(engine, i, ALL_KEYS) > 0) out = append_database(engine, out, i);
    }
    return out;
}

/* The types that Redis shows: all but streams. */
static const char *const fields[VALUE_TYPES] = {[VALUE_STRING] = "strings_sizes",
                                                [VALUE_LIST] = "lists_items",
                                                [VALUE_SET] = "sets_items",
                                                [VALUE_ZSET] = "zsets_items",
                                                [VALUE_HASH] = "hashes_items"};

/* Appends "512", "1K", "2K", … "1M" … */
static sds append_size(sds out, uint64_t size) {
    static const char *const units[] = {"", "K", "M", "G", "T", "P", "E"};
    unsigned unit = 0;
    for (; size >= 1024; unit++) size /= 1024;
    return sds_append_format(out, "%llu%s", (unsigned long long)size, units[unit]);
}

static sds append_type(sds out, int64_t database, const struct size_histogram *sizes,
                       enum value_type type) {
    bool is_first = true;
    for (unsigned bucket = 0; bucket < SIZE_BUCKETS; bucket++) {
        uint64_t count = size_histogram_count(sizes, type, bucket);
        if (count == 0) continue;
        if (is_first)
            out = sds_append_format(out, "db%lld_distrib_%s:", (long long)database, fields[type]);
        else
            out = sds_append_cstr(out, ",");
        is_first = false;
        out = append_size(out, size_bucket_min(bucket));
        out = sds_append_format(out, "=%llu", (unsigned long long)count);
    }
    return is_first ? out : sds_append_cstr(out, "\r\n");
}

sds info_append_distribution(sds out, int64_t database, const struct size_histogram *sizes) {
    for (unsigned type = 0; type < VALUE_TYPES; type++)
        if (fields[type]) out = append_type(out, database, sizes, (enum value_type)type);
    return out;
}

sds info_append_keysizes(struct engine *engine, sds out) {
    for (int i = 0; i < engine->databases; i++) {
        const struct keyspace *keyspace = engine->keyspaces[i];
        if (keyspace_count(keyspace))
            out = info_append_distribution(out, i, keyspace_sizes(keyspace));
    }
    return out;
}
