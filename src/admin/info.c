/* info: INFO, section by section.
 *
 * Sections and fields have the names and the order of Redis 7.2 and 8, as far as they have a real
 * value here. Fields of things that do not exist here are a constant 0. */
#define _GNU_SOURCE /* for RUSAGE_THREAD and dl_iterate_phdr */
#include "admin/info.h"
#include "admin/admin_commands.h"
#include "admin/memory_stats.h"
#include "base/clock.h"
#include "base/text/number.h"
#include "base/version.h"
#include "engine/blocking.h"
#include "engine/engine.h"
#include "engine/own_expiry.h"
#include "engine/watch.h"
#include "engine/work.h"
#include "net/connections/conn.h"
#include "net/net.h"
#include "net/threads/io_threads.h"
#include "net/tls/tls.h"
#include "reclaim/defrag.h"
#include "reclaim/evict.h"
#include "replication/primary/failover.h"
#include "replication/primary/replicas.h"
#include "resp/reply.h"
#include "server/migrate/migrate.h"
#include "server/process/process_title.h"
#include "server/process/supervisor.h"
#include "server/shutdown.h"
#include "session/clients.h"
#include "session/pause.h"
#include "table/command.h"
#include "tracking/tracking.h"

#include <elf.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

typedef unsigned long long llu; /* the type of %llu */

/* --- Server --- */

enum { BUILD_ID_SIZE = 17 };

/* Names and descriptions of notes are padded to a multiple of this. */
static size_t padded(size_t len) {
    return (len + 3) & ~(size_t)3;
}

static bool find_in_notes(const uint8_t *at, const uint8_t *end, char *text) {
    ElfW(Nhdr) note;
    while ((size_t)(end - at) >= sizeof(note)) {
        memcpy(&note, at, sizeof(note));
        const uint8_t *id = at + sizeof(note) + padded(note.n_namesz);
        if (note.n_type == NT_GNU_BUILD_ID && note.n_descsz >= 8) {
            for (int i = 0; i < 8; i++) snprintf(text + 2 * i, 3, "%02x", id[i]);
            return true;
        }
        at = id + padded(note.n_descsz);
    }
    return false;
}

/* The first object is the program itself; the libraries are not visited. */
static int visit_program(struct dl_phdr_info *object, size_t size, void *arg) {
    (void)size;
    for (size_t i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &object->dlpi_phdr[i];
        const uint8_t *notes = (const uint8_t *)(object->dlpi_addr + header->p_vaddr);
        if (header->p_type == PT_NOTE && find_in_notes(notes, notes + header->p_memsz, arg)) break;
    }
    return 1;
}

/* Writes the first 8 bytes of the program's build ID as 16 hexadecimal digits. The build ID
 * (NT_GNU_BUILD_ID) is a hash of the contents, which the linker has added. Zeros in a build without
 * one. O(notes). */
static void build_id_read(char text[BUILD_ID_SIZE]) {
    snprintf(text, BUILD_ID_SIZE, "%016d", 0);
    dl_iterate_phdr(visit_program, text);
}

static sds append_listeners(struct engine *engine, sds out) {
    const struct config *config = &engine->config;
    int number = 0;
    for (int is_tls = 0; is_tls < 2; is_tls++) {
        int64_t port = is_tls ? config->tls_port : config->port;
        if (port == 0) continue;
        out = sds_append_format(out, "listener%d:name=%s", number++, is_tls ? "tls" : "tcp");
        for (size_t i = 0; i < config->bind_count; i++)
            out = sds_append_format(out, ",bind=%s", config->bind[i]);
        out = sds_append_format(out, ",port=%lld\r\n", (long long)port);
    }
    if (sds_len(config->unixsocket))
        out =
            sds_append_format(out, "listener%d:name=unix,bind=%s\r\n", number, config->unixsocket);
    return out;
}

/* Returns the program's absolute path, or the path by which it was called when the system does not
 * know it. */
static const char *executable_path(struct engine *engine, char buffer[PATH_MAX]) {
    ssize_t len = readlink("/proc/self/exe", buffer, PATH_MAX - 1);
    if (len < 0) return engine->title->started_as;
    buffer[len] = 0;
    return buffer;
}

/* The commit is zeros, as in a Redis that was not built from a git checkout: the build ID
 * identifies the build. */
