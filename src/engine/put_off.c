#include "engine/put_off.h"

#include "engine/engine.h"

#include <assert.h>

bool put_off_add(struct engine *engine, enum put_off_work work) {
    struct put_off *put_off = &engine->put_off;
    if (!put_off->is_possible) return false;
    put_off->is_due[work] = true;
    return true;
}

bool put_off_end(struct engine *engine) {
    struct put_off *put_off = &engine->put_off;
    bool is_due = false;
    put_off->is_possible = false;
    for (size_t i = 0; i < PUT_OFF_COUNT; i++) is_due |= put_off->is_due[i];
    return is_due;
}

void put_off_run(struct engine *engine) {
    struct put_off *put_off = &engine->put_off;
    assert(!command_log_is_inside_unit(&engine->command_log));
    for (size_t i = 0; i < PUT_OFF_COUNT; i++) {
        if (!put_off->is_due[i]) continue;
        put_off->is_due[i] = false;
        put_off->work[i](engine);
    }
}
