/* alloc: the only place that asks for memory. jemalloc underneath, the C library's malloc in
 * sanitizer builds.
 *
 * Every function aborts the process, after logging the size, when memory cannot be had: callers
 * never get NULL, except from the functions named try. Memory is uninitialised unless said
 * otherwise. All functions are safe in any thread. */
#ifndef PACKLIST_BASE_MEMORY_ALLOC_H
#define PACKLIST_BASE_MEMORY_ALLOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* `size` bytes, aligned to 16 bytes (to 8 when `size` is 8 or less); `size` 0 gives a valid pointer
 * that must be freed. */
void *mem_alloc(size_t size) __attribute__((malloc, returns_nonnull, alloc_size(1)));

/* As mem_alloc, all bytes zero. */
void *mem_alloc_zeroed(size_t size) __attribute__((malloc, returns_nonnull, alloc_size(1)));

/* As mem_alloc with the given power-of-two alignment (at most 4096). Freed with mem_free. */
void *mem_alloc_aligned(size_t alignment, size_t size) __attribute__((malloc, returns_nonnull));

/* Resizes as realloc does: contents are kept up to the smaller size, the address may change.
 * `ptr` NULL is mem_alloc. `size` must not be 0. */
void *mem_realloc(void *ptr, size_t size) __attribute__((returns_nonnull, alloc_size(2)));

/* As mem_realloc, for memory whose size is known: `old_size` as mem_free_sized has it, 0 with `ptr`
 * NULL. Cheaper for small blocks, as their class need not be looked up. */
void *mem_resize(void *ptr, size_t old_size, size_t size) __attribute__((returns_nonnull));

/* As mem_alloc, but returns NULL instead of aborting: for sizes that a client chose. */
void *mem_try_alloc(size_t size) __attribute__((malloc, alloc_size(1)));

/* As mem_realloc, but returns NULL instead of aborting, leaving `ptr` as it was. */
void *mem_try_realloc(void *ptr, size_t size) __attribute__((alloc_size(2)));

/* Grows an array with room for *capacity items of `item_size` bytes (NULL, 0 at first): to twice as
 * many, but at least to `wanted` and to four, and to all that fits into that size class. Returns
 * the array, which may have moved, and sets *capacity. Amortised O(1) for each added item. */
void *mem_grow(void *array, size_t *capacity, size_t wanted, size_t item_size)
    __attribute__((returns_nonnull));

/* As mem_grow, but returns NULL instead of aborting, leaving both as they were. */
void *mem_try_grow(void *array, size_t *capacity, size_t wanted, size_t item_size);

/* Gives the array room for `wanted` items: grows it if it has less. `array` and `capacity` are
 * variables, which are set, and evaluated more than once. */
#define MEM_RESERVE(array, capacity, wanted)                                                       \
    ((array) = (wanted) <= (capacity)                                                              \
                   ? (array)                                                                       \
                   : mem_grow((array), &(capacity), (wanted), sizeof(*(array))))

/* Frees; NULL is allowed. */
void mem_free(void *ptr);

/* Frees memory whose size is known: `size` is the requested size, or any size of the same class
 * (mem_good_size). Cheaper than mem_free, which must look the class up. `ptr` must not be NULL and
 * must not come from mem_alloc_aligned. */
void mem_free_sized(void *ptr, size_t size);

/* How many bytes an allocation of `size` (at most PTRDIFF_MAX) really takes: its size class. O(1),
 * and idempotent. An allocation that will be used up to mem_good_size(n) must be *asked for* with
 * that size.
 *
 * The classes are jemalloc's: 8, the multiples of 16 up to 128, then four evenly spaced classes to
 * each doubling. A process with a library that disagrees does not start. In sanitizer builds it is
 * `size` rounded up to 16. */
static inline size_t mem_good_size(size_t size) {
#ifdef PACKLIST_LIBC_MALLOC
    return size == 0 ? 16 : (size + 15) & ~(size_t)15;
#else
    if (size <= 8) return 8;
    if (size <= 128) return (size + 15) & ~(size_t)15;
    unsigned top_bit = 63 - (unsigned)__builtin_clzl(size - 1);
    size_t step = (size_t)1 << (top_bit - 2);
    return (size + step - 1) & ~(step - 1);
#endif
}

/* Bytes in live allocations, by mem_good_size, including what libraries hold, over all threads that
 * have used this module: what INFO calls used_memory. Exact, O(threads), some tens of nanoseconds.
 * An allocation costs only a test of one thread-local flag for it. */
size_t mem_used(void);

/* Returns what this thread has allocated so far minus what it has freed: the difference of two
 * calls is what the code between them holds. In sanitizer builds it is mem_used. O(1). */
int64_t mem_thread_balance(void);

struct mem_stats {
    size_t allocated; /* as mem_used, by the allocator's own statistics */
    size_t active;    /* bytes in pages that hold allocations */
    size_t resident;  /* bytes of physical memory mapped by the allocator */
    size_t muzzy;     /* bytes in unused pages that the system may take when it needs them */
    size_t retained;  /* virtual memory kept for reuse */
    size_t metadata;  /* the allocator's own */
};

/* Refreshes and reads the allocator's statistics (zeros but for `allocated` without jemalloc).
 * Takes tens of microseconds: for INFO and a look now and then, not for every command. */
void mem_stats_read(struct mem_stats *stats);

/* Returns whether these statistics count pages: false without jemalloc. */
bool mem_counts_pages(void);

/* "jemalloc-5.3.0" or "libc". Lives as long as the process. */
const char *mem_allocator_name(void);

/* Calls `report(size)`, which should not allocate, before the abort when memory cannot be had;
 * without one a line goes to standard error. */
void mem_on_out_of_memory(void (*report)(size_t size));

/* Decides how unused pages go back to the system. When `on`, a thread of the allocator, which a
 * child made by fork lacks, returns those of freed blocks below 8 MB after some seconds; those of
 * larger blocks stay until mem_return_large. Otherwise threads that allocate or free return them,
 * which takes up to milliseconds after much was freed, and 20 ms for a block of 500 MB. False when
 * the thread cannot be had. No effect on the C library's allocator. */
bool mem_decay_in_background(bool on);

/* Returns whether a block of 8 MB or more may have been freed since the last call. For one thread.
 * O(threads). */
bool mem_has_freed_large(void);

/* Returns the pages of freed blocks of 8 MB or more to the system. Does nothing before the first
 * call of mem_decay_in_background. Takes 20 ms for 500 MB: never call it in the event loop. */
void mem_return_large(void);

/* Between the call with true and the one with false all freed memory stays with the process: for a
 * caller that frees much and soon allocates as much again. What is unused at the end goes back
 * soon. */
void mem_keep_freed(bool on);

/* Returns such pages now: for a server that has become idle and has no such thread. */
void mem_decay(void);

/* Returns all unused pages at once. May take milliseconds. */
void mem_purge(void);

/* The allocator's own report, in pieces of text. */
void mem_print_stats(void (*write)(void *arg, const char *text), void *arg);

/* Reads and sets a setting of jemalloc by its name. Returns 0 or an errno, as mallctl(3) says;
 * ENOTSUP in sanitizer builds. A wrong value can damage the process: for DEBUG only. */
int mem_control(const char *name, void *old, size_t *old_size, const void *new, size_t new_size);

#endif
