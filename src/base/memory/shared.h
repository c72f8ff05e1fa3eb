/* shared: an allocation that several threads read. It begins with a struct shared, and the last
 * thread that needs it frees it. One thread is the owner: it gives the allocation to others
 * (shared_give), and says when it needs it no longer (shared_end).
 *
 * Giving costs no atomic operation: others count down what they are done with, and the owner, when
 * it ends, the difference between SHARED_FULL and how often it has given. */
#ifndef PACKLIST_BASE_MEMORY_SHARED_H
#define PACKLIST_BASE_MEMORY_SHARED_H

#include "base/memory/alloc.h"

#include <stdint.h>

struct shared {
    uint32_t left; /* atomic */
    uint32_t given;
};

enum { SHARED_FULL = 1u << 31 };

static inline void shared_begin(struct shared *shared) {
    *shared = (struct shared){.left = SHARED_FULL};
}

/* Someone else refers to the bytes from now on, at most SHARED_FULL - 1 times in all. */
static inline void shared_give(struct shared *shared) {
    shared->given++;
}

/* `count` of those that were given are done with. Any thread. */
static inline void shared_release(struct shared *shared, uint32_t count) {
    if (__atomic_sub_fetch(&shared->left, count, __ATOMIC_ACQ_REL) == 0) mem_free(shared);
}

/* The owner needs it no longer, and gives it no more. */
static inline void shared_end(struct shared *shared) {
    shared_release(shared, SHARED_FULL - shared->given);
}

#endif
