/* cluster_nodes: CLUSTER BUMPEPOCH SET-CONFIG-EPOCH FORGET RESET: what this node knows of itself
 * and others; MEET REPLICATE FAILOVER, which need these. */
#include "admin/admin_commands.h"
#include "admin/cluster_common.h"
#include "cluster/cluster_life.h"
#include "cluster/slots_changed.h"
#include "engine/changes.h"
#include "replication/replication.h"
#include "resp/reply.h"

#include <inttypes.h>

/* --- Epochs --- */

void cluster_bumpepoch_command(struct call *call) {
    struct cluster *cluster = cluster_of(call);
    if (!cluster) return;
    bool is_new = cluster_take_epoch(cluster);
    if (is_new) cluster_save(call->engine);
    sds text =
        sds_format("%s %" PRIu64, is_new ? "BUMPED" : "STILL", cluster->myself->config_epoch);
    reply_status(call->reply, sds_slice(text));
    sds_free(text);
}

static const char *refusal_of_epoch(const struct cluster *cluster) {
    if (cluster->count > 1)
        return "ERR The user can assign a config epoch only when the node does not know any other "
               "node.";
    return cluster->myself->config_epoch ? "ERR Node config epoch is already non-zero" : NULL;
}

void cluster_set_config_epoch_command(struct call *call) {
    struct cluster *cluster = cluster_of(call);
    int64_t epoch;
    if (!cluster || !call_integer(call, 2, &epoch)) return;
    if (epoch < 0) {
        reply_error_format(call->reply, "ERR Invalid config epoch specified: %" PRId64, epoch);
        return;
    }
    const char *refusal = refusal_of_epoch(cluster);
    if (refusal) {
        reply_error(call->reply, refusal);
        return;
    }
    cluster->myself->config_epoch = (uint64_t)epoch;
    cluster->current_epoch = cluster_greatest_epoch(cluster);
    cluster_confirm(call);
}

/* --- FORGET RESET --- */

void cluster_forget_command(struct call *call) {
    struct cluster *cluster = cluster_of(call);
    if (!cluster) return;
    struct forgotten *forgotten = &cluster->forgotten;
    int64_t now_ms = call->engine->steady_ms;
    if (forgotten_has(forgotten, call->argv[2], now_ms)) {
        reply_ok(call->reply); /* another node was faster */
        return;
    }
    struct cluster_node *node = cluster_node_argument(call, 2);
    if (!node) return;
    if (node == cluster->myself) {
        reply_error(call->reply, "ERR I tried hard but I can't forget myself...");
    } else if (node == cluster->myself->primary) {
        reply_error(call->reply, "ERR Can't forget my master!");
    } else {
        forgotten_add(forgotten, node->id, now_ms, call->engine->config.cluster_blacklist_ttl);
        cluster_remove(cluster, node);
        cluster_confirm_slots(call);
    }
}

/* A replica becomes an empty primary. */
static void end_being_replica(struct engine *engine) {
    replication_unfollow(engine);
    changes_replace_all(engine, &(struct replacement){.freeing = CHANGES_FREE_IN_POOL});
}

void cluster_reset_command(struct call *call) {
    struct cluster *cluster = cluster_of(call);
    bool is_hard = call->argc == 3 && slice_is(call->argv[2], "hard");
    if (!cluster || !call_has_at_most(call, 3)) return;
    if (call->argc == 3 && !is_hard && !slice_is(call->argv[2], "soft")) {
        call_syntax_error(call);
        return;
    }
    bool is_replica = cluster->myself->flags & CLUSTER_REPLICA;
    if (!is_replica && !cluster_has_no_keys(call->engine)) {
        reply_error(call->reply,
                    "ERR CLUSTER RESET can't be called with master nodes containing keys");
        return;
    }
    cluster_reset(cluster, is_hard);
    if (is_replica) end_being_replica(call->engine);
    cluster_confirm_slots(call);
}

/* --- What needs other nodes --- */

static void need_other_nodes(struct call *call, const char *what) {
    if (!cluster_of(call)) return;
    reply_error_format(call->reply,
                       "ERR This server has no cluster bus yet: it cannot talk to other nodes, so "
                       "it cannot %s",
                       what);
}

COMMAND_FORM(cluster_meet_command, need_other_nodes, "meet one")
COMMAND_FORM(cluster_replicate_command, need_other_nodes, "replicate one")
COMMAND_FORM(cluster_failover_command, need_other_nodes, "take over from one")
