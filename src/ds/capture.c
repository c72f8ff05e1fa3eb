#include "ds/capture.h"

#include "base/checked.h"
#include "base/memory/alloc.h"

#ifdef TINY_LIMITS
enum { BLOCK_ITEMS = 2 };
#else
enum { BLOCK_ITEMS = 63 };
#endif

struct leftover {
    void *memory;
    size_t size; /* bytes as mem_free_sized takes them */
};

struct leftovers_block {
    struct leftovers_block *next;
    size_t used;
    struct leftover items[BLOCK_ITEMS];
};

void capture_count(struct capture *capture, size_t bytes) {
    struct leftovers *left = &capture->left;
    left->bytes += bytes;
    if (left->bytes_of_all) *left->bytes_of_all += bytes;
}

/* Items are recorded in a chain of blocks of a fixed size: recording one costs the same however
 * many there are. */
static void leave(struct capture *capture, void *memory, size_t size) {
    struct leftovers_block *block = capture->left.blocks;
    if (block == NULL || block->used == BLOCK_ITEMS) {
        block = mem_alloc(sizeof(*block));
        block->next = capture->left.blocks;
        block->used = 0;
        capture->left.blocks = block;
        capture_count(capture, mem_good_size(sizeof(*block)));
    }
    block->items[block->used++] = (struct leftover){memory, size};
    capture_count(capture, size);
}

size_t capture_pieces_left(const struct capture *capture) {
    size_t pieces = 0;
    for (const struct leftovers_block *block = capture->left.blocks; block; block = block->next)
        pieces += block->used;
    return pieces;
}

static void free_left(struct capture *capture) {
    struct leftovers_block *next;
    for (struct leftovers_block *block = capture->left.blocks; block; block = next) {
        next = block->next;
        for (size_t i = 0; i < block->used; i++)
            mem_free_sized(block->items[i].memory, block->items[i].size);
        mem_free_sized(block, sizeof(*block));
    }
}

void *capture_begin(const struct capture_functions *functions, size_t size, struct capture **place,
                    size_t *left) {
    CHECKED_ASSERT(!place || !*place);
    struct capture *capture = mem_alloc(size);
    *capture = (struct capture){.functions = functions,
                                .place = place,
                                .allocated = mem_good_size(size),
                                .left = {.bytes_of_all = left}};
    if (place) *place = capture;
    return capture;
}

void capture_drop(struct capture *capture, void *memory, size_t size) {
    if (capture)
        leave(capture, memory, size);
    else
        mem_free_sized(memory, size);
}

bool capture_adopts(struct capture **place, void *structure, size_t allocated) {
    struct capture *capture = *place;
    if (!capture) return false;
    capture_count(capture, allocated);
    capture->orphan = structure;
    capture->place = NULL;
    *place = NULL;
    return true;
}

/* `left` is read last: until the release another thread may free a text, which counts bytes. */
size_t capture_release(struct capture *capture) {
    if (capture->functions->release) capture->functions->release(capture);
    if (capture->place) *capture->place = NULL;
    capture->place = NULL;
    size_t left = capture->left.bytes;
    if (capture->left.bytes_of_all) *capture->left.bytes_of_all -= left;
    return left;
}

void capture_free(struct capture *capture) {
    CHECKED_ASSERT(!capture->place);
    if (capture->functions->free) capture->functions->free(capture);
    free_left(capture);
    mem_free(capture);
}

void capture_end(struct capture *capture) {
    capture_release(capture);
    capture_free(capture);
}
