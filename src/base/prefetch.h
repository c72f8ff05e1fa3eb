/* prefetch: starts loading memory that will be needed soon. */
#ifndef PACKLIST_BASE_PREFETCH_H
#define PACKLIST_BASE_PREFETCH_H

/* Loads the cache line at `p`, which may be any address, in the background. The empty statement is
 * for gcc, which otherwise treats a function with only prefetches as one without effect and removes
 * its calls. */
static inline void prefetch(const void *p) {
    __builtin_prefetch(p);
    __asm__ volatile("");
}

#endif
