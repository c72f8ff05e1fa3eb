/* role_commands: which role the server has, and changes of it: REPLICAOF SLAVEOF FAILOVER ROLE. */
#include "base/log/log.h"
#include "base/text/number.h"
#include "engine/engine.h"
#include "net/connections/conn.h"
#include "replication/history/history.h"
#include "replication/link/link.h"
#include "replication/primary/failover.h"
#include "replication/primary/replicas.h"
#include "replication/replication.h"
#include "replication/replication_commands.h"
#include "session/session.h"

/* --- REPLICAOF --- */

static const char *client_name(const struct call *call, char buffer[CONN_NAME_MAX]) {
    return conn_peer_name(conn_of_session(call_session(call)), buffer);
}

static void become_primary(struct call *call) {
    char client[CONN_NAME_MAX];
    if (!replication_is_wanted(call->engine)) return;
    replication_unfollow(call->engine);
    log_notice("MASTER MODE enabled (user request from 'addr=%s')", client_name(call, client));
}

static void become_replica(struct call *call, struct slice host, int port) {
    char client[CONN_NAME_MAX];
    replication_follow(call->engine, host, port);
    log_notice("REPLICAOF %.*s:%d enabled (user request from 'addr=%s')", slice_precision(host),
               host.ptr, port, client_name(call, client));
}

/* A host must fit into a line of the configuration file. */
static bool is_host(struct slice text) {
    enum { HOST_MAX = 255 };
    if (text.len == 0 || text.len > HOST_MAX) return false;
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] <= ' ' || text.ptr[i] > '~') return false;
    return true;
}

/* Also SLAVEOF. */
void replicaof_command(struct call *call) {
    struct slice host = call->argv[1];
    int64_t port;
    if (call->engine->cluster) {
        reply_error(call->reply, "ERR REPLICAOF not allowed in cluster mode.");
        return;
    }
    if (failover_is_running(call->engine)) {
        reply_error(call->reply, "ERR REPLICAOF not allowed while failing over.");
        return;
    }
    if (slice_is(host, "no") && slice_is(call->argv[2], "one")) {
        become_primary(call);
        reply_ok(call->reply);
        return;
    }
    if (call_session(call)->flags & SESSION_REPLICA) {
        reply_error(call->reply, "ERR Command is not valid when client is a replica.");
        return;
    }
    if (!call_integer_in(call, 2, 0, UINT16_MAX, &port, "ERR Invalid master port")) return;
    if (!is_host(host)) {
        reply_error(call->reply, "ERR Invalid master host");
        return;
    }
    if (replication_is_wanted_to(call->engine, host, (int)port)) {
        log_notice("REPLICAOF would result into synchronization with the master we are already "
                   "connected with. No operation performed.");
        reply_status(call->reply, SLICE("OK Already connected to specified master"));
        return;
    }
    become_replica(call, host, (int)port);
    reply_ok(call->reply);
}

/* --- FAILOVER --- */

/* Parses the options of FAILOVER except ABORT, each at most once. Replies the error and returns
 * false when they are wrong. */
static bool parse_failover(struct call *call, struct failover_order *order) {
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
static const char *failover_refusal(const struct engine *engine,
                                    const struct failover_order *order) {
    if (failover_is_running(engine)) return "ERR FAILOVER already in progress.";
    if (engine->is_replica || replication_is_wanted(engine))
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
        replication_unfollow(call->engine);
    reply_ok(call->reply);
}

void failover_command(struct call *call) {
    struct failover_order order;
    if (call->engine->cluster) {
        reply_error(call->reply, "ERR FAILOVER not allowed in cluster mode. Use CLUSTER FAILOVER "
                                 "command instead.");
        return;
    }
    if (call->argc == 2 && slice_is(call->argv[1], "abort")) {
        abort_failover(call);
        return;
    }
    if (!parse_failover(call, &order)) return;
    const char *error = failover_refusal(call->engine, &order);
    if (error) {
        reply_error(call->reply, error);
        return;
    }
    failover_begin(call->engine, &order);
    reply_ok(call->reply);
}

/* --- ROLE --- */

static const char *link_state_name(const struct link *link) {
    enum link_state state = link->state;
    return state == LINK_WAITS      ? "connect"
           : state == LINK_CONNECTS ? "connecting"
           : state < LINK_HEADER    ? "handshake"
           : state < LINK_STREAMS   ? "sync"
                                    : "connected";
}

static void answer_replica(struct reply *reply, const struct engine *engine) {
    const struct link *link = engine->link;
    reply_array(reply, 5);
    reply_bulk_cstr(reply, "slave");
    reply_bulk(reply, sds_slice(link->host));
    reply_integer(reply, link->port);
    reply_bulk_cstr(reply, link_state_name(link));
    reply_integer(reply, link_is_up(engine) ? (int64_t)history_offset(engine) : -1);
}

void role_command(struct call *call) {
    struct engine *engine = call->engine;
    char number[INT64_TEXT_MAX];
    size_t count = 0;
    if (engine->link) {
        answer_replica(call->reply, engine);
        return;
    }
    reply_array(call->reply, 3);
    reply_bulk_cstr(call->reply, "master");
    reply_integer(call->reply, (int64_t)history_offset(engine));
    size_t mark = reply_begin(call->reply);
    for (const struct replica *replica = engine->replicas->first; replica;
         replica = replica->next) {
        if (replica->state != REPLICA_ONLINE) continue;
        reply_array(call->reply, 3);
        reply_bulk_cstr(call->reply, replica_ip(replica));
        reply_bulk(call->reply, number_text(number, replica->listening_port));
        reply_bulk(call->reply, number_text(number, (int64_t)replica->ack));
        count++;
    }
    reply_array_end(call->reply, mark, count);
}
