/* nodes_file: the text of nodes.conf, in which a node of a cluster keeps what it knows: a line for
 * each node (nodes_text.h), whose address has more fields than what clients see,
 *
 *      ip:port@bus,hostname,tls-port=0,nodename=db5,shard-id=7c31…
 *
 * (with tls-cluster the port in front is the one for TLS, and tcp-port the other), and at the end
 *
 *      vars currentEpoch 7 lastVoteEpoch 0
 *
 * Redis 8.0 and Valkey 9.1 read what is written here. What they write, and Redis from 4.0 on, is
 * read: fields that are not known here are skipped, a replica gets the shard of its primary. */
#ifndef PACKLIST_CLUSTER_NODES_FILE_H
#define PACKLIST_CLUSTER_NODES_FILE_H

#include "base/slice.h"
#include "base/text/sds.h"
#include "cluster/cluster.h"

#include <stdbool.h>

/* A larger file, or one with more nodes, is refused. */
enum { NODES_FILE_MAX = 64 * 1024 * 1024, NODES_FILE_NODES_MAX = KEY_SLOTS };

/* Returns the cluster of a file's text, which the caller frees. NULL if anything is wrong, with
 * *error set to "line 3: what is wrong", which the caller frees: then the text does not say what
 * the node knew. O(text + nodes * nodes / 64). */
struct cluster *nodes_file_parse(struct slice text, bool uses_tls, sds *error);

/* Returns the text of the file, which the caller frees. Nodes whose names are not known yet are not
 * in it. O(nodes + slots) as nodes_text_append_all. */
sds nodes_file_text(const struct cluster *cluster);

#endif
