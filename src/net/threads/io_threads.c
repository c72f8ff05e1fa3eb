#include "net/threads/io_threads.h"

#include "base/memory/alloc.h"
#include "net/threads/io_state.h"

#include <errno.h>
#include <sched.h>

enum { MOVE_EVERY_MS = 5 };

/* --- What the threads have for the loop --- */

/* Asks the processor for what the next items are about. */
static void prefetch(const struct ring *ring) {
    const struct ring_item *next = ring_ahead(ring, 1);
    if (!next) return;
    struct io_socket *socket = next->about;
    __builtin_prefetch(socket);
    if (next->bytes) __builtin_prefetch(next->bytes);
    next = ring_ahead(ring, 0);
    if (!next) return;
    socket = next->about;
    __builtin_prefetch(socket->threaded);
    __builtin_prefetch((char *)socket->threaded + 64);
    __builtin_prefetch(socket->conn);
    __builtin_prefetch(socket->conn->session);
}

/* Presents the input of those that are in the list now; of those that enter it meanwhile, in the
 * next iteration. Each call may run nested polling, which comes here again and frees connections:
 * so all that wait stay in the list. */
static void present_resumed(struct io_threads *io) {
    size_t count = 0;
    for (const struct threaded *at = io->resumed_first; at; at = at->next_resumed) count++;
    for (; count > 0 && io->resumed_first; count--) {
        struct threaded *threaded = io->resumed_first;
        threaded_leave_resumed(threaded);
        threaded_present(threaded);
    }
}

/* Takes what was there when it began. */
void io_threads_take(struct net *net) {
    struct io_threads *io = net->io;
    if (io->resumed_first) present_resumed(io);
    for (unsigned i = 0; i < io->count; i++) {
        struct io_thread *thread = io->threads[i];
        struct ring_item item;
        if (!ring_is_ready(&thread->to_loop)) continue;
        net_note_awake(net);
        while (ring_ahead(&thread->to_loop, 0)) {
            ring_get(&thread->to_loop, &item);
            prefetch(&thread->to_loop);
            threaded_handle(&item);
        }
        if (ring_give_back(&thread->to_loop)) bell_ring(&thread->bell);
    }
}

void io_threads_end_nested(struct net *net) {
    for (struct threaded *threaded = net->io->first; threaded; threaded = threaded->next)
        threaded->conn->flags &= (uint16_t)~CONN_NESTED;
}

void io_threads_hand_over(struct net *net) {
    struct io_threads *io = net->io;
    while (io->dirty) {
        struct threaded *threaded = io->dirty;
        io->dirty = threaded->next_dirty;
        threaded->is_dirty = false;
        if (!threaded->is_closing && !threaded->is_leaving) threaded_hand_over(threaded);
    }
    for (unsigned i = 0; i < io->count; i++) {
        struct io_thread *thread = io->threads[i];
        if (ring_publish(&thread->to_thread)) bell_ring(&thread->bell);
    }
}

static bool has_work(const struct io_threads *io) {
    bool has = io->resumed_first || io->dirty;
    for (unsigned i = 0; i < io->count; i++) has |= ring_is_ready(&io->threads[i]->to_loop);
    return has;
}

bool io_threads_before_sleep(struct net *net) {
    struct io_threads *io = net->io;
    while (io->closed_first) threaded_free(io->closed_first);
    bell_sleep(&io->bell);
    io_threads_hand_over(
        net); /* again, as slots may be free now for items that found a ring full */
    return has_work(io);
}

/* --- Which connections are with threads --- */

/* Returns the thread with the fewest connections; NULL: there is none. */
static struct io_thread *least_loaded(const struct io_threads *io) {
    struct io_thread *best = NULL;
    for (unsigned i = 0; i < io->count; i++) {
        struct io_thread *thread = io->threads[i];
        if (thread->is_surplus) continue;
        if (!best || thread->connections < best->connections) best = thread;
    }
    return best;
}

static bool has_surplus(const struct io_threads *io) {
    return io->count > 0 && io->threads[io->count - 1]->is_surplus;
}

