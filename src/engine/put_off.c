#include "engine/put_off.h"

#include "engine/engine.h"

#include <assert.h>

bool put_off_add(struct engine *engine, enum put_off_work work) {
    if (!engine->put_off.is_possible) return false;
    engine->put_off.due |= (uint8_t)work;
    return true;
}

bool put_off_end(struct engine *engine) {
    engine->put_off.is_possible = false;
    return engine->put_off.due != 0;
}

void put_off_run(struct engine *engine) {
    unsigned due = engine->put_off.due;
    assert(!command_log_is_inside_unit(&engine->command_log));
    engine->put_off.due = 0;
    if (due & PUT_OFF_APPENDONLY) engine->upward->apply_appendonly(engine);
    if (due & PUT_OFF_ROLE) engine->upward->apply_role(engine);
}
