/* Items are recorded in a chain of blocks of a fixed size: recording one costs the same however
 * many there are. */
#include "ds/leftovers.h"

#include "base/alloc.h"

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

void leftovers_count(struct leftovers *left, size_t bytes) {
    left->bytes += bytes;
    if (left->bytes_of_all) *left->bytes_of_all += bytes;
}

void leftovers_add(struct leftovers *left, void *memory, size_t size) {
    struct leftovers_block *block = left->blocks;
    if (block == NULL || block->used == BLOCK_ITEMS) {
        block = mem_alloc(sizeof(*block));
        block->next = left->blocks;
        block->used = 0;
        left->blocks = block;
        leftovers_count(left, mem_good_size(sizeof(*block)));
    }
    block->items[block->used++] = (struct leftover){memory, size};
    leftovers_count(left, size);
}

size_t leftovers_pieces(const struct leftovers *left) {
    size_t pieces = 0;
    for (const struct leftovers_block *block = left->blocks; block; block = block->next)
        pieces += block->used;
    return pieces;
}

void leftovers_free(struct leftovers *left) {
    struct leftovers_block *next;
    for (struct leftovers_block *block = left->blocks; block; block = next) {
        next = block->next;
        for (size_t i = 0; i < block->used; i++)
            mem_free_sized(block->items[i].memory, block->items[i].size);
        mem_free_sized(block, sizeof(*block));
    }
    left->blocks = NULL;
}
