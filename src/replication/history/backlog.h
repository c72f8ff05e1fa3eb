/* backlog: bytes with a running offset, kept in a chain of blocks, and cursors that read them.
 *
 *      begin                                              end
 *      | block | -> | block ····· | -> | block ······ free |
 *                     ^cursor            ^cursor
 *
 * Blocks are freed from the front once every cursor has passed them and at least `keep` bytes are
 * left. It serves twice: for the stream of changes, and for the payload of a full synchronization.
 * Offsets count the bytes since the stream began: a cursor at offset n has read n bytes. */
#ifndef PACKLIST_REPLICATION_HISTORY_BACKLOG_H
#define PACKLIST_REPLICATION_HISTORY_BACKLOG_H

#include "base/memory/shared.h"
#include "base/slice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef TINY_LIMITS
enum { BACKLOG_BLOCK = 16, BACKLOG_FREES_MAX = 2 };
#else
enum {
    BACKLOG_BLOCK = 64 * 1024 - 64, /* bytes of a block */
    BACKLOG_FREES_MAX = 64          /* blocks freed by one backlog_trim */
};
#endif

/* Threads may go on reading the bytes of a block that the backlog has freed (backlog_share). */
struct backlog_block {
    struct shared shared;
    struct backlog_block *next;
    uint64_t begin; /* offset of its first byte */
    size_t used;
    char bytes[BACKLOG_BLOCK];
};

/* Owned by the caller, who must not move it while it is in the backlog. */
struct backlog_cursor {
    uint64_t offset;             /* of the next byte that it has not read */
    struct backlog_block *block; /* holds that byte, or ends before it; NULL: there is no block */
    struct backlog_cursor *prev;
    struct backlog_cursor *next;
};

struct backlog {
    struct backlog_block *first;
    struct backlog_block *last;
    uint64_t begin; /* offset of the first byte that is kept */
    uint64_t end;   /* offset after the last byte */
    size_t keep;
    size_t blocks;
    struct backlog_cursor *first_cursor;
    struct backlog_cursor *last_cursor;
};

/* Returns an empty backlog whose next byte has this offset; the caller frees it with backlog_free,
 * without cursors. */
struct backlog *backlog_new(uint64_t offset, size_t keep);
void backlog_free(struct backlog *backlog);

/* Appends a copy of the bytes. O(bytes). */
void backlog_append(struct backlog *backlog, struct slice bytes);

/* Appends a block (mem_alloc'ed, with `used` > 0 bytes), which the backlog then owns. O(1). */
void backlog_append_block(struct backlog *backlog, struct backlog_block *block);

/* Adds a cursor at an offset. Returns false when bytes from there on are not kept, or do not exist
 * yet. O(blocks). */
bool backlog_add_cursor(struct backlog *backlog, struct backlog_cursor *cursor, uint64_t offset);

/* Removes a cursor; backlog_trim frees what only it needed. O(1). */
void backlog_remove_cursor(struct backlog *backlog, struct backlog_cursor *cursor);

/* The cursor has read everything before `offset`, which is not before its own and not beyond the
 * end. O(blocks that it passes). */
void backlog_move_cursor(struct backlog *backlog, struct backlog_cursor *cursor, uint64_t offset);

/* Returns bytes from `offset` on, at least one and at most `most`, which are valid until the cursor
 * moves beyond them. There must be some: cursor->offset <= offset < end. O(blocks between). */
struct slice backlog_peek(const struct backlog *backlog, const struct backlog_cursor *cursor,
                          uint64_t offset, size_t most);

/* Returns the allocation in which the bytes lie that backlog_peek returns: they do not change until
 * it is freed. O(blocks between). */
struct shared *backlog_share(const struct backlog *backlog, const struct backlog_cursor *cursor,
                             uint64_t offset);

/* Frees blocks that neither a cursor nor `keep` needs, at most BACKLOG_FREES_MAX. Returns whether
 * there are more. O(cursors + blocks freed). */
bool backlog_trim(struct backlog *backlog);

/* Return the number of bytes that are kept, and the memory that they take. O(1). */
static inline uint64_t backlog_len(const struct backlog *backlog) {
    return backlog->end - backlog->begin;
}
size_t backlog_allocated(const struct backlog *backlog);

/* Checks the invariants. O(blocks * cursors). */
bool backlog_check(const struct backlog *backlog);

#endif
