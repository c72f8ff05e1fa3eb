#include "server/shutdown.h"

#include "aof/aof.h"
#include "base/log/log.h"
#include "engine/call.h"
#include "engine/claim.h"
#include "engine/engine.h"
#include "execute/blocking_serve.h"
#include "net/net.h"
#include "replication/history/history.h"
#include "replication/primary/primary.h"
#include "replication/primary/replicas.h"
#include "requests/session_input.h"
#include "resp/reply.h"
#include "server/process/supervisor.h"
#include "session/pause.h"
#include "snapshot/save.h"

#include <signal.h>

static bool waits(const struct engine *engine) {
    return engine->shutdown->wait.deadline_ms != 0;
}

/* --- The end --- */

/* Saves and ends. Returns false when the data could not be saved. `offset` of the stream is what
 * the replicas should have confirmed. */
static bool end(struct engine *engine, int options, uint64_t offset) {
    if (engine->restrictions & RESTRICTED_LOADING) options = SHUTDOWN_NOSAVE;
    replicas_log_lag(engine, offset);
    supervisor_status(engine, "Shutting down: bringing the data to the disk");
    if (!aof_at_end(engine, options) || !save_at_end(engine, options)) {
        supervisor_status(engine, "Ready to accept connections; a shutdown has failed");
        log_warning("Errors trying to shut down the server. Check the logs for more information.");
        if (engine->shutdown->pending_signal)
            log_notice("The server ends when the append-only file has been written.");
        return false;
    }
    engine->shutting_down = true;
    supervisor_stopping(engine);
    command_log_drop_unit(&engine->command_log); /* of a script that is still running */
    session_release_replies(engine);
    primary_send_rest(engine); /* net_run sends it when it ends */
    net_stop(engine->net);
    return true;
}

/* --- Waiting for replicas --- */

/* A busy script may never end; and while data is being loaded, the loop does not run. */
static bool must_wait(const struct engine *engine, int options) {
    const uint32_t hindrances = RESTRICTED_LOADING | RESTRICTED_LOADING_BESIDE | RESTRICTED_BUSY;
    if (options & SHUTDOWN_NOW || engine->restrictions & hindrances) return false;
    return engine->config.shutdown_timeout > 0 &&
           !replicas_all_confirmed(engine, history_offset(engine));
}

static void begin_wait(struct engine *engine, int options) {
    log_notice("Waiting for replicas before shutting down.");
    supervisor_status(engine, "Shutting down: waiting for replicas");
    engine->shutdown->wait = (struct shutdown_wait){
        .deadline_ms = engine->steady_ms + engine->config.shutdown_timeout * 1000,
        .options = options,
        .offset = history_offset(engine),
    };
    pause_start_writes(engine, PAUSE_SHUTDOWN);
    replicas_ask_for_acks(engine);
}

void shutdown_answer_failed(struct call *call) {
    reply_error(call->reply, "ERR Errors trying to SHUTDOWN. Check logs.");
}

static void answer_awaited(struct call *call, const void *state) {
    (void)state;
    shutdown_answer_failed(call);
}

static const struct waiter_kind shutdown_wait_kind = {.unserved = answer_awaited, .for_work = true};

void shutdown_await(struct call *call) {
    call_block(call, &(struct block_request){.kind = &shutdown_wait_kind});
}

/* Gives up the shutdown: clients may write again, and those that asked for it get an error. */
static void run_on(struct engine *engine) {
    engine->shutdown->wait = (struct shutdown_wait){0};
    pause_end_writes(engine, PAUSE_SHUTDOWN);
    blocking_finish_all(engine->blocking, &shutdown_wait_kind);
}

enum shutdown_result shutdown_begin(struct engine *engine, int options) {
    if (engine->shutting_down) return SHUTDOWN_ENDS;
    bool is_busy = engine->restrictions & RESTRICTED_BUSY;
    claims_end_all(engine);
    if (waits(engine) && !is_busy) return SHUTDOWN_WAITS;
    log_warning("User requested shutdown...");
    if (must_wait(engine, options)) {
        begin_wait(engine, options);
        return SHUTDOWN_WAITS;
    }
    bool ends = end(engine, options, history_offset(engine));
    return ends ? SHUTDOWN_ENDS : SHUTDOWN_FAILS;
}

bool shutdown_abort(struct engine *engine) {
    bool is_pending = engine->shutdown->pending_signal;
    engine->shutdown->pending_signal = 0;
    if (!waits(engine)) return is_pending;
    log_notice("Shutdown manually aborted.");
    supervisor_status(engine, "Ready to accept connections");
    run_on(engine);
    return true;
}

static void end_wait(struct engine *engine) {
    const struct shutdown_wait *wait = &engine->shutdown->wait;
    if (!end(engine, wait->options, wait->offset)) run_on(engine);
}

void shutdown_step(struct engine *engine) {
    const struct shutdown_wait *wait = &engine->shutdown->wait;
    if (!waits(engine) || engine->shutting_down) return;
    if (engine->steady_ms >= wait->deadline_ms || replicas_all_confirmed(engine, wait->offset))
        end_wait(engine);
}

int64_t shutdown_wait_ms(const struct engine *engine) {
    int64_t left_ms = engine->shutdown->wait.deadline_ms - engine->steady_ms;
    return waits(engine) && left_ms > 0 ? left_ms : 0;
}

/* --- Signals --- */

static int options_of_signal(const struct engine *engine, int signum) {
    return (int)(signum == SIGINT ? engine->config.shutdown_on_sigint
                                  : engine->config.shutdown_on_sigterm);
}

void shutdown_by_signal(struct engine *engine, int signum) {
    bool is_interrupt = signum == SIGINT;
    log_warning("Received %s scheduling shutdown...", is_interrupt ? "SIGINT" : "SIGTERM");
    if (is_interrupt && waits(engine)) {
        log_warning("You insist... exiting now.");
        end_wait(engine);
        return;
    }
    int options = options_of_signal(engine, signum);
    engine->shutdown->pending_signal = aof_prevents_end(engine, options) ? signum : 0;
    shutdown_begin(engine, options);
}

void shutdown_try_pending(struct engine *engine) {
    if (!engine->shutdown->pending_signal) return;
    int options = options_of_signal(engine, engine->shutdown->pending_signal);
    if (aof_prevents_end(engine, options)) return;
    engine->shutdown->pending_signal = 0;
    shutdown_begin(engine, options);
}
