#include "script/script_busy.h"

#include "base/clock.h"
#include "base/log/log.h"
#include "base/memory/alloc.h"
#include "engine/engine.h"
#include "engine/slow.h"
#include "lua/machine.h"
#include "net/nested_poll.h"
#include "script/script.h"
#include "session/clients.h"
#include "session/outbox.h"
#include "session/session.h"

/* TIME stands still for so long in scripts that never become busy. */
enum { TIME_STANDS_MS_MAX = 5000 };

/* While other clients are served, this holds what belongs to the script's own client; otherwise
 * what belongs to them. exchange() changes from one to the other. */
struct script_busy {
    bool is_polling;      /* the sockets could be polled: net/nested_poll.h */
    struct outbox outbox; /* of the others */
    struct resp_parser parser;
    sds argument;
    int64_t now_ms;
    int64_t now_us;
    int64_t steady_ms;
    struct eviction_rules eviction;
    uint64_t released; /* of the reply gate: what these clients get confirms no change */
    bool denies;
};

static struct engine *engine_of(const struct script_run *run) {
    return run->scripts->engine;
}

static const char *refusal_of(const struct script_run *run) {
    return run->program->is_function ? "BUSY Redis is busy running a script. You can only call "
                                       "FUNCTION KILL or SHUTDOWN NOSAVE."
                                     : "BUSY Redis is busy running a script. You can only call "
                                       "SCRIPT KILL or SHUTDOWN NOSAVE.";
}

/* --- Serving other clients --- */

#define EXCHANGE(a, b)                                                                             \
    do {                                                                                           \
        __typeof__(a) kept = (a);                                                                  \
        (a) = (b);                                                                                 \
        (b) = kept;                                                                                \
    } while (0)

static void exchange(struct script_busy *busy, struct engine *engine) {
    EXCHANGE(engine->clients->parser, busy->parser);
    EXCHANGE(engine->argument, busy->argument);
    EXCHANGE(engine->now_ms, busy->now_ms);
    EXCHANGE(engine->now_us, busy->now_us);
    EXCHANGE(engine->steady_ms, busy->steady_ms);
    EXCHANGE(engine->eviction, busy->eviction);
    EXCHANGE(engine->reply_gate.released, busy->released);
    EXCHANGE(engine->reply_gate.denies, busy->denies);
}

static void serve_others(struct script_run *run) {
    struct engine *engine = engine_of(run);
    struct script_busy *busy = run->busy;
    busy->released = REPLY_GATE_OPEN;
    busy->denies = false;
    exchange(busy, engine);
    engine->clients->outbox = &busy->outbox;
    engine->busy_refusal = refusal_of(run);
    engine->restrictions |= RESTRICTED_BUSY;
    nested_poll_step(engine->net);
    engine->restrictions &= ~(uint32_t)RESTRICTED_BUSY;
    engine->clients->outbox = &engine->clients->reading;
    exchange(busy, engine);
    slow_look(engine); /* the script's request may have been announced before theirs */
}

/* --- Becoming busy --- */

static struct script_busy *busy_new(const struct engine *engine) {
    struct script_busy *busy = mem_alloc_zeroed(sizeof(*busy));
    resp_parser_init(&busy->parser);
    outbox_init(&busy->outbox, OUTBOX_FIRST_CAPACITY, engine->clients);
    busy->now_ms = engine->now_ms;
    busy->now_us = engine->now_us;
    busy->steady_ms = engine->steady_ms;
    busy->eviction = engine->eviction;
    return busy;
}

static void busy_free(struct script_busy *busy) {
    resp_parser_free(&busy->parser);
    outbox_free(&busy->outbox);
    mem_free(busy);
}

/* Returns whether what the connection of the session holds may leave. It may not when it confirms
 * changes that could not be written, or may tell of changes of the script itself. */
static bool may_release(const struct engine *engine, const struct session *session) {
    if (!conn_is_holding(conn_of_session((struct session *)session))) return true;
    bool gets_messages = session->flags & (SESSION_SUBSCRIBED | SESSION_MONITOR);
    return !engine->reply_gate.denies &&
           !(gets_messages && command_log_is_inside_unit(&engine->command_log));
}

/* Returns whether the session is served while the script runs. The primary is not: what it sends
 * changes data, which must not happen in the middle of a script. */
static bool may_be_served(const struct script_run *run, const struct session *session) {
    if (session == call_session(run->call) || session->flags & SESSION_PRIMARY) return false;
    return may_release(engine_of(run), session);
}

