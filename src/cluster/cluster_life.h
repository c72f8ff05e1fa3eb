/* cluster_life: the server as a node of a cluster (cluster/cluster.h): its start, its settings, its
 * file. */
#ifndef PACKLIST_CLUSTER_CLUSTER_LIFE_H
#define PACKLIST_CLUSTER_CLUSTER_LIFE_H

#include "base/text/sds.h"

#include <stdbool.h>

struct config;
struct engine;

/* Returns whether the port for clients leaves one for other nodes, which is 10,000 ports higher
 * unless cluster-port says which. Sets *error otherwise; the caller frees it. */
bool cluster_check_ports(const struct config *config, sds *error);

/* Makes engine->cluster if cluster-enabled says so: from the file of the directive
 * cluster-config-file, or, where there is none, of this server alone, and writes the file. Returns
 * false with *error set, which names file and line where the file is bad; the caller frees it. */
bool cluster_start(struct engine *engine, sds *error);

/* Puts the directives cluster-announce-*, cluster-require-full-coverage,
 * cluster-replica-no-failover, tls-cluster and the ports into force, and writes the file if that
 * changes it. Does nothing without a cluster. */
void cluster_configure(struct engine *engine);

/* Frees engine->cluster. */
void cluster_end(struct engine *engine);

/* To be called after a change of nodes, slots or epochs, before it is confirmed: finds out anew
 * whether the cluster serves, and writes the file. Where it cannot be written, the server logs why,
 * and ends with status 1 if cluster-config-save-behavior says so. Blocks on the disk.
 * O(nodes + slots). */
void cluster_save(struct engine *engine);

#endif
