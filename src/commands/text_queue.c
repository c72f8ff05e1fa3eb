#include "commands/text_queue.h"

#include "base/memory/alloc.h"
#include "base/varint.h"

/* Each text has its length, a varint, before it. */
struct text_chunk {
    struct text_chunk *next;
    size_t size;
    size_t written;
    size_t read;
    uint8_t bytes[];
};

static struct text_chunk *add_chunk(struct text_queue *queue, size_t needed) {
#ifdef TINY_LIMITS
    enum { CHUNK_SIZE = 50 };
#else
    enum { CHUNK_SIZE = 64 * 1024 };
#endif
    size_t size = needed > CHUNK_SIZE ? needed : CHUNK_SIZE;
    struct text_chunk *chunk = mem_alloc(sizeof(*chunk) + size);
    *chunk = (struct text_chunk){.size = size};
    if (queue->last)
        queue->last->next = chunk;
    else
        queue->first = chunk;
    queue->allocated += mem_good_size(sizeof(*chunk) + size);
    return queue->last = chunk;
}

void text_queue_add(struct text_queue *queue, struct slice text) {
    struct text_chunk *chunk = queue->last;
    size_t needed = varint_size(text.len) + text.len;
    if (!chunk || chunk->size - chunk->written < needed) chunk = add_chunk(queue, needed);
    uint8_t *at = varint_write(chunk->bytes + chunk->written, text.len);
    slice_copy((char *)at, text);
    chunk->written += needed;
    queue->count++;
    queue->bytes += text.len;
}

static void free_first(struct text_queue *queue) {
    struct text_chunk *chunk = queue->first;
    queue->first = chunk->next;
    if (!queue->first) queue->last = NULL;
    queue->allocated -= mem_good_size(sizeof(*chunk) + chunk->size);
    mem_free(chunk);
}

static bool was_read(const struct text_chunk *chunk) {
    return chunk->read == chunk->written;
}

size_t text_queue_read(struct text_queue *queue, struct slice *texts, size_t most) {
    size_t count = 0;
    while (queue->first && was_read(queue->first)) free_first(queue);
    for (struct text_chunk *chunk = queue->first; chunk && count < most; chunk = chunk->next) {
        const uint8_t *at = chunk->bytes + chunk->read;
        for (; count < most && at < chunk->bytes + chunk->written; count++) {
            size_t len = varint_read(&at);
            texts[count] = slice_make((const char *)at, len);
            at += len;
        }
        chunk->read = (size_t)(at - chunk->bytes);
    }
    queue->count -= count;
    return count;
}

void text_queue_free(struct text_queue *queue) {
    while (queue->first) free_first(queue);
    queue->count = 0;
}
