/* The side of an I/O thread: it polls its sockets, reads what comes, sends what it gets. All
 * functions but those at the end run in the thread. */
#include "base/memory/alloc.h"
#include "base/threads/thread.h"
#include "net/threads/io_state.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PIECES_MAX = 64 }; /* blocks passed to one system call */

/* --- What is polled --- */

static void on_poll(uv_poll_t *poll, int status, int events);

static bool has_output(const struct io_socket *socket) {
    return socket->output.first || (socket->tls && socket->tls->left > 0);
}

/* Whether it is of use that the socket takes bytes: with TLS there must be records, or bytes that
 * can be encrypted now. */
static bool may_send(const struct io_socket *socket) {
    return !socket->tls || socket->tls->left > 0 || tls_may_encrypt(&socket->tls->codec);
}

static void update_events(struct io_socket *socket) {
    int events = 0;
    OWNER_ASSERT(socket->thread->loop.owner);
    if (socket->is_polled && !socket->answer && socket->credit > 0 && !socket->has_ended)
        events |= UV_READABLE;
    if (socket->is_polled && has_output(socket) && may_send(socket)) events |= UV_WRITABLE;
    if (events == socket->events) return;
    socket->events = events;
    if (events)
        uv_poll_start(&socket->poll, events, on_poll);
    else
        uv_poll_stop(&socket->poll);
}

static void on_released(uv_handle_t *handle) {
    struct io_socket *socket = handle->data;
    io_put(socket, socket->answer, NULL, 0);
}

/* The loop wants the socket closed or back, and nothing is left to be sent. */
static void leave(struct io_socket *socket) {
    OWNER_ASSERT(socket->thread->loop.owner);
    if (socket->is_polled)
        uv_close((uv_handle_t *)&socket->poll, on_released); /* polls no longer from now on */
    if (socket->answer == IO_CLOSED) close(socket->fd);
    if (socket->tls && socket->answer == IO_RELEASED) io_tls_release(socket);
    if (!socket->is_polled) io_put(socket, socket->answer, NULL, 0);
}

/* --- Sending --- */

/* Sends what the socket takes now. Returns whether it took all of a system call. */
static bool send_some(struct io_socket *socket) {
    uv_buf_t pieces[PIECES_MAX];
    unsigned count = block_gather(&socket->output, pieces, PIECES_MAX);
    size_t bytes = 0;
    for (unsigned i = 0; i < count; i++) bytes += pieces[i].len;
    ssize_t sent;
    do {
        /* uv_buf_t has the layout of struct iovec. */
        sent = count == 1 ? write(socket->fd, pieces[0].base, pieces[0].len)
                          : writev(socket->fd, (const struct iovec *)pieces, (int)count);
    } while (sent < 0 && errno == EINTR);
    if (sent >= 0)
        io_note_sent(socket, (size_t)sent);
    else if (errno != EAGAIN && errno != EWOULDBLOCK)
        io_fail(socket, -errno);
    return sent == (ssize_t)bytes;
}

static void send_all(struct io_socket *socket) {
    if (socket->tls) {
        io_tls_send(socket);
        return;
    }
    while (socket->output.first && !socket->failed && send_some(socket)) continue;
}

/* What follows a failure is dropped. */
static void send_blocks(struct io_socket *socket, struct block *block) {
    bool is_waiting = socket->output.first != NULL;
    block_push_all(&socket->output, block);
    if (socket->failed) {
        io_drop_blocks(socket, socket->failed);
        return;
    }
    if (!is_waiting) send_all(socket);
    if (has_output(socket) || socket->events & UV_WRITABLE) update_events(socket);
}

/* --- Sending what many connections get --- */

/* The thread is done with the bytes for one connection. It releases them once for all that follow
 * each other: another thread counts, too. */
