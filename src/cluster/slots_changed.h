/* slots_changed: what follows when slots get other owners. */
#ifndef PACKLIST_CLUSTER_SLOTS_CHANGED_H
#define PACKLIST_CLUSTER_SLOTS_CHANGED_H

struct engine;

/* To be called once after slots have got other owners, or none, and cluster_save: subscriptions to
 * shard channels end whose slots this node, or its primary, no longer serves; clients that wait for
 * keys that this node no longer serves are told where these are. May close sessions that are over
 * their output limits. O(shard channels, and clients that wait). */
void cluster_slots_changed(struct engine *engine);

#endif