static bool give(struct io_threads *io, struct conn *conn) {
    if (conn_top(conn)->flags & CONN_STAYS) return false;
    struct io_thread *thread = least_loaded(io);
    return thread && threaded_give(conn, thread);
}

struct giving {
    struct io_threads *io;
    unsigned left;
};

static void give_one_of_all(uv_handle_t *handle, void *arg) {
    struct giving *giving = arg;
    bool is_stream = handle->type == UV_TCP || handle->type == UV_NAMED_PIPE;
    bool is_connection = is_stream && handle->data && !uv_is_closing(handle);
    if (is_connection && giving->left > 0 && give(giving->io, handle->data)) giving->left--;
}

/* Of those that the loop has, only connections that do something are given: in each iteration the
 * one that was read last, and the one that was sent to last. Soon that has been each of those that
 * are busy, and nothing has to look for them. */
static void give_active(struct io_threads *io, struct conn *reader) {
    struct conn *writer = io->net->writer;
    if (reader) give(io, reader);
    if (writer && writer != reader) give(io, writer);
}

/* Takes back those of surplus threads, or all: some at a time, in turn. */
static void take_back(struct io_threads *io, bool all) {
    struct threaded *end = io->last;
    for (unsigned i = 0; io->first && i < IO_MOVES_MAX; i++) {
        struct threaded *threaded = io->first;
        if (all || threaded->socket->thread->is_surplus) threaded_take_back(threaded);
        CHAIN_REMOVE(io->first, io->last, threaded, prev, next);
        CHAIN_APPEND(io->first, io->last, threaded, prev, next);
        if (threaded == end) return;
    }
}

/* Those that are to stay with the loop. One that cannot be moved now has another turn later. */
static void take_back_wanted(struct io_threads *io) {
    for (unsigned i = 0; io->wanted_first && i < IO_MOVES_MAX; i++) {
        struct threaded *threaded = io->wanted_first;
        bool stays = conn_top(threaded->conn)->flags & CONN_STAYS;
        threaded_unwant(threaded);
        if (stays && !threaded_take_back(threaded)) threaded_want_back(threaded->conn);
    }
}

static void end_surplus(struct io_threads *io) {
    while (has_surplus(io) && io->threads[io->count - 1]->connections == 0)
        io_thread_stop(io->threads[--io->count]);
}

static void look(struct io_threads *io) {
    struct io_sample now = {
        .wall_us = (uint64_t)clock_monotonic_us(), .polls = io->net->turn, .reads = io->net->reads};
    io_meter_read(&io->meter, &now.run_us, &now.wait_us);
    for (unsigned i = 0; i < io->count; i++) {
        uint64_t run_us, wait_us;
        io_meter_read(&io->threads[i]->meter, &run_us, &wait_us);
        now.threads_us += run_us + wait_us;
    }
    io_load_look(&io->load, &now);
}

/* `reader` is the connection of the loop that was read last in this iteration, or NULL. */
static void balance(struct io_threads *io, struct conn *reader) {
    uint64_t now = clock_ticks();
    if (now - io->looked_ticks >= clock_us_to_ticks(IO_LOAD_WINDOW_US)) {
        io->looked_ticks = now;
        look(io);
    }
    bool takes = io->load.takes || io->when == IO_ALWAYS;
    if (takes) give_active(io, reader);
    bool is_early = now - io->moved_ticks < clock_us_to_ticks(MOVE_EVERY_MS * 1000);
    if (is_early && io->net->accepts == 0) return;
    io->moved_ticks = now;
    if (io->when == IO_ALWAYS) {
        struct giving giving = {.io = io, .left = IO_MOVES_MAX};
        uv_walk(&io->net->loop.uv, give_one_of_all, &giving);
    }
    if (!takes || has_surplus(io)) take_back(io, !takes);
    take_back_wanted(io);
    end_surplus(io);
}

/* --- In the loop --- */

/* The last callback of an iteration but for those of handles that are closed: nothing uses a
 * connection while it moves. */
