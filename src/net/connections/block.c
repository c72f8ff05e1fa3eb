#include "net/connections/block.h"

#include "base/memory/alloc.h"
#include "base/text/secret.h"

#include <string.h>

struct block *block_new_sized(struct block_pool *pool, size_t size) {
    struct block *block = pool->first;
    OWNER_ASSERT(pool->owner);
    if (block && size == pool->size) {
        pool->first = block->next;
        pool->count--;
    } else {
        block = mem_alloc(size);
    }
    *block = (struct block){.at = block->bytes, .capacity = (uint32_t)(size - sizeof(*block))};
    return block;
}

void block_free(struct block_pool *pool, struct block *block) {
    OWNER_ASSERT(pool->owner);
    if (block->kind == BLOCK_BUFFER) {
        if (block->clears)
            secret_clear(block->buffer, (size_t)(block->at - block->buffer) + block->len);
        mem_free(block->buffer);
    } else if (block->kind == BLOCK_SHARED) {
        shared_release(block->shared, 1);
    } else if (block->clears) {
        secret_clear(block->bytes, block->capacity);
    }
    if (sizeof(*block) + block->capacity != pool->size || pool->count == pool->most) {
        mem_free(block);
        return;
    }
    block->next = pool->first;
    pool->first = block;
    pool->count++;
}

void block_pool_free(struct block_pool *pool) {
    while (pool->first) {
        struct block *block = pool->first;
        pool->first = block->next;
        mem_free(block);
    }
    pool->count = pool->most = 0;
}

size_t block_fill(struct block *block, const char *bytes, size_t len) {
    size_t room = block_room(block), part = len < room ? len : room;
    if (part == 0) return 0;
    memcpy(block->at + block->len, bytes, part);
    block->len += part;
    return part;
}

void block_push_all(struct block_queue *queue, struct block *chain) {
    *(queue->first ? &queue->last->next : &queue->first) = chain;
    for (; chain; chain = chain->next) {
        queue->last = chain;
        queue->bytes += chain->len;
    }
}

unsigned block_gather(const struct block_queue *queue, uv_buf_t *buffers, unsigned most) {
    unsigned count = 0;
    for (const struct block *block = queue->first; block && count < most; block = block->next)
        buffers[count++] = (uv_buf_t){.base = block->at, .len = block->len};
    return count;
}
