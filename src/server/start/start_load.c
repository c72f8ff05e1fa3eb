#include "server/start/start_load.h"

#include "aof/aof.h"
#include "base/log/log.h"
#include "engine/engine.h"
#include "server/start/start_aof.h"

/* A client may have changed appendonly while data was loaded. */
static void follow_appendonly(struct engine *engine) {
    sds error = NULL;
    if (aof_configure(engine, &error)) return;
    log_warning("appendonly: %s", error);
    engine->config.appendonly = false;
    sds_free(error);
}

static enum load_status load_with_aof(struct engine *engine) {
    struct aof_opening opening;
    if (!aof_open(engine, &opening)) return LOAD_FAILED;
    enum load_status status =
        opening.is_new ? load_snapshot(engine) : start_aof_load(engine, LOAD_SERVE);
    if (status == LOAD_FAILED || status == LOAD_STOPPED) return status;
    if (opening.is_new && status == LOAD_DONE)
        log_notice("There is no append-only file yet: it begins with the data of the snapshot");
    return aof_begin(engine, opening) ? LOAD_DONE : LOAD_FAILED;
}

enum load_status start_load(struct engine *engine) {
    enum load_status status =
        engine->config.appendonly ? load_with_aof(engine) : load_snapshot(engine);
    if (status == LOAD_DONE || status == LOAD_ABSENT) follow_appendonly(engine);
    return status;
}