/* Serves all clients, but its own, whose output does not have to wait for the end of the script. */
static bool begin_polling(const struct script_run *run) {
    struct engine *engine = engine_of(run);
    bool holds_output = engine->reply_gate.released != REPLY_GATE_OPEN;
    if (!nested_poll_begin(engine->net, holds_output)) return false;
    struct session *next;
    for (struct session *session = engine->clients->sessions.first; session; session = next) {
        next = session->next;
        if (may_be_served(run, session)) nested_poll_add(engine->net, conn_of_session(session));
    }
    return true;
}

static void log_slow(const struct script_run *run) {
    log_warning("Slow script detected: still in execution after %lld milliseconds. You can try "
                "killing the script using the %s command. Script name is: %s.",
                (long long)script_busy_duration(run),
                run->program->is_function ? "FUNCTION KILL" : "SCRIPT KILL", run->program->name);
}

/* The script is busy. Makes the changes of earlier commands safe, and serves clients. Returns the
 * text of the error that ends the script; NULL: it goes on. */
static __attribute__((noinline)) const char *interrupt(struct script_run *run) {
    struct engine *engine = engine_of(run);
    if (!run->busy) {
        log_slow(run);
        run->busy = busy_new(engine);
    }
    engine->reply_gate.flush(engine->reply_gate.arg);
    if (!run->busy->is_polling) run->busy->is_polling = begin_polling(run);
    if (run->busy->is_polling) serve_others(run);
    run->poll_at = clock_ticks() + NESTED_POLL_MS * engine->ticks_per_ms;
    if (engine->shutting_down) {
        session_close(call_session(run->call));
        return "The server is shutting down";
    }
    if (!run->is_killed) return NULL;
    log_notice("Lua script killed by user with SCRIPT KILL.");
    return "Script killed by user with SCRIPT KILL...";
}

/* Replies to scripts that ran earlier in the loop iteration may be held. They need not wait for
 * this one, although it is not busy yet. */
static void release_replies(struct script_run *run) {
    struct clients *clients = engine_of(run)->clients;
    struct session *next;
    clients->replies_wait = false;
    for (struct session *session = clients->sessions.first; session; session = next) {
        next = session->next;
        struct conn *conn = conn_of_session(session);
        if (conn_is_holding(conn) && may_be_served(run, session)) conn_release(conn);
    }
}

static const char *watch(void *arg) {
    struct script_run *run = arg;
    if (engine_of(run)->clients->replies_wait && !run->busy) release_replies(run);
    return clock_ticks() < run->poll_at ? NULL : interrupt(run);
}

/* --- Begin and end --- */

/* Returns when the run has taken so many milliseconds, in ticks; UINT64_MAX: never. */
static uint64_t ticks_after(const struct script_run *run, uint64_t duration_ms) {
    uint64_t ticks;
    if (__builtin_mul_overflow(duration_ms, engine_of(run)->ticks_per_ms, &ticks) ||
        __builtin_add_overflow(run->begin_ticks, ticks, &ticks))
        return UINT64_MAX;
    return ticks;
}

void script_busy_begin(struct script_run *run) {
    const struct engine *engine = engine_of(run);
    uint64_t threshold = (uint64_t)engine->config.busy_reply_threshold;
    run->begin_ticks = engine->ticks;
    run->poll_at = threshold ? ticks_after(run, threshold) : UINT64_MAX;
    run->time_moves_at = threshold ? run->poll_at : ticks_after(run, TIME_STANDS_MS_MAX);
    machine_set_watch(run->program->machine, watch, run);
}

void script_busy_end(struct script_run *run) {
    machine_set_watch(run->program->machine, NULL, NULL);
    if (!run->busy) return;
    if (run->busy->is_polling) nested_poll_end(engine_of(run)->net);
    busy_free(run->busy);
    run->busy = NULL;
}

int64_t script_busy_duration(const struct script_run *run) {
    return (int64_t)(clock_ticks_to_us(clock_ticks() - run->begin_ticks) / 1000);
}

int64_t script_busy_wall_us(const struct script_run *run) {
    return clock_ticks() < run->time_moves_at ? engine_of(run)->now_us : clock_wall_us();
}

/* --- Commands --- */

void script_busy_refuse(struct call *call, const struct script_run *run) {
    reply_error(call->reply, refusal_of(run));
}

void script_busy_kill(struct call *call, bool of_functions) {
    struct script_run *run = call->engine->scripts->run;
    if (!run) {
        reply_error(call->reply, "NOTBUSY No scripts in execution right now.");
    } else if (run->scope.has_written) {
        reply_error(call->reply,
                    "UNKILLABLE Sorry the script already executed write commands against the "
                    "dataset. You can either wait the script termination or kill the server in a "
                    "hard way using the SHUTDOWN NOSAVE command.");
    } else if (run->program->is_function != of_functions) {
        script_busy_refuse(call, run);
    } else {
        run->is_killed = true;
        reply_ok(call->reply);
    }
}
