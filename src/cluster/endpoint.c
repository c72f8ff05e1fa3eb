#include "cluster/endpoint.h"

#include "engine/engine.h"

const char *endpoint_of(const struct engine *engine, const struct cluster_node *node) {
    switch ((enum cluster_endpoint)engine->config.cluster_endpoint) {
    case CLUSTER_ENDPOINT_IP: return node->ip;
    case CLUSTER_ENDPOINT_HOSTNAME: return sds_len(node->hostname) > 0 ? node->hostname : "?";
    case CLUSTER_ENDPOINT_UNKNOWN: break;
    }
    return NULL;
}