static void release_later(struct io_thread *thread, struct shared *shared) {
    if (thread->shared && thread->shared != shared)
        shared_release(thread->shared, thread->shared_count);
    if (thread->shared != shared) thread->shared_count = 0;
    thread->shared = shared;
    thread->shared_count++;
}

/* Copies few bytes, as a block for each would take more memory; refers to many. */
static void append_shared(struct io_socket *socket, struct shared *shared, char *bytes,
                          size_t len) {
    struct io_thread *thread = socket->thread;
    struct block *last = socket->output.first ? socket->output.last : NULL;
    bool is_small = len <= IO_SMALL_SIZE - sizeof(*last);
    if (is_small && last && block_room(last) >= len) {
        block_fill(last, bytes, len);
        socket->output.bytes += len;
        release_later(thread, shared);
        return;
    }
    struct block *block = io_block_new(&thread->read_spares, false);
    if (is_small) {
        block_fill(block, bytes, len);
        release_later(thread, shared);
    } else {
        block->kind = BLOCK_SHARED;
        block->at = bytes;
        block->len = len;
        block->shared = shared;
    }
    block_push(&socket->output, block);
}

/* Several of them may follow: they are sent together. */
static void send_shared(struct io_socket *socket, const struct ring_item *item) {
    struct io_thread *thread = socket->thread;
    struct shared *shared = item->bytes;
    bool is_waiting = socket->output.first != NULL;
    if (socket->failed) {
        __atomic_store_n(&socket->sent, socket->sent + item->count, __ATOMIC_RELAXED);
        release_later(thread, shared);
        return;
    }
    append_shared(socket, shared, (char *)(uintptr_t)item->number, item->count);
    if (is_waiting || socket->is_late) return; /* resume_input may have sent what made it late */
    socket->is_late = true;
    socket->next_late = thread->late;
    thread->late = socket;
}

static void send_now(struct io_socket *socket) {
    if (!socket->is_late) return;
    socket->is_late = false;
    send_all(socket);
    update_events(socket);
}

static void send_late(struct io_thread *thread) {
    while (thread->late) {
        struct io_socket *socket = thread->late;
        thread->late = socket->next_late;
        send_now(socket);
    }
    if (thread->shared) shared_release(thread->shared, thread->shared_count);
    thread->shared = NULL;
    thread->shared_count = 0;
}

/* --- Reading --- */

/* Reads into a small block and, as far as that is not enough, into a large one. A connection that
 * has filled a small block reads into a large one the next time. */
static void read_plain(struct io_socket *socket) {
    struct io_thread *thread = socket->thread;
    struct block *block = io_block_new(&thread->read_spares, socket->reads_large);
    bool has_second = !socket->reads_large && socket->credit > 1;
    if (has_second && !thread->second) thread->second = io_block_new(&thread->read_spares, true);
    struct iovec pieces[2] = {{.iov_base = block->bytes, .iov_len = block->capacity}};
    if (has_second)
        pieces[1] =
            (struct iovec){.iov_base = thread->second->bytes, .iov_len = thread->second->capacity};
    ssize_t got;
    do {
        got = has_second ? readv(socket->fd, pieces, 2)
                         : recv(socket->fd, block->bytes, block->capacity, MSG_DONTWAIT);
    } while (got < 0 && errno == EINTR);
    if (got <= 0) {
        io_block_free(&thread->read_spares, block);
        if (got == 0)
            io_end_input(socket, UV_EOF, NULL);
        else if (errno != EAGAIN && errno != EWOULDBLOCK)
            io_end_input(socket, -errno, NULL);
        return;
    }
    size_t first = (size_t)got < block->capacity ? (size_t)got : block->capacity;
    io_hand_data(socket, block, first);
    if ((size_t)got > first) {
        io_hand_data(socket, thread->second, (size_t)got - first);
        thread->second = NULL;
    }
    socket->reads_large = (size_t)got >= IO_SMALL_SIZE - sizeof(*block);
}

static void read_some(struct io_socket *socket) {
    if (socket->tls)
        io_tls_read(socket);
    else
        read_plain(socket);
}

