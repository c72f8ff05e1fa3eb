/* Invariants
 *   1. Blocks are not empty, and each begins where the one before it ends: the first at `begin`;
 *      the last one ends at `end`. Without blocks, begin == end.
 *   2. begin <= offset <= end of each cursor. Its block contains the byte at its offset or, for a
 *      cursor at the end of a block, is that block or the next one; it is NULL only when the cursor
 *      was added, or has stayed, while there was no block. */
#include "replication/history/backlog.h"

#include "base/chain.h"
#include "base/checked.h"
#include "base/memory/alloc.h"

#include <string.h>

struct backlog *backlog_new(uint64_t offset, size_t keep) {
    struct backlog *backlog = mem_alloc_zeroed(sizeof(*backlog));
    backlog->begin = backlog->end = offset;
    backlog->keep = keep;
    return backlog;
}

void backlog_free(struct backlog *backlog) {
    struct backlog_block *next;
    if (!backlog) return;
    CHECKED_ASSERT(!backlog->first_cursor);
    for (struct backlog_block *block = backlog->first; block; block = next) {
        next = block->next;
        shared_end(&block->shared);
    }
    mem_free(backlog);
}

static uint64_t block_end(const struct backlog_block *block) {
    return block->begin + block->used;
}

/* --- Appending --- */

static void link_block(struct backlog *backlog, struct backlog_block *block) {
    shared_begin(&block->shared);
    block->begin = backlog->end;
    CHAIN_QUEUE(backlog->first, backlog->last, block, next);
    backlog->blocks++;
}

static struct backlog_block *block_with_room(struct backlog *backlog) {
    if (backlog->first && backlog->last->used < BACKLOG_BLOCK) return backlog->last;
    struct backlog_block *block = mem_alloc(sizeof(*block));
    block->used = 0;
    link_block(backlog, block);
    return block;
}

void backlog_append(struct backlog *backlog, struct slice bytes) {
    while (bytes.len > 0) {
        struct backlog_block *block = block_with_room(backlog);
        size_t room = BACKLOG_BLOCK - block->used, part = bytes.len < room ? bytes.len : room;
        memcpy(block->bytes + block->used, bytes.ptr, part);
        block->used += part;
        backlog->end += part;
        bytes = slice_make(bytes.ptr + part, bytes.len - part);
    }
}

void backlog_append_block(struct backlog *backlog, struct backlog_block *block) {
    CHECKED_ASSERT(block->used > 0);
    link_block(backlog, block);
    backlog->end += block->used;
}

/* --- Cursors --- */

/* Returns the block that holds the byte at `offset`, or the last one, which ends there. */
static struct backlog_block *find_block(struct backlog_block *block, uint64_t offset) {
    while (offset >= block_end(block) && block->next) block = block->next;
    return block;
}

bool backlog_add_cursor(struct backlog *backlog, struct backlog_cursor *cursor, uint64_t offset) {
    if (offset < backlog->begin || offset > backlog->end) return false;
    *cursor = (struct backlog_cursor){.offset = offset};
    if (backlog->first) cursor->block = find_block(backlog->first, offset);
    CHAIN_APPEND(backlog->first_cursor, backlog->last_cursor, cursor, prev, next);
    return true;
}

void backlog_remove_cursor(struct backlog *backlog, struct backlog_cursor *cursor) {
    CHAIN_REMOVE(backlog->first_cursor, backlog->last_cursor, cursor, prev, next);
}

/* A cursor without a block stands at the begin: no block was freed since it was added. */
static struct backlog_block *block_of(const struct backlog *backlog,
                                      const struct backlog_cursor *cursor) {
    return cursor->block ? cursor->block : backlog->first;
}

void backlog_move_cursor(struct backlog *backlog, struct backlog_cursor *cursor, uint64_t offset) {
    CHECKED_ASSERT(offset >= cursor->offset && offset <= backlog->end);
    cursor->offset = offset;
    struct backlog_block *block = block_of(backlog, cursor);
    if (block) cursor->block = find_block(block, offset);
}

static struct backlog_block *block_at(const struct backlog *backlog,
                                      const struct backlog_cursor *cursor, uint64_t offset) {
    CHECKED_ASSERT(offset >= cursor->offset && offset < backlog->end);
    return find_block(block_of(backlog, cursor), offset);
}

struct slice backlog_peek(const struct backlog *backlog, const struct backlog_cursor *cursor,
                          uint64_t offset, size_t most) {
    const struct backlog_block *block = block_at(backlog, cursor, offset);
    size_t at = (size_t)(offset - block->begin), len = block->used - at;
    return slice_make(block->bytes + at, len < most ? len : most);
}

struct shared *backlog_share(const struct backlog *backlog, const struct backlog_cursor *cursor,
                             uint64_t offset) {
    return &block_at(backlog, cursor, offset)->shared;
}

/* --- Trimming --- */

/* Returns the offset before which nothing is needed. */
static uint64_t needed_from(const struct backlog *backlog) {
    uint64_t from =
        backlog_len(backlog) > backlog->keep ? backlog->end - backlog->keep : backlog->begin;
    for (const struct backlog_cursor *cursor = backlog->first_cursor; cursor; cursor = cursor->next)
        if (cursor->offset < from) from = cursor->offset;
    return from;
}

/* A cursor may stand at the end of the block and point to it. */
static void free_first(struct backlog *backlog) {
    struct backlog_block *block = backlog->first;
    for (struct backlog_cursor *cursor = backlog->first_cursor; cursor; cursor = cursor->next)
        if (cursor->block == block) cursor->block = block->next;
    backlog->begin = block_end(block);
    backlog->first = block->next;
    if (!backlog->first) backlog->last = NULL;
    backlog->blocks--;
    shared_end(&block->shared);
}

bool backlog_trim(struct backlog *backlog) {
    if (!backlog->first || backlog_len(backlog) - backlog->first->used < backlog->keep)
        return false;
    uint64_t from = needed_from(backlog);
    for (size_t freed = 0; backlog->first && block_end(backlog->first) <= from; freed++) {
        if (freed == BACKLOG_FREES_MAX) return true;
        free_first(backlog);
    }
    return false;
}

/* --- Facts --- */

size_t backlog_allocated(const struct backlog *backlog) {
    return sizeof(*backlog) + backlog->blocks * mem_good_size(sizeof(struct backlog_block));
}

static bool check_cursor(const struct backlog *backlog, const struct backlog_cursor *cursor) {
    if (cursor->offset < backlog->begin || cursor->offset > backlog->end) return false;
    const struct backlog_block *block = backlog->first;
    if (!cursor->block) return !block || cursor->offset == backlog->begin;
    while (block && block != cursor->block) block = block->next;
    return block && cursor->offset >= block->begin && cursor->offset <= block_end(block);
}

bool backlog_check(const struct backlog *backlog) {
    uint64_t offset = backlog->begin;
    size_t blocks = 0;
    for (const struct backlog_block *block = backlog->first; block; block = block->next, blocks++) {
        if (block->begin != offset || block->used == 0 || block->used > BACKLOG_BLOCK) return false;
        if (!block->next && block != backlog->last) return false;
        offset = block_end(block);
    }
    if (offset != backlog->end || blocks != backlog->blocks) return false;
    for (const struct backlog_cursor *cursor = backlog->first_cursor; cursor; cursor = cursor->next)
        if (!check_cursor(backlog, cursor)) return false;
    return true;
}
