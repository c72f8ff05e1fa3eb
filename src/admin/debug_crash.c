#define _GNU_SOURCE /* for MAP_ANONYMOUS */

#include "admin/debug_crash.h"

#include "base/alloc.h"
#include "base/log.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

void debug_segfault(struct call *call) {
    (void)call;
    volatile char *page = mmap(NULL, 1, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *page = 'x';
}

void debug_assert(struct call *call) {
    assert(call->argc == 1);
}

void debug_panic(struct call *call) {
    (void)call;
    log_warning("!!! Software Failure. Press left mouse button to continue");
    log_warning("Guru Meditation: DEBUG PANIC called");
    abort();
}

void debug_oom(struct call *call) {
    (void)call;
    mem_free(mem_alloc(PTRDIFF_MAX));
}
