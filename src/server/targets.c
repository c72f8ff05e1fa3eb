#include "server/targets.h"

#include "base/alloc.h"
#include "engine/engine.h"

#include <errno.h>

enum { TARGETS_MAX = 16, TARGET_IDLE_MS = 10000 };

/* The kept connections, the oldest first. */
static struct {
    struct target *targets[TARGETS_MAX];
    size_t count;
} kept;

static struct target *take(size_t index) {
    struct target *target = kept.targets[index];
    kept.count--;
    memmove(&kept.targets[index], &kept.targets[index + 1],
            (kept.count - index) * sizeof(kept.targets[0]));
    return target;
}

struct target *target_take(struct slice host, int port, uint64_t identity) {
    for (size_t i = 0; i < kept.count; i++) {
        const struct target *target = kept.targets[i];
        if (target->port == port && target->identity == identity &&
            slice_equal(sds_slice(target->host), host))
            return take(i);
    }
    return NULL;
}

struct target *target_open(struct slice host, int port, uint64_t identity, int timeout_ms) {
    sds name = sds_new(host);
    struct outbound *connection = outbound_open(name, port, timeout_ms);
    if (!connection) {
        int error = errno;
        sds_free(name);
        errno = error;
        return NULL;
    }
    struct target *target = mem_alloc(sizeof(*target));
    *target = (struct target){connection, name, port, identity, .database = -1};
    return target;
}

void target_keep(struct engine *engine, struct target *target) {
    if (kept.count == TARGETS_MAX) target_close(take(0));
    target->used_ms = engine->steady_ms;
    kept.targets[kept.count++] = target;
}

void target_close(struct target *target) {
    outbound_close(target->connection);
    sds_free(target->host);
    mem_free(target);
}

void targets_tick(struct engine *engine) {
    while (kept.count > 0 && engine->steady_ms - kept.targets[0]->used_ms > TARGET_IDLE_MS)
        target_close(take(0));
}

size_t targets_count(void) {
    return kept.count;
}

void targets_stop(void) {
    while (kept.count > 0) target_close(take(0));
}
