#include "cluster/slots_changed.h"

#include "cluster/cluster.h"
#include "engine/engine.h"
#include "session/publish.h"

static bool is_served(struct slice channel, void *arg) {
    return cluster_has_slot(arg, key_slot(channel));
}

void cluster_slots_changed(struct engine *engine) {
    publish_keep_shard_channels(engine, is_served, engine->cluster);
    engine->upward->redirect_waiters(engine->blocking);
}
