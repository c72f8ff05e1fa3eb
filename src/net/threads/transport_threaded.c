/* The transport of connections that are with an I/O thread: the loop's side.
 *
 *      the loop's ────threaded_give──→ closing libuv's handle ──→ with the thread
 *            ↑                                                          │ threaded_take_back
 *            └──────────────── IO_RELEASED ──── leaving ←───────────────┘
 *
 * While it is leaving, nothing is handed over: output waits in the connection, or in the
 * outstanding write. */
#include "base/checked.h"
#include "base/memory/alloc.h"
#include "net/threads/io_state.h"
#include "net/tls/tls_state.h"

#include <assert.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const struct transport THREADED_UNIX, THREADED_TLS;

static struct threaded *threaded_of(const struct conn *conn) {
    return transport_state(conn);
}

static struct io_threads *io_of(const struct threaded *threaded) {
    return net_of(threaded->conn)->io;
}

static void put(const struct threaded *threaded, enum io_kind kind, void *bytes, uint32_t count) {
    CHECKED_ASSERT(!threaded->is_leaving); /* IO_RELEASE was the last one */
    struct ring_item item = {
        .about = threaded->socket, .bytes = bytes, .kind = kind, .count = count};
    ring_put(&threaded->thread->to_thread, &item);
}

static struct io_spares *spares_of(const struct threaded *threaded) {
    return &threaded->thread->write_spares;
}

/* Returns how many bytes the thread has sent. */
static uint64_t sent_by(const struct threaded *threaded) {
    return __atomic_load_n(&threaded->socket->sent, __ATOMIC_RELAXED);
}

static void mark_dirty(struct threaded *threaded) {
    struct io_threads *io = io_of(threaded);
    if (threaded->is_dirty || threaded->is_leaving) return;
    threaded->is_dirty = true;
    threaded->next_dirty = io->dirty;
    io->dirty = threaded;
}

static void resume(struct threaded *threaded) {
    struct io_threads *io = io_of(threaded);
    if (threaded->is_resumed) return;
    threaded->is_resumed = true;
    CHAIN_APPEND(io->resumed_first, io->resumed_last, threaded, prev_resumed, next_resumed);
}

void threaded_leave_resumed(struct threaded *threaded) {
    struct io_threads *io = io_of(threaded);
    if (!threaded->is_resumed) return;
    threaded->is_resumed = false;
    CHAIN_REMOVE(io->resumed_first, io->resumed_last, threaded, prev_resumed, next_resumed);
}

void threaded_want_back(struct conn *conn) {
    struct threaded *threaded = threaded_of(conn);
    struct io_threads *io = io_of(threaded);
    if (threaded->is_wanted) return;
    threaded->is_wanted = true;
    CHAIN_APPEND(io->wanted_first, io->wanted_last, threaded, prev_wanted, next_wanted);
}

void threaded_unwant(struct threaded *threaded) {
    struct io_threads *io = io_of(threaded);
    if (!threaded->is_wanted) return;
    threaded->is_wanted = false;
    CHAIN_REMOVE(io->wanted_first, io->wanted_last, threaded, prev_wanted, next_wanted);
}

static void leave_lists(struct threaded *threaded) {
    struct io_threads *io = io_of(threaded);
    struct threaded **link = &io->dirty;
    while (threaded->is_dirty && *link != threaded) link = &(*link)->next_dirty;
    if (threaded->is_dirty) *link = threaded->next_dirty;
    threaded_leave_resumed(threaded);
    threaded_unwant(threaded);
    CHAIN_REMOVE(io->first, io->last, threaded, prev, next);
    threaded->thread->connections--;
}

/* --- Input --- */

static struct block *take_input(struct threaded *threaded) {
    threaded->input_allocated -= block_allocated(threaded->input.first);
    return block_pop(&threaded->input);
}

static size_t waiting(const struct conn *conn, size_t *allocated) {
    const struct threaded *threaded = threaded_of(conn);
    *allocated = threaded->input_allocated;
    return threaded->input.bytes;
}

/* The thread hears with the next replies of the blocks that are consumed, or when they are many. */
static void finish_input(struct threaded *threaded, struct block *block) {
    io_block_free(spares_of(threaded), block);
    if (++threaded->consumed >= IO_CREDIT / 2 && !threaded->is_closing) mark_dirty(threaded);
}

