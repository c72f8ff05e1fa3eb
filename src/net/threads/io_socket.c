/* What an I/O thread counts of a socket, and tells the loop about it. */
#include "base/memory/alloc.h"
#include "net/threads/io_state.h"

/* --- What the loop hears --- */

void io_put(struct io_socket *socket, enum io_kind kind, void *bytes, int status) {
    struct ring_item item = {
        .about = socket, .bytes = bytes, .number = (uint64_t)(int64_t)status, .kind = kind};
    ring_put(&socket->thread->to_loop, &item);
}

void io_hand_data(struct io_socket *socket, struct block *block, size_t len) {
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

static void count_sent(struct io_socket *socket, size_t sent) {
    OWNER_ASSERT(socket->thread->loop.owner);
    __atomic_store_n(&socket->sent, socket->sent + sent, __ATOMIC_RELAXED);
}

/* The block is done with, and no longer in the queue. */
static void finish_block(struct io_socket *socket, struct block *block, int status) {
    count_sent(socket, block->len);
    if (block->kind != BLOCK_BORROWED)
        io_block_free(&socket->thread->read_spares, block);
    else if (block->is_last)
        io_put(socket, IO_WRITTEN, NULL, status);
}

void io_drop_blocks(struct io_socket *socket, int status) {
    while (socket->output.first) finish_block(socket, block_pop(&socket->output), status);
}

void io_drop_records(struct io_tls *tls, struct block_pool *pool) {
    while (tls->records.first) block_free(pool, block_pop(&tls->records));
    tls->plain = 0;
    __atomic_store_n(&tls->left, 0, __ATOMIC_RELAXED);
}

void io_fail(struct io_socket *socket, int status) {
    socket->failed = status;
    io_put(socket, IO_FAILED, NULL, status);
    if (socket->tls) io_drop_records(socket->tls, &socket->thread->read_spares.large);
    io_drop_blocks(socket, status);
}

void io_note_sent(struct io_socket *socket, size_t sent) {
    struct block *block;
    while ((block = block_pop_done(&socket->output, &sent))) finish_block(socket, block, 0);
    if (sent > 0) count_sent(socket, sent);
}
