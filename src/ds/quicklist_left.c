/* Items are recorded in a chain of blocks of a fixed size: recording one costs the same however
 * many there are. */
#include "ds/quicklist_left.h"

#include "base/alloc.h"
#include "ds/quicklist_tree.h"

#ifdef TINY_LIMITS
enum { BLOCK_ITEMS = 2 };
#else
enum { BLOCK_ITEMS = 62 };
#endif

enum { NO_TREE = 255 };

struct item {
    void *memory;
    size_t size : 56;  /* bytes; or, of a subtree, the width of its uppermost array */
    size_t height : 8; /* of a subtree, or NO_TREE */
};

struct quicklist_left_block {
    struct quicklist_left_block *next;
    size_t used;
    struct item items[BLOCK_ITEMS];
};

void quicklist_left_count(struct quicklist_left *left, size_t bytes) {
    left->bytes += bytes;
    *left->bytes_of_all += bytes;
}

static void note(struct quicklist_left *left, struct item item) {
    struct quicklist_left_block *block = left->blocks;
    if (block == NULL || block->used == BLOCK_ITEMS) {
        block = mem_alloc(sizeof(*block));
        block->next = left->blocks;
        block->used = 0;
        left->blocks = block;
        quicklist_left_count(left, mem_good_size(sizeof(*block)));
    }
    block->items[block->used++] = item;
}

void quicklist_left_memory(struct quicklist_left *left, void *memory, size_t size) {
    note(left, (struct item){.memory = memory, .size = size, .height = NO_TREE});
    quicklist_left_count(left, size);
}

void quicklist_left_tree(struct quicklist_left *left, const struct quicklist_tree_ref *ref,
                         unsigned height) {
    note(left, (struct item){.memory = ref->child, .size = ref->width, .height = (uint8_t)height});
}

static struct quicklist_tree_ref tree_of(const struct item *item) {
    return (struct quicklist_tree_ref){.child = item->memory, .width = (uint16_t)item->size};
}

size_t quicklist_left_pieces(const struct quicklist_left *left) {
    size_t pieces = 0;
    for (const struct quicklist_left_block *block = left->blocks; block; block = block->next) {
        for (size_t i = 0; i < block->used; i++) {
            struct quicklist_tree_ref tree = tree_of(&block->items[i]);
            bool is_tree = block->items[i].height != NO_TREE;
            pieces += is_tree ? quicklist_tree_pieces(&tree, block->items[i].height) : 1;
        }
    }
    return pieces;
}

static void free_item(const struct item *item) {
    if (item->height == NO_TREE)
        mem_free_sized(item->memory, item->size);
    else
        quicklist_tree_free(tree_of(item), item->height);
}

void quicklist_left_free(struct quicklist_left *left) {
    struct quicklist_left_block *next;
    for (struct quicklist_left_block *block = left->blocks; block; block = next) {
        next = block->next;
        for (size_t i = 0; i < block->used; i++) free_item(&block->items[i]);
        mem_free_sized(block, sizeof(*block));
    }
    left->blocks = NULL;
}
