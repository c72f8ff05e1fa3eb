#include "durability/load_start.h"

#include "base/log.h"
#include "durability/aof.h"
#include "server/server.h"

/* A client may have changed appendonly meanwhile. */
static void follow_appendonly(void) {
    sds error = NULL;
    if (aof_configure(&error)) return;
    log_warning("appendonly: %s", error);
    server.config.appendonly = false;
    sds_free(error);
}

enum load_status load_at_start(void) {
    enum load_status status = server.config.appendonly ? aof_start() : load_snapshot();
    if (status == LOAD_DONE || status == LOAD_ABSENT) follow_appendonly();
    return status;
}
