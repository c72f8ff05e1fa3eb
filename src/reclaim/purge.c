#include "reclaim/purge.h"

#include "base/clock.h"
#include "base/memory/alloc.h"
#include "base/memory/relocate.h"
#include "net/loop/pool.h"

enum { EVERY_US = 1000000 };

static void run(void *arg) {
    (void)arg;
    mem_purge();
}

static void note_end(void *arg) {
    struct purge *purge = arg;
    purge->is_running = false;
}

/* What this thread keeps of freed blocks goes first: it keeps pages in use. */
bool purge_begin(struct purge *purge, struct net *net) {
    int64_t now_us = clock_monotonic_us();
    if (purge->is_running || now_us - purge->begun_us < EVERY_US) return false;
    relocator_flush();
    *purge = (struct purge){.is_running = true, .begun_us = now_us};
    net_pool_run(net, run, note_end, purge);
    return true;
}
