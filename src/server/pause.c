#include "server/pause.h"

#include "server/server.h"

static size_t session_count;

void pause_start(int64_t duration_ms, bool writes_only) {
    bool running = server.pause_until_ms != 0;
    int64_t until_ms;
    if (__builtin_add_overflow(server.steady_ms, duration_ms, &until_ms)) until_ms = INT64_MAX;
    if (until_ms > server.pause_until_ms) server.pause_until_ms = until_ms;
    server.pause_writes_only = writes_only && (!running || server.pause_writes_only);
}

void pause_hold(struct session *session) {
    session->flags |= SESSION_PAUSED;
    session_count++;
}

void pause_release(struct session *session) {
    if (!(session->flags & SESSION_PAUSED)) return;
    session->flags &= ~(uint32_t)SESSION_PAUSED;
    session_count--;
}

size_t pause_session_count(void) {
    return session_count;
}

void pause_end(void) {
    server.pause_until_ms = 0;
    for (struct session *session = server.sessions.first; session; session = session->next) {
        if (session->flags & SESSION_PAUSED) session_resume_later(session);
    }
}

bool pause_holds(uint32_t command_flags) {
    pause_tick();
    if (!server.pause_until_ms) return false;
    if (!server.pause_writes_only) return true;
    return command_flags & (COMMAND_WRITE | COMMAND_MAY_REPLICATE);
}

void pause_tick(void) {
    if (server.pause_until_ms && server.steady_ms >= server.pause_until_ms) pause_end();
}
