/* snapshot_chunk: a part of an RDB file on its way from the loop, which copies it out of the data,
 * to the thread that compresses, checks and writes it (snapshot_thread.h). What is large is not
 * copied: the chunk holds a capture of it, and the loop goes on using and changing it.
 *
 *      [kind, length][bytes …][kind, length][bytes …] …
 *
 *      literal    bytes of the file as they stand
 *      string     a text that is worth compressing: rdb_write_string
 *      listpack   the body of one, likewise: rdb_write_listpack
 *      capture    the number of a captured value: rdb_write_capture
 *
 * A chunk belongs to the loop while it is filled, then to the thread; one that holds captures then
 * belongs to the loop again, which releases them. */
#ifndef PACKLIST_SNAPSHOT_SNAPSHOT_CHUNK_H
#define PACKLIST_SNAPSHOT_SNAPSHOT_CHUNK_H

#include "persist/rdb_writer.h"
#include "types/value_capture.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Most captures of one chunk. */
enum { SNAPSHOT_CHUNK_CAPTURES = 8 };

struct snapshot_job;

struct snapshot_chunk {
    struct snapshot_chunk *next;
    struct snapshot_job *job; /* what it is a part of */
    bool is_last;
    bool is_released;     /* nothing is left to do but to free it with its captures */
    size_t released_size; /* bytes of memory that this frees */
    unsigned capture_count;
    struct value_capture captures[SNAPSHOT_CHUNK_CAPTURES]; /* owned */
    size_t shared_size; /* bytes that these take beside what they share with the data */
    size_t capacity;    /* of `bytes` */
    size_t used;
    size_t literal; /* where the head of a literal stands that can be continued, or SIZE_MAX */
    uint8_t bytes[];
};

/* An empty one, with room for a piece of `size` bytes at least. */
struct snapshot_chunk *snapshot_chunk_new(size_t size);

/* Does it hold captures, which must be released before it is freed? */
static inline bool snapshot_chunk_is_shared(const struct snapshot_chunk *chunk) {
    return chunk->capture_count > 0;
}

/* Releases its captures; returns the bytes by which *left becomes smaller (value_capture_release).
 * In the loop's thread. */
size_t snapshot_chunk_release(struct snapshot_chunk *chunk);

/* Frees it with its captures, which were released. In any thread. */
void snapshot_chunk_free(struct snapshot_chunk *chunk);

/* Has it room for one more piece of `size` bytes, even for a capture? */
bool snapshot_chunk_has_room(const struct snapshot_chunk *chunk, size_t size);

/* Bytes that it takes in memory, with its captures. */
size_t snapshot_chunk_size(const struct snapshot_chunk *chunk);

/* Add a piece for which there is room. O(bytes). */
void snapshot_chunk_add_literal(struct snapshot_chunk *chunk, const void *bytes, size_t len);
void snapshot_chunk_add_string(struct snapshot_chunk *chunk, struct slice text);
void snapshot_chunk_add_listpack(struct snapshot_chunk *chunk, struct slice body, size_t count);

/* The same with a captured value, a piece of 0 bytes; returns the bytes by which the chunk's size
 * grows. */
size_t snapshot_chunk_add_capture(struct snapshot_chunk *chunk, struct value_capture capture);

/* Writes what it stands for, until the writer has failed. In any thread. */
void snapshot_chunk_write(const struct snapshot_chunk *chunk, struct rdb_writer *writer);

#endif
