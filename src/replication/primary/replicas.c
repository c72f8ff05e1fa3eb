#include "replication/primary/replicas.h"

#include "base/chain.h"
#include "base/log/log.h"
#include "base/memory/alloc.h"
#include "engine/blocking.h"
#include "engine/engine.h"
#include "net/connections/conn.h"
#include "replication/history/history.h"
#include "session/session.h"

#include <stdio.h>
#include <string.h>

/* --- One replica --- */

/* Notes the address of the connection without its port: it is not known any more when the
 * connection is lost. */
static void note_address(struct replica *replica) {
    char name[CONN_NAME_MAX];
    conn_peer_name(conn_of_session(replica->session), name);
    char *colon = strrchr(name, ':');
    size_t end = colon ? (size_t)(colon - name) : strlen(name), begin = 0;
    if (name[0] == '[') { /* "[ip6]" */
        begin++;
        end--;
    }
    replica->address = sds_new(slice_make(name + begin, end - begin));
}

struct replica *replica_of(struct session *session) {
    if (session->replica) return session->replica;
    struct replica *replica = mem_alloc_zeroed(sizeof(*replica));
    replica->session = session;
    session->replica = replica;
    note_address(replica);
    return replica;
}

const char *replica_ip(const struct replica *replica) {
    return replica->ip ? replica->ip : replica->address;
}

bool replica_is_at(const struct replica *replica, struct slice host, int64_t port) {
    return replica->listening_port == port &&
           slice_equal_nocase(slice_of_cstr(replica_ip(replica)), host);
}

static bool has_joined(const struct replica *replica) {
    return replica->session->flags & SESSION_REPLICA;
}

void replica_join(struct replica *replica) {
    struct session *session = replica->session;
    struct engine *engine = session->requester.engine;
    struct replicas *replicas = engine->replicas;
    if (has_joined(replica)) return;
    session->flags |= SESSION_REPLICA;
    session->flags &= ~(uint32_t)(SESSION_REPLY_OFF | SESSION_REPLY_SKIP); /* it gets no replies */
    CHAIN_APPEND(replicas->first, replicas->last, replica, prev, next);
    replicas->count++;
    conn_count_as(conn_of_session(session), CONN_REPLICA);
    if (engine->config.repl_disable_tcp_nodelay) conn_set_nodelay(conn_of_session(session), false);
}

static void leave(struct engine *engine, struct replica *replica) {
    struct replicas *replicas = engine->replicas;
    char name[REPLICA_NAME_MAX];
    log_notice("Connection with replica %s lost.", replica_name(replica, name));
    outflow_end(&replica->stream);
    CHAIN_REMOVE(replicas->first, replicas->last, replica, prev, next);
    replicas->count--;
    engine->history->unused_ms = engine->steady_ms;
    replicas_count_good(engine);
}

void replica_leave(struct session *session) {
    struct replica *replica = session->replica;
    if (!replica) return;
    if (has_joined(replica)) leave(session->requester.engine, replica);
    session->replica = NULL;
    sds_free(replica->ip);
    sds_free(replica->address);
    mem_free(replica);
}

void replica_go_online(struct replica *replica, bool after_ack) {
    struct engine *engine = replica->session->requester.engine;
    replica->state = REPLICA_ONLINE;
    replica->awaits_ack = after_ack && !replica->has_acked;
    replica->ack_ms = engine->steady_ms;
    replicas_count_good(engine);
}

/* A replica cannot have more than was sent: one that says so is not believed, or WAIT would confirm
 * changes that it does not have. */
void replica_note_ack(struct replica *replica, uint64_t offset, const uint64_t *aof_offset) {
    struct engine *engine = replica->session->requester.engine;
    uint64_t end = history_offset(engine);
    char name[REPLICA_NAME_MAX];
    if (offset > end || (aof_offset && *aof_offset > end)) {
        log_warning("Replica %s confirms an offset that does not exist yet: closing its connection",
                    replica_name(replica, name));
        session_close(replica->session);
        return;
    }
    if (offset > replica->ack) replica->ack = offset;
    if (aof_offset && *aof_offset > replica->aof_ack) replica->aof_ack = *aof_offset;
    replica->ack_ms = engine->steady_ms;
    replica->has_acked = true;
    replica->has_aof_acked = replica->has_aof_acked || aof_offset;
    replica->awaits_ack = false;
    blocking_note_synced(engine->blocking);
}

