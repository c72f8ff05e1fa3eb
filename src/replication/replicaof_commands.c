/* replicaof_commands: REPLICAOF and SLAVEOF: whose replica the server is. */
#include "base/log.h"
#include "engine/engine.h"
#include "net/conn.h"
#include "replication/link.h"
#include "replication/primary/failover.h"
#include "replication/replication_commands.h"
#include "session/session.h"

static const char *client_name(const struct call *call, char buffer[CONN_NAME_MAX]) {
    return conn_peer_name(conn_of_session(call_session(call)), buffer);
}

static void become_primary(struct call *call) {
    char client[CONN_NAME_MAX];
    if (!link_is_wanted(call->engine)) return;
    link_unfollow(call->engine);
    log_notice("MASTER MODE enabled (user request from 'addr=%s')", client_name(call, client));
}

static void become_replica(struct call *call, struct slice host, int port) {
    char client[CONN_NAME_MAX];
    link_follow(call->engine, host, port);
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
    if (link_is_wanted_to(call->engine, host, (int)port)) {
        log_notice("REPLICAOF would result into synchronization with the master we are already "
                   "connected with. No operation performed.");
        reply_status(call->reply, SLICE("OK Already connected to specified master"));
        return;
    }
    become_replica(call, host, (int)port);
    reply_ok(call->reply);
}
