/* wait_aof: WAITAOF numlocal numreplicas timeout waits until the client's last change is on the
 * disk, and in the append-only files of replicas. There are no replicas, so waiting for one ends
 * with the timeout. */
#include "execute/wait_aof.h"

#include "aof/aof.h"
#include "engine/blocking.h"
#include "engine/engine.h"
#include "execute/blocking_serve.h"
#include "execute/execute_commands.h"
#include "resp/reply.h"
#include "session/session.h"

static bool is_synced(const struct session *session) {
    struct engine *engine = session->requester.engine;
    return aof_is_synced(engine, session->log_offset);
}

static void answer(struct call *call) {
    bool wants_local = !slice_equal(call->argv[1], SLICE("0"));
    if (wants_local && !call->engine->config.appendonly) {
        reply_error(call->reply, "ERR WAITAOF cannot be used when numlocal is set but appendonly "
                                 "is disabled.");
        return;
    }
    reply_array(call->reply, 2);
    reply_integer(call->reply, is_synced(call_session(call)));
    reply_integer(call->reply, 0);
}

/* Returns whether the wait of the session, which waits for no replicas, has ended. */
static bool is_done(const struct session *session) {
    struct engine *engine = session->requester.engine;
    return !engine->config.appendonly || is_synced(session);
}

void waitaof_command(struct call *call) {
    int64_t local, replicas, deadline_ms;
    if (!call_integer_in(call, 1, 0, 1, &local, NULL)) return;
    if (!call_integer_in(call, 2, 0, INT64_MAX, &replicas,
                         "ERR value is out of range, must be positive"))
        return;
    if (!call_timeout_ms(call, 3, &deadline_ms)) return;
    bool is_impossible = local && !call->engine->config.appendonly;
    if (is_impossible || (replicas == 0 && (!local || is_done(call_session(call))))) {
        answer(call);
        return;
    }
    call_block(call, &(struct block_request){.deadline_ms = deadline_ms,
                                             .answer_unserved = answer,
                                             .awaits_sync = replicas == 0});
}

bool wait_aof_wake(struct engine *engine) {
    return aof_take_sync_moved(engine) && blocking_wake_synced(engine->blocking, is_done);
}
