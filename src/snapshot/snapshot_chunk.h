/* snapshot_chunk: a part of a snapshot. The loop fills it with copies of the data; the thread
 * compresses, checksums and writes it (snapshot_thread.h). Large values are not copied: the chunk
 * holds captures of them, and the loop goes on using and changing these values.
 *
 *      [kind, length][bytes …][kind, length][bytes …] …
 *
 *      literal    bytes of the file as they are
 *      string     a text that is worth compressing: rdb_write_string
 *      listpack   the body of a listpack, likewise: rdb_write_listpack
 *      capture    the type and the index of a captured value, written in RDB form
 *      commands   the same and its key: written as commands
 *
 * A chunk belongs to the loop while it is being filled, and then to the thread. A chunk with
 * captures then goes back to the loop, which releases them. */
#ifndef PACKLIST_SNAPSHOT_SNAPSHOT_CHUNK_H
#define PACKLIST_SNAPSHOT_SNAPSHOT_CHUNK_H

#include "ds/capture.h"
#include "persist/rdb_writer.h"
#include "store/entry.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Maximum number of captures in a chunk. */
enum { SNAPSHOT_CHUNK_CAPTURES = 8 };

struct snapshot_job;

struct snapshot_chunk {
    struct snapshot_chunk *next;
    struct snapshot_job *job; /* the job that it belongs to */
    bool is_last;
    bool is_released;     /* only its memory is left to be freed */
    size_t released_size; /* bytes that freeing it returns */
    unsigned capture_count;
    struct capture *captures[SNAPSHOT_CHUNK_CAPTURES]; /* owned */
    size_t shared_size; /* bytes of the captures that are not shared with the data */
    size_t capacity;    /* of `bytes` */
    size_t used;
    size_t literal; /* offset of the literal that can still grow, or SIZE_MAX */
    uint8_t bytes[];
};

/* Returns an empty chunk that can take a piece of at least `size` bytes. Ownership passes to the
 * caller. */
struct snapshot_chunk *snapshot_chunk_new(size_t size);

/* Returns whether the chunk holds captures. They must be released before the chunk is freed. */
static inline bool snapshot_chunk_is_shared(const struct snapshot_chunk *chunk) {
    return chunk->capture_count > 0;
}

/* Releases the captures. Returns the bytes that freeing them is going to free, besides their own
 * (capture_release). Only in the loop's thread. O(pieces of the captures). */
size_t snapshot_chunk_release(struct snapshot_chunk *chunk);

/* Frees the chunk and its captures, which must be released. In any thread. */
void snapshot_chunk_free(struct snapshot_chunk *chunk);

/* Returns whether one more piece of `size` bytes fits, even if it is a capture. */
bool snapshot_chunk_has_room(const struct snapshot_chunk *chunk, size_t size);

/* Returns the bytes of memory used by the chunk and its captures. */
size_t snapshot_chunk_size(const struct snapshot_chunk *chunk);

/* Add a piece, copying its bytes. The caller has checked that it fits. O(bytes). */
void snapshot_chunk_add_literal(struct snapshot_chunk *chunk, const void *bytes, size_t len);
void snapshot_chunk_add_string(struct snapshot_chunk *chunk, struct slice text);
void snapshot_chunk_add_listpack(struct snapshot_chunk *chunk, struct slice body, size_t count);

/* Adds a captured value of this type, and takes ownership of the capture. The buffer takes a copy
 * of `key`, which only commands need: otherwise it is empty. Returns the bytes by which the chunk's
 * size grows. */
size_t snapshot_chunk_add_capture(struct snapshot_chunk *chunk, bool as_commands, struct slice key,
                                  enum value_type type, struct capture *capture);

/* Writes the pieces, until the writer fails. In any thread. O(bytes). */
void snapshot_chunk_write(const struct snapshot_chunk *chunk, struct rdb_writer *writer);

#endif
