/* cluster_commands: CLUSTER HELP KEYSLOT MYID MYSHARDID SAVECONFIG, and what all of CLUSTER's
 * subcommands share. */
#include "admin/admin_commands.h"
#include "admin/cluster_common.h"
#include "cluster/cluster_life.h"
#include "cluster/slots_changed.h"
#include "engine/claim.h"
#include "net/connections/conn.h"
#include "net/tls/tls.h"
#include "resp/reply.h"
#include "session/session.h"

/* redis-cli and valkey-cli conclude from this text that the server runs alone. */
struct cluster *cluster_of(struct call *call) {
    struct cluster *cluster = call->engine->cluster;
    if (!cluster) reply_error(call->reply, "ERR This instance has cluster support disabled");
    return cluster;
}

bool cluster_slot_argument(struct call *call, size_t index, unsigned *slot) {
    int64_t number;
    if (!call_integer_in(call, index, 0, KEY_SLOTS - 1, &number,
                         "ERR Invalid or out of range slot"))
        return false;
    *slot = (unsigned)number;
    return true;
}

struct cluster_node *cluster_node_argument(struct call *call, size_t index) {
    struct slice id = call->argv[index];
    struct cluster_node *node = cluster_find(call->engine->cluster, id);
    if (!node)
        reply_error_format(call->reply, "ERR Unknown node %.*s", slice_precision(id), id.ptr);
    return node;
}

void cluster_confirm(struct call *call) {
    cluster_save(call->engine);
    reply_ok(call->reply);
}

void cluster_confirm_slots(struct call *call) {
    cluster_save(call->engine);
    cluster_slots_changed(call->engine);
    reply_ok(call->reply);
}

bool cluster_client_uses_tls(const struct call *call) {
    struct session *session = call_session(call);
    return session && tls_encrypts(conn_of_session(session));
}

bool cluster_has_no_keys(struct engine *engine) {
    claims_end_all(engine);
    for (int i = 0; i < engine->databases; i++)
        if (keyspace_count(engine->keyspaces[i]) > 0) return false;
    return true;
}

/* --- Names --- */

void cluster_keyslot_command(struct call *call) {
    reply_integer(call->reply, key_slot(call->argv[2]));
}

void cluster_myid_command(struct call *call) {
    const struct cluster *cluster = cluster_of(call);
    if (cluster) reply_bulk_cstr(call->reply, cluster->myself->id);
}

void cluster_myshardid_command(struct call *call) {
    const struct cluster *cluster = cluster_of(call);
    if (cluster) reply_bulk_cstr(call->reply, cluster->myself->shard_id);
}

void cluster_saveconfig_command(struct call *call) {
    if (cluster_of(call)) cluster_confirm(call);
}

/* --- HELP --- */

void cluster_help_command(struct call *call) {
    if (!cluster_of(call)) return;
    call_help(
        call,
        "ADDSLOTS <slot> [<slot> ...]\n"
        "    Serve these slots from now on.\n"
        "ADDSLOTSRANGE <first> <last> [<first> <last> ...]\n"
        "    The same for ranges.\n"
        "BUMPEPOCH\n"
        "    Take an epoch that is greater than those of all other nodes.\n"
        "COUNT-FAILURE-REPORTS <node-id>\n"
        "    Count the nodes that report a failure of the node.\n"
        "COUNTKEYSINSLOT <slot>\n"
        "    Count the keys of the slot in the selected database.\n"
        "DELSLOTS <slot> [<slot> ...]\n"
        "    Forget which nodes serve these slots.\n"
        "DELSLOTSRANGE <first> <last> [<first> <last> ...]\n"
        "    The same for ranges.\n"
        "FLUSHSLOT <slot> [ASYNC|SYNC]\n"
        "    Delete the keys of the slot in all databases.\n"
        "FLUSHSLOTS\n"
        "    Serve no slots. There must be no keys.\n"
        "FORGET <node-id>\n"
        "    Remove the node, and do not hear of it for cluster-blacklist-ttl seconds.\n"
        "GETKEYSINSLOT <slot> <count>\n"
        "    List keys of the slot in the selected database.\n"
        "INFO\n"
        "    The state of the cluster.\n"
        "KEYSLOT <key>\n"
        "    The slot of the key.\n"
        "LINKS\n"
        "    The connections to other nodes.\n"
        "MYID\n"
        "    The name of this node.\n"
        "MYSHARDID\n"
        "    The name of this node's shard.\n"
        "NODES\n"
        "    All nodes with their slots: <id> <ip:port@bus-port[,hostname]> <flags> <primary>\n"
        "    <ping> <pong> <epoch> <link> <slot> ...\n"
        "REPLICAS <node-id>\n"
        "    The replicas of the node, as NODES shows them.\n"
        "RESET [HARD|SOFT]\n"
        "    Forget all nodes and slots (HARD: and the names and epochs of this one).\n"
        "SAVECONFIG\n"
        "    Write the file of the directive cluster-config-file.\n"
        "SET-CONFIG-EPOCH <epoch>\n"
        "    Give a new node its epoch.\n"
        "SETSLOT <slot> (IMPORTING|MIGRATING|NODE <node-id>)|STABLE [TIMEOUT <ms>]\n"
        "    Say that the slot moves, or which node serves it.\n"
        "SHARDS\n"
        "    The shards with their slots and nodes.\n"
        "SLOT-STATS SLOTSRANGE <first> <last>\n"
        "SLOT-STATS ORDERBY <metric> [LIMIT <count>] [ASC|DESC]\n"
        "    How many keys the slots of this shard have.\n"
        "SLOTS\n"
        "    The slots, and the nodes that serve them.\n");
}
