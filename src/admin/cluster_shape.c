/* cluster_shape: CLUSTER INFO NODES REPLICAS COUNT-FAILURE-REPORTS LINKS SLOTS SHARDS: which nodes
 * the cluster has, and what they serve. */
#include "admin/admin_commands.h"
#include "admin/cluster_common.h"
#include "cluster/endpoint.h"
#include "cluster/nodes_text.h"
#include "replication/history/history.h"
#include "resp/reply.h"

#include <inttypes.h>
#include <string.h>

/* --- INFO --- */

/* What INFO counts of nodes, or slots, that may have failed and have. */
struct failures {
    unsigned may_fail;
    unsigned failed;
};

static void count_failure(struct failures *failures, const struct cluster_node *node,
                          unsigned amount) {
    if (node->flags & CLUSTER_FAILED)
        failures->failed += amount;
    else if (node->flags & CLUSTER_MAY_FAIL)
        failures->may_fail += amount;
}

static sds append_nodes_info(const struct cluster *cluster, sds out) {
    struct failures slots = {0}, nodes = {0}, voters = {0};
    for (size_t i = 0; i < cluster->count; i++) {
        const struct cluster_node *node = cluster->nodes[i];
        count_failure(&slots, node, node->slots);
        count_failure(&nodes, node, 1);
        count_failure(&voters, node, node->flags & CLUSTER_PRIMARY && node->slots > 0);
    }
    return sds_append_format(
        out,
        "cluster_state:%s\r\ncluster_slots_assigned:%u\r\ncluster_slots_ok:%u\r\n"
        "cluster_slots_pfail:%u\r\ncluster_slots_fail:%u\r\n"
        "cluster_nodes_pfail:%u\r\ncluster_nodes_fail:%u\r\n"
        "cluster_voting_nodes_pfail:%u\r\ncluster_voting_nodes_fail:%u\r\n",
        cluster->is_ok ? "ok" : "fail", cluster->owned,
        cluster->owned - slots.may_fail - slots.failed, slots.may_fail, slots.failed,
        nodes.may_fail, nodes.failed, voters.may_fail, voters.failed);
}

/* There are no messages to other nodes yet. */
static const char no_messages[] =
    "cluster_stats_messages_sent:0\r\ncluster_stats_messages_received:0\r\n"
    "cluster_stats_bytes_sent:0\r\ncluster_stats_bytes_received:0\r\n"
    "cluster_stats_pubsub_bytes_sent:0\r\ncluster_stats_pubsub_bytes_received:0\r\n"
    "cluster_stats_module_bytes_sent:0\r\ncluster_stats_module_bytes_received:0\r\n"
    "total_cluster_links_buffer_limit_exceeded:0\r\n";

void cluster_info_command(struct call *call) {
    const struct cluster *cluster = cluster_of(call);
    if (!cluster) return;
    sds text = append_nodes_info(cluster, sds_new(SLICE("")));
    text =
        sds_append_format(text,
                          "cluster_known_nodes:%zu\r\ncluster_size:%u\r\n"
                          "cluster_current_epoch:%" PRIu64 "\r\ncluster_my_epoch:%" PRIu64 "\r\n",
                          cluster->count, cluster_size(cluster), cluster->current_epoch,
                          cluster_epoch_of(cluster->myself));
    call_answer_text(call, sds_append_cstr(text, no_messages));
}

/* --- NODES REPLICAS COUNT-FAILURE-REPORTS LINKS --- */

static enum nodes_text_form form_for(const struct call *call) {
    return cluster_client_uses_tls(call) ? NODES_TEXT_FOR_TLS_CLIENT : NODES_TEXT_FOR_CLIENT;
}

void cluster_nodes_command(struct call *call) {
    const struct cluster *cluster = cluster_of(call);
    if (!cluster) return;
    call_answer_text(call, nodes_text_append_all(cluster, sds_new(SLICE("")), form_for(call)));
}