static void on_check(uv_check_t *check) {
    struct io_threads *io = check->data;
    struct conn *reader = io->net->reader;
    bell_awake(&io->bell);
    io_threads_take(io->net);
    if (io->count > 0) balance(io, reader);
    io->net->writer = NULL;
}

static struct io_threads *begin(struct net *net, const char **error) {
    struct io_threads *io = mem_alloc_aligned(RING_LINE, sizeof(*io));
    *io = (struct io_threads){.net = net};
    int status = bell_init(&io->bell) ? 0 : -errno;
    if (status == 0) {
        status = loop_watch_bell(&net->loop, &io->bell_poll, &io->bell);
        if (status != 0) bell_free(&io->bell);
    }
    if (status != 0) {
        *error = uv_strerror(status);
        mem_free(io);
        return NULL;
    }
    io_meter_open(&io->meter);
    uv_check_init(&net->loop.uv, &io->check);
    io->check.data = io;
    io->handles = 2;
    uv_check_start(&io->check, on_check);
    return io;
}

/* The last of the two handles frees it all. */
static void on_handle_closed(uv_handle_t *handle) {
    struct io_threads *io = handle->data;
    if (--io->handles > 0) return;
    io_meter_close(&io->meter);
    bell_free(&io->bell);
    mem_free(io);
}

/* The loop closes the handles when net_free runs it: it must not run before, as what its other
 * handles call may be gone. */
void io_threads_free(struct net *net) {
    struct io_threads *io = net->io;
    for (struct threaded *threaded = io->first; threaded; threaded = threaded->next)
        conn_close(conn_top(threaded->conn));
    conn_close_all_sockets(net);
    while (io->first) {
        io_threads_hand_over(net);
        io_threads_take(net);
        sched_yield();
    }
    while (io->closed_first) threaded_free(io->closed_first);
    for (unsigned i = 0; i < io->count; i++) io_thread_stop(io->threads[i]);
    io->count = 0;
    uv_close((uv_handle_t *)&io->check, on_handle_closed);
    uv_close((uv_handle_t *)&io->bell_poll, on_handle_closed);
    net->io = NULL;
}

void io_threads_reset_totals(struct net *net) {
    for (unsigned i = 0; i < net->io->count; i++)
        net->io->threads[i]->reads = net->io->threads[i]->writes = 0;
}

bool io_threads_set(struct net *net, unsigned count, enum io_when when, const char **error) {
    if (!net->io && count == 0) return true;
    if (!net->io) net->io = begin(net, error);
    struct io_threads *io = net->io;
    if (!io) return false;
    io->when = when;
    if (count == 0) io->load = (struct io_load){.takes = false};
    for (unsigned i = 0; i < io->count; i++) io->threads[i]->is_surplus = i >= count;
    while (io->count < count) {
        struct io_thread *thread = io_thread_start(io, io->count + 1, error);
        if (!thread) return false;
        io->threads[io->count++] = thread;
    }
    return true;
}

unsigned io_threads_active(const struct net *net) {
    unsigned active = 0;
    for (unsigned i = 0; net->io && i < net->io->count; i++)
        active += net->io->threads[i]->connections > 0;
    return active;
}

const char *io_threads_idle_reason(const struct net *net) {
    static const char *const WORDS[] = {[IO_LOAD_UNKNOWN] = "unknown",
                                        [IO_LOAD_LITTLE_WORK] = "little-work",
                                        [IO_LOAD_FEW_READY] = "few-clients-at-once",
                                        [IO_LOAD_HELPS] = "starting"};
    const struct io_threads *io = net->io;
    if (!io || !least_loaded(io)) return "off";
    if (io_threads_active(net) > 0) return "-";
    if (io->when == IO_ALWAYS) return "no-clients";
    return WORDS[io->load.verdict];
}

unsigned io_threads_count(const struct net *net) {
    return net->io ? net->io->count : 0;
}

struct io_thread_facts io_thread_facts(const struct net *net, unsigned number) {
    const struct io_thread *thread = net->io->threads[number - 1];
    return (struct io_thread_facts){thread->connections, thread->reads, thread->writes};
}