/* libuv polls a socket no longer that has an error; what the error is says reading. */
static void on_poll(uv_poll_t *poll, int status, int events) {
    struct io_socket *socket = poll->data;
    if (status < 0) {
        socket->events = 0;
        events = UV_READABLE | UV_WRITABLE;
    }
    if (events & UV_WRITABLE && has_output(socket)) send_all(socket);
    if (socket->answer && !socket->output.first) {
        leave(socket);
        return;
    }
    if (events & UV_READABLE && socket->credit > 0 && !socket->has_ended && !socket->answer)
        read_some(socket);
    update_events(socket);
}

/* --- Items from the loop --- */

/* There is credit again for input that was not decrypted, of which no event tells. */
static void resume_input(struct io_socket *socket) {
    if (socket->tls && tls_has_input(&socket->tls->codec) && socket->credit > 0 &&
        !socket->has_ended && !socket->answer)
        io_tls_read(socket);
}

static void open_socket(struct io_socket *socket) {
    if (socket->tls) io_tls_open(socket);
    socket->poll.data = socket;
    int status = uv_poll_init_socket(&socket->thread->loop.uv, &socket->poll, socket->fd);
    if (status != 0) {
        io_end_input(socket, status, NULL);
        return;
    }
    socket->is_polled = true;
    resume_input(socket);
    update_events(socket);
}

/* What the socket does not take at once is dropped. */
static void close_socket(struct io_socket *socket) {
    send_now(socket);
    socket->answer = IO_CLOSED;
    if (socket->tls) io_tls_close(socket);
    io_drop_blocks(socket, UV_ECANCELED);
    leave(socket);
}

static void release_socket(struct io_socket *socket) {
    send_now(socket);
    socket->answer = IO_RELEASED;
    if (!socket->output.first)
        leave(socket);
    else
        update_events(socket);
}

static void note_consumed(struct io_socket *socket, uint32_t count) {
    bool was_out = socket->credit == 0;
    socket->credit += count;
    if (!was_out || count == 0) return;
    resume_input(socket);
    update_events(socket);
}

static void end(struct io_thread *thread) {
    if (thread->bell_poll.loop) uv_close((uv_handle_t *)&thread->bell_poll, NULL);
    io_tls_end(thread);
    uv_close((uv_handle_t *)&thread->check, NULL);
    loop_end(&thread->loop);
}

static void handle(struct io_thread *thread, const struct ring_item *item) {
    struct io_socket *socket = item->about;
    switch ((enum io_kind)item->kind) {
    case IO_OPEN: open_socket(socket); break;
    case IO_SEND:
        note_consumed(socket, item->count);
        send_blocks(socket, item->bytes);
        break;
    case IO_WRITE: send_blocks(socket, item->bytes); break;
    case IO_SHARED: send_shared(socket, item); break;
    case IO_CONSUMED: note_consumed(socket, item->count); break;
    case IO_CLOSE: close_socket(socket); break;
    case IO_RELEASE: release_socket(socket); break;
    default: end(thread); break;
    }
}

/* --- The thread's loop --- */

/* Asks the processor for what the next items are about. */
static void prefetch(const struct ring *ring) {
    const struct ring_item *next = ring_ahead(ring, 1);
    if (!next || !next->about) return;
    __builtin_prefetch(&((struct io_socket *)next->about)->fd);
    if (next->bytes) __builtin_prefetch(next->bytes);
}

static void on_check(uv_check_t *check) {
    struct io_thread *thread = check->data;
    struct ring_item item;
    bell_awake(&thread->bell);
    if (!ring_is_ready(&thread->to_thread)) return;
    while (ring_ahead(&thread->to_thread, 0)) {
        prefetch(&thread->to_thread);
        ring_get(&thread->to_thread, &item);
        handle(thread, &item);
    }
    send_late(thread);
    if (ring_give_back(&thread->to_thread)) bell_ring(&thread->all->bell);
}