/* Presents a block that is in no chain. Returns whether all of it was taken. */
static bool present_block(struct threaded *threaded, struct block *block) {
    while (block->len > 0 && threaded->reads) {
        size_t taken = conn_received_at(threaded->conn, block->at, block->len);
        if (taken == 0) break;
        block->at += taken;
        block->len -= taken;
    }
    if (block->len == 0 || threaded->is_closing) {
        finish_input(threaded, block);
        return true;
    }
    block_push_first(&threaded->input, block);
    threaded->input_allocated += block_allocated(block);
    if (threaded->reads) resume(threaded);
    return false;
}

/* What nested polling does not serve waits until it has ended. */
void threaded_present(struct threaded *threaded) {
    if (threaded->is_presenting) return;
    if (net_of(threaded->conn)->nested && !(threaded->conn->flags & CONN_NESTED)) {
        resume(threaded);
        return;
    }
    threaded->is_presenting = true;
    while (threaded->input.first && threaded->reads)
        if (!present_block(threaded, take_input(threaded))) break;
    threaded->is_presenting = false;
    if (threaded->input.first || !threaded->reads || threaded->ended == 0) return;
    int status = threaded->ended;
    threaded->ended = 0;
    conn_input_ended(threaded->conn, status);
}

static void received(struct threaded *threaded, struct block *block) {
    net_of(threaded->conn)->thread_reads++;
    threaded->thread->reads++;
    if (threaded->is_closing) {
        finish_input(threaded, block);
        return;
    }
    block_push(&threaded->input, block);
    threaded->input_allocated += block_allocated(block);
    threaded_present(threaded);
}

static void start_reading(struct conn *conn) {
    struct threaded *threaded = threaded_of(conn);
    threaded->reads = true;
    if (threaded->input.first || threaded->ended) resume(threaded);
}

static void stop_reading(struct conn *conn) {
    threaded_of(conn)->reads = false;
}

static void read_now(struct conn *conn) {
    threaded_present(threaded_of(conn));
}

/* --- Output --- */

/* Returns how many bytes of try_write the thread may still be given. */
static size_t room_of(struct threaded *threaded, size_t wanted) {
    size_t unsent = threaded->given - threaded->sent_seen;
    if (unsent + wanted > IO_UNSENT_MAX) {
        threaded->sent_seen = sent_by(threaded);
        unsent = threaded->given - threaded->sent_seen;
    }
    return unsent < IO_UNSENT_MAX ? IO_UNSENT_MAX - unsent : 0;
}

/* Copies bytes to the blocks that are to be handed over. */
static void copy(struct threaded *threaded, const char *bytes, size_t len) {
    struct block_queue *open = &threaded->open;
    while (len > 0) {
        if (!open->first || block_room(open->last) == 0) {
            bool is_large = open->first || len > IO_SMALL_SIZE - sizeof(struct block);
            block_push(open, io_block_new(spares_of(threaded), is_large));
        }
        size_t part = block_fill(open->last, bytes, len);
        open->last->clears |= (threaded->conn->flags & CONN_CLEARS_OUTPUT) != 0;
        open->bytes += part;
        bytes += part;
        len -= part;
    }
}

static void count_write(struct threaded *threaded) {
    net_of(threaded->conn)->thread_writes++;
    threaded->thread->writes++;
}

void threaded_hand_over(struct threaded *threaded) {
    if (threaded->open.first) count_write(threaded);
    if (threaded->open.first)
        put(threaded, IO_SEND, threaded->open.first, threaded->consumed);
    else if (threaded->consumed > 0)
        put(threaded, IO_CONSUMED, NULL, threaded->consumed);
    threaded->open = (struct block_queue){.first = NULL};
    threaded->consumed = 0;
}

/* Much waits: the thread sends it while the loop goes on. */
static __attribute__((noinline)) void hand_over_now(struct threaded *threaded) {
    struct io_thread *thread = threaded->thread;
    threaded_hand_over(threaded);
    if (ring_publish(&thread->to_thread)) bell_ring(&thread->bell);
    threaded->sent_seen = sent_by(threaded);
}

static ssize_t try_write(struct conn *conn, const uv_buf_t *buffers, unsigned count) {
    struct threaded *threaded = threaded_of(conn);
    if (threaded->failed) return threaded->failed;
    if (threaded->is_leaving) return 0;
    size_t taken = 0;
    for (unsigned i = 0; i < count; i++) {
        size_t len = buffers[i].len, room = room_of(threaded, len);
        if (len > room) len = room;
        copy(threaded, buffers[i].base, len);
        threaded->given += len;
        taken += len;
        if (len < buffers[i].len) break;
    }
    if (threaded->given - threaded->sent_seen > IO_HAND_OVER_AT)
        hand_over_now(threaded);
    else if (taken > 0)
        mark_dirty(threaded);
    return (ssize_t)taken;
}

