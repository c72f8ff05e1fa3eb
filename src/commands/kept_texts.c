#include "commands/kept_texts.h"

#include "base/memory/alloc.h"

struct kept_chunk {
    struct kept_chunk *next;
    size_t used;
    size_t size;
    char bytes[];
};

struct slice kept_text(struct kept_texts *texts, struct slice text) {
    enum { CHUNK_SIZE = 16 * 1024 };
    struct kept_chunk *chunk = texts->chunks;
    if (chunk == NULL || chunk->size - chunk->used < text.len) {
        size_t size = text.len > CHUNK_SIZE ? text.len : CHUNK_SIZE;
        chunk = mem_alloc(sizeof(*chunk) + size);
        *chunk = (struct kept_chunk){.next = texts->chunks, .size = size};
        texts->chunks = chunk;
    }
    char *copy = chunk->bytes + chunk->used;
    slice_copy(copy, text);
    chunk->used += text.len;
    return slice_make(copy, text.len);
}

void kept_texts_free(struct kept_texts *texts) {
    for (struct kept_chunk *chunk = texts->chunks, *next; chunk; chunk = next) {
        next = chunk->next;
        mem_free(chunk);
    }
    texts->chunks = NULL;
}
