#include "session/pause.h"

#include "engine/claim.h"
#include "engine/engine.h"
#include "session/clients.h"
#include "session/session.h"
#include "table/command.h"

#include <assert.h>

void pause_start(struct engine *engine, int64_t duration_ms, bool writes_only) {
    claims_end_all(engine);
    struct pause *pause = &engine->clients->pause;
    bool running = pause->until_ms != 0;
    int64_t until_ms;
    if (__builtin_add_overflow(engine->steady_ms, duration_ms, &until_ms)) until_ms = INT64_MAX;
    if (until_ms > pause->until_ms) pause->until_ms = until_ms;
    engine->restrictions |= RESTRICTED_PAUSED;
    pause->writes_only = writes_only && (!running || pause->writes_only);
}

void pause_hold(struct session *session) {
    assert(!(session->flags & SESSION_PAUSED));
    session->flags |= SESSION_PAUSED;
    session->requester.engine->clients->pause.session_count++;
}

void pause_release(struct session *session) {
    if (!(session->flags & SESSION_PAUSED)) return;
    session->flags &= ~(uint32_t)SESSION_PAUSED;
    session->requester.engine->clients->pause.session_count--;
}

/* One of the reasons for the pause has ended. Sessions are held back again if another one says so.
 */
static void resume(struct engine *engine) {
    if (!engine->clients->pause.until_ms && !engine->clients->pause.of_writes)
        engine->restrictions &= ~(uint32_t)RESTRICTED_PAUSED;
    for (struct session *session = engine->clients->sessions.first; session;
         session = session->next) {
        if (session->flags & SESSION_PAUSED) session_resume_later(session);
    }
}

void pause_end(struct engine *engine) {
    engine->clients->pause.until_ms = 0;
    resume(engine);
}

void pause_start_writes(struct engine *engine, enum pause_reason reason) {
    claims_end_all(engine);
    engine->clients->pause.of_writes |= (uint8_t)reason;
    engine->restrictions |= RESTRICTED_PAUSED;
}

void pause_end_writes(struct engine *engine, enum pause_reason reason) {
    engine->clients->pause.of_writes &= (uint8_t)~reason;
    resume(engine);
}

bool pause_holds(struct engine *engine, uint32_t command_flags) {
    pause_tick(engine);
    if (!(engine->restrictions & RESTRICTED_PAUSED)) return false;
    const struct pause *pause = &engine->clients->pause;
    if (pause->until_ms && !pause->writes_only) return true;
    return command_flags & (COMMAND_WRITE | COMMAND_MAY_REPLICATE);
}

void pause_tick(struct engine *engine) {
    int64_t until_ms = engine->clients->pause.until_ms;
    if (until_ms && engine->steady_ms >= until_ms) pause_end(engine);
}