static bool share(struct conn *conn, struct shared *shared, struct slice bytes) {
    struct threaded *threaded = threaded_of(conn);
    if (threaded->failed || threaded->is_leaving || room_of(threaded, bytes.len) < bytes.len)
        return false;
    if (threaded->open.first) threaded_hand_over(threaded);
    threaded->given += bytes.len;
    shared_give(shared);
    struct ring_item item = {.about = threaded->socket,
                             .bytes = shared,
                             .number = (uintptr_t)bytes.ptr,
                             .count = (uint32_t)bytes.len,
                             .kind = IO_SHARED};
    ring_put(&threaded->thread->to_thread, &item);
    return true;
}

/* The write's blocks go to the thread. */
static void put_write(struct threaded *threaded) {
    threaded->given += threaded->write_len;
    count_write(threaded);
    put(threaded, IO_WRITE, threaded->write, 0);
}

static int begin_write(struct conn *conn, void *write, const uv_buf_t *buffers, unsigned count) {
    struct threaded *threaded = threaded_of(conn);
    CHECKED_ASSERT(!threaded->write && count > 0);
    if (threaded->failed) return threaded->failed;
    struct block *blocks = mem_alloc_zeroed(count * sizeof(*blocks));
    threaded->write_len = 0;
    for (unsigned i = 0; i < count; i++) {
        blocks[i] = (struct block){.next = i + 1 < count ? &blocks[i + 1] : NULL,
                                   .at = buffers[i].base,
                                   .len = buffers[i].len,
                                   .kind = BLOCK_BORROWED,
                                   .is_last = i + 1 == count};
        threaded->write_len += buffers[i].len;
    }
    threaded->write = blocks;
    threaded->write_count = count;
    threaded->write_area = write;
    if (threaded->is_leaving) return 0;
    threaded_hand_over(threaded);
    put_write(threaded);
    return 0;
}

static size_t unsent(const struct conn *conn) {
    const struct threaded *threaded = threaded_of(conn);
    if (!threaded->write) return 0;
    if (threaded->is_leaving) return threaded->write_len;
    size_t left = threaded->given - sent_by(threaded);
    return left < threaded->write_len ? left : threaded->write_len;
}

static void end_write(struct threaded *threaded, int status) {
    mem_free(threaded->write);
    threaded->write = NULL;
    if (threaded->is_closing) return;
    if (threaded->is_draining)
        conn_drained(threaded->conn);
    else
        conn_written(threaded->conn, status);
}

/* An empty write ends when all before it is sent. */
static bool drain(struct conn *conn) {
    struct threaded *threaded = threaded_of(conn);
    uv_buf_t nothing = uv_buf_init(NULL, 0);
    if (sent_by(threaded) == threaded->given || threaded->failed) return false;
    threaded->is_draining = true;
    return begin_write(conn, NULL, &nothing, 1) == 0;
}

static void shut_down(struct conn *conn) {
    shutdown(threaded_of(conn)->fd, SHUT_RDWR);
}

/* --- To the thread, and back --- */

/* Returns the table for the connection while it is with a thread; NULL: it cannot be. */
static const struct transport *table_for(const struct conn *conn) {
    if (conn->transport == &transport_tcp) return &transport_threaded;
    if (conn->transport == &transport_unix) return &THREADED_UNIX;
    return tls_is_over_tcp(conn) ? &THREADED_TLS : NULL;
}

/* Returns the size of libuv's handle, which lies first in the state. */
static size_t handle_size(const struct conn *conn) {
    return conn->transport == &THREADED_TLS ? sizeof(uv_tcp_t) : conn->transport->state_size;
}

static void free_socket(struct io_socket *socket) {
    if (socket->tls) {
        io_drop_records(socket->tls, &net_of(socket->conn)->blocks);
        tls_codec_free(&socket->tls->codec);
        mem_free(socket->tls);
    }
    mem_free(socket);
}

/* libuv has closed its handle, whose place is the state's. */
static void on_given(uv_handle_t *handle) {
    struct io_socket *socket = handle->data;
    struct conn *conn = socket->conn;
    struct threaded *threaded = transport_state(conn);
    struct io_threads *io = net_of(conn)->io;
    socket->threaded = threaded;
    conn->transport = table_for(conn);
    *threaded = (struct threaded){.conn = conn,
                                  .socket = socket,
                                  .thread = socket->thread,
                                  .fd = socket->fd,
                                  .reads = socket->begins_reading};
    if (conn->transport == &THREADED_TLS) {
        socket->tls = mem_alloc_zeroed(sizeof(*socket->tls));
        tls_lend(conn, &socket->tls->codec);
    }
    CHAIN_APPEND(io->first, io->last, threaded, prev, next);
    put(threaded, IO_OPEN, NULL, 0);
}

