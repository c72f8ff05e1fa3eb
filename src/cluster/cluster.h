/* cluster: what a node of a cluster knows: the nodes, and which of them serves each slot
 * (store/key_slot.h).
 *
 *      nodes ── primary 1 ◄── replica        owners[slot]          who serves the slot
 *            ── primary 2 ◄── replica        migrating_to[slot]    of a slot of this node that goes
 *            ── myself                       importing_from[slot]  of a slot that comes here
 *
 * All that is here, but times and states of links, lies in the file nodes.conf (nodes_file.h),
 * which is written before a change is confirmed. Without cluster mode there is no such struct. */
#ifndef PACKLIST_CLUSTER_CLUSTER_H
#define PACKLIST_CLUSTER_CLUSTER_H

#include "base/slice.h"
#include "base/text/sds.h"
#include "cluster/forgotten.h"
#include "store/key_slot.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Nodes and shards have names of so many lower-case hex digits, drawn at random. */
enum { CLUSTER_ID_LEN = 40 };

/* How far a node's bus port is from its port for clients, if nothing else is said. */
enum { CLUSTER_BUS_DISTANCE = 10000 };

/* Bits as they travel between nodes. */
enum cluster_flag {
    CLUSTER_PRIMARY = 1 << 0,
    CLUSTER_REPLICA = 1 << 1,
    CLUSTER_MAY_FAIL = 1 << 2,  /* it does not answer this node */
    CLUSTER_FAILED = 1 << 3,    /* most primaries say so */
    CLUSTER_MYSELF = 1 << 4,    /* this server */
    CLUSTER_HANDSHAKE = 1 << 5, /* its name is not known yet */
    CLUSTER_NO_ADDRESS = 1 << 6,
    CLUSTER_NO_FAILOVER = 1 << 9 /* a replica that never asks for votes */
};

struct cluster_node {
    char id[CLUSTER_ID_LEN + 1];
    char shard_id[CLUSTER_ID_LEN + 1]; /* a primary and its replicas have the same */
    unsigned flags;                    /* enum cluster_flag */
    sds ip;                            /* "": not known; owned, as the next two */
    sds hostname;                      /* "": none */
    sds human_name;                    /* "": none */
    int port;                          /* 0: none */
    int tls_port;                      /* 0: none */
    int bus_port;
    uint64_t config_epoch;
    int64_t ping_sent_ms;         /* 0: it has answered */
    int64_t pong_received_ms;     /* 0: never */
    uint64_t replication_offset;  /* as it has said; of other nodes */
    struct cluster_node *primary; /* of a replica; NULL: not known */
    unsigned slots;               /* how many it serves */
};

struct cluster {
    struct cluster_node **nodes; /* in the order of their ids; owned */
    size_t count;
    size_t capacity;
    struct cluster_node *myself;
    struct cluster_node *owners[KEY_SLOTS]; /* NULL: nobody serves it */
    struct cluster_node *migrating_to[KEY_SLOTS];
    struct cluster_node *importing_from[KEY_SLOTS];
    unsigned owned;      /* slots that anybody serves */
    unsigned open_slots; /* that migrate or are imported */
    uint64_t current_epoch;
    uint64_t last_vote_epoch;
    struct forgotten forgotten;
    bool is_ok;    /* it serves: cluster_update_state */
    bool uses_tls; /* tls-cluster: nodes know each other by their ports for TLS */

    /* Of cluster_life.c. */
    sds path;              /* of nodes.conf, absolute; NULL: none. Owned. */
    bool has_announced_ip; /* the address of this server is from cluster-announce-ip */
};

/* Returns a cluster without nodes. The caller frees it. */
struct cluster *cluster_new(void);
void cluster_free(struct cluster *cluster);

/* Returns whether the text is a name of a node or shard. O(1). */
bool cluster_is_id(struct slice text);

/* Adds a node of this name, which is not there, and returns it: a primary without slots, of a shard
 * of its own. The cluster owns it. O(nodes). */
struct cluster_node *cluster_add(struct cluster *cluster, const char *id);

/* Adds this server under a new name. */
void cluster_add_myself(struct cluster *cluster);

/* Returns the node of this name, or NULL. O(log nodes). */
struct cluster_node *cluster_find(const struct cluster *cluster, struct slice id);

/* Returns where in `nodes` the node of this name is, or belongs. O(log nodes). */
size_t cluster_place_of(const struct cluster *cluster, const char *id);

/* Removes and frees a node but this server; nobody serves its slots then, which are also not
 * migrated there or imported from it, and its replicas have no primary. O(nodes + slots). */
void cluster_remove(struct cluster *cluster, struct cluster_node *node);

/* Removes and frees all nodes but this server, which is a primary without slots then. If that
 * `is_hard`, it also has new names and no epochs; otherwise a replica has a new shard. What was
 * forgotten may come back. O(nodes + slots). */
void cluster_reset(struct cluster *cluster, bool is_hard);

/* Gives the node, which is myself or not, another name. O(nodes). */
void cluster_rename(struct cluster *cluster, struct cluster_node *node, const char *id);

/* `owner` serves the slot from now on; NULL: nobody. O(1). */
void cluster_set_owner(struct cluster *cluster, unsigned slot, struct cluster_node *owner);

/* The slot migrates to this node, or is imported from it; NULL: not. O(1). */
void cluster_set_migrating(struct cluster *cluster, unsigned slot, struct cluster_node *to);
void cluster_set_importing(struct cluster *cluster, unsigned slot, struct cluster_node *from);

/* Returns the greatest epoch of all nodes and the current one. O(nodes). */
uint64_t cluster_greatest_epoch(const struct cluster *cluster);

/* Gives this server an epoch of its own, which is greater than all others, without asking the other
 * primaries for it. Does nothing and returns false where it has such a one. O(nodes). */
bool cluster_take_epoch(struct cluster *cluster);

/* Returns the epoch of a node: a replica has that of its primary. O(1). */
static inline uint64_t cluster_epoch_of(const struct cluster_node *node) {
    return node->primary ? node->primary->config_epoch : node->config_epoch;
}

/* Returns whether this server, or its primary, serves the slot. O(1). */
static inline bool cluster_has_slot(const struct cluster *cluster, unsigned slot) {
    const struct cluster_node *owner = cluster->owners[slot];
    return owner && (owner == cluster->myself || owner == cluster->myself->primary);
}

/* Returns how many primaries serve slots. O(nodes). */
unsigned cluster_size(const struct cluster *cluster);

/* Finds out whether the cluster serves: all slots are served by nodes that have not failed, or
 * `needs_all_slots` is false; and most primaries with slots are there. O(nodes + slots). */
void cluster_update_state(struct cluster *cluster, bool needs_all_slots);

/* Returns the end, which is the first slot that does not belong to it, of the range of slots with
 * the same owner that begins with `slot`. O(range). */
unsigned cluster_range_end(const struct cluster *cluster, unsigned slot);

/* Checks what the structs say of each other. O(nodes + slots). */
bool cluster_check(const struct cluster *cluster);

#endif
