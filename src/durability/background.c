#include "durability/background.h"

#include "server/engine.h"

enum child_purpose background_purpose(struct engine *engine) {
    const struct durability *durability = &engine->durability;
    if (durability->aof.rewrite.waits) return CHILD_AOF;
    return durability->child.pid ? durability->child.purpose : durability->slices.purpose;
}
