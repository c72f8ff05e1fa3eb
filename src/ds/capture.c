/* Captures of a structure form a list, from the oldest to the newest. Memory that the structure no
 * longer uses is needed by those captures that began after it was made: by the newest one, and back
 * to some older one. It is recorded with the newest, in a group for the oldest:
 *
 *      made ──── capture 1 ──── capture 2 ──── capture 3 ──── dropped
 *                └ oldest                      └ newest: has the group "oldest: capture 1"
 *
 * When a capture is released, the group "oldest: itself" stays with it and is freed with it: no
 * other capture reads that. Its other groups go to the next older capture. Newer captures may have
 * groups "oldest: this one": these become "oldest: the next newer one". Groups move as a whole:
 * nothing depends on how much was left.
 * So memory goes as soon as the last capture that reads it has gone.
 *
 * A structure that its owner has freed is left as a whole, and goes with the last capture. */
#include "ds/capture.h"

#include "base/checked.h"
#include "base/memory/alloc.h"

#ifdef TINY_LIMITS
enum { BLOCK_FIRST = 1, BLOCK_MOST = 2 };
#else
enum { BLOCK_FIRST = 7, BLOCK_MOST = 63 }; /* with the head, blocks of 128 and 1024 bytes */
#endif

struct leftover {
    void *memory;
    size_t size; /* bytes as mem_free_sized takes them */
};

/* Items are recorded in a chain of blocks: recording one costs the same however many there are. */
struct leftovers_block {
    struct leftovers_block *next;
    uint32_t used;
    uint32_t capacity;
    struct leftover items[];
};

/* A group; the groups of a capture go from the one with the newest `oldest` to the oldest. */
struct leftovers {
    struct leftovers *next;
    struct capture *oldest; /* of the captures that read all this */
    size_t bytes;           /* of what was left, of the blocks and of this struct */
    struct leftovers_block *blocks;
    struct leftovers_block *last; /* of the blocks */
};

void capture_count(struct capture *capture, size_t bytes) {
    capture->left += bytes;
    if (capture->left_by_all) *capture->left_by_all += bytes;
}

void capture_uncount(struct capture *capture, size_t bytes) {
    capture->left -= bytes;
    if (capture->left_by_all) *capture->left_by_all -= bytes;
}

void capture_count_for(struct capture *capture, size_t *left) {
    if (capture->left_by_all) *capture->left_by_all -= capture->left;
    capture->left_by_all = left;
    if (left) *left += capture->left;
}

/* --- Groups --- */

/* Where the groups from *at on have the one for `oldest`, or where that group belongs. */
static struct leftovers **place_from(struct leftovers **at, const struct capture *oldest) {
    while (*at && (*at)->oldest->epoch > oldest->epoch) at = &(*at)->next;
    return at;
}

static struct leftovers **place_of(struct capture *capture, const struct capture *oldest) {
    return place_from(&capture->leftovers, oldest);
}

static bool is_for(const struct leftovers *group, const struct capture *oldest) {
    return group && group->oldest == oldest;
}

static struct leftovers *group_for(struct capture *capture, struct capture *oldest) {
    struct leftovers **at = place_of(capture, oldest);
    if (is_for(*at, oldest)) return *at;
    struct leftovers *group = mem_alloc(sizeof(*group));
    size_t bytes = mem_good_size(sizeof(*group));
    *group = (struct leftovers){.next = *at, .oldest = oldest, .bytes = bytes};
    *at = group;
    capture_count(capture, bytes);
    return group;
}

static size_t block_size(size_t capacity) {
    return sizeof(struct leftovers_block) + capacity * sizeof(struct leftover);
}

static struct leftovers_block *add_block(struct leftovers *group) {
    uint32_t capacity = group->blocks ? BLOCK_MOST : BLOCK_FIRST;
    struct leftovers_block *block = mem_alloc(block_size(capacity));
    block->next = group->blocks;
    block->used = 0;
    block->capacity = capacity;
    group->blocks = block;
    if (!group->last) group->last = block;
    return block;
}

/* Puts a group in the place where it belongs: joins it with one that is there for the same
 * `oldest`. Its bytes are counted. */
static void put_group(struct capture *capture, struct leftovers **at, struct leftovers *group) {
    struct leftovers *other = *at;
    if (!is_for(other, group->oldest)) {
        group->next = other;
        *at = group;
        return;
    }
    other->last->next = group->blocks;
    other->last = group->last;
    size_t saved = mem_good_size(sizeof(*group));
    other->bytes += group->bytes - saved;
    capture_uncount(capture, saved);
    mem_free_sized(group, sizeof(*group));
}

static void free_group(struct leftovers *group) {
    struct leftovers_block *next;
    for (struct leftovers_block *block = group->blocks; block; block = next) {
        next = block->next;
        for (size_t i = 0; i < block->used; i++)
            mem_free_sized(block->items[i].memory, block->items[i].size);
        mem_free_sized(block, block_size(block->capacity));
    }
    mem_free_sized(group, sizeof(*group));
}