static sds append_server(struct engine *engine, sds out) {
    struct utsname host = {0};
    char executable[PATH_MAX], build_id[BUILD_ID_SIZE];
    build_id_read(build_id);
    uname(&host);
    int64_t uptime = (engine->steady_ms - engine->start_ms) / 1000;
    out = sds_append_format(
        out,
        "redis_version:" PACKLIST_REDIS_VERSION "\r\n"
        "server_name:packlist\r\n"
        "packlist_version:" PACKLIST_VERSION "\r\n"
        "redis_git_sha1:00000000\r\n"
        "redis_git_dirty:0\r\n"
        "redis_build_id:%s\r\n"
        "redis_mode:%s\r\n"
        "os:%s %s %s\r\n"
        "arch_bits:%zu\r\n"
        "monotonic_clock:POSIX clock_gettime\r\n"
        "multiplexing_api:epoll\r\n"
        "gcc_version:%d.%d.%d\r\n"
        "process_id:%d\r\n"
        "process_supervised:%s\r\n"
        "run_id:%s\r\n"
        "tcp_port:%lld\r\n"
        "server_time_usec:%lld\r\n"
        "uptime_in_seconds:%lld\r\n"
        "uptime_in_days:%lld\r\n"
        "hz:%lld\r\n"
        "configured_hz:%lld\r\n"
        "lru_clock:%lld\r\n"
        "executable:%s\r\n"
        "config_file:%s\r\n"
        "io_threads_active:%u\r\n"
        "io_threads_idle_reason:%s\r\n",
        build_id, engine->cluster ? "cluster" : "standalone", host.sysname, host.release,
        host.machine, sizeof(void *) * 8, __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__,
        (int)getpid(), supervisor_name(engine), engine->run_id,
        (long long)(engine->config.port ? engine->config.port : engine->config.tls_port),
        (long long)clock_wall_us(), (long long)uptime, (long long)(uptime / (24 * 3600)),
        (long long)engine->config.hz, (long long)engine->config.hz,
        (long long)(engine->now_ms / 1000 & ACCESS_MASK), executable_path(engine, executable),
        engine->config_source.path, io_threads_active(engine->net),
        io_threads_idle_reason(engine->net));
    int64_t wait_ms = shutdown_wait_ms(engine);
    if (wait_ms > 0)
        out = sds_append_format(out, "shutdown_in_milliseconds:%lld\r\n", (long long)wait_ms);
    return append_listeners(engine, out);
}

/* --- Clients --- */

struct paused {
    const char *reason;
    const char *actions;
    int64_t left_ms; /* 0: also where there is no limit */
};

static int64_t time_left(const struct engine *engine, int64_t until_ms) {
    return until_ms > engine->steady_ms ? until_ms - engine->steady_ms : 0;
}

/* Of several reasons CLIENT PAUSE is shown, then the end of the server, as in Valkey. */
static struct paused paused_read(struct engine *engine) {
    pause_tick(engine);
    const struct pause *pause = &engine->clients->pause;
    if (pause->until_ms)
        return (struct paused){"client_pause", pause->writes_only ? "write" : "all",
                               time_left(engine, pause->until_ms)};
    if (pause->of_writes & PAUSE_SHUTDOWN)
        return (struct paused){"shutdown_in_progress", "write", shutdown_wait_ms(engine)};
    if (pause->of_writes & PAUSE_FAILOVER)
        return (struct paused){"failover_in_progress", "write",
                               time_left(engine, engine->failover->deadline_ms)};
    return (struct paused){"none", "none", 0};
}

static sds append_clients(struct engine *engine, sds out) {
    struct client_stats clients = client_stats_read(engine);
    struct paused paused = paused_read(engine);
    return sds_append_format(
        out,
        "connected_clients:%zu\r\n"
        "cluster_connections:0\r\n"
        "maxclients:%lld\r\n"
        "client_recent_max_input_buffer:%zu\r\n"
        "client_recent_max_output_buffer:%zu\r\n"
        "blocked_clients:%zu\r\n"
        "tracking_clients:%zu\r\n"
        "pubsub_clients:%zu\r\n"
        "watching_clients:%zu\r\n"
        "clients_in_timeout_table:%zu\r\n"
        "total_watched_keys:%zu\r\n"
        "total_blocking_keys:%zu\r\n"
        "total_blocking_keys_on_nokey:%zu\r\n"
        "clients_waiting_for_threads:%u\r\n"
        "paused_reason:%s\r\n"
        "paused_actions:%s\r\n"
        "paused_timeout_milliseconds:%lld\r\n",
        engine->clients->sessions.count - engine->replicas->count,
        (long long)engine->config.maxclients, clients.largest_input, clients.largest_output,
        engine->blocking->session_count + engine->clients->pause.session_count,
        engine->tracking->tracker_count, engine->clients->pubsub.subscriber_count,
        engine->watches->watcher_count, timer_wheel_count(&engine->blocking->deadlines),
        engine->watches->keys.count, engine->blocking->keys.count, engine->blocking->nokey_count,
        engine->works->waiting, paused.reason, paused.actions, (long long)paused.left_ms);
}

