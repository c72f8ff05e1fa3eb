/* psync_commands: what replicas ask: REPLCONF PSYNC SYNC. */
#include "base/log/log.h"
#include "base/text/number.h"
#include "engine/engine.h"
#include "net/connections/conn.h"
#include "replication/history/history.h"
#include "replication/link/link.h"
#include "replication/primary/failover.h"
#include "replication/primary/full_sync.h"
#include "replication/primary/replicas.h"
#include "replication/replication.h"
#include "replication/replication_commands.h"
#include "session/session.h"

/* --- REPLCONF --- */

enum { IP_MAX = 255 };

static bool set_port(struct call *call, size_t index) {
    int64_t port;
    if (!call_integer(call, index, &port)) return false;
    replica_of(call_session(call))->listening_port = port > 0 && port <= UINT16_MAX ? (int)port : 0;
    return true;
}

/* The address stands in INFO, the log and ROLE, so it must be one word. */
static bool set_ip(struct call *call, struct slice ip) {
    struct replica *replica = replica_of(call_session(call));
    if (ip.len > IP_MAX) {
        reply_error_format(call->reply,
                           "ERR REPLCONF ip-address provided by replica instance is too long: %zu "
                           "bytes",
                           ip.len);
        return false;
    }
    if (!session_check_name(call, ip, "REPLCONF ip-address")) return false;
    sds_free(replica->ip);
    replica->ip = ip.len ? sds_new(ip) : NULL;
    return true;
}

/* Capabilities that are unknown here are ignored: the replica then goes without them. */
static void add_capability(struct replica *replica, struct slice name) {
    if (slice_is(name, "eof")) replica->takes_eof = true;
    if (slice_is(name, "psync2")) replica->takes_new_id = true;
    if (slice_is(name, "redis-fields")) replica->takes_redis_fields = true;
}

/* Valkey tells its version, as 9.1.2; and Packlist, after redis-fields, one of Valkey whose form it
 * reads, too. */
static void note_version(struct replica *replica, struct slice version) {
    enum { OWN_FORM_SINCE = 9 };
    int64_t major;
    replica->is_valkey = !replica->takes_redis_fields &&
                         number_parse_int64(slice_take_until(&version, '.'), &major) &&
                         major >= OWN_FORM_SINCE;
}

static bool set_only_payload(struct call *call, size_t index) {
    int64_t on;
    if (!call_integer_in(call, index, 0, 1, &on, NULL)) return false;
    replica_of(call_session(call))->only_payload = on;
    return true;
}

/* The words name what the payload is to contain; none: everything. */
static bool set_filter(struct call *call, struct slice words) {
    struct replica *replica = replica_of(call_session(call));
    replica->only_functions = false;
    while (words.len > 0) {
        struct slice word = slice_take_until(&words, ' ');
        if (word.len == 0) continue;
        if (!slice_is(word, "functions")) {
            reply_error_format(call->reply, "ERR Unsupported rdb-filter-only option: %.*s",
                               slice_precision(word), word.ptr);
            return false;
        }
        replica->only_functions = true;
    }
    return true;
}

/* Handles the option at `index`, which has a value after it. Returns false when the error is
 * replied. */
static bool set_option(struct call *call, size_t index) {
    struct slice name = call->argv[index], value = call->argv[index + 1];
    if (slice_is(name, "listening-port")) return set_port(call, index + 1);
    if (slice_is(name, "ip-address")) return set_ip(call, value);
    if (slice_is(name, "rdb-only")) return set_only_payload(call, index + 1);
    if (slice_is(name, "rdb-filter-only")) return set_filter(call, value);
    if (slice_is(name, "capa")) {
        add_capability(replica_of(call_session(call)), value);
        return true;
    }
    if (slice_is(name, "version")) {
        note_version(replica_of(call_session(call)), value);
        return true;
    }
    if (slice_is(name, "set-cluster-node-id")) return true;
    reply_error_format(call->reply, "ERR Unrecognized REPLCONF option: %.*s", slice_precision(name),
                       name.ptr);
    return false;
}

static bool parse_offset(struct slice text, uint64_t *offset) {
    int64_t number;
    if (!number_parse_int64(text, &number) || number < 0) return false;
    *offset = (uint64_t)number;
    return true;
}

/* ACK offset [FACK offset]: never replied to. */
static void note_ack(struct call *call) {
    struct session *session = call_session(call);
    uint64_t offset, aof_offset;
    if (!(session->flags & SESSION_REPLICA) || !parse_offset(call->argv[2], &offset)) return;
    bool has_fack = call->argc > 4 && slice_is(call->argv[3], "fack");
    if (has_fack && !parse_offset(call->argv[4], &aof_offset)) return;
    replica_note_ack(session->replica, offset, has_fack ? &aof_offset : NULL);
}

void replconf_command(struct call *call) {
    if (call->argc % 2 == 0) {
        call_syntax_error(call);
        return;
    }
    if (call->argc > 1 && slice_is(call->argv[1], "ack")) {
        note_ack(call);
        return;
    }
    if (call->argc > 1 && slice_is(call->argv[1], "getack"))
        return; /* from a primary only, and its commands do not come here */
    for (size_t i = 1; i < call->argc; i += 2)
        if (!set_option(call, i)) return;
    reply_ok(call->reply);
}

/* --- PSYNC, SYNC --- */

/* PSYNC … FAILOVER: this replica is to take over from its primary. Replies the error and returns
 * false when it does not. */
