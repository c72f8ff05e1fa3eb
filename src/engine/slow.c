#include "engine/slow.h"

#include "base/clock.h"
#include "engine/call.h"
#include "engine/client.h"
#include "engine/engine.h"
#include "net/conn.h"
#include "stats/slowlog.h"
#include "table/command.h"

static uint64_t monitor_threshold_us(struct engine *engine) {
    uint64_t ms = (uint64_t)engine->config.latency_monitor_threshold;
    if (ms == 0) return UINT64_MAX;
    return ms > UINT64_MAX / 1000 ? UINT64_MAX : ms * 1000;
}

static uint64_t log_threshold_us(struct engine *engine) {
    int64_t us = engine->config.slowlog_log_slower_than;
    return us < 0 ? UINT64_MAX : (uint64_t)us;
}

void slow_configure(struct engine *engine) {
    uint64_t log_us = log_threshold_us(engine), monitor_us = monitor_threshold_us(engine);
    uint64_t us = log_us < monitor_us ? log_us : monitor_us;
    engine->slow_ticks = us == UINT64_MAX ? UINT64_MAX : clock_us_to_ticks(us);
}

static void note_latency(struct engine *engine, enum latency_kind kind, uint64_t us) {
    if (us < monitor_threshold_us(engine)) return;
    uint64_t ms = us / 1000;
    latency_note(engine->latency, kind, clock_wall_ms() / 1000,
                 ms > UINT32_MAX ? UINT32_MAX : (uint32_t)ms);
}

void slow_note_command(const struct call *call, struct session *session, uint64_t ticks) {
    struct engine *engine = call->engine;
    const struct command *command = call->command;
    uint64_t us = clock_ticks_to_us(ticks);
    note_latency(engine, command->flags & COMMAND_FAST ? LATENCY_FAST_COMMAND : LATENCY_COMMAND,
                 us);
    if (us < log_threshold_us(engine) || command->flags & COMMAND_SKIP_SLOWLOG) return;
    char peer[CONN_NAME_MAX];
    struct slowlog_call entry = {
        .command = command,
        .argv = call->argv,
        .argc = call->argc,
        .time_s = engine->now_ms / 1000,
        .duration_us = us,
        .peer = SLICE(""),
        .name = SLICE(""),
    };
    /* As in Redis, a script's command names no client. */
    if (session && call->origin != ORIGIN_SCRIPT) {
        entry.peer = slice_of_cstr(conn_peer_name(conn_of_session(session), peer));
        if (session->name) entry.name = sds_slice(session->name);
    }
    slowlog_add(engine->slowlog, &entry, (size_t)engine->config.slowlog_max_len);
}

uint64_t slow_begin(struct engine *engine) {
    return engine->config.latency_monitor_threshold ? clock_ticks() : 0;
}

void slow_end(struct engine *engine, enum latency_kind kind, uint64_t begin) {
    if (begin) note_latency(engine, kind, clock_ticks_to_us(clock_ticks() - begin));
}