/* --- TLS --- */

static sds append_certificate(struct engine *engine, sds out, const char *whose,
                              const struct tls_certificate *certificate) {
    bool is_there = certificate->serial[0] != 0;
    int64_t left_s = is_there ? certificate->ends_s - engine->now_ms / 1000 : 0;
    return sds_append_format(out,
                             "tls_%s_cert_serial:%s\r\n"
                             "tls_%s_cert_expires_in_seconds:%lld\r\n",
                             whose, is_there ? certificate->serial : "none", whose,
                             left_s > 0 ? (long long)left_s : 0);
}

static sds append_tls(struct engine *engine, sds out) {
    struct tls_certificates server = tls_certificates(engine->net, TLS_SERVER);
    struct tls_certificates client = tls_certificates(engine->net, TLS_CLIENT);
    out = append_certificate(engine, out, "server", &server.own);
    out = append_certificate(engine, out, "client", &client.own);
    return append_certificate(engine, out, "ca",
                              server.trusted.serial[0] ? &server.trusted : &client.trusted);
}

/* --- Threads --- */

static sds append_thread(sds out, unsigned number, struct io_thread_facts facts) {
    return sds_append_format(out, "io_thread_%u:clients=%u,reads=%llu,writes=%llu\r\n", number,
                             facts.connections, (llu)facts.reads, (llu)facts.writes);
}

/* Threads may have brought input that no client has taken yet. */
static uint64_t remainder_of(uint64_t all, uint64_t part) {
    return all > part ? all - part : 0;
}

/* Thread 0 is that of the event loop. */
static sds append_threads(struct engine *engine, sds out) {
    struct net_totals totals = net_totals(engine->net);
    unsigned count = io_threads_count(engine->net), elsewhere = 0;
    for (unsigned i = 1; i <= count; i++) elsewhere += io_thread_facts(engine->net, i).connections;
    out = append_thread(
        out, 0,
        (struct io_thread_facts){
            .connections = (unsigned)engine->clients->sessions.count - elsewhere,
            .reads = remainder_of(engine->stats.reads, totals.thread_reads),
            .writes = remainder_of(engine->stats.replies_written, totals.thread_writes),
        });
    for (unsigned i = 1; i <= count; i++)
        out = append_thread(out, i, io_thread_facts(engine->net, i));
    return out;
}

/* --- Stats --- */

static sds append_traffic(struct engine *engine, sds out) {
    const struct stats *stats = &engine->stats;
    const struct sync_stats *syncs = &engine->replicas->stats;
    struct conn_totals totals = conn_totals(engine->net);
    struct conn_totals primary = conn_totals_of(engine->net, CONN_PRIMARY);
    struct conn_totals replicas = conn_totals_of(engine->net, CONN_REPLICA);
    return sds_append_format(out,
                             "total_connections_received:%llu\r\n"
                             "total_commands_processed:%llu\r\n"
                             "total_commands_in_threads:%llu\r\n"
                             "instantaneous_ops_per_sec:%llu\r\n"
                             "total_net_input_bytes:%llu\r\n"
                             "total_net_output_bytes:%llu\r\n"
                             "total_net_repl_input_bytes:%llu\r\n"
                             "total_net_repl_output_bytes:%llu\r\n"
                             "instantaneous_input_kbps:%.2f\r\n"
                             "instantaneous_output_kbps:%.2f\r\n"
                             "instantaneous_input_repl_kbps:%.2f\r\n"
                             "instantaneous_output_repl_kbps:%.2f\r\n"
                             "rejected_connections:%llu\r\n"
                             "sync_full:%llu\r\n"
                             "sync_partial_ok:%llu\r\n"
                             "sync_partial_err:%llu\r\n",
                             (llu)stats->connections_received, (llu)stats->commands,
                             (llu)engine->works->total, (llu)rate_per_second(&stats->commands_rate),
                             totals.input_bytes, totals.output_bytes, primary.input_bytes,
                             replicas.output_bytes,
                             (double)rate_per_second(&stats->input_rate) / 1024,
                             (double)rate_per_second(&stats->output_rate) / 1024,
                             (double)rate_per_second(&stats->primary_input_rate) / 1024,
                             (double)rate_per_second(&stats->replica_output_rate) / 1024,
                             (llu)stats->connections_rejected, (llu)syncs->full_syncs,
                             (llu)syncs->partial_syncs, (llu)syncs->partial_refusals);
}