static bool take_over(struct call *call) {
    char name[CONN_NAME_MAX];
    log_notice("Failover request received for replid %.*s.", slice_precision(call->argv[1]),
               call->argv[1].ptr);
    if (!call->engine->link) {
        reply_error(call->reply, "ERR PSYNC FAILOVER can't be sent to a master.");
        return false;
    }
    if (!slice_is(call->argv[1], call->engine->history->id)) {
        reply_error(call->reply, "ERR PSYNC FAILOVER replid must match my replid.");
        return false;
    }
    replication_unfollow(call->engine);
    log_notice("MASTER MODE enabled (failover request from 'addr=%s')",
               conn_peer_name(conn_of_session(call_session(call)), name));
    return true;
}

/* Returns whether the client may become a replica. If not, replies the error, unless it is one
 * already. */
static bool may_join(struct call *call) {
    struct session *session = call_session(call);
    if (session->flags & SESSION_REPLICA) return false;
    bool is_failover = call->argc > 3 && slice_is(call->argv[3], "failover");
    if (is_failover && !take_over(call)) return false;
    if (failover_is_running(call->engine)) {
        reply_error(call->reply, "NOMASTERLINK Can't SYNC while failing over");
        return false;
    }
    if (call->engine->link && !link_is_up(call->engine)) {
        reply_error(call->reply, "NOMASTERLINK Can't SYNC while not connected with my master");
        return false;
    }
    if (session->flags & (SESSION_SUBSCRIBED | SESSION_MONITOR)) {
        reply_error(call->reply, "ERR SYNC and PSYNC are invalid for a client that gets messages");
        return false;
    }
    if (conn_pending_output(conn_of_session(session)) > 0) {
        reply_error(call->reply, "ERR SYNC and PSYNC are invalid with pending output");
        return false;
    }
    return true;
}

/* The id changes, as the old history lacks what was written while there was no stream. */
static void open_stream(struct engine *engine) {
    const struct history *history = engine->history;
    if (history->backlog) return;
    if (!engine->is_replica) history_draw_id(engine);
    history_open_stream(engine);
    log_notice("Replication backlog created, my new replication IDs are '%s' and '%s'", history->id,
               history->second_id);
}

static void begin_full_sync(struct call *call, bool is_silent) {
    struct engine *engine = call->engine;
    struct replica *replica = replica_of(call_session(call));
    char name[REPLICA_NAME_MAX];
    engine->replicas->stats.full_syncs++;
    open_stream(engine);
    replica->is_silent = is_silent;
    replica_join(replica);
    log_notice("Full resync requested by replica %s%s%s", replica_name(replica, name),
               replica->only_payload ? " (rdb-only)" : "",
               replica->only_functions ? " (functions)" : "");
    full_sync_ask(engine, replica);
}

/* Returns whether the history `id` is that of this server, up to the byte that is asked for. */
static bool is_same_history(const struct history *history, struct slice id, int64_t first_byte) {
    if (slice_is(id, history->id)) return true;
    return slice_is(id, history->second_id) && first_byte <= history->second_offset;
}

static void log_refusal(struct call *call, struct replica *replica, int64_t first_byte) {
    char name[REPLICA_NAME_MAX];
    const struct history *history = call->engine->history;
    struct slice id = call->argv[1];
    if (slice_equal(id, SLICE("?"))) return;
    if (is_same_history(history, id, first_byte))
        log_notice("Unable to partial resync with replica %s for lack of backlog (Replica request "
                   "was: %lld).",
                   replica_name(replica, name), (long long)first_byte);
    else
        log_notice("Partial resynchronization not accepted: Replication ID mismatch (Replica asked "
                   "for '%.*s', my replication IDs are '%s' and '%s')",
                   slice_precision(id), id.ptr, history->id, history->second_id);
}

/* Returns whether the replica goes on from the byte that it asks for. */
static bool try_to_continue(struct call *call, struct replica *replica, int64_t first_byte) {
    struct engine *engine = call->engine;
    if (!engine->history->backlog || first_byte < 1) return false;
    if (!is_same_history(engine->history, call->argv[1], first_byte)) return false;
    history_feed(engine);
    return outflow_begin(&replica->stream, engine->history->backlog, (uint64_t)first_byte - 1);
}

static void answer_continue(struct call *call, struct replica *replica, int64_t first_byte) {
    struct engine *engine = call->engine;
    char name[REPLICA_NAME_MAX];
    engine->replicas->stats.partial_syncs++;
    replica_join(replica);
    replica_go_online(replica, false);
    log_notice("Partial resynchronization request from %s accepted. Sending %llu bytes of backlog "
               "starting from offset %lld.",
               replica_name(replica, name), (unsigned long long)outflow_left(&replica->stream),
               (long long)first_byte);
    sds line = replica->takes_new_id ? sds_format("CONTINUE %s", engine->history->id)
                                     : sds_new(SLICE("CONTINUE"));
    reply_status(call->reply, sds_slice(line));
    sds_free(line);
}

void psync_command(struct call *call) {
    int64_t first_byte;
    if (!may_join(call) || !call_integer(call, 2, &first_byte)) return;
    struct replica *replica = replica_of(call_session(call));
    if (try_to_continue(call, replica, first_byte)) {
        answer_continue(call, replica, first_byte);
        return;
    }
    if (!slice_equal(call->argv[1], SLICE("?"))) call->engine->replicas->stats.partial_refusals++;
    log_refusal(call, replica, first_byte);
    begin_full_sync(call, false);
}

void sync_command(struct call *call) {
    if (may_join(call)) begin_full_sync(call, true);
}