void cluster_replicas_command(struct call *call) {
    const struct cluster *cluster = cluster_of(call);
    const struct cluster_node *primary = cluster ? cluster_node_argument(call, 2) : NULL;
    if (!primary) return;
    if (primary->flags & CLUSTER_REPLICA) {
        reply_error(call->reply, "ERR The specified node is not a master");
        return;
    }
    size_t mark = reply_begin(call->reply), count = 0;
    for (size_t i = 0; i < cluster->count; i++) {
        if (cluster->nodes[i]->primary != primary) continue;
        sds line =
            nodes_text_append_node(cluster, cluster->nodes[i], sds_new(SLICE("")), form_for(call));
        reply_bulk_owned(call->reply, line);
        count++;
    }
    reply_array_end(call->reply, mark, count);
}

/* Nobody reports failures yet. */
void cluster_count_failure_reports_command(struct call *call) {
    if (cluster_of(call) && cluster_node_argument(call, 2)) reply_integer(call->reply, 0);
}

void cluster_links_command(struct call *call) {
    if (cluster_of(call)) reply_array(call->reply, 0);
}

/* --- What is said of a node --- */

/* Where a node's data stands in its primary's stream, or its own; 0: not known, or it has none. */
static uint64_t offset_of(const struct call *call, const struct cluster_node *node) {
    bool is_me = node == call->engine->cluster->myself;
    return is_me ? history_offset(call->engine) : node->replication_offset;
}

static const char *health_of(const struct call *call, const struct cluster_node *node) {
    if (node->flags & CLUSTER_FAILED) return "fail";
    bool has_data = node->flags & CLUSTER_PRIMARY || offset_of(call, node) > 0;
    return has_data ? "online" : "loading";
}

/* --- SLOTS --- */

/* [endpoint, port, id, {ip, hostname}], where the map has what the endpoint is not. */
static void answer_address(struct call *call, const struct cluster_node *node) {
    struct reply *reply = call->reply;
    const char *endpoint = endpoint_of(call->engine, node);
    int64_t type = call->engine->config.cluster_endpoint;
    bool has_ip = type != CLUSTER_ENDPOINT_IP && sds_len(node->ip) > 0;
    bool has_name = type != CLUSTER_ENDPOINT_HOSTNAME && sds_len(node->hostname) > 0;
    reply_array(reply, 4);
    if (endpoint)
        reply_bulk_cstr(reply, endpoint);
    else
        reply_null(reply);
    reply_integer(reply, endpoint_port(node, cluster_client_uses_tls(call)));
    reply_bulk_cstr(reply, node->id);
    reply_map(reply, (size_t)has_ip + has_name);
    if (has_ip) reply_named_text(reply, "ip", sds_slice(node->ip));
    if (has_name) reply_named_text(reply, "hostname", sds_slice(node->hostname));
}

/* Returns whether clients may read from it. */
static bool is_usable_replica(const struct call *call, const struct cluster_node *node,
                              const struct cluster_node *primary) {
    return node->primary == primary && !(node->flags & CLUSTER_FAILED) && offset_of(call, node) > 0;
}

static void answer_slots(struct call *call, unsigned first, unsigned end) {
    const struct cluster *cluster = call->engine->cluster;
    const struct cluster_node *owner = cluster->owners[first];
    size_t mark = reply_begin(call->reply), count = 3;
    reply_integer(call->reply, first);
    reply_integer(call->reply, end - 1);
    answer_address(call, owner);
    for (size_t i = 0; i < cluster->count; i++) {
        if (!is_usable_replica(call, cluster->nodes[i], owner)) continue;
        answer_address(call, cluster->nodes[i]);
        count++;
    }
    reply_array_end(call->reply, mark, count);
}