/* Appends counters of expired and evicted keys, and of hits and misses. */
static sds append_key_stats(struct engine *engine, sds out) {
    const struct stats *stats = &engine->stats;
    return sds_append_format(
        out,
        "expired_subkeys:%llu\r\n"
        "expired_subkeys_active:%llu\r\n"
        "expired_fields:%llu\r\n" /* Valkey's name */
        "expired_keys:%llu\r\n"
        "expired_keys_active:%llu\r\n"
        "expired_stale_perc:%.2f\r\n"
        "expired_time_cap_reached_count:%llu\r\n"
        "expire_cycle_cpu_milliseconds:%llu\r\n"
        "evicted_keys:%llu\r\n"
        "evicted_clients:%llu\r\n"
        "evicted_scripts:%llu\r\n"
        "total_eviction_exceeded_time:%lld\r\n"
        "current_eviction_exceeded_time:%lld\r\n"
        "keyspace_hits:%llu\r\n"
        "keyspace_misses:%llu\r\n",
        (llu)stats->expired_fields, (llu)stats->expired_fields_active, (llu)stats->expired_fields,
        (llu)stats->expired_keys, (llu)stats->expired_keys_active, stats->expired_stale_percent,
        (llu)stats->expire_time_caps, (llu)(clock_ticks_to_us(stats->expire_ticks) / 1000),
        (llu)stats->evicted_keys, (llu)stats->evicted_clients, (llu)stats->evicted_scripts,
        (long long)evict_total_exceeded_ms(engine), (long long)evict_current_exceeded_ms(engine),
        (llu)stats->keyspace_hits, (llu)stats->keyspace_misses);
}

static sds append_pubsub_stats(struct engine *engine, sds out) {
    const struct pubsub *pubsub = &engine->clients->pubsub;
    return sds_append_format(out,
                             "pubsub_channels:%zu\r\n"
                             "pubsub_patterns:%zu\r\n"
                             "pubsubshard_channels:%zu\r\n",
                             pubsub_topic_count(pubsub, PUBSUB_CHANNEL),
                             pubsub_topic_count(pubsub, PUBSUB_PATTERN),
                             pubsub_topic_count(pubsub, PUBSUB_SHARD));
}

/* Returns the clock_ticks that commands took; commands inside EXEC count once. */
static uint64_t command_ticks(struct engine *engine) {
    size_t commands;
    command_all(&commands);
    uint64_t ticks = 0;
    for (size_t i = 0; i < commands; i++) ticks += engine->stats.by_command[i].ticks;
    return ticks - engine->stats.queued_ticks;
}

static sds append_loop_stats(struct engine *engine, sds out) {
    struct net_totals loop = net_totals(engine->net);
    uint64_t iterations_per_s = rate_per_second(&engine->stats.iterations_rate);
    uint64_t active_us_per_s = rate_per_second(&engine->stats.active_rate);
    return sds_append_format(out,
                             "eventloop_cycles:%llu\r\n"
                             "eventloop_duration_sum:%llu\r\n"
                             "eventloop_duration_cmd_sum:%llu\r\n"
                             "instantaneous_eventloop_cycles_per_sec:%llu\r\n"
                             "instantaneous_eventloop_duration_usec:%llu\r\n",
                             (llu)loop.iterations, (llu)clock_ticks_to_us(loop.active_ticks),
                             (llu)clock_ticks_to_us(command_ticks(engine)), (llu)iterations_per_s,
                             (llu)(iterations_per_s ? active_us_per_s / iterations_per_s : 0));
}