/* --- Facts about one --- */

const char *replica_name(const struct replica *replica, char buffer[REPLICA_NAME_MAX]) {
    if (replica->listening_port)
        snprintf(buffer, REPLICA_NAME_MAX, "%s:%d", replica_ip(replica), replica->listening_port);
    else
        snprintf(buffer, REPLICA_NAME_MAX, "client id #%llu",
                 (unsigned long long)replica->session->id);
    return buffer;
}

const char *replica_state_name(const struct replica *replica) {
    if (replica->state == REPLICA_ONLINE) return "online";
    return replica->state == REPLICA_LOADS ? "send_bulk" : "wait_bgsave";
}

/* A replica that loads a payload sends line breaks to show that it lives. */
int64_t replica_heard_ms(const struct replica *replica) {
    int64_t read_ms = replica->session->active_ms;
    return replica->ack_ms > read_ms ? replica->ack_ms : read_ms;
}

/* --- Confirmations --- */

size_t replicas_confirmed(const struct engine *engine, uint64_t offset, bool on_disk) {
    size_t count = 0;
    for (const struct replica *replica = engine->replicas->first; replica; replica = replica->next)
        count += replica->state == REPLICA_ONLINE &&
                 (on_disk ? replica->has_aof_acked && replica->aof_ack >= offset
                          : replica->has_acked && replica->ack >= offset);
    return count;
}

bool replicas_all_confirmed(const struct engine *engine, uint64_t offset) {
    for (const struct replica *replica = engine->replicas->first; replica; replica = replica->next)
        if (replica->ack < offset && !replica->is_silent) return false;
    return true;
}

void replicas_log_lag(const struct engine *engine, uint64_t offset) {
    const struct replicas *replicas = engine->replicas;
    char name[REPLICA_NAME_MAX];
    size_t in_sync = 0;
    if (!replicas->first) return;
    for (const struct replica *replica = replicas->first; replica; replica = replica->next) {
        if (replica->ack >= offset) {
            in_sync++;
            continue;
        }
        bool is_online = replica->state == REPLICA_ONLINE;
        int64_t lag_ms = is_online ? engine->steady_ms - replica_heard_ms(replica) : 0;
        log_notice("Lagging replica %s reported offset %llu behind master, lag=%lld, state=%s.",
                   replica_name(replica, name), (unsigned long long)(offset - replica->ack),
                   (long long)(lag_ms / 1000), replica_state_name(replica));
    }
    log_notice("%zu of %zu replicas are in sync when shutting down.", in_sync, replicas->count);
}

void replicas_ask_for_acks(struct engine *engine) {
    struct replicas *replicas = engine->replicas;
    replicas->wants_acks = replicas->first;
}

/* --- Good replicas --- */

static bool is_good(const struct engine *engine, const struct replica *replica) {
    return replica->state == REPLICA_ONLINE && engine->steady_ms - replica_heard_ms(replica) <=
                                                   engine->config.min_replicas_max_lag * 1000;
}

void replicas_count_good(struct engine *engine) {
    const struct config *config = &engine->config;
    struct replicas *replicas = engine->replicas;
    bool is_asked = config->min_replicas_to_write > 0 && config->min_replicas_max_lag > 0 &&
                    !engine->is_replica;
    replicas->good = 0;
    for (const struct replica *replica = replicas->first; replica; replica = replica->next)
        replicas->good += is_good(engine, replica);
    if (is_asked && replicas->good < (size_t)config->min_replicas_to_write)
        engine->restrictions |= RESTRICTED_FEW_REPLICAS;
    else
        engine->restrictions &= ~(uint32_t)RESTRICTED_FEW_REPLICAS;
}

void replicas_close(struct engine *engine, const struct sync_group *group) {
    struct replica *next;
    for (struct replica *replica = engine->replicas->first; replica; replica = next) {
        next = replica->next;
        if (!group || replica->group == group) session_close(replica->session);
    }
}
