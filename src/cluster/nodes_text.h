/* nodes_text: nodes as lines of text, as CLUSTER NODES replies them and nodes.conf stores them:
 *
 *      id ip:port@bus[,hostname][,name=value]… flags primary|- ping pong epoch link slots…
 *
 *      d4c0… 10.0.0.5:6379@16379,db5.example myself,master - 0 0 7 connected 0-99 100 [5->-91af…]
 *
 * Times are in ms. Fields with names stand in the file only (nodes_file.h). A replica has the epoch
 * of its primary. Slots that migrate ("[5->-id]", to this node) or are imported ("[6-<-id]", from
 * it) stand in the line of this server. */
#ifndef PACKLIST_CLUSTER_NODES_TEXT_H
#define PACKLIST_CLUSTER_NODES_TEXT_H

#include "base/text/sds.h"
#include "cluster/cluster.h"

#include <stdbool.h>

enum nodes_text_form {
    NODES_TEXT_FOR_CLIENT = 0,
    NODES_TEXT_FOR_FILE = 1,      /* also what other nodes need not be asked for */
    NODES_TEXT_FOR_TLS_CLIENT = 2 /* has the port for TLS */
};

/* Appends the line of a node, without its end. O(slots), and O(1) if the node has none. */
sds nodes_text_append_node(const struct cluster *cluster, const struct cluster_node *node, sds out,
                           enum nodes_text_form form);

/* Appends the lines of all nodes, in the order of their ids, each with "\n"; the file is without
 * those whose names are not known. O(slots + nodes + ranges of slots * log nodes). */
sds nodes_text_append_all(const struct cluster *cluster, sds out, enum nodes_text_form form);

/* Names of flags, as they stand in the line: also what nodes_file.c reads. */
struct nodes_text_flag {
    const char *name; /* NULL ends the list */
    unsigned flag;    /* enum cluster_flag; 0: no flag is set */
};
extern const struct nodes_text_flag nodes_text_flags[];

#endif