static sds append_stats(struct engine *engine, sds out) {
    const struct stats *stats = &engine->stats;
    struct net_totals loop = net_totals(engine->net);
    out = append_pubsub_stats(engine, append_key_stats(engine, append_traffic(engine, out)));
    out = sds_append_format(
        out,
        "latest_fork_usec:0\r\n"
        "total_forks:0\r\n"
        "migrate_cached_sockets:%zu\r\n"
        "slave_expires_tracked_keys:%zu\r\n"
        "active_defrag_hits:%llu\r\n"
        "active_defrag_misses:%llu\r\n"
        "active_defrag_key_hits:%llu\r\n"
        "active_defrag_key_misses:%llu\r\n"
        "total_active_defrag_time:%llu\r\n"
        "current_active_defrag_time:%llu\r\n"
        "tracking_total_keys:%zu\r\n"
        "tracking_total_items:%zu\r\n"
        "tracking_total_prefixes:%zu\r\n"
        "unexpected_error_replies:%llu\r\n"
        "total_error_replies:%llu\r\n"
        "dump_payload_sanitizations:0\r\n"
        "total_reads_processed:%llu\r\n"
        "total_writes_processed:%llu\r\n"
        "io_threaded_reads_processed:%llu\r\n"
        "io_threaded_writes_processed:%llu\r\n"
        "io_threaded_total_prefetch_batches:%llu\r\n"
        "io_threaded_total_prefetch_entries:%llu\r\n"
        "client_query_buffer_limit_disconnections:%llu\r\n"
        "client_output_buffer_limit_disconnections:%llu\r\n"
        "reply_buffer_shrinks:0\r\n"
        "reply_buffer_expands:0\r\n",
        engine->migrate_kept->count, own_expiry_count(engine), (llu)engine->defrag->relocator.moved,
        (llu)engine->defrag->relocator.stayed, (llu)engine->defrag->keys_moved,
        (llu)engine->defrag->keys_stayed, (llu)defrag_total_ms(engine),
        (llu)defrag_current_ms(engine), engine->tracking->table.keys, engine->tracking->table.pairs,
        engine->tracking->prefixes.count, (llu)stats->unexpected_errors, (llu)stats->errors,
        (llu)stats->reads, (llu)stats->replies_written, (llu)loop.thread_reads,
        (llu)loop.thread_writes, (llu)stats->prefetched.batches, (llu)stats->prefetched.requests,
        (llu)stats->query_buffer_limit_disconnections,
        (llu)stats->output_buffer_limit_disconnections);
    out = append_loop_stats(engine, out);
    return sds_append_format(
        out,
        "acl_access_denied_auth:%llu\r\n"
        "acl_access_denied_cmd:%llu\r\n"
        "acl_access_denied_key:%llu\r\n"
        "acl_access_denied_channel:%llu\r\n"
        "acl_access_denied_tls_cert:%llu\r\n"
        "acl_access_denied_db:%llu\r\n",
        (llu)stats->denied[ACL_REASON_AUTH], (llu)stats->denied[ACL_REASON_COMMAND],
        (llu)stats->denied[ACL_REASON_KEY], (llu)stats->denied[ACL_REASON_CHANNEL],
        (llu)stats->denied[ACL_REASON_TLS_CERT], (llu)stats->denied[ACL_REASON_DATABASE]);
}

/* --- CPU, Modules, Cluster --- */

static sds append_cpu_times(sds out, int who, const char *suffix) {
    struct rusage usage = {0};
    getrusage(who, &usage);
    return sds_append_format(out,
                             "used_cpu_sys%s:%ld.%06ld\r\n"
                             "used_cpu_user%s:%ld.%06ld\r\n",
                             suffix, (long)usage.ru_stime.tv_sec, (long)usage.ru_stime.tv_usec,
                             suffix, (long)usage.ru_utime.tv_sec, (long)usage.ru_utime.tv_usec);
}

static sds append_cpu(struct engine *engine, sds out) {
    llu active_us = clock_ticks_to_us(net_totals(engine->net).active_ticks);
    out = append_cpu_times(out, RUSAGE_SELF, "");
    out = append_cpu_times(out, RUSAGE_CHILDREN, "_children");
    out = append_cpu_times(out, RUSAGE_THREAD, "_main_thread");
    return sds_append_format(out, "used_active_time_main_thread:%llu.%06llu\r\n",
                             active_us / 1000000, active_us % 1000000);
}

