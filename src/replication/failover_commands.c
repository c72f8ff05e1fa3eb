/* failover_commands: FAILOVER. */
#include "engine/engine.h"
#include "replication/link.h"
#include "replication/primary/failover.h"
#include "replication/primary/replicas.h"
#include "replication/replication_commands.h"

/* Parses the options of FAILOVER except ABORT, each at most once. Replies the error and returns
 * false when they are wrong. */
static bool parse(struct call *call, struct failover_order *order) {
    *order = (struct failover_order){0};
    for (size_t i = 1; i < call->argc; i++) {
        size_t more = call->argc - i - 1;
        if (order->timeout_ms == 0 && slice_is(call->argv[i], "timeout") && more >= 1) {
            if (!call_integer(call, ++i, &order->timeout_ms)) return false;
            if (order->timeout_ms <= 0) {
                reply_error(call->reply, "ERR FAILOVER timeout must be greater than 0");
                return false;
            }
        } else if (order->host.len == 0 && slice_is(call->argv[i], "to") && more >= 2) {
            order->host = call->argv[i + 1];
            i += 2;
            if (!call_integer(call, i, &order->port)) return false;
        } else if (!order->is_forced && slice_is(call->argv[i], "force")) {
            order->is_forced = true;
        } else {
            call_syntax_error(call);
            return false;
        }
    }
    return true;
}

/* Returns the error for the target; NULL: it may take over. */
static const char *target_refusal(const struct engine *engine, const struct failover_order *order) {
    if (order->host.len == 0) return NULL;
    for (const struct replica *replica = engine->replicas->first; replica; replica = replica->next)
        if (replica_is_at(replica, order->host, order->port))
            return replica->state == REPLICA_ONLINE ? NULL
                                                    : "ERR FAILOVER target replica is not online.";
    return "ERR FAILOVER target HOST and PORT is not a replica.";
}

/* Returns the error because of which no failover can begin now; NULL: it can. */
static const char *refusal(const struct engine *engine, const struct failover_order *order) {
    if (failover_is_running(engine)) return "ERR FAILOVER already in progress.";
    if (link_of(engine) || link_is_wanted(engine))
        return "ERR FAILOVER is not valid when server is a replica.";
    if (!engine->replicas->first) return "ERR FAILOVER requires connected replicas.";
    if (order->is_forced && (order->timeout_ms == 0 || order->host.len == 0))
        return "ERR FAILOVER with force option requires both a timeout and target HOST and IP.";
    return target_refusal(engine, order);
}

static void abort_failover(struct call *call) {
    if (!failover_is_running(call->engine)) {
        reply_error(call->reply, "ERR No failover in progress.");
        return;
    }
    if (failover_abort(call->engine, "Failover manually aborted") == FAILOVER_ROLE_PRIMARY)
        link_unfollow(call->engine);
    reply_ok(call->reply);
}

void failover_command(struct call *call) {
    struct failover_order order;
    if (call->argc == 2 && slice_is(call->argv[1], "abort")) {
        abort_failover(call);
        return;
    }
    if (!parse(call, &order)) return;
    const char *error = refusal(call->engine, &order);
    if (error) {
        reply_error(call->reply, error);
        return;
    }
    failover_begin(call->engine, &order);
    reply_ok(call->reply);
}
