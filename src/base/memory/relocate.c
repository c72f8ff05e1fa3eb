#include "base/memory/relocate.h"

#include "base/checked.h"
#include "base/memory/alloc.h"

#include <stdlib.h>
#include <string.h>

#ifdef PACKLIST_LIBC_MALLOC
#include <malloc.h>
#else
#include <jemalloc/jemalloc.h>
#endif

/* A look at the clock costs as much as ten blocks that stay. */
enum { BLOCKS_BETWEEN_LOOKS = 8 };

/* Tests move larger blocks than are worth moving, but none that takes milliseconds. */
enum { TESTED_MAX = 64 * 1024 };

void relocator_init_for_tests(struct relocator *relocator, unsigned blocks) {
    *relocator = (struct relocator){.moves_all = true, .looks = blocks, .every = blocks};
}

void relocator_begin(struct relocator *relocator, uint64_t us) {
    if (!relocator->moves_all) relocator->end = clock_ticks() + clock_us_to_ticks(us);
    relocator->looks = relocator->every;
}

/* Whatever the allocator. */
static void *move_anyway(void *block, size_t size) {
#ifdef PACKLIST_LIBC_MALLOC
    size = malloc_usable_size(block); /* sanitizers watch what the size class adds */
#endif
    void *moved = mem_alloc(size);
    memcpy(moved, block, size);
    mem_free_sized(block, size);
    return moved;
}

#ifdef PACKLIST_LIBC_MALLOC
bool relocator_init(struct relocator *relocator) {
    *relocator = (struct relocator){.looks = BLOCKS_BETWEEN_LOOKS, .every = BLOCKS_BETWEEN_LOOKS};
    return false;
}

struct relocate_survey relocator_survey(struct relocator *relocator) {
    (void)relocator;
    return (struct relocate_survey){0};
}

void relocator_flush(void) {}

void relocator_look_ahead(struct relocator *relocator, void *const *blocks, size_t count) {
    (void)relocator, (void)blocks, (void)count;
}

static void *move_if_better(struct relocator *relocator, void *block, size_t size) {
    (void)relocator, (void)size;
    return block;
}

#else
/* --- jemalloc --- */

#define UTILIZATION "experimental.utilization.batch_query"

static bool translate(struct relocate_name *name, const char *text) {
    name->count = RELOCATE_NAME_MAX;
    return mallctlnametomib(text, name->parts, &name->count) == 0;
}

/* Reads a control of `size` bytes about bin `bin`, whose number is part `at` of the name. */
static bool read_of_bin(const struct relocate_name *name, size_t at, unsigned bin, void *value,
                        size_t size) {
    struct relocate_name of_bin = *name;
    of_bin.parts[at] = bin;
    return mallctlbymib(of_bin.parts, of_bin.count, value, &size, NULL, 0) == 0;
}

/* Asks for `count` blocks. */
static bool query(const struct relocator *relocator, void *const *blocks, size_t count,
                  struct relocate_slab *found) {
    const struct relocate_name *name = &relocator->utilization;
    size_t size = count * sizeof(*found);
    return mallctlbymib(name->parts, name->count, found, &size, (void *)(uintptr_t)blocks,
                        count * sizeof(*blocks)) == 0;
}

static bool read_class(struct relocate_class *class, unsigned bin) {
    enum { BIN_AT = 2 }; /* in arenas.bin.J.x */
    struct relocate_name size, blocks;
    return translate(&size, "arenas.bin.0.size") && translate(&blocks, "arenas.bin.0.nregs") &&
           read_of_bin(&size, BIN_AT, bin, &class->size, sizeof(class->size)) &&
           read_of_bin(&blocks, BIN_AT, bin, &class->slab_blocks, sizeof(class->slab_blocks));
}

static bool read_classes(struct relocator *relocator) {
    unsigned bins = 0;
    size_t size = sizeof(bins);
    memset(relocator->class_of, -1, sizeof(relocator->class_of));
    if (mallctl("arenas.nbins", &bins, &size, NULL, 0) != 0) return false;
    if (bins > RELOCATE_CLASSES) bins = RELOCATE_CLASSES;
    for (unsigned i = 0; i < bins; i++) {
        struct relocate_class *class = &relocator->classes[i];
        if (!read_class(class, i)) return false;
        if (class->size < RELOCATE_SIZE_MAX) relocator->class_of[class->size / 16] = (int8_t)i;
    }
    relocator->class_count = bins;
    return true;
}

static bool can_query(struct relocator *relocator) {
    struct relocate_slab found;
    void *block = malloc(64);
    bool can = block && translate(&relocator->utilization, UTILIZATION) &&
               query(relocator, &block, 1, &found) && found.count > 1;
    free(block);
    return can;
}

