/* block: bytes on their way, and queues of them: what a socket does not take at once, records of
 * TLS that wait for it, and all that goes between the loop and an I/O thread.
 *
 *      struct block | consumed | bytes      | room |
 *                   ^bytes     ^at          ^at + len
 *
 * Or the bytes lie elsewhere (enum block_kind): then there is no room. A block is in one queue, and
 * belongs to whoever has that. */
#ifndef PACKLIST_NET_CONNECTIONS_BLOCK_H
#define PACKLIST_NET_CONNECTIONS_BLOCK_H

#include "base/memory/shared.h"
#include "base/threads/owner.h"
#include "net/loop/loop.h"

#include <stddef.h>

/* Where the bytes are. */
enum block_kind {
    BLOCK_OWN,      /* in the block */
    BLOCK_BUFFER,   /* in a mem_alloc'ed buffer, which is freed with it */
    BLOCK_SHARED,   /* in a shared allocation, which is released when it is freed */
    BLOCK_BORROWED, /* in memory of a write that is outstanding, as is the block itself */
    BLOCK_SOURCE    /* in a source (conn_output.c); `at` is not used */
};

struct block {
    struct block *next;
    char *at;   /* the first byte that is not consumed, or not sent, yet */
    size_t len; /* bytes from there on */
    union {
        char *buffer;          /* of a BLOCK_BUFFER */
        struct shared *shared; /* of a BLOCK_SHARED */
    };
    uint32_t capacity; /* of `bytes`, whatever they are used for */
    uint8_t kind;      /* enum block_kind */
    bool clears;       /* they hold a secret: they are overwritten before they are freed */
    bool is_last;      /* of a write: see threads/io_state.h */
    _Alignas(8) char bytes[];
};

/* --- Blocks --- */

/* Blocks of one size that are kept for later: their memory is written where it was written last,
 * and is still cached. One thread has a pool. */
struct block_pool {
    struct owner owner;
    struct block *first;
    unsigned count, most;
    uint32_t size; /* bytes of each, with the struct; see mem_good_size */
};

/* Returns an empty block with room for size - sizeof(struct block) bytes. O(1). */
struct block *block_new_sized(struct block_pool *pool, size_t size);
static inline struct block *block_new(struct block_pool *pool) {
    return block_new_sized(pool, pool->size);
}

/* Frees it with what it refers to, or keeps it for later. O(1), besides overwriting. */
void block_free(struct block_pool *pool, struct block *block);

void block_pool_free(struct block_pool *pool);

/* Returns how many bytes the block can still take, at its end. */
static inline size_t block_room(const struct block *block) {
    if (block->kind != BLOCK_OWN) return 0;
    return (size_t)(block->bytes + block->capacity - block->at) - block->len;
}

/* Copies bytes to its end, as many as it can take. Returns how many. */
size_t block_fill(struct block *block, const char *bytes, size_t len);

/* Returns the memory that the block takes, with its buffer. */
static inline size_t block_allocated(const struct block *block) {
    bool has_buffer = block->kind == BLOCK_BUFFER;
    size_t buffer = has_buffer ? (size_t)(block->at + block->len - block->buffer) : 0;
    return sizeof(*block) + block->capacity + buffer;
}

/* --- Queues --- */

/* Zeroed: it is empty. */
struct block_queue {
    struct block *first, *last; /* the last one is valid while there is a first */
    size_t bytes;               /* the sum of their lengths */
};

static inline void block_push(struct block_queue *queue, struct block *block) {
    *(queue->first ? &queue->last->next : &queue->first) = block;
    queue->last = block;
    queue->bytes += block->len;
    block->next = NULL;
}

static inline void block_push_first(struct block_queue *queue, struct block *block) {
    if (!queue->first) queue->last = block;
    block->next = queue->first;
    queue->first = block;
    queue->bytes += block->len;
}

static inline struct block *block_pop(struct block_queue *queue) {
    struct block *block = queue->first;
    queue->first = block->next;
    queue->bytes -= block->len;
    return block;
}

/* Moves all blocks of a queue, which is not used any more, to the end of another one. O(1). */
static inline void block_join(struct block_queue *queue, const struct block_queue *more) {
    if (!more->first) return;
    *(queue->first ? &queue->last->next : &queue->first) = more->first;
    queue->last = more->last;
    queue->bytes += more->bytes;
}

/* Adds all blocks of a chain, linked by `next`. O(blocks). */
void block_push_all(struct block_queue *queue, struct block *chain);

/* *len of its first bytes are done with. Returns the first block if it is done with: then it is no
 * longer in the queue, and its bytes are taken off *len; call it again. NULL: that was all. */
static inline struct block *block_pop_done(struct block_queue *queue, size_t *len) {
    struct block *first = queue->first;
    if (!first) return NULL;
    if (*len >= first->len) {
        *len -= first->len;
        return block_pop(queue);
    }
    if (first->kind != BLOCK_SOURCE) first->at += *len;
    first->len -= *len;
    queue->bytes -= *len;
    return NULL;
}

/* Writes where the bytes of the first blocks are to `buffers`, at most `most`. Returns how many. */
unsigned block_gather(const struct block_queue *queue, uv_buf_t *buffers, unsigned most);

#endif
