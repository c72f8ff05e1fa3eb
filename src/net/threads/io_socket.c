/* What an I/O thread counts of a socket, and tells the loop about it; and blocks of bytes, of
 * either side. */
#include "base/alloc.h"
#include "base/secret.h"
#include "net/threads/io_state.h"

/* --- Blocks --- */

struct io_block *io_block_new(struct io_spares *spares, bool is_large) {
    struct io_block **first = is_large ? &spares->large : &spares->small;
    struct io_block *block = *first;
    OWNER_ASSERT(spares->owner);
    if (block) {
        *first = block->next;
        (*(is_large ? &spares->large_count : &spares->small_count))--;
    } else {
        size_t size = is_large ? IO_LARGE_SIZE : IO_SMALL_SIZE;
        block = mem_alloc(size);
        block->capacity = (uint32_t)(size - sizeof(*block));
        block->is_last = false;
    }
    block->next = NULL;
    block->at = block->bytes;
    block->len = 0;
    block->clears = false;
    block->shared = NULL;
    return block;
}

void io_block_free(struct io_spares *spares, struct io_block *block) {
    bool is_large = block->capacity > IO_SMALL_SIZE - sizeof(*block);
    unsigned *count = is_large ? &spares->large_count : &spares->small_count;
    struct io_block **first = is_large ? &spares->large : &spares->small;
    OWNER_ASSERT(spares->owner);
    if (block->clears) secret_clear(block->bytes, block->capacity);
    if (*count >= (is_large ? IO_SPARE_MAX / 16 + 1 : IO_SPARE_MAX)) {
        mem_free(block);
        return;
    }
    block->next = *first;
    *first = block;
    (*count)++;
}

static void free_chain(struct io_block *block) {
    while (block) {
        struct io_block *next = block->next;
        mem_free(block);
        block = next;
    }
}

void io_spares_free(struct io_spares *spares) {
    free_chain(spares->small);
    free_chain(spares->large);
    *spares = (struct io_spares){0};
}

/* --- What the loop hears --- */

void io_put(struct io_socket *socket, enum io_kind kind, void *bytes, int status) {
    struct ring_item item = {
        .about = socket, .bytes = bytes, .number = (uint64_t)(int64_t)status, .kind = kind};
    ring_put(&socket->thread->to_loop, &item);
}

void io_hand_data(struct io_socket *socket, struct io_block *block, size_t len) {
    block->len = len;
    socket->credit--;
    io_put(socket, IO_DATA, block, 0);
}

void io_end_input(struct io_socket *socket, int status, const char *reason) {
    if (socket->has_ended) return;
    socket->has_ended = true;
    io_put(socket, IO_ENDED, (void *)reason, status);
}

/* --- What is sent --- */

static void finish_block(struct io_socket *socket, int status) {
    OWNER_ASSERT(socket->thread->owner);
    struct io_block *block = socket->first;
    socket->first = block->next;
    __atomic_store_n(&socket->sent, socket->sent + block->len, __ATOMIC_RELAXED);
    if (block->shared) shared_release(block->shared, 1);
    if (block->capacity > 0)
        io_block_free(&socket->thread->read_spares, block);
    else if (block->is_last)
        io_put(socket, IO_WRITTEN, NULL, status);
}

void io_drop_blocks(struct io_socket *socket, int status) {
    while (socket->first) finish_block(socket, status);
}

void io_drop_records(struct io_tls *tls) {
    mem_free(tls->records);
    tls->records = NULL;
    tls->at = tls->capacity = tls->plain = 0;
    __atomic_store_n(&tls->left, 0, __ATOMIC_RELAXED);
}

void io_fail(struct io_socket *socket, int status) {
    socket->failed = status;
    io_put(socket, IO_FAILED, NULL, status);
    if (socket->tls) io_drop_records(socket->tls);
    io_drop_blocks(socket, status);
}

void io_note_sent(struct io_socket *socket, size_t sent) {
    while (socket->first && sent >= socket->first->len) {
        sent -= socket->first->len;
        finish_block(socket, 0);
    }
    if (sent == 0) return;
    socket->first->at += sent;
    socket->first->len -= sent;
    __atomic_store_n(&socket->sent, socket->sent + sent, __ATOMIC_RELAXED);
}
