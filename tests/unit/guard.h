/* guard: memory that ends where an unreadable page begins, so that one byte read too much is a
 * crash. */
#ifndef PACKLIST_TESTS_UNIT_GUARD_H
#define PACKLIST_TESTS_UNIT_GUARD_H

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct guard {
    uint8_t *pages; /* readable and writable, but for the last page */
    uint8_t *end;   /* the unreadable page */
    size_t mapped;
};

/* At least `size` bytes before the unreadable page. */
static inline struct guard guard_new(size_t size) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct guard guard = {.mapped = (size + page - 1) / page * page + page};
    guard.pages =
        mmap(NULL, guard.mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (guard.pages == MAP_FAILED) _exit(1);
    guard.end = guard.pages + guard.mapped - page;
    if (mprotect(guard.end, page, PROT_NONE) != 0) _exit(1);
    return guard;
}

/* A copy of `bytes` that ends just before the unreadable page. */
static inline uint8_t *guard_place(const struct guard *guard, const void *bytes, size_t size) {
    uint8_t *at = guard->end - size;
    if (size > 0) memcpy(at, bytes, size);
    return at;
}

static inline void guard_free(struct guard *guard) {
    munmap(guard->pages, guard->mapped);
}

#endif
