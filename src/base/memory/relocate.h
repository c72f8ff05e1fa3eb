/* relocate: moves blocks of memory closer together, so that pages which they leave go back to the
 * system.
 *
 * The allocator cuts slabs of some pages into blocks of one size. A slab is returned when its last
 * block has been freed: where many blocks were freed here and there, most slabs are kept by a few.
 *
 *      before    │ a · · · │ · b · · │ · · c d │ e · f · │
 *      after     │ · · · · │ · · · · │ a b c d │ e · f · │      two slabs are returned
 *
 * Whoever owns a block asks for its relocation, and writes the new address wherever the old one
 * stood: each structure has a function x_relocate() that does so for its own blocks, in steps, each
 * from relocator_begin until relocator_is_due. A relocator is for one thread.
 *
 * jemalloc 5.3 tells how full the slab of a block is ("experimental.utilization.batch_query"). A
 * block moves when its slab is at most half full, or emptier than the average of the slabs of its
 * size that are not full (the rule of Redis's patch). It goes to the oldest slab that has room.
 * Blocks of 4 KB and more gain nothing and stay. */
#ifndef PACKLIST_BASE_MEMORY_RELOCATE_H
#define PACKLIST_BASE_MEMORY_RELOCATE_H

#include "base/clock.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    RELOCATE_CLASSES = 36,
    RELOCATE_SIZE_MAX = 4096,
    RELOCATE_NAME_MAX = 8,
    RELOCATE_AT_ONCE = 32
};

/* Blocks of one size class, which the allocator keeps in a bin. */
struct relocate_class {
    size_t size;
    uint32_t slab_blocks; /* places in a slab */
    bool is_sparse;       /* its slabs could be fewer */
    uint64_t nonfull;     /* slabs that are not full, and one that may be */
    uint64_t blocks;      /* in these */
};

/* A name of the allocator's controls, translated once: asking by names takes ten times as long. */
struct relocate_name {
    size_t parts[RELOCATE_NAME_MAX];
    size_t count;
};

/* What the allocator tells of a block's slab: the layout of its answer. */
struct relocate_slab {
    size_t free;  /* places in the slab that nobody uses */
    size_t count; /* places; 1: a block of its own, or a size with one place a slab; 0: unknown */
    size_t size;  /* bytes of the slab */
};

/* The fields are private to this module; others may read its counts of blocks and bytes. */
struct relocator {
    bool moves_all;       /* for tests */
    uint64_t end;         /* of this step, by clock_ticks() */
    unsigned looks;       /* calls of relocator_is_due until it looks at the clock */
    unsigned every;       /* the number of calls between two looks */
    uint64_t moved;       /* blocks, since relocator_init */
    uint64_t moved_bytes; /* of these, as the allocator counts them */
    uint64_t stayed;      /* blocks that were asked for and had better stay */
    unsigned class_count; /* 0: the allocator cannot tell */
    struct relocate_class classes[RELOCATE_CLASSES];
    int8_t class_of[RELOCATE_SIZE_MAX / 16]; /* by size / 16, of good sizes; -1: none */
    bool is_any_sparse;                      /* of these */
    struct relocate_name utilization, slabs, nonfull, blocks;
    /* What was asked for ahead. */
    size_t ahead_count;
    void *ahead[RELOCATE_AT_ONCE];
    struct relocate_slab ahead_slabs[RELOCATE_AT_ONCE];
};

/* In bytes. */
struct relocate_survey {
    size_t unused;    /* free, in slabs that hold blocks: the most that moving can give back */
    size_t allocated; /* in live blocks */
    size_t active;    /* in pages that hold blocks */
};

/* Where a structure goes on: all zero at its beginning, and again when all of it has been visited.
 * A structure may change between two calls: what a cursor leads to then is still valid, but blocks
 * may be visited twice or left out. */
struct relocate_cursor {
    uint64_t part; /* of the structure, which decides what this and the next mean */
    uint64_t at;
};

static inline bool relocate_is_done(const struct relocate_cursor *cursor) {
    return cursor->part == 0 && cursor->at == 0;
}

/* Makes a relocator that moves nothing before its first survey. Returns false if this allocator
 * cannot tell how full a slab is: the relocator then never moves anything. */
bool relocator_init(struct relocator *relocator);

/* Makes one that moves every block of up to 64 KB, and whose step is due after `blocks` of them:
 * for tests, with any allocator. */
void relocator_init_for_tests(struct relocator *relocator, unsigned blocks);

/* Reads the allocator's statistics and decides which sizes are worth moving. Some tens of
 * microseconds. All zeros where the allocator cannot tell. */
struct relocate_survey relocator_survey(struct relocator *relocator);

/* Gives back what this thread keeps of freed blocks: these would count as used, and keep their
 * slabs. For the beginning and the end of a pass. Some tens of microseconds. */
void relocator_flush(void);

/* Begins a step of `us` microseconds. */
void relocator_begin(struct relocator *relocator, uint64_t us);

/* Returns whether the step should end, and then goes on doing so. To be asked after each block.
 * O(1). */
static inline bool relocator_is_due(struct relocator *relocator) {
    if (--relocator->looks > 0) return false;
    bool is_due = clock_ticks() >= relocator->end;
    relocator->looks = is_due ? 1 : relocator->every;
    return is_due;
}

/* Announces blocks that will be relocated next, the first RELOCATE_AT_ONCE of them, in place of
 * those of the last call. Asking about all of them at once takes half as long as one by one. */
void relocator_look_ahead(struct relocator *relocator, void *const *blocks, size_t count);

/* Moves a block (not from mem_alloc_aligned) to a better place, or leaves it. Returns its address;
 * an old one is invalid. `size` is as mem_free_sized takes it. Some nanoseconds, about 100 if its
 * size is worth moving, and about 500 if it moves. */
void *relocate(struct relocator *relocator, void *block, size_t size)
    __attribute__((returns_nonnull));

#endif