bool relocator_init(struct relocator *relocator) {
    *relocator = (struct relocator){.looks = BLOCKS_BETWEEN_LOOKS, .every = BLOCKS_BETWEEN_LOOKS};
    return can_query(relocator) && translate(&relocator->slabs, "stats.arenas.0.bins.0.curslabs") &&
           translate(&relocator->nonfull, "stats.arenas.0.bins.0.nonfull_slabs") &&
           translate(&relocator->blocks, "stats.arenas.0.bins.0.curregs") &&
           read_classes(relocator);
}

static size_t read_stat(const struct relocate_name *name, unsigned bin) {
    enum { BIN_AT = 4 }; /* in stats.arenas.0.bins.J.x */
    size_t value = 0;
    return read_of_bin(name, BIN_AT, bin, &value, sizeof(value)) ? value : 0;
}

/* Returns the bytes of this size that nobody uses, in slabs that are in use. */
static size_t survey_class(struct relocator *relocator, unsigned bin) {
    struct relocate_class *class = &relocator->classes[bin];
    size_t slabs = read_stat(&relocator->slabs, bin), blocks = read_stat(&relocator->blocks, bin);
    size_t places = slabs * class->slab_blocks, unused = places > blocks ? places - blocks : 0;
    /* The slab that blocks are taken from at present is none of those that are counted as not full,
     * however empty it is. */
    class->nonfull = read_stat(&relocator->nonfull, bin) + 1;
    size_t in_nonfull = class->nonfull * class->slab_blocks;
    class->blocks = in_nonfull > unused ? in_nonfull - unused : 0;
    class->is_sparse = class->slab_blocks > 1 && unused >= class->slab_blocks;
    return unused * class->size;
}

struct relocate_survey relocator_survey(struct relocator *relocator) {
    struct relocate_survey survey = {0};
    uint64_t epoch = 1;
    size_t size = sizeof(epoch);
    if (relocator->class_count == 0) return survey;
    mallctl("epoch", &epoch, &size, &epoch, size);
    relocator->is_any_sparse = false;
    for (unsigned i = 0; i < relocator->class_count; i++) {
        survey.unused += survey_class(relocator, i);
        relocator->is_any_sparse |= relocator->classes[i].is_sparse;
    }
    size = sizeof(size_t);
    mallctl("stats.allocated", &survey.allocated, &size, NULL, 0);
    mallctl("stats.active", &survey.active, &size, NULL, 0);
    return survey;
}

void relocator_flush(void) {
    mallctl("thread.tcache.flush", NULL, NULL, NULL, 0);
}

void relocator_look_ahead(struct relocator *relocator, void *const *blocks, size_t count) {
    relocator->ahead_count = 0;
    if (!relocator->is_any_sparse || count == 0) return;
    if (count > RELOCATE_AT_ONCE) count = RELOCATE_AT_ONCE;
    if (!query(relocator, blocks, count, relocator->ahead_slabs)) return;
    memcpy(relocator->ahead, blocks, count * sizeof(*blocks));
    relocator->ahead_count = count;
}

/* Finds out about a block's slab, from what was asked for ahead if it is there. */
static bool find_slab(const struct relocator *relocator, void *block, struct relocate_slab *found) {
    for (size_t i = 0; i < relocator->ahead_count; i++) {
        if (relocator->ahead[i] != block) continue;
        *found = relocator->ahead_slabs[i];
        return true;
    }
    return query(relocator, &block, 1, found);
}

/* Returns whether a block of this size had better move (the rule in the header). The average alone
 * would keep too many, as slabs with a few blocks that cannot move pull it down. The factor 9/8
 * lets blocks move from slabs a little fuller: else the last ones, about as full, would stay. */
static bool is_worth_moving(const struct relocator *relocator, void *block, size_t size) {
    struct relocate_slab found;
    int index = size < RELOCATE_SIZE_MAX ? relocator->class_of[size / 16] : -1;
    if (index < 0) return false;
    const struct relocate_class *class = &relocator->classes[index];
    if (!class->is_sparse || !find_slab(relocator, block, &found)) return false;
    if (found.count <= 1 || found.free == 0) return false;
    size_t used = found.count - found.free;
    return used * 2 <= found.count || used * class->nonfull * 8 <= class->blocks * 9;
}

/* Past the thread's cache, which would hand out the same place again. */
static void *move_if_better(struct relocator *relocator, void *block, size_t size) {
    size = mem_good_size(size);
    bool moves = relocator->class_count > 0 && is_worth_moving(relocator, block, size);
    void *moved = moves ? mallocx(size, MALLOCX_TCACHE_NONE) : NULL;
    if (!moved) {
        relocator->stayed++;
        return block;
    }
    memcpy(moved, block, size);
    sdallocx(block, size, MALLOCX_TCACHE_NONE);
    relocator->moved++;
    relocator->moved_bytes += size;
    return moved;
}
#endif

void *relocate(struct relocator *relocator, void *block, size_t size) {
    CHECKED_ASSERT(block && size > 0);
    if (!relocator->moves_all) return move_if_better(relocator, block, size);
    if (size > TESTED_MAX) return block;
    relocator->moved++;
    return move_anyway(block, size);
}
