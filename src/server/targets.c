#include "server/targets.h"

#include "base/checked.h"
#include "engine/engine.h"

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

void target_keep(struct engine *engine, struct target *target) {
    CHECKED_ASSERT(!target->user);
    if (kept.count == TARGETS_MAX) target_close(kept.targets[0]);
    target->used_ms = engine->steady_ms;
    kept.targets[kept.count++] = target;
}

void target_close(struct target *target) {
    for (size_t i = 0; i < kept.count; i++)
        if (kept.targets[i] == target) take(i);
    sds_free(target->host);
    conn_close(conn_of_session(target));
}

void targets_tick(struct engine *engine) {
    while (kept.count > 0 && engine->steady_ms - kept.targets[0]->used_ms > TARGET_IDLE_MS)
        target_close(kept.targets[0]);
}

size_t targets_count(void) {
    return kept.count;
}

void targets_stop(void) {
    while (kept.count > 0) target_close(kept.targets[0]);
}
