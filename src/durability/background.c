#include "durability/background.h"

#include "server/server.h"

enum child_purpose background_purpose(void) {
    const struct durability *durability = &server.durability;
    if (durability->aof.rewrite.waits) return CHILD_AOF;
    return durability->child.pid ? durability->child.purpose : durability->slices.purpose;
}
