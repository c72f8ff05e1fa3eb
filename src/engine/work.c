#include "engine/work.h"

#include "base/chain.h"
#include "base/clock.h"
#include "base/memory/alloc.h"
#include "engine/blocking.h"
#include "engine/call.h"
#include "engine/claim.h"
#include "engine/engine.h"
#include "engine/lazyfree.h"
#include "net/loop/pool.h"
#include "types/string.h"
#include "types/value.h"

#include <assert.h>

/* Of the pool's four threads, one is left to lazyfree and one to the disk. */
enum { WORKS_AT_ONCE = 2 };

/* A work is run by whoever takes it first: the pool, or the loop, which cannot wait for its turn
 * (work_end_now). */
enum { WAITS, TAKEN, HAS_RUN };

static void begin_next(struct engine *engine);

void works_start(struct engine *engine) {
    struct works *works = engine->works;
    keytable_init(&works->claims, 1);
    pthread_mutex_init(&works->lock, NULL);
    pthread_cond_init(&works->has_run, NULL);
}

void works_free(struct engine *engine) {
    struct works *works = engine->works;
    assert(!works->first && works->running == 0);
    keytable_free(&works->claims);
    pthread_mutex_destroy(&works->lock);
    pthread_cond_destroy(&works->has_run);
}

/* --- Running --- */

/* Runs it, unless somebody else has taken it. In any thread. */
static void run(struct work *work) {
    struct works *works = work->engine->works;
    int waits = WAITS;
    if (!__atomic_compare_exchange_n(&work->state, &waits, TAKEN, false, __ATOMIC_RELAXED,
                                     __ATOMIC_RELAXED))
        return;
    uint64_t begin = clock_ticks();
    if (!work_is_cancelled(work)) work->kind->run(work);
    work->ticks = clock_ticks() - begin;
    pthread_mutex_lock(&works->lock);
    __atomic_store_n(&work->state, HAS_RUN, __ATOMIC_RELAXED);
    pthread_cond_broadcast(&works->has_run);
    pthread_mutex_unlock(&works->lock);
}

/* Waits until the work, which somebody has taken, has run. */
static void wait_for(struct work *work) {
    struct works *works = work->engine->works;
    pthread_mutex_lock(&works->lock);
    while (__atomic_load_n(&work->state, __ATOMIC_RELAXED) != HAS_RUN)
        pthread_cond_wait(&works->has_run, &works->lock);
    pthread_mutex_unlock(&works->lock);
}

/* --- The end --- */

static void free_work(struct work *work) {
    if (work->kind->free) work->kind->free(work);
    mem_free(work);
}

/* It has run, or nobody needs it: its client gets its reply. The pool may still have it. */
static void end(struct work *work) {
    work->has_ended = true;
    if (work->claim) claim_put_back(work->claim);
    if (work->session)
        work->engine->upward->work_has_ended(work->session, work->ticks);
    else if (work->claim)
        claim_answer_alone(work->claim);
    if (work->claim) claim_free(work->claim);
    if (!work->is_in_pool) free_work(work);
}

static void unlink_waiting(struct work *work) {
    struct works *works = work->engine->works;
    CHAIN_REMOVE(works->first, works->last, work, prev, next);
}

void work_end_now(struct work *work) {
    assert(!work->has_ended);
    if (!work->is_in_pool) unlink_waiting(work);
    run(work);
    wait_for(work);
    end(work);
}

static void run_in_pool(void *arg) {
    run(arg);
}

static void on_done(void *arg) {
    struct work *work = arg;
    struct engine *engine = work->engine;
    work->is_in_pool = false;
    engine->works->running--;
    if (work->has_ended)
        free_work(work);
    else
        end(work);
    begin_next(engine);
}

static void begin_next(struct engine *engine) {
    struct works *works = engine->works;
    while (works->first && works->running < WORKS_AT_ONCE && !works->is_paused) {
        struct work *work = works->first;
        unlink_waiting(work);
        work->is_in_pool = true;
        works->running++;
        net_pool_run(engine->net, run_in_pool, on_done, work);
    }
}

/* --- The client --- */

static void answer(struct call *call, const void *state) {
    struct work *work = *(struct work *const *)state;
    if (work->claim) claim_prepare(work->claim, call);
    work->kind->answer(call, work);
}

/* The client waits no longer: it has its reply, or has gone. */
static void leave(const void *state) {
    struct work *work = *(struct work *const *)state;
    work->session = NULL;
    work->engine->works->waiting--;
    if (work->has_ended || work->claim) return;
    __atomic_store_n(&work->is_cancelled, true, __ATOMIC_RELAXED);
    if (work->is_in_pool) return;
    unlink_waiting(work);
    free_work(work);
}

bool work_pays_writing(const struct call *call, uint64_t steps) {
    return work_pays(call, steps) && !call->engine->is_replica;
}

void *work_new(const struct work_kind *kind, size_t size) {
    struct work *work = mem_alloc_zeroed(size);
    work->kind = kind;
    return work;
}

void work_begin(struct call *call, struct work *work) {
    static const struct waiter_kind kind = {.unserved = answer, .left = leave, .for_work = true};
    struct works *works = call->engine->works;
    work->engine = call->engine;
    work->session = call_session(call);
    blocking_add(call->engine->blocking, call,
                 &(struct block_request){
                     .kind = &kind, .state = &work, .state_size = sizeof(struct work *)});
    works->waiting++;
    works->total++;
    CHAIN_APPEND(works->first, works->last, work, prev, next);
    begin_next(call->engine);
}

void work_begin_storing_in(struct call *call, struct work *work, int database, struct slice key) {
    work->engine = call->engine;
    claim_make(call, work, database, key, false);
    if (call->propagates) call_propagate_as(call, call->argv, call->argc);
    work_begin(call, work);
}

void work_begin_storing(struct call *call, struct work *work, struct slice key) {
    work_begin_storing_in(call, work, call->database, key);
}

bool work_pays_changing(const struct call *call, const struct entry *entry, uint64_t steps) {
    return work_pays_writing(call, steps) && !value_is_captured(entry);
}

void work_begin_changing(struct call *call, struct work *work, struct slice key) {
    work->engine = call->engine;
    claim_make(call, work, call->database, key, true);
    work_begin(call, work);
}

void work_begin_replacing(struct call *call, struct work *work, struct slice source,
                          struct slice key) {
    work->engine = call->engine;
    if (!slice_equal(source, key)) claim_make(call, work, call->database, source, true);
    claim_make(call, work, call->database, key, true);
    work_begin(call, work);
}

void works_pause(struct engine *engine, bool is_paused) {
    engine->works->is_paused = is_paused;
    begin_next(engine);
}

/* --- Values --- */

void work_freeze(const struct call *call, struct entry *entry, struct frozen *frozen) {
    value_freeze(entry, &call->engine->works->capture_bytes, frozen);
}

void work_unfreeze(const struct work *work, struct frozen *frozen) {
    work_end_capture(work, value_unfreeze(frozen));
}

void work_free_value(const struct work *work, struct entry *entry) {
    lazyfree_entry(work->engine->lazyfree, entry, true);
}

struct capture *work_capture(const struct call *call, struct entry *entry) {
    return value_capture(entry, &call->engine->works->capture_bytes);
}

struct capture *work_capture_text(const struct call *call, struct entry *entry) {
    return text_capture_begin(string_share(entry), &call->engine->works->capture_bytes);
}

void work_end_capture(const struct work *work, struct capture *capture) {
    if (capture) lazyfree_capture(work->engine->lazyfree, capture);
}
