#include "snapshot/background.h"

#include "engine/engine.h"
#include "snapshot/child.h"
#include "snapshot/incremental.h"

enum background_purpose background_purpose(struct engine *engine) {
    if (engine->child->awaited) return engine->child->awaited;
    return engine->child->pid ? engine->child->purpose : engine->incremental->purpose;
}