/* Returns whether output is being sent. What is only held goes by whatever transport the connection
 * has when the iteration ends. */
static bool is_writing(const struct conn *conn) {
    return conn->output && !conn_is_holding(conn);
}

/* libuv polls its descriptor until it closes it, so the thread gets a copy. */
bool threaded_give(struct conn *conn, struct io_thread *thread) {
    conn = conn_top(conn);
    uv_stream_t *stream = transport_state(conn);
    const struct transport *table = table_for(conn);
    const int unfit = CONN_CLOSING | CONN_DRAINING | CONN_FAILED | CONN_ENDED;
    if (!table || conn->kind == CONN_PRIMARY || conn->flags & unfit || is_writing(conn) ||
        stream->connect_req || net_of(conn)->nested)
        return false;
    if (table == &THREADED_TLS && !tls_may_lend(conn)) return false;
    int fd = fcntl(conn_fd(conn), F_DUPFD_CLOEXEC, 0);
    if (fd < 0) return false;
    struct io_socket *socket = mem_alloc_aligned(RING_LINE, sizeof(*socket));
    *socket = (struct io_socket){.conn = conn,
                                 .thread = thread,
                                 .begins_reading = uv_is_active((uv_handle_t *)stream),
                                 .fd = fd,
                                 .credit = IO_CREDIT};
    thread->connections++;
    stream->data = socket;
    uv_close((uv_handle_t *)stream, on_given);
    return true;
}

/* A thread that still had to send would wait for a client that does not read. */
bool threaded_take_back(struct threaded *threaded) {
    if (threaded->is_closing || threaded->is_leaving || threaded->failed || threaded->ended ||
        is_writing(threaded->conn) || threaded->open.first || threaded->input.first ||
        sent_by(threaded) != threaded->given)
        return false;
    threaded_hand_over(threaded);
    put(threaded, IO_RELEASE, NULL, 0);
    threaded->is_leaving = true;
    return true;
}

/* There is input that is not presented, or just being presented, so the connection cannot be
 * libuv's. */
static void give_again(struct threaded *threaded) {
    struct io_socket *socket = threaded->socket;
    unsigned waiting = threaded->is_presenting;
    for (struct block *block = threaded->input.first; block; block = block->next) waiting++;
    *socket = (struct io_socket){.conn = threaded->conn,
                                 .threaded = threaded,
                                 .thread = socket->thread,
                                 .tls = socket->tls,
                                 .fd = threaded->fd,
                                 .credit = IO_CREDIT > waiting ? IO_CREDIT - waiting : 0,
                                 .sent = threaded->given};
    threaded->is_leaving = false;
    threaded->sent_seen = threaded->given;
    threaded->consumed = 0;
    put(threaded, IO_OPEN, NULL, 0);
    if (threaded->write) put_write(threaded);
    if (conn_top(threaded->conn)->flags & CONN_STAYS) threaded_want_back(threaded->conn);
}

/* Starts the write that has waited, unless the connection cannot be adopted: `status`. */
static void write_again(struct conn *conn, const struct threaded *before, int status) {
    uv_buf_t buffers[CONN_BATCH_MAX];
    assert(before->write_count <= CONN_BATCH_MAX);
    CHECKED_ASSERT(!before->is_draining); /* that write is put before IO_RELEASE, and answered */
    for (unsigned i = 0; i < before->write_count; i++)
        buffers[i] = (uv_buf_t){.base = before->write[i].at, .len = before->write[i].len};
    memset(before->write_area, 0, conn->transport->write_size);
    if (status == 0)
        status = conn->transport->write(conn, before->write_area, buffers, before->write_count);
    mem_free(before->write);
    if (status != 0) conn_written(conn, status);
}

/* The loop has the socket again. */
static void adopt(struct threaded *threaded) {
    struct conn *conn = threaded->conn;
    struct threaded before = *threaded;
    leave_lists(threaded);
    memset(threaded, 0, handle_size(conn));
    conn->transport = conn->transport->counterpart;
    struct io_tls *tls = before.socket->tls;
    if (tls) tls_take_back(conn, &tls->codec, &tls->records);
    free_socket(before.socket);
    int status = conn->transport->adopt(conn, before.fd);
    if (status != 0) close(before.fd);
    if (status == 0 && before.reads) conn->transport->start_reading(conn);
    if (before.write) write_again(conn, &before, status);
    if (status != 0) conn_input_ended(conn, status);
}

