#include "session/client_sweep.h"

#include "engine/engine.h"
#include "session/client_limits.h"
#include "session/clients.h"
#include "session/session.h"

/* Notes output that has moved. Returns whether the client has neither sent nor received anything
 * for longer than `timeout`. Exempt are clients that wait for a key, which have a deadline of their
 * own; those that listen to channels or monitor, which only wait for messages; replicas, which have
 * limits of their own; the primary; and those that are paused, which cannot help it. */
static bool is_idle(const struct engine *engine, struct session *session) {
    const uint32_t waiting =
        SESSION_BLOCKED | SESSION_PAUSED | SESSION_SUBSCRIBED | SESSION_MONITOR | SESSION_PRIMARY;
    if (engine->config.timeout == 0 || session->flags & SESSION_REPLICA) return false;
    if (conn_output_moved(conn_of_session(session))) session->active_ms = engine->steady_ms;
    if (session->flags & waiting) return false;
    return engine->steady_ms - session->active_ms > engine->config.timeout * 1000;
}

/* A soft limit can be exceeded by time alone. Whether an unauthenticated client has read the output
 * of the last loop iteration is known only now. */
static void check_output(struct session *session) {
    if (session->soft_limit_ms || session->flags & SESSION_NEEDS_AUTH)
        client_limits_check_output(session);
}

void client_sweep(struct engine *engine) {
    struct session *next;
    for (struct session *session = engine->clients->sessions.first; session; session = next) {
        next = session->next;
        if (is_idle(engine, session)) {
            log_verbose("Closing idle client id=%llu", (unsigned long long)session->id);
            session_close(session);
        } else {
            check_output(session);
        }
    }
}
