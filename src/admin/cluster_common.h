/* cluster_common: what the files of CLUSTER's subcommands share. */
#ifndef PACKLIST_ADMIN_CLUSTER_COMMON_H
#define PACKLIST_ADMIN_CLUSTER_COMMON_H

#include "cluster/cluster.h"
#include "engine/call.h"
#include "engine/engine.h"

#include <stdbool.h>

/* Returns the cluster of which the server is a node. Replies that there is none, and returns NULL,
 * where it is none. */
struct cluster *cluster_of(struct call *call);

/* Each reads argv[index]; otherwise they reply the error and return false, or NULL. */
bool cluster_slot_argument(struct call *call, size_t index, unsigned *slot);
struct cluster_node *cluster_node_argument(struct call *call, size_t index);

/* Writes the file, and replies OK. */
void cluster_confirm(struct call *call);

/* The same after slots got other owners. */
void cluster_confirm_slots(struct call *call);

/* Returns whether the client has come over TLS. */
bool cluster_client_uses_tls(const struct call *call);

/* Returns how many keys the slot has in all databases. Waits for works that have taken keys out
 * (engine/claim.h), as the next one. O(databases). */
size_t cluster_count_keys(struct engine *engine, unsigned slot);

/* Returns whether no database has a key. O(databases). */
bool cluster_has_no_keys(struct engine *engine);

#endif
