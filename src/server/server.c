/* server: the process's state is built, run and taken down here. */
#include "server/server.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "durability/aof.h"
#include "durability/data_lock.h"
#include "server/blocking.h"
#include "server/call.h"
#include "server/config_apply.h"
#include "server/cron.h"
#include "server/evict.h"
#include "server/evict_clients.h"
#include "server/expire.h"
#include "server/flush.h"
#include "server/lazyfree.h"
#include "server/listeners.h"
#include "server/server_clock.h"
#include "server/server_run.h"
#include "server/session_input.h"
#include "server/session_output.h"
#include "server/slow.h"
#include "server/supervisor.h"
#include "server/targets.h"
#include "server/wait_aof.h"
#include "types/value.h"

#include <signal.h>

enum { REPLY_CAPACITY = 128 * 1024, SIDE_REPLY_CAPACITY = 4 * 1024 };

/* The changes of this iteration are written; then the replies to them may leave, or their clients
 * are disconnected. */
static void release_replies(void) {
    aof_flush();
    if (server.reply_gate.denies) session_cut_off_denied();
}

/* Background work that a tick has begun goes on, a stretch each turn; sessions are resumed until
 * none is left to be resumed. Then the loop may sleep, if all the work is done. */
static bool before_poll(void *arg) {
    (void)arg;
    bool more = expire_step();
    more |= evict_step();
    more |= slices_step();
    more |= watch_step(&server.watches);
    session_resume_all();
    if (server.config.maxmemory_clients) more |= evict_clients();
    release_replies();
    more |= wait_aof_wake();
    return more;
}

static void on_signal(int signum, void *arg) {
    (void)arg;
    bool interrupt = signum == SIGINT;
    log_warning("Received %s scheduling shutdown...", interrupt ? "SIGINT" : "SIGTERM");
    server_shutdown(
        (int)(interrupt ? server.config.shutdown_on_sigint : server.config.shutdown_on_sigterm));
}

bool server_shutdown(int options) {
    if (server.shutting_down) return true;
    log_warning("User requested shutdown...");
    if (server.refusing & REFUSING_LOADING) options = SHUTDOWN_NOSAVE;
    supervisor_status("Shutting down: bringing the data to the disk");
    if (!aof_at_end(options) || !save_at_end(options)) {
        supervisor_status("Ready to accept connections; a shutdown has failed");
        log_warning("Errors trying to shut down the server. Check the logs for more information.");
        return false;
    }
    server.shutting_down = true;
    supervisor_stopping();
    if (!command_log_is_inside_unit(&server.command_log)) release_replies();
    net_stop(server.net);
    return true;
}

static void make_keyspaces(void) {
    size_t count = (size_t)server.config.databases;
    server.keyspaces = mem_alloc(count * sizeof(*server.keyspaces));
    for (size_t i = 0; i < count; i++) server.keyspaces[i] = keyspace_new(value_free, value_length);
}

static bool lock_data(const char **error) {
    static sds reason; /* it is shown just before the process ends */
    if (data_lock_at_start(&reason)) return true;
    *error = reason;
    return false;
}

bool server_start(const char **error) {
    server_update_clock();
    server.start_ms = server.steady_ms;
    server.ticks_per_ms = clock_us_to_ticks(1000);
    server.active_expire = true;
    random_entropy(&server.random, sizeof(server.random));
    random_hex(server.run_id, sizeof(server.run_id) - 1);
    random_hex(server.replication_id, sizeof(server.replication_id) - 1);
    size_t commands;
    command_all(&commands);
    server.stats.by_command = mem_alloc_zeroed(commands * sizeof(*server.stats.by_command));
    resp_parser_init(&server.parser);
    reply_init(&server.reply, REPLY_CAPACITY);
    server.reply.before_growth = session_drop_over_limit;
    reply_init(&server.pushes, 0);
    reply_init(&server.side_reply, SIDE_REPLY_CAPACITY);
    reply_init(&server.side_pushes, 0);
    command_log_init(&server.command_log);
    server.reply_gate =
        (struct reply_gate){.log = &server.command_log, .released = REPLY_GATE_OPEN};
    server.net = net_new(error);
    if (!server.net) return false;
    make_keyspaces();
    lazyfree_start(server.net, flush_freed, slices_keep_entry);
    session_list_init(&server.sessions);
    server.retire_session = session_retire;
    expire_start((int)server.config.databases);
    evict_configure();
    slow_configure();
    server.blocking = blocking_new(server.net, (int)server.config.databases, blocking_time_is_up);
    watches_init(&server.watches, (int)server.config.databases);
    pubsub_init(&server.pubsub);
    if (!lock_data(error)) return false;
    save_start();
    aof_init();
    net_on_before_poll(server.net, before_poll, NULL);
    if (!net_on_signal(server.net, SIGTERM, on_signal, NULL) ||
        !net_on_signal(server.net, SIGINT, on_signal, NULL) || !child_start_watching()) {
        *error = "cannot watch for signals";
        return false;
    }
    sigaction(SIGHUP, &(struct sigaction){.sa_handler = SIG_IGN}, NULL);
    /* A file at the limit of its size is an error of write. */
    sigaction(SIGXFSZ, &(struct sigaction){.sa_handler = SIG_IGN}, NULL);
    if (!listeners_open(error)) return false;
    config_apply_memory_thread();
    cron_start();
    supervisor_watchdog_start();
    server.startup_memory = mem_used();
    return true;
}

void server_run(void) {
    net_run(server.net);
}

void server_stop(void) {
    listeners_close();
    cron_stop();
    expire_stop();
    while (server.sessions.first) session_close(server.sessions.first);
    aof_stop();
    slices_end_all();
    session_list_free(&server.sessions);
    blocking_free(server.blocking);
    watches_free(&server.watches);
    monitors_free(&server.monitors);
    targets_stop();
    lazyfree_stop();
    net_free(server.net);
}

void server_free(void) {
    lazyfree_finish();
    flush_forget_all();
    for (int64_t i = 0; i < server.config.databases; i++) keyspace_free(server.keyspaces[i]);
    mem_free(server.keyspaces);
    save_stop();
    aof_free();
    stats_free(&server.stats);
    slowlog_reset(&server.slowlog);
    latency_forget_all(&server.latency);
    resp_parser_free(&server.parser);
    reply_free(&server.reply);
    reply_free(&server.pushes);
    reply_free(&server.side_reply);
    reply_free(&server.side_pushes);
    command_log_free(&server.command_log);
    sds_free(server.config_source.path);
    config_free(&server.config);
}
