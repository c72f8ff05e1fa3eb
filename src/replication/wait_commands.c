/* wait_commands: WAIT and WAITAOF: a client waits until its changes have arrived elsewhere.
 *
 *      WAIT numreplicas timeout                  replicas have applied them
 *      WAITAOF numlocal numreplicas timeout      they are on the disk, here and at replicas
 *
 * A client whose wait begins makes the server ask all replicas to confirm (REPLCONF GETACK). The
 * offset that it waits for is fixed then, since GETACK itself makes the stream longer. */
#include "aof/aof.h"
#include "engine/blocking.h"
#include "engine/engine.h"
#include "replication/history/history.h"
#include "replication/primary/replicas.h"
#include "replication/replication_commands.h"
#include "resp/reply.h"
#include "session/session.h"

/* What a client waits for. */
struct awaited {
    int64_t local;    /* 1: its own server's disk (WAITAOF) */
    int64_t replicas; /* so many of them */
    uint64_t offset;  /* of the stream of replicas */
};

/* --- What was reached --- */

/* Returns what the session would wait for now. */
static struct awaited awaited_by(const struct session *session, int64_t local, int64_t replicas) {
    uint64_t offset = history_offset_of(session->requester.engine, session->stream_log_offset);
    return (struct awaited){local, replicas, offset};
}

/* Returns how many replicas have it: applied, or on their disks. */
static int64_t confirmed(const struct session *session, const struct awaited *awaited,
                         bool on_disk) {
    return (int64_t)replicas_confirmed(session->requester.engine, awaited->offset, on_disk);
}

static bool is_on_disk(const struct session *session) {
    return aof_is_synced(session->requester.engine, session->log_offset);
}

/* --- WAIT --- */

static void answer_wait(struct call *call, const void *state) {
    reply_integer(call->reply, confirmed(call_session(call), state, false));
}

static bool is_wait_done(const struct session *session, const void *state) {
    const struct awaited *awaited = state;
    return confirmed(session, awaited, false) >= awaited->replicas;
}

/* Answers, or makes the client wait for the answer. */
static void answer_or_wait(struct call *call, const struct waiter_kind *kind,
                           const struct awaited *awaited, int64_t deadline_ms) {
    if (kind->is_done(call_session(call), awaited)) {
        kind->unserved(call, awaited);
        return;
    }
    replicas_ask_for_acks(call->engine);
    call_block(call, &(struct block_request){
                         .kind = kind,
                         .state = awaited,
                         .state_size = sizeof(*awaited),
                         .deadline_ms = deadline_ms,
                     });
}

void wait_command(struct call *call) {
    static const struct waiter_kind kind = {.unserved = answer_wait, .is_done = is_wait_done};
    int64_t replicas, deadline_ms;
    if (call->engine->is_replica) {
        reply_error(call->reply,
                    "ERR WAIT cannot be used with replica instances. Please also note that since "
                    "Redis 4.0 if a replica is configured to be writable (which is not the "
                    "default) writes to replicas are just local and are not propagated.");
        return;
    }
    if (!call_integer(call, 1, &replicas) || !call_timeout_ms(call, 2, &deadline_ms)) return;
    struct awaited awaited = awaited_by(call_session(call), 0, replicas);
    answer_or_wait(call, &kind, &awaited, deadline_ms);
}

/* --- WAITAOF --- */

static void answer_waitaof(struct call *call, const void *state) {
    const struct awaited *awaited = state;
    if (awaited->local && !call->engine->config.appendonly) {
        reply_error(call->reply, "ERR WAITAOF cannot be used when numlocal is set but appendonly "
                                 "is disabled.");
        return;
    }
    reply_array(call->reply, 2);
    reply_integer(call->reply, is_on_disk(call_session(call)));
    reply_integer(call->reply, confirmed(call_session(call), awaited, true));
}

/* Returns whether WAITAOF has what it waits for, or cannot get it. */
static bool is_waitaof_done(const struct session *session, const void *state) {
    const struct awaited *awaited = state;
    if (awaited->local && !session->requester.engine->config.appendonly) return true;
    return (!awaited->local || is_on_disk(session)) &&
           confirmed(session, awaited, true) >= awaited->replicas;
}

void waitaof_command(struct call *call) {
    static const struct waiter_kind kind = {.unserved = answer_waitaof, .is_done = is_waitaof_done};
    int64_t local = 0, replicas, deadline_ms;
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
    struct awaited awaited = awaited_by(call_session(call), local, replicas);
    answer_or_wait(call, &kind, &awaited, deadline_ms);
}
