#include "cluster/nodes_text.h"

#include "base/memory/alloc.h"

#include <assert.h>
#include <inttypes.h>

const struct nodes_text_flag nodes_text_flags[] = {
    {"myself", CLUSTER_MYSELF},
    {"master", CLUSTER_PRIMARY},
    {"slave", CLUSTER_REPLICA},
    {"fail?", CLUSTER_MAY_FAIL},
    {"fail", CLUSTER_FAILED},
    {"handshake", CLUSTER_HANDSHAKE},
    {"noaddr", CLUSTER_NO_ADDRESS},
    {"nofailover", CLUSTER_NO_FAILOVER},
    {"noflags", 0},
    {NULL, 0},
};

/* --- Fields --- */

/* The file has the ports that links between nodes use in front, and the others by name. */
static sds append_names_and_values(const struct cluster *cluster, const struct cluster_node *node,
                                   sds out) {
    if (cluster->uses_tls)
        out = sds_append_format(out, ",tcp-port=%d", node->port);
    else
        out = sds_append_format(out, ",tls-port=%d", node->tls_port);
    if (sds_len(node->human_name) > 0)
        out = sds_append_format(out, ",nodename=%s", node->human_name);
    return sds_append_format(out, ",shard-id=%s", node->shard_id);
}

static sds append_address(const struct cluster *cluster, const struct cluster_node *node, sds out,
                          enum nodes_text_form form) {
    bool is_for_file = form == NODES_TEXT_FOR_FILE;
    bool is_tls = is_for_file ? cluster->uses_tls : form == NODES_TEXT_FOR_TLS_CLIENT;
    out = sds_append_format(out, " %s:%d@%d", node->ip, is_tls ? node->tls_port : node->port,
                            node->bus_port);
    if (is_for_file || sds_len(node->hostname) > 0)
        out = sds_append_format(out, ",%s", node->hostname);
    return is_for_file ? append_names_and_values(cluster, node, out) : out;
}

static sds append_flags(const struct cluster_node *node, sds out) {
    char separator = ' ';
    for (const struct nodes_text_flag *flag = nodes_text_flags; flag->name; flag++) {
        bool is_set = flag->flag ? node->flags & flag->flag : separator == ' ';
        if (!is_set) continue;
        out = sds_append_format(out, "%c%s", separator, flag->name);
        separator = ',';
    }
    return out;
}

/* There are links to no other nodes. */
static sds append_state(const struct cluster_node *node, sds out) {
    const struct cluster_node *primary = node->flags & CLUSTER_REPLICA ? node->primary : NULL;
    return sds_append_format(out, " %s %" PRId64 " %" PRId64 " %" PRIu64 " %s",
                             primary ? primary->id : "-", node->ping_sent_ms,
                             node->pong_received_ms, cluster_epoch_of(node),
                             node->flags & CLUSTER_MYSELF ? "connected" : "disconnected");
}

/* All but the slots. */
static sds append_beginning(const struct cluster *cluster, const struct cluster_node *node, sds out,
                            enum nodes_text_form form) {
    out = sds_append_cstr(out, node->id);
    out = append_address(cluster, node, out, form);
    out = append_flags(node, out);
    return append_state(node, out);
}

/* --- Slots --- */

static sds append_range(sds out, unsigned slot, unsigned end) {
    return end - slot == 1 ? sds_append_format(out, " %u", slot)
                           : sds_append_format(out, " %u-%u", slot, end - 1);
}

static sds append_ranges(const struct cluster *cluster, const struct cluster_node *node, sds out) {
    unsigned left = node->slots;
    for (unsigned slot = 0, end; left > 0; slot = end) {
        end = cluster_range_end(cluster, slot);
        if (cluster->owners[slot] != node) continue;
        out = append_range(out, slot, end);
        left -= end - slot;
    }
    return out;
}

static sds append_open_slots(const struct cluster *cluster, sds out) {
    unsigned left = cluster->open_slots;
    for (unsigned slot = 0; left > 0; slot++) {
        const struct cluster_node *to = cluster->migrating_to[slot];
        const struct cluster_node *from = cluster->importing_from[slot];
        left -= !!to + !!from;
        if (to) out = sds_append_format(out, " [%u->-%s]", slot, to->id);
        if (from) out = sds_append_format(out, " [%u-<-%s]", slot, from->id);
    }
    return out;
}

/* --- Lines --- */

sds nodes_text_append_node(const struct cluster *cluster, const struct cluster_node *node, sds out,
                           enum nodes_text_form form) {
    out = append_beginning(cluster, node, out, form);
    out = append_ranges(cluster, node, out);
    return node == cluster->myself ? append_open_slots(cluster, out) : out;
}

/* Returns the ranges of each node, in the order of the nodes; NULL: it has none. One pass over the
 * slots for all nodes. */
static sds *list_ranges(const struct cluster *cluster) {
    sds *ranges = mem_alloc_zeroed((cluster->count + 1) * sizeof(*ranges));
    for (unsigned slot = 0, end; slot < KEY_SLOTS; slot = end) {
        const struct cluster_node *owner = cluster->owners[slot];
        end = cluster_range_end(cluster, slot);
        if (!owner) continue;
        size_t at = cluster_place_of(cluster, owner->id);
        assert(cluster->nodes[at] == owner);
        if (!ranges[at]) ranges[at] = sds_new(SLICE(""));
        ranges[at] = append_range(ranges[at], slot, end);
    }
    return ranges;
}

sds nodes_text_append_all(const struct cluster *cluster, sds out, enum nodes_text_form form) {
    sds *ranges = list_ranges(cluster);
    for (size_t i = 0; i < cluster->count; i++) {
        const struct cluster_node *node = cluster->nodes[i];
        if (!(form == NODES_TEXT_FOR_FILE && node->flags & CLUSTER_HANDSHAKE)) {
            out = append_beginning(cluster, node, out, form);
            if (ranges[i]) out = sds_append(out, sds_slice(ranges[i]));
            if (node == cluster->myself) out = append_open_slots(cluster, out);
            out = sds_append_cstr(out, "\n");
        }
        sds_free(ranges[i]);
    }
    mem_free(ranges);
    return out;
}
