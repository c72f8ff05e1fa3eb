/* wait_commands: WAIT and WAITAOF: a client waits until its changes have arrived elsewhere.
 *
 *      WAIT numreplicas timeout                  replicas have applied them
 *      WAITAOF numlocal numreplicas timeout      they are on the disk, here and at replicas
 *
 * A client whose wait begins makes the server ask all replicas to confirm (REPLCONF GETACK). What
 * it waits for is fixed then, in offsets of the stream, since GETACK itself makes the stream
 * longer. */
#include "aof/aof.h"
#include "base/number.h"
#include "engine/blocking.h"
#include "engine/engine.h"
#include "engine/waiter.h"
#include "execute/blocking_serve.h"
#include "replication/replication.h"
#include "replication/replication_commands.h"
#include "replication/wait.h"
#include "resp/reply.h"
#include "session/session.h"

/* --- What was reached --- */

/* Returns the offset of the stream that the session waits for, or would wait for. */
static uint64_t target_of(const struct session *session) {
    if (session->waiter) return session->waiter->awaited_offset;
    return replication_offset_of(session->requester.engine, session->stream_log_offset);
}

static size_t applied(const struct session *session) {
    return replicas_confirmed(session->requester.engine, target_of(session));
}

static size_t on_disks(const struct session *session) {
    return replicas_confirmed_aof(session->requester.engine, target_of(session));
}

static bool is_on_disk(const struct session *session) {
    return aof_is_synced(session->requester.engine, session->log_offset);
}

/* --- WAIT --- */

static void answer_wait(struct call *call) {
    reply_integer(call->reply, (int64_t)applied(call_session(call)));
}

/* Makes the client wait for an answer. */
static void wait_until(struct call *call, int64_t deadline_ms, void (*answer)(struct call *call)) {
    replicas_ask_for_acks(call->engine);
    call_block(call, &(struct block_request){
                         .deadline_ms = deadline_ms,
                         .answer_unserved = answer,
                         .awaits_sync = true,
                         .awaited_offset = target_of(call_session(call)),
                     });
}

void wait_command(struct call *call) {
    int64_t replicas, deadline_ms;
    if (call->engine->is_replica) {
        reply_error(call->reply,
                    "ERR WAIT cannot be used with replica instances. Please also note that since "
                    "Redis 4.0 if a replica is configured to be writable (which is not the "
                    "default) writes to replicas are just local and are not propagated.");
        return;
    }
    if (!call_integer(call, 1, &replicas) || !call_timeout_ms(call, 2, &deadline_ms)) return;
    if ((int64_t)applied(call_session(call)) >= replicas)
        answer_wait(call);
    else
        wait_until(call, deadline_ms, answer_wait);
}

/* --- WAITAOF --- */

static void answer_waitaof(struct call *call) {
    bool wants_local = !slice_equal(call->argv[1], SLICE("0"));
    if (wants_local && !call->engine->config.appendonly) {
        reply_error(call->reply, "ERR WAITAOF cannot be used when numlocal is set but appendonly "
                                 "is disabled.");
        return;
    }
    reply_array(call->reply, 2);
    reply_integer(call->reply, is_on_disk(call_session(call)));
    reply_integer(call->reply, (int64_t)on_disks(call_session(call)));
}

/* Returns whether WAITAOF has what it waits for, or cannot get it. */
static bool is_answered(const struct session *session, int64_t local, int64_t replicas) {
    if (local && !session->requester.engine->config.appendonly) return true;
    return (!local || is_on_disk(session)) && (int64_t)on_disks(session) >= replicas;
}

void waitaof_command(struct call *call) {
    int64_t local, replicas, deadline_ms;
    if (!call_integer_in(call, 1, 0, 1, &local, NULL)) return;
    if (!call_integer_in(call, 2, 0, INT64_MAX, &replicas,
                         "ERR value is out of range, must be positive"))
        return;
    if (!call_timeout_ms(call, 3, &deadline_ms)) return;
    if (call->engine->is_replica) {
        reply_error(call->reply, "ERR WAITAOF cannot be used with replica instances. Please also "
                                 "note that writes to replicas are just local and are not "
                                 "propagated.");
        return;
    }
    if (is_answered(call_session(call), local, replicas))
        answer_waitaof(call);
    else
        wait_until(call, deadline_ms, answer_waitaof);
}

/* --- The end of waits --- */

static int64_t argument(const struct session *session, size_t index) {
    int64_t number = 0;
    number_parse_int64(session->waiter->args->argv[index], &number);
    return number;
}

/* WAITAOF has one argument more than WAIT. */
static bool is_done(const struct session *session) {
    if (session->waiter->args->argc == 3) return (int64_t)applied(session) >= argument(session, 1);
    return is_answered(session, argument(session, 1), argument(session, 2));
}

bool wait_wake(struct engine *engine) {
    if (!engine->wait_is_due) return false;
    engine->wait_is_due = false;
    return blocking_wake_synced(engine->blocking, is_done);
}