static void closed(struct threaded *threaded) {
    struct io_threads *io = io_of(threaded);
    leave_lists(threaded);
    CHAIN_APPEND(io->closed_first, io->closed_last, threaded, prev, next);
}

static void released(struct threaded *threaded) {
    if (threaded->is_closing) {
        close(threaded->fd);
        closed(threaded);
    } else if (threaded->input.first || threaded->is_presenting || threaded->ended ||
               threaded->failed || net_of(threaded->conn)->nested) {
        give_again(threaded);
    } else {
        adopt(threaded);
    }
}

/* --- Closing --- */

static void close_threaded(struct conn *conn) {
    struct threaded *threaded = threaded_of(conn);
    threaded->is_closing = true;
    threaded->reads = false;
    while (threaded->input.first) io_block_free(spares_of(threaded), take_input(threaded));
    if (threaded->is_leaving) return; /* the answer to that is still to come */
    threaded_hand_over(threaded);
    put(threaded, IO_CLOSE, NULL, 0);
}

void threaded_free(struct threaded *threaded) {
    struct io_threads *io = io_of(threaded);
    CHAIN_REMOVE(io->closed_first, io->closed_last, threaded, prev, next);
    if (io->net->writer == threaded->conn) io->net->writer = NULL;
    mem_free(threaded->write);
    free_socket(threaded->socket);
    conn_closed(threaded->conn);
}

void threaded_handle(const struct ring_item *item) {
    struct threaded *threaded = ((struct io_socket *)item->about)->threaded;
    int status = (int)(int64_t)item->number;
    switch ((enum io_kind)item->kind) {
    case IO_DATA: received(threaded, item->bytes); break;
    case IO_ENDED:
        threaded->ended = status;
        if (item->bytes && !threaded->is_closing)
            tls_log_failure(threaded->conn, item->bytes, NULL);
        threaded_present(threaded);
        break;
    case IO_WRITTEN: end_write(threaded, status); break;
    case IO_FAILED: threaded->failed = status; break;
    case IO_CLOSED: closed(threaded); break;
    default: released(threaded); break;
    }
}

/* --- The table --- */

static int fd_of(const struct conn *conn) {
    const struct threaded *threaded = threaded_of(conn);
    return threaded->is_closing ? -1 : threaded->fd;
}

/* What is in the thread's hands, and not in the caller's buffers. */
static size_t held(const struct conn *conn) {
    const struct threaded *threaded = threaded_of(conn);
    size_t left = threaded->given - sent_by(threaded);
    bool has_write = threaded->write && !threaded->is_leaving;
    size_t written = has_write ? threaded->write_len : 0;
    return left > written ? left - written : 0;
}

static size_t allocated(const struct conn *conn) {
    const struct io_socket *socket = threaded_of(conn)->socket;
    const struct io_tls *tls = socket->tls;
    size_t size = sizeof(*socket) + held(conn);
    if (!tls) return size;
    return size + sizeof(*tls) + tls_lent_allocated(conn, &tls->codec) +
           __atomic_load_n(&tls->left, __ATOMIC_RELAXED);
}

unsigned conn_io_thread(const struct conn *conn) {
    if (!conn->transport->is_threaded) return 0;
    return threaded_of(conn)->socket->thread->number;
}

#define THREADED_FUNCTIONS                                                                         \
    .is_threaded = true, .start_reading = start_reading, .stop_reading = stop_reading,             \
    .read_now = read_now, .try_write = try_write, .write = begin_write, .unsent = unsent,          \
    .share = share, .shut_down = shut_down, .close = close_threaded, .fd = fd_of, .drain = drain,  \
    .held = held, .waiting = waiting, .allocated = allocated, .want_back = threaded_want_back

const struct transport transport_threaded = {.counterpart = &transport_tcp,
                                             .state_size = sizeof(uv_tcp_t),
                                             .write_size = sizeof(uv_write_t),
                                             THREADED_FUNCTIONS};

static const struct transport THREADED_UNIX = {.counterpart = &transport_unix,
                                               .state_size = sizeof(uv_pipe_t),
                                               .write_size = sizeof(uv_write_t),
                                               .is_unix = true,
                                               THREADED_FUNCTIONS};

/* The codec is with the thread; the rest of the state of TLS stays behind libuv's handle. */
static const struct transport THREADED_TLS = {.counterpart = &transport_tls,
                                              .state_size = TLS_STATE_SIZE(sizeof(uv_tcp_t)),
                                              .write_size = sizeof(struct tls_write),
                                              THREADED_FUNCTIONS};
