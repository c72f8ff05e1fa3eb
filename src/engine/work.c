#include "engine/work.h"

#include "base/chain.h"
#include "base/clock.h"
#include "base/memory/alloc.h"
#include "engine/blocking.h"
#include "engine/engine.h"
#include "engine/lazyfree.h"
#include "net/loop/pool.h"
#include "types/value.h"

/* Of the pool's four threads, one is left to lazyfree and one to the disk. */
enum { WORKS_AT_ONCE = 2 };

static void begin_next(struct engine *engine);

static void free_work(struct work *work) {
    work->kind->free(work);
    mem_free(work);
}

/* In a thread of the pool. */
static void run(void *arg) {
    struct work *work = arg;
    uint64_t begin = clock_ticks();
    if (!work_is_cancelled(work)) work->kind->run(work);
    work->ticks = clock_ticks() - begin;
}

static void on_done(void *arg) {
    struct work *work = arg;
    struct engine *engine = work->engine;
    work->is_ended = true;
    engine->works->running--;
    begin_next(engine);
    if (work->session)
        engine->upward->work_has_ended(work->session, work->ticks);
    else
        free_work(work);
}

static void begin_next(struct engine *engine) {
    struct works *works = engine->works;
    while (works->first && works->running < WORKS_AT_ONCE && !works->is_paused) {
        struct work *work = works->first;
        CHAIN_REMOVE(works->first, works->last, work, prev, next);
        work->is_begun = true;
        works->running++;
        net_pool_run(engine->net, run, on_done, work);
    }
}

static void answer(struct call *call, const void *state) {
    struct work *work = *(struct work *const *)state;
    work->kind->answer(call, work);
}

/* The client waits no longer: it has its reply, or has gone. */
static void leave(const void *state) {
    struct work *work = *(struct work *const *)state;
    struct works *works = work->engine->works;
    work->session = NULL;
    works->waiting--;
    __atomic_store_n(&work->is_cancelled, true, __ATOMIC_RELAXED);
    if (work->is_begun && !work->is_ended) return; /* on_done frees it */
    if (!work->is_begun) CHAIN_REMOVE(works->first, works->last, work, prev, next);
    free_work(work);
}

static void wait(struct call *call, struct work *work) {
    static const struct waiter_kind kind = {.unserved = answer, .left = leave, .for_work = true};
    struct works *works = call->engine->works;
    work->session = call_session(call);
    blocking_add(call->engine->blocking, call,
                 &(struct block_request){
                     .kind = &kind, .state = &work, .state_size = sizeof(struct work *)});
    works->waiting++;
    works->total++;
    CHAIN_APPEND(works->first, works->last, work, prev, next);
    begin_next(call->engine);
}

void work_begin(struct call *call, struct work *work) {
    work->engine = call->engine;
    if (call_may_block(call)) {
        wait(call, work);
        return;
    }
    work->kind->run(work);
    work->kind->answer(call, work);
    free_work(work);
}

void works_pause(struct engine *engine, bool is_paused) {
    engine->works->is_paused = is_paused;
    begin_next(engine);
}

void work_freeze(const struct call *call, struct entry *entry, struct frozen *frozen) {
    value_freeze(entry, &call->engine->works->left, frozen);
}

void work_unfreeze(const struct work *work, struct frozen *frozen) {
    struct capture *capture = value_unfreeze(frozen);
    if (capture) lazyfree_capture(work->engine->lazyfree, capture);
}
