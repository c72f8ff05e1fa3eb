#include "execute/flush.h"

#include "base/chain.h"
#include "base/clock.h"
#include "base/memory/alloc.h"
#include "engine/blocking.h"
#include "engine/engine.h"
#include "execute/blocking_serve.h"
#include "resp/reply.h"
#include "session/clients.h"
#include "session/session.h"

struct flush {
    uint64_t number;
    uint64_t session_id;
    size_t keyspaces; /* not freed yet */
    uint64_t begin_ticks;
    struct flush *prev;
    struct flush *next;
};

uint64_t flush_number(struct engine *engine) {
    return ++engine->flushes->last_number;
}

static void answer_ok(struct call *call, const void *state) {
    (void)state;
    reply_ok(call->reply);
}

static const struct waiter_kind flush_wait_kind = {.unserved = answer_ok, .for_work = true};

void flush_wait(struct call *call, uint64_t number, size_t keyspaces) {
    struct flushes *flushes = call->engine->flushes;
    struct flush *flush = mem_alloc(sizeof(*flush));
    *flush = (struct flush){.number = number,
                            .session_id = call_session(call)->id,
                            .keyspaces = keyspaces,
                            .begin_ticks = clock_ticks()};
    CHAIN_APPEND(flushes->first, flushes->last, flush, prev, next);
    blocking_add(call->engine->blocking, call, &(struct block_request){.kind = &flush_wait_kind});
}

static void forget(struct flushes *flushes, struct flush *flush) {
    CHAIN_REMOVE(flushes->first, flushes->last, flush, prev, next);
    mem_free(flush);
}

/* A blocked client runs no other command, so if it waits for a flush, it waits for this one. A
 * client that has closed does not wait any more, although it stays in the list until its output is
 * sent. */
static void answer(struct engine *engine, const struct flush *flush) {
    struct session *session = session_list_find(&engine->clients->sessions, flush->session_id);
    if (!session || !blocking_is(session, &flush_wait_kind)) return;
    engine_update_clock(engine);
    blocking_finish(engine->blocking, session, clock_ticks() - flush->begin_ticks);
}

void flush_freed(struct engine *engine, uint64_t number) {
    struct flush *flush = engine->flushes->first;
    while (flush->number != number) flush = flush->next;
    if (--flush->keyspaces > 0) return;
    answer(engine, flush);
    forget(engine->flushes, flush);
}

void flush_forget_all(struct engine *engine) {
    struct flushes *flushes = engine->flushes;
    while (flushes->first) forget(flushes, flushes->first);
}
