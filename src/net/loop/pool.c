#define _GNU_SOURCE /* for SCHED_BATCH */
#include "net/loop/pool.h"

#include "base/memory/alloc.h"
#include "base/threads/thread.h"
#include "net/loop/loop.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

struct piece {
    uv_work_t request;
    void (*work)(void *arg);
    void (*done)(void *arg);
    void *arg;
};

/* Names the thread, and declares its work as batch work. Otherwise a thread that wakes up would
 * take the processor from the event loop, and keep it as long as the work lasts. This is done for
 * each piece of work, because a thread's first piece is not known, and takes a microsecond. */
static void name_and_let_others_go_first(void) {
    thread_set_name("pool");
    pthread_setschedparam(pthread_self(), SCHED_BATCH, &(struct sched_param){0});
}

static void run(uv_work_t *request) {
    struct piece *piece = (struct piece *)request;
    name_and_let_others_go_first();
    if (piece->work) piece->work(piece->arg);
}

static void after_run(uv_work_t *request, int status) {
    struct piece *piece = (struct piece *)request;
    void (*done)(void *) = piece->done;
    void *arg = piece->arg;
    (void)status; /* nothing cancels it */
    loop_note_awake(request->loop->data);
    mem_free(piece);
    if (done) done(arg);
}

void net_pool_run(struct net *net, void (*work)(void *arg), void (*done)(void *arg), void *arg) {
    struct piece *piece = mem_alloc(sizeof(*piece));
    piece->work = work;
    piece->done = done;
    piece->arg = arg;
    if (uv_queue_work(&loop_of(net)->uv, &piece->request, run, after_run) != 0)
        abort(); /* it fails only if there is no work */
}
