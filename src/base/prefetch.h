/* prefetch: memory that will be wanted soon is asked for now. */
#ifndef PACKLIST_BASE_PREFETCH_H
#define PACKLIST_BASE_PREFETCH_H

/* Has the cache line at `p`, which may be any address, fetched. The empty statement is for gcc: it
 * takes a function in which there are only prefetches for one that does nothing, and leaves its
 * calls out. */
static inline void prefetch(const void *p) {
    __builtin_prefetch(p);
    __asm__ volatile("");
}

#endif
