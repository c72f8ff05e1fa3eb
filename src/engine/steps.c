#include "engine/steps.h"

#include "base/chain.h"
#include "base/memory/alloc.h"
#include "engine/blocking.h"
#include "engine/call_make.h"

void *stepped_new(const struct stepped_kind *kind, size_t size) {
    struct stepped *stepped = mem_alloc_zeroed(size);
    stepped->kind = kind;
    return stepped;
}

/* --- Steps --- */

static void append(struct steps *steps, struct stepped *stepped) {
    CHAIN_APPEND(steps->first, steps->last, stepped, prev, next);
}

static void unlink_stepped(struct steps *steps, struct stepped *stepped) {
    CHAIN_REMOVE(steps->first, steps->last, stepped, prev, next);
}

static void step(struct call *call, struct stepped *stepped) {
    enum { STEPS_PER_MS = 4 };
    stepped->late_at = clock_ticks() + call->engine->ticks_per_ms / STEPS_PER_MS;
    stepped->is_done = !stepped->kind->step(call, stepped);
}

/* Does a step of a command that waits. */
static void step_later(struct engine *engine, struct stepped *stepped) {
    struct session *session = stepped->session;
    struct waiter *waiter = session->waiter;
    const struct args *args = waiter->args;
    uint64_t begin = clock_ticks();
    size_t allocated = stepped->allocated;
    struct call call =
        call_make(engine, ORIGIN_BLOCKED, &session->requester, session->requester.database, NULL,
                  (struct command_line){waiter->command, args->argv, args->argc});
    step(&call, stepped);
    waiter->allocated += stepped->allocated - allocated;
    stepped->ticks += clock_ticks() - begin;
}

/* While data is being loaded, keys that will be there again are not there yet. */
static bool may_run(const struct engine *engine) {
    return !engine->steps->is_paused && !(engine->restrictions & RESTRICTED_LOADING);
}

bool steps_run(struct engine *engine) {
    struct steps *steps = engine->steps;
    struct stepped *stepped = steps->first;
    if (!stepped || !may_run(engine)) return false;
    engine_update_clock(engine);
    if (!stepped->is_done) step_later(engine, stepped);
    if (stepped->is_done) {
        engine->upward->work_has_ended(stepped->session, stepped->ticks);
    } else {
        unlink_stepped(steps, stepped);
        append(steps, stepped);
    }
    return !steps_are_idle(engine);
}

/* --- The client --- */

static void answer(struct call *call, const void *state) {
    struct stepped *stepped = *(struct stepped *const *)state;
    stepped->kind->answer(call, stepped);
}

/* The client waits no longer: it has its reply, or has gone. */
static void leave(const void *state) {
    struct stepped *stepped = *(struct stepped *const *)state;
    unlink_stepped(stepped->engine->steps, stepped);
    stepped->kind->free(stepped);
    mem_free(stepped);
}

void steps_begin(struct call *call, struct stepped *stepped) {
    static const struct waiter_kind kind = {.unserved = answer, .left = leave, .for_work = true};
    struct engine *engine = call->engine;
    struct session *session = call_session(call);
    stepped->engine = engine;
    stepped->session = session;
    step(call, stepped);
    blocking_add(engine->blocking, call,
                 &(struct block_request){
                     .kind = &kind, .state = &stepped, .state_size = sizeof(struct stepped *)});
    session->waiter->allocated += mem_good_size(sizeof(*stepped)) + stepped->allocated;
    append(engine->steps, stepped);
}
