#include "server/server_run.h"

#include "engine/blocking.h"
#include "engine/engine.h"
#include "engine/steps.h"
#include "engine/watch.h"
#include "execute/blocking_serve.h"
#include "net/nested_poll.h"
#include "net/net.h"
#include "reclaim/evict.h"
#include "reclaim/evict_clients.h"
#include "reclaim/expire.h"
#include "replication/link/link.h"
#include "replication/primary/primary.h"
#include "replication/replication.h"
#include "requests/session_input.h"
#include "server/shutdown.h"
#include "session/invalidate.h"
#include "snapshot/incremental.h"
#include "tracking/tracking.h"

#include <signal.h>

/* For clients that track keys: does a step of the work that is left, and tells them what has
 * changed. Returns whether it is to be called again soon. */
static __attribute__((noinline)) bool serve_trackers(struct engine *engine) {
    bool more = tracking_step(engine->tracking);
    invalidate_tell_changes(engine);
    return more;
}

/* Keys that clients wait for have expired, or were evicted, without a command. */
static __attribute__((noinline)) void serve_waiting(struct engine *engine) {
    engine_update_clock(engine);
    blocking_serve(engine, engine->blocking);
}

/* Continues background work that a timer has begun, one step per loop iteration, and resumes
 * sessions until none is left. Returns whether work is left, so that the loop does not sleep. */
static bool end_iteration(void *arg) {
    struct engine *engine = arg;
    bool more = expire_step(engine);
    more |= evict_step(engine);
    more |= incremental_step(engine);
    more |= watch_step(engine->watches);
    if (!steps_are_idle(engine)) more |= steps_run(engine);
    if (blocking_has_ready(engine->blocking) && !engine->shutting_down) serve_waiting(engine);
    session_resume_all(engine);
    if (engine->config.maxmemory_clients) more |= evict_clients(engine);
    if (!tracking_is_idle(engine->tracking)) more |= serve_trackers(engine);
    session_release_replies(engine);
    more |= replication_step(engine);
    more |= blocking_wake_synced(engine->blocking);
    shutdown_step(engine);
    return more;
}

/* A script is busy: replicas get what was changed before it, and PINGs. */
static void keep_replicas_alive(void *arg) {
    struct engine *engine = arg;
    engine_update_clock(engine);
    replication_tick(engine);
    primary_send_rest(engine);
}

static void on_signal(int signum, void *arg) {
    shutdown_by_signal(arg, signum);
}

static const struct net_upward UPWARD = {.before_poll = end_iteration,
                                         .nested_step = keep_replicas_alive};

bool server_enter_loop(struct engine *engine, sds *error) {
    net_set_upward(engine->net, &UPWARD, engine);
    if (!net_on_signal(engine->net, SIGTERM, on_signal, engine) ||
        !net_on_signal(engine->net, SIGINT, on_signal, engine)) {
        *error = sds_new(SLICE("cannot watch for signals"));
        return false;
    }
    sigaction(SIGHUP, &(struct sigaction){.sa_handler = SIG_IGN}, NULL);
    sigaction(SIGUSR2, &(struct sigaction){.sa_handler = SIG_IGN}, NULL); /* it would end us */
    /* Writing beyond the limit of a file's size returns an error then. */
    sigaction(SIGXFSZ, &(struct sigaction){.sa_handler = SIG_IGN}, NULL);
    return true;
}

/* The loop also ends when data from the primary must be loaded, which no callback can do. */
void server_run(struct engine *engine) {
    net_run(engine->net);
    while (!engine->shutting_down) {
        link_work(engine);
        if (!engine->shutting_down) net_run(engine->net);
    }
}
