/* snapshot_chunk: a stretch of an RDB file on its way from the loop, which copies it out of the
 * data, to the thread that packs, checks and writes it (snapshot_thread.h).
 *
 *      [kind, length][bytes …][kind, length][bytes …] …
 *
 *      literal    bytes of the file as they stand
 *      string     a text that is worth packing: rdb_write_string
 *      listpack   the body of one, likewise: rdb_write_listpack
 *      list       a pointer to a frozen list: rdb_write_frozen_list
 *
 * A chunk belongs to the loop while it is filled, then to the thread, and to the loop again for the
 * thaw of its lists. */
#ifndef PACKLIST_DURABILITY_SNAPSHOT_CHUNK_H
#define PACKLIST_DURABILITY_SNAPSHOT_CHUNK_H

#include "ds/quicklist_frozen.h"
#include "persist/rdb_writer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SNAPSHOT_CHUNK_LISTS = 4 };

struct snapshot_job;

struct snapshot_chunk {
    struct snapshot_chunk *next;
    struct snapshot_job *job; /* what it is a part of */
    bool is_last;
    bool is_thawed; /* nothing is left to do but to free it with its lists */
    unsigned list_count;
    struct quicklist_frozen *lists[SNAPSHOT_CHUNK_LISTS]; /* owned */
    size_t lists_size; /* that they take beside what they share */
    size_t capacity;   /* of `bytes` */
    size_t used;
    size_t literal; /* where the head of a literal stands that can be continued, or SIZE_MAX */
    uint8_t bytes[];
};

/* An empty one, with room for a piece of `size` bytes at least. */
struct snapshot_chunk *snapshot_chunk_new(size_t size);

/* Frees it with its lists, which were thawed. In any thread. */
void snapshot_chunk_free(struct snapshot_chunk *chunk);

/* Has it room for one more piece of `size` bytes, be it a list? */
bool snapshot_chunk_has_room(const struct snapshot_chunk *chunk, size_t size);

/* Bytes that it takes in memory, with its lists. */
size_t snapshot_chunk_size(const struct snapshot_chunk *chunk);

/* Add a piece for which there is room. O(bytes). */
void snapshot_chunk_add_literal(struct snapshot_chunk *chunk, const void *bytes, size_t len);
void snapshot_chunk_add_string(struct snapshot_chunk *chunk, struct slice text);
void snapshot_chunk_add_listpack(struct snapshot_chunk *chunk, struct slice body, size_t count);

/* The same with a list, which must not be frozen, see quicklist_freeze; returns the bytes that the
 * chunk takes more. O(nodes), and the bytes of the first and the last. */
size_t snapshot_chunk_add_list(struct snapshot_chunk *chunk, struct quicklist *list, size_t *left);

/* Writes what it stands for, until the writer has failed. In any thread. */
void snapshot_chunk_write(const struct snapshot_chunk *chunk, struct rdb_writer *writer);

#endif