static sds append_cluster(struct engine *engine, sds out) {
    return sds_append_format(out, "cluster_enabled:%d\r\n", engine->cluster != NULL);
}

/* --- Commands, errors --- */

static sds append_command_stats(struct engine *engine, sds out) {
    size_t commands;
    const struct command *all = command_all(&commands);
    for (size_t i = 0; i < commands; i++) {
        const struct command_stats *stats = &engine->stats.by_command[i];
        if (!stats->calls && !stats->rejected && !stats->failed) continue;
        uint64_t us = clock_ticks_to_us(stats->ticks);
        double us_per_call = stats->calls ? (double)us / (double)stats->calls : 0;
        out = sds_append_format(out,
                                "cmdstat_%s:calls=%llu,usec=%llu,usec_per_call=%.2f,"
                                "rejected_calls=%llu,failed_calls=%llu\r\n",
                                all[i].name, (llu)stats->calls, (llu)us, us_per_call,
                                (llu)stats->rejected, (llu)stats->failed);
    }
    return out;
}

/* The percentiles come from a directive, so they are valid numbers. */
static sds append_percentiles(struct engine *engine, sds out,
                              const struct tick_histogram *latency) {
    const char *at = engine->config.latency_percentiles;
    const char *comma = "";
    while (*at) {
        size_t len = strcspn(at, " ");
        double percent = 0;
        number_parse_double(slice_make(at, len), &percent);
        uint64_t ns = clock_ticks_to_ns(tick_histogram_percentile(latency, percent));
        out = sds_append_format(out, "%sp%.*s=%llu.%03llu", comma, (int)len, at, (llu)ns / 1000,
                                (llu)ns % 1000);
        comma = ",";
        at += len + (at[len] != 0);
    }
    return out;
}

static sds append_latency_stats(struct engine *engine, sds out) {
    size_t commands;
    const struct command *all = command_all(&commands);
    if (!engine->config.latency_tracking) return out;
    for (size_t i = 0; i < commands; i++) {
        const struct tick_histogram *latency = engine->stats.by_command[i].latency;
        if (!latency) continue;
        out = sds_append_format(out, "latency_percentiles_usec_%s:", all[i].name);
        out = sds_append_cstr(append_percentiles(engine, out, latency), "\r\n");
    }
    return out;
}

static sds append_error_stats(struct engine *engine, sds out) {
    const struct error_stats *errors = &engine->stats.by_error;
    for (unsigned i = 0; i < errors->count; i++)
        out = sds_append_format(out, "errorstat_%s:count=%llu\r\n", errors->codes[i].name,
                                (llu)errors->codes[i].count);
    return out;
}

/* --- The command --- */

static const struct section {
    const char *title;
    bool is_default;
    sds (*append)(struct engine *engine, sds out); /* NULL: it has no fields */
} sections[] = {
    {"Server", true, append_server},
    {"TLS", false, append_tls},
    {"Clients", true, append_clients},
    {"Memory", true, info_append_memory},
    {"Persistence", true, info_append_persistence},
    {"Threads", true, append_threads},
    {"Stats", true, append_stats},
    {"Replication", true, info_append_replication},
    {"CPU", true, append_cpu},
    {"Modules", true, NULL},
    {"Commandstats", false, append_command_stats},
    {"Errorstats", true, append_error_stats},
    {"Latencystats", false, append_latency_stats},
    {"Cluster", true, append_cluster},
    {"Keyspace", true, info_append_keyspace},
    {"Keysizes", true, info_append_keysizes},
};

static bool asks_for(struct slice name, const struct section *section) {
    if (slice_is(name, section->title) || slice_is(name, "all") || slice_is(name, "everything"))
        return true;
    return section->is_default && slice_is(name, "default");
}

static bool is_wanted(const struct call *call, const struct section *section) {
    if (call->argc == 1) return section->is_default;
    for (size_t i = 1; i < call->argc; i++)
        if (asks_for(call->argv[i], section)) return true;
    return false;
}

void info_command(struct call *call) {
    sds out = sds_new(SLICE(""));
    for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
        if (!is_wanted(call, &sections[i])) continue;
        if (sds_len(out)) out = sds_append_cstr(out, "\r\n");
        out = sds_append_format(out, "# %s\r\n", sections[i].title);
        if (sections[i].append) out = sections[i].append(call->engine, out);
    }
    call_answer_text(call, out);
}