void cluster_slots_command(struct call *call) {
    const struct cluster *cluster = cluster_of(call);
    size_t count = 0;
    if (!cluster) return;
    size_t mark = reply_begin(call->reply);
    for (unsigned slot = 0, end; slot < KEY_SLOTS; slot = end) {
        end = cluster_range_end(cluster, slot);
        if (!cluster->owners[slot]) continue;
        answer_slots(call, slot, end);
        count++;
    }
    reply_array_end(call->reply, mark, count);
}

/* --- SHARDS --- */

static void answer_node(struct call *call, const struct cluster_node *node) {
    struct reply *reply = call->reply;
    const char *endpoint = endpoint_of(call->engine, node);
    size_t mark = reply_begin(reply), pairs = 6;
    reply_named_text(reply, "id", slice_of_cstr(node->id));
    if (node->port) reply_named_integer(reply, "port", node->port), pairs++;
    if (node->tls_port) reply_named_integer(reply, "tls-port", node->tls_port), pairs++;
    reply_named_text(reply, "ip", sds_slice(node->ip));
    reply_named_text(reply, "endpoint", slice_of_cstr(endpoint ? endpoint : ""));
    if (sds_len(node->hostname) > 0)
        reply_named_text(reply, "hostname", sds_slice(node->hostname)), pairs++;
    bool is_replica = node->flags & CLUSTER_REPLICA;
    reply_named_text(reply, "role", is_replica ? SLICE("replica") : SLICE("master"));
    reply_named_integer(reply, "replication-offset", (int64_t)offset_of(call, node));
    reply_named_text(reply, "health", slice_of_cstr(health_of(call, node)));
    reply_map_end(reply, mark, pairs);
}

static bool is_in_shard(const struct cluster_node *node, const char *shard_id) {
    return strcmp(node->shard_id, shard_id) == 0;
}

/* First and last slot of each range that a node of the shard serves. */
static void answer_ranges(struct call *call, const char *shard_id) {
    const struct cluster *cluster = call->engine->cluster;
    size_t mark = reply_begin(call->reply), count = 0;
    for (unsigned slot = 0, end; slot < KEY_SLOTS; slot = end) {
        end = cluster_range_end(cluster, slot);
        if (!cluster->owners[slot] || !is_in_shard(cluster->owners[slot], shard_id)) continue;
        reply_integer(call->reply, slot);
        reply_integer(call->reply, end - 1);
        count += 2;
    }
    reply_array_end(call->reply, mark, count);
}

/* The primary comes first. */
static void answer_shard(struct call *call, const char *shard_id) {
    const struct cluster *cluster = call->engine->cluster;
    size_t count = 0;
    reply_map(call->reply, 3);
    reply_bulk_cstr(call->reply, "slots");
    answer_ranges(call, shard_id);
    reply_bulk_cstr(call->reply, "nodes");
    size_t mark = reply_begin(call->reply);
    for (int replicas = 0; replicas <= 1; replicas++) {
        for (size_t i = 0; i < cluster->count; i++) {
            const struct cluster_node *node = cluster->nodes[i];
            bool is_replica = node->flags & CLUSTER_REPLICA;
            if (is_replica != replicas || !is_in_shard(node, shard_id)) continue;
            answer_node(call, node);
            count++;
        }
    }
    reply_array_end(call->reply, mark, count);
    reply_named_text(call->reply, "id", slice_of_cstr(shard_id));
}

/* Returns whether no node before this one is in its shard. */
static bool is_first_of_shard(const struct cluster *cluster, size_t at) {
    for (size_t i = 0; i < at; i++)
        if (is_in_shard(cluster->nodes[i], cluster->nodes[at]->shard_id)) return false;
    return true;
}

void cluster_shards_command(struct call *call) {
    const struct cluster *cluster = cluster_of(call);
    size_t count = 0;
    if (!cluster) return;
    size_t mark = reply_begin(call->reply);
    for (size_t i = 0; i < cluster->count; i++) {
        if (!is_first_of_shard(cluster, i)) continue;
        answer_shard(call, cluster->nodes[i]->shard_id);
        count++;
    }
    reply_array_end(call->reply, mark, count);
}
