/* endpoint: where clients are told to find a node. */
#ifndef PACKLIST_CLUSTER_ENDPOINT_H
#define PACKLIST_CLUSTER_ENDPOINT_H

#include "cluster/cluster.h"

struct engine;

/* Returns the node's address or name, as cluster-preferred-endpoint-type says; "?": it should be a
 * name, and the node has none. NULL: none is told, so that clients stay with the address that they
 * have. Valid as long as the node's. */
const char *endpoint_of(const struct engine *engine, const struct cluster_node *node);

/* Returns the node's port for a client who has come over TLS, or not; 0: it has none. */
static inline int endpoint_port(const struct cluster_node *node, bool over_tls) {
    return over_tls ? node->tls_port : node->port;
}

#endif
