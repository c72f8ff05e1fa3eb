#include "durability/background.h"

#include "server/server.h"

enum child_purpose background_purpose(void) {
    const struct durability *durability = &server.durability;
    return durability->child.pid ? durability->child.purpose : durability->slices.purpose;
}