size_t capture_pieces_left(const struct capture *capture) {
    size_t pieces = 0;
    for (const struct leftovers *group = capture->leftovers; group; group = group->next)
        for (const struct leftovers_block *block = group->blocks; block; block = block->next)
            pieces += block->used;
    return pieces;
}

/* --- For the structures --- */

void *capture_begin(const struct capture_functions *functions, size_t size,
                    struct captures *captures, size_t *left) {
    struct capture *capture = mem_alloc(size);
    *capture = (struct capture){.functions = functions,
                                .captures = captures,
                                .allocated = mem_good_size(size),
                                .left_by_all = left};
    if (!captures) return capture;
    CHECKED_ASSERT(captures->epoch < CAPTURES_EPOCH_MAX);
    capture->epoch = ++captures->epoch;
    capture->older = captures->newest;
    if (capture->older)
        capture->older->newer = capture;
    else
        captures->oldest = capture;
    captures->newest = capture;
    captures->read_below = capture->epoch;
    return capture;
}

void captures_leave(struct captures *captures, uint32_t epoch, void *memory, size_t size) {
    struct capture *newest = captures->newest, *oldest = captures->oldest;
    CHECKED_ASSERT(epoch < captures->read_below);
    if (epoch >= oldest->epoch)
        for (oldest = newest; epoch < oldest->older->epoch;) oldest = oldest->older;
    struct leftovers *group = group_for(newest, oldest);
    struct leftovers_block *block = group->blocks;
    size_t bytes = size;
    if (!block || block->used == block->capacity) {
        block = add_block(group);
        bytes += mem_good_size(block_size(block->capacity));
    }
    block->items[block->used++] = (struct leftover){memory, size};
    group->bytes += bytes;
    capture_count(newest, bytes);
}

void capture_adopt(struct capture *newest, void *structure, size_t allocated) {
    CHECKED_ASSERT(!newest->orphan);
    newest->orphan = structure;
    newest->orphan_bytes = allocated;
    capture_count(newest, allocated);
}

bool captures_adopt(struct captures *captures, void *structure, size_t allocated) {
    if (!captures->newest) return false;
    capture_adopt(captures->newest, structure, allocated);
    return true;
}

void capture_pass_orphan(struct capture *newest, struct capture *older) {
    if (!newest->orphan) return;
    capture_adopt(older, newest->orphan, newest->orphan_bytes);
    newest->orphan = NULL;
    capture_uncount(newest, newest->orphan_bytes);
}

/* --- The end --- */

static void unlink_from(struct captures *captures, struct capture *capture) {
    if (capture->older)
        capture->older->newer = capture->newer;
    else
        captures->oldest = capture->newer;
    if (capture->newer) capture->newer->older = capture->older;
    struct capture *newest = capture->newer ? captures->newest : capture->older;
    captures->read_below = newest ? newest->epoch : 0;
    /* If it is NULL, another thread may free the structure now. */
    __atomic_store_n(&captures->newest, newest, __ATOMIC_RELEASE);
}

/* Gives the next older capture what it needs of what was left to this one. */
static void pass_on(struct capture *capture, struct capture *older) {
    struct leftovers **rest = &capture->leftovers, **at = &older->leftovers, *next;
    if (is_for(*rest, capture)) rest = &(*rest)->next;
    for (struct leftovers *group = *rest; group; group = next) {
        next = group->next;
        capture_uncount(capture, group->bytes);
        capture_count(older, group->bytes);
        at = place_from(at, group->oldest); /* both have the same order */
        put_group(older, at, group);
    }
    *rest = NULL;
    capture_pass_orphan(capture, older);
}

/* In the groups for this capture the next newer one takes its place. */
static void replace_as_oldest(const struct capture *capture) {
    for (struct capture *newer = capture->newer; newer; newer = newer->newer) {
        struct leftovers **at = place_of(newer, capture), *group = *at;
        if (!is_for(group, capture)) continue;
        *at = group->next;
        group->oldest = capture->newer;
        put_group(newer, place_of(newer, group->oldest), group);
    }
}

size_t capture_release(struct capture *capture) {
    if (capture->functions->release) capture->functions->release(capture);
    if (capture->captures) {
        unlink_from(capture->captures, capture);
        if (capture->older) pass_on(capture, capture->older);
        replace_as_oldest(capture);
        capture->captures = NULL;
    }
    size_t left = capture->left;
    if (capture->left_by_all) *capture->left_by_all -= left;
    return left;
}

void capture_free(struct capture *capture) {
    CHECKED_ASSERT(!capture->captures);
    if (capture->functions->free) capture->functions->free(capture);
    if (capture->orphan) capture->functions->free_structure(capture->orphan);
    if (capture->leftovers) free_group(capture->leftovers);
    mem_free(capture);
}

void capture_end(struct capture *capture) {
    capture_release(capture);
    capture_free(capture);
}
