#include "durability/load_start.h"

#include "base/log.h"
#include "durability/aof.h"
#include "server/engine.h"

/* A client may have changed appendonly meanwhile. */
static void follow_appendonly(struct engine *engine) {
    sds error = NULL;
    if (aof_configure(engine, &error)) return;
    log_warning("appendonly: %s", error);
    engine->config.appendonly = false;
    sds_free(error);
}

enum load_status load_at_start(struct engine *engine) {
    enum load_status status = engine->config.appendonly ? aof_start(engine) : load_snapshot(engine);
    if (status == LOAD_DONE || status == LOAD_ABSENT) follow_appendonly(engine);
    return status;
}