/* Shows the loop what was put. Waking it costs as much as many requests, so as long as it sleeps
 * more items are gathered first: while each further poll, which does not wait, brings any. Returns
 * whether such a poll follows. */
static bool publish_items(struct io_thread *thread) {
    struct ring *ring = &thread->to_loop;
    bool is_new = ring_publish(ring);
    thread->owes_wake |= is_new;
    if (is_new && ring->published_seen - thread->rung < IO_WAKE_AT) return true;
    if (thread->owes_wake) bell_ring(&thread->all->bell);
    thread->owes_wake = false;
    thread->rung = ring->published_seen;
    return false;
}

static void on_prepare(uv_prepare_t *prepare) {
    struct io_thread *thread = prepare->data;
    bool has_work = publish_items(thread);
    bell_sleep(&thread->bell);
    has_work |= ring_is_ready(&thread->to_thread);
    if (ring_has_late(&thread->to_loop) && ring_publish(&thread->to_loop)) {
        bell_ring(&thread->all->bell);
        has_work = true;
    }
    loop_stay_awake(&thread->loop, has_work);
}

static void *run(void *arg) {
    struct io_thread *thread = arg;
    char name[16];
    snprintf(name, sizeof(name), "io_thd_%u", thread->number);
    thread_set_name(name);
    io_meter_open(&thread->meter);
    uv_run(&thread->loop.uv, UV_RUN_DEFAULT);
    return NULL;
}

/* --- For the event loop --- */

static int begin_loop(struct io_thread *thread) {
    int status = loop_begin(&thread->loop, on_prepare);
    if (status != 0) return status;
    uv_check_init(&thread->loop.uv, &thread->check);
    thread->loop.prepare.data = thread->check.data = thread;
    uv_check_start(&thread->check, on_check);
    return loop_watch_bell(&thread->loop, &thread->bell_poll, &thread->bell);
}

static void free_thread(struct io_thread *thread) {
    io_meter_close(&thread->meter);
    struct block_pool *pools[] = {&thread->read_spares.small, &thread->read_spares.large,
                                  &thread->write_spares.small, &thread->write_spares.large};
    for (int i = 0; i < 4; i++) block_pool_free(pools[i]);
    mem_free(thread->second);
    io_tls_free(thread);
    ring_free(&thread->to_thread);
    ring_free(&thread->to_loop);
    bell_free(&thread->bell);
    mem_free(thread);
}

struct io_thread *io_thread_start(struct io_threads *all, unsigned number, const char **error) {
    struct io_thread *thread = mem_alloc_aligned(RING_LINE, sizeof(*thread));
    *thread = (struct io_thread){
        .all = all, .number = number, .read_spares = io_spares(), .write_spares = io_spares()};
    if (!bell_init(&thread->bell)) {
        *error = uv_strerror(-errno);
        mem_free(thread);
        return NULL;
    }
    ring_init(&thread->to_thread, IO_RING_SLOTS);
    ring_init(&thread->to_loop, IO_RING_SLOTS);
    int status = begin_loop(thread);
    if (status == 0) status = -thread_create(&thread->id, run, thread);
    if (status == 0) return thread;
    *error = uv_strerror(status);
    if (thread->loop.prepare.loop) {
        end(thread);
        uv_run(&thread->loop.uv, UV_RUN_DEFAULT);
        uv_loop_close(&thread->loop.uv);
    }
    free_thread(thread);
    return NULL;
}

void io_thread_stop(struct io_thread *thread) {
    struct ring_item item = {.kind = IO_END};
    ring_put(&thread->to_thread, &item);
    while (ring_publish(&thread->to_thread) || ring_has_late(&thread->to_thread))
        bell_ring(&thread->bell);
    pthread_join(thread->id, NULL);
    uv_loop_close(&thread->loop.uv);
    free_thread(thread);
}
