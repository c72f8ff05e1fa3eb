#include "session/monitor.h"

#include "base/clock.h"
#include "base/memory/alloc.h"
#include "engine/call.h"
#include "engine/engine.h"
#include "session/clients.h"
#include "session/outbox.h"
#include "session/session.h"
#include "table/command.h"
#include "table/secret.h"

#include <assert.h>

/* --- Lines --- */

/* "address:port", or "unix:path". */
static sds origin_of(const struct session *session) {
    struct engine *engine = session->requester.engine;
    struct monitors *monitors = &engine->clients->monitors;
    if (monitors->origin_id == session->id) return monitors->origin;
    char peer[CONN_NAME_MAX];
    bool is_unix = session->marks & SESSION_UNIX;
    const char *name = is_unix ? engine->config.unixsocket
                               : conn_peer_name(conn_of_session((struct session *)session), peer);
    sds_free(monitors->origin);
    monitors->origin = sds_append_cstr(sds_new(is_unix ? SLICE("unix:") : SLICE("")), name);
    monitors->origin_id = session->id;
    return monitors->origin;
}

static void build_line(const struct call *call) {
    struct engine *engine = call->engine;
    long long now_us = clock_wall_us();
    sds line = engine->clients->monitors.line ? engine->clients->monitors.line : sds_new(SLICE(""));
    sds_set_len(line, 0);
    line = sds_append_format(line, "+%lld.%06lld [%d ", now_us / 1000000, now_us % 1000000,
                             (int)call->requester->database);
    line = sds_append(line, call->origin == ORIGIN_SCRIPT
                                ? SLICE("lua")
                                : sds_slice(origin_of(session_of_sender(call))));
    line = sds_append(line, SLICE("]"));
    struct secret_cursor cursor = secret_begin(call->command, call->argv, call->argc);
    for (size_t i = 0; i < call->argc; i++) {
        line = sds_append(line, SLICE(" "));
        line = secret_next(&cursor) ? sds_append(line, SLICE("\"" SECRET_SHOWN "\""))
                                    : sds_append_quoted(line, call->argv[i]);
    }
    engine->clients->monitors.line = sds_append(line, SLICE("\r\n"));
}

void monitor_feed(const struct call *call) {
    struct engine *engine = call->engine;
    enum { KEEP_MAX = 64 * 1024 };
    struct monitors *monitors = &engine->clients->monitors;
    if (monitors->count == 0 || call->command->flags & COMMAND_ADMIN) return;
    build_line(call);
    /* Backwards: a monitor that is too slow is closed, and the last one takes its index. */
    for (size_t i = monitors->count; i-- > 0;)
        outbox_send(monitors->sessions[i], sds_slice(monitors->line));
    if (sds_len(monitors->line) < KEEP_MAX) return;
    sds_free(monitors->line);
    monitors->line = NULL;
}

void monitor_free(struct monitors *monitors) {
    mem_free(monitors->sessions);
    sds_free(monitors->line);
    sds_free(monitors->origin);
}

/* --- Monitors --- */

void monitor_join(struct session *session) {
    struct engine *engine = session->requester.engine;
    struct monitors *monitors = &engine->clients->monitors;
    assert(!(session->flags & SESSION_MONITOR));
    MEM_RESERVE(monitors->sessions, monitors->capacity, monitors->count + 1);
    monitors->sessions[monitors->count++] = session;
    engine->clients->observers++;
    session->flags |= SESSION_MONITOR;
}

void monitor_leave(struct session *session) {
    struct engine *engine = session->requester.engine;
    struct monitors *monitors = &engine->clients->monitors;
    if (!(session->flags & SESSION_MONITOR)) return;
    size_t i = 0;
    while (monitors->sessions[i] != session) i++;
    monitors->sessions[i] = monitors->sessions[--monitors->count];
    engine->clients->observers--;
    session->flags &= ~(uint32_t)SESSION_MONITOR;
}
