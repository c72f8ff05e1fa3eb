/* The output of a connection that the socket did not take at once.
 *
 *      struct output: the one outstanding write, and a queue of blocks
 *
 *      first                                            last
 *      | sent | submitted … | → | … submitted | new | → | new | room | → | in a source | → …
 *             ^at                                         ^at
 *      makers: each with a queue of the blocks that follow what it makes
 *
 * Bytes in a source may move or change between two callbacks, so they cannot be submitted. The
 * socket takes what it can from the source itself, up to CONN_SOURCE_BATCH bytes at a time. When
 * the queue begins with a source after that, the next few of its bytes are copied and submitted,
 * which tells when the socket takes more.
 *
 * What a maker makes goes to the end of the queue, as soon as there is little left in that. When it
 * has made all, the blocks that follow are appended. Making takes time: so after each write it is
 * held until the end of the iteration, and only a few outputs of those are sent then.
 *
 * Invariants
 *   1. The struct exists exactly while bytes, or makers, are queued. Then either a write is
 *     outstanding, or it is held: it is in a list of the net and is sent before the loop sleeps.
 *   2. queue.bytes >= submitted. The submitted bytes are the first of the queue; there are some
 *      exactly while it is not held.
 *   3. Submitted bytes do not move until the write's callback. New bytes may be appended after
 *     them, even in the same block.
 *
 * A message to a hundred subscribers makes a queue for each of them, until the iteration ends. So
 * up to CONN_SPARES_MAX such structs and first blocks are kept, whose memory is still cached. */
#include "base/checked.h"
#include "base/memory/alloc.h"
#include "base/memory/shared.h"
#include "base/text/secret.h"
#include "net/connections/nested.h"

#include <string.h>

enum { CONN_COPIED_MAX = 1 << 30 }; /* bytes of a block */

/* What the bytes[] of a BLOCK_SOURCE hold. */
struct source {
    const struct conn_source *functions;
    void *source;
    size_t end; /* where the block's bytes end in it */
};

struct maker {
    struct maker *next;
    const struct conn_maker *functions;
    void *state;
    size_t allocated; /* bytes, with this struct */
    struct block_queue after;
};

struct output {
    struct conn *conn;
    struct block_queue queue;
    struct maker *makers, *last_maker; /* the last one is valid while there is a first */
    size_t behind;                     /* bytes in the queues after makers */
    size_t submitted;
    size_t allocated;          /* bytes of the blocks and makers */
    size_t referred;           /* bytes in sources */
    struct output *next_held;  /* also of spare ones */
    struct output **held_link; /* the pointer to this in one of the net's lists; NULL = not held */
    size_t removed;            /* bytes removed from the queue since it exists */
    size_t reported;           /* bytes that the socket had taken at the last conn_output_moved */
    bool is_usual;             /* `write` is a uv_write_t */
    _Alignas(uint64_t) char write[]; /* the transport's state of the outstanding write */
};

static bool clears_output(const struct conn *conn) {
    return (conn->flags & CONN_CLEARS_OUTPUT) != 0;
}

static const struct source *source_of(const struct block *block) {
    return block->kind == BLOCK_SOURCE ? (const struct source *)block->bytes : NULL;
}

/* Returns a block with room for `len` bytes, and of at least `least` bytes with its header. */
static struct block *new_block(const struct output *output, size_t len, size_t least) {
    size_t size = sizeof(struct block) + len;
    size = mem_good_size(size > least ? size : least);
    return block_new_sized(&net_of(output->conn)->blocks, size);
}

/* Returns the queue to which is appended. */
static struct block_queue *end_queue(struct output *output) {
    return output->makers ? &output->last_maker->after : &output->queue;
}

/* Bytes were appended to it. */
static void count_appended(struct output *output, size_t len) {
    if (output->makers) output->behind += len;
}

/* Returns the bytes in all queues. */
static size_t queued(const struct output *output) {
    return output->queue.bytes + output->behind;
}

static void free_block(struct net *net, struct block *block) {
    const struct source *source = source_of(block);
    if (source) source->functions->release(source->source);
    block_free(&net->blocks, block);
}

/* Returns an empty queue; a spare one where the transport's state is that of a write of libuv. */
static struct output *output_new(struct conn *conn) {
    struct net *net = net_of(conn);
    size_t write_size = conn->transport->write_size;
    bool is_usual = write_size == sizeof(uv_write_t);
    struct output *output = is_usual ? net->spare_outputs : NULL;
    if (output == NULL) {
        output = mem_alloc(sizeof(*output) + write_size);
    } else {
        net->spare_outputs = output->next_held;
        net->spare_output_count--;
    }
    memset(output, 0, sizeof(*output) + write_size);
    output->conn = conn;
    output->is_usual = is_usual;
    return output;
}

static void output_free(struct output *output) {
    struct net *net = net_of(output->conn);
    if (!output->is_usual || net->spare_output_count == CONN_SPARES_MAX) {
        mem_free(output);
        return;
    }
    output->next_held = net->spare_outputs;
    net->spare_outputs = output;
    net->spare_output_count++;
}

void conn_begin_spares(struct net *net) {
    net->blocks.size = (uint32_t)mem_good_size(CONN_FIRST_BLOCK);
    net->blocks.most = CONN_SPARES_MAX;
    net->making_end = &net->making;
}

void conn_free_spares(struct net *net) {
    block_pool_free(&net->blocks);
    while (net->spare_outputs != NULL) {
        struct output *output = net->spare_outputs;
        net->spare_outputs = output->next_held;
        mem_free(output);
    }
}

/* --- The lists of connections that hold output --- */

static void link_held(struct output *output) {
    struct net *net = net_of(output->conn);
    output->next_held = net->held;
    output->held_link = &net->held;
    if (net->held != NULL) net->held->held_link = &output->next_held;
    net->held = output;
    if (__builtin_expect(net->nested != NULL, 0)) nested_note_held(output->conn);
}

static void link_making(struct output *output) {
    struct net *net = net_of(output->conn);
    output->next_held = NULL;
    output->held_link = net->making_end;
    *net->making_end = output;
    net->making_end = &output->next_held;
}

static void unlink_held(struct output *output) {
    struct net *net = net_of(output->conn);
    if (output->held_link == NULL) return;
    if (net->making_end == &output->next_held) net->making_end = output->held_link;
    *output->held_link = output->next_held;
    if (output->next_held != NULL) output->next_held->held_link = output->held_link;
    output->held_link = NULL;
}

/* --- Dropping --- */

static void free_first_dropped(struct net *net) {
    struct block *block = net->dropped;
    net->dropped = block->next;
    free_block(net, block);
}

/* Not inlined: every loop iteration would save more registers. */
__attribute__((noinline)) bool conn_free_dropped(struct net *net) {
    for (int i = 0; i < CONN_DROPS_MAX && net->dropped != NULL; i++) free_first_dropped(net);
    return net->dropped != NULL;
}

/* Ends the first maker. What follows is sent next. O(1). */
static void end_maker(struct output *output) {
    struct maker *maker = output->makers;
    maker->functions->end(maker->state);
    output->makers = maker->next;
    output->behind -= maker->after.bytes;
    output->allocated -= maker->allocated;
    block_join(&output->queue, &maker->after);
    mem_free(maker);
}

/* The queue of a client that read nothing may have a hundred thousand blocks. Only the owners of
 * sources and makers rely on their end. */
static void drop_blocks(struct net *net, struct output *output) {
    while (output->makers) end_maker(output);
    if (output->queue.first == NULL) return;
    struct block *dropped_before = net->dropped;
    output->queue.last->next = dropped_before;
    net->dropped = output->queue.first;
    if (output->referred == 0 && output->allocated > CONN_DROP_AT_ONCE) return;
    while (net->dropped != dropped_before) free_first_dropped(net);
}

void conn_output_drop(struct conn *conn) {
    if (conn->output == NULL) return;
    unlink_held(conn->output);
    drop_blocks(net_of(conn), conn->output);
    output_free(conn->output);
    conn->output = NULL;
}

/* --- Sending --- */

/* The owner has called conn_close_after_write before. Usually this runs outside its calls, but
 * net_release_late may come here inside the connection's own `data`: what is closed is freed only
 * when the iteration ends. */
static void finish_draining(struct conn *conn) {
    if (conn->events->drained) conn->events->drained(conn);
    conn_close(conn);
}

bool conn_drain(struct conn *conn) {
    return conn->transport->drain && conn->transport->drain(conn);
}

void conn_drained(struct conn *conn) {
    if (!(conn->flags & CONN_CLOSING)) finish_draining(conn);
}

/* A write failed: nothing can be sent any more. Shutting down the transport ends the input in the
 * next loop iteration, so `ended` is never called inside a call of the owner. If nothing is read
 * any more, the owner knows already. */
static void fail(struct conn *conn, int status) {
    conn->flags |= CONN_FAILED;
    conn->error = status;
    conn_output_drop(conn);
    if (conn->flags & CONN_DRAINING)
        finish_draining(conn);
    else if (conn->flags & CONN_ENDED)
        conn_close(conn);
    else
        conn->transport->shut_down(conn);
}

/* Removes bytes from the first blocks. */
static void remove_first(struct output *output, size_t left) {
    struct block *block;
    while ((block = block_pop_done(&output->queue, &left))) {
        if (block->kind == BLOCK_SOURCE) output->referred -= block->len;
        output->allocated -= block_allocated(block);
        free_block(net_of(output->conn), block);
    }
    block = output->queue.first;
    if (block && block->kind == BLOCK_SOURCE) output->referred -= left;
}

/* Buffers for one system call. */
struct batch {
    uv_buf_t buffers[CONN_BATCH_MAX];
    unsigned count;
    size_t bytes; /* the sum of the buffers */
};

static void add_buffer(struct batch *batch, const char *bytes, size_t len) {
    batch->buffers[batch->count++] = (uv_buf_t){.base = (char *)bytes, .len = len};
    batch->bytes += len;
}

static struct slice peek(const struct block *block, size_t from, size_t most) {
    const struct source *source = source_of(block);
    size_t start = source->end - block->len;
    return source->functions->peek(source->source, start + from, most);
}

/* Adds bytes of the source, of which a batch has at most CONN_SOURCE_BATCH. Returns whether all of
 * them are in the batch. */
static bool add_source(struct batch *batch, const struct block *block, size_t *referred) {
    size_t from = 0, len = block->len;
    while (from < len && batch->count < CONN_BATCH_MAX && *referred < CONN_SOURCE_BATCH) {
        size_t most = CONN_SOURCE_BATCH - *referred;
        if (most > len - from) most = len - from;
        struct slice part = peek(block, from, most);
        add_buffer(batch, part.ptr, part.len);
        from += part.len;
        *referred += part.len;
    }
    return from == len;
}

/* Makes a batch of the first blocks: up to the first one that has a source, or with sources. */
static void fill_batch(struct batch *batch, const struct output *output, bool with_sources) {
    size_t referred = 0;
    batch->count = 0;
    batch->bytes = 0;
    for (struct block *block = output->queue.first; block && batch->count < CONN_BATCH_MAX;
         block = block->next) {
        if (block->kind != BLOCK_SOURCE)
            add_buffer(batch, block->at, block->len);
        else if (!with_sources || !add_source(batch, block, &referred))
            return;
    }
}

/* Puts a copy of the first bytes of a source, which the queue begins with, before it. */
static void copy_from_source(struct output *output) {
    const struct block *source = output->queue.first;
    size_t len = source->len;
    if (len > CONN_BLOCK_SIZE) len = CONN_BLOCK_SIZE;
    struct block *block = new_block(output, len, 0);
    while (block->len < len) {
        struct slice part = peek(source, block->len, len - block->len);
        block_fill(block, part.ptr, part.len);
    }
    remove_first(output, len);
    block_push_first(&output->queue, block);
    output->allocated += block_allocated(block);
}

/* All output is sent. */
static void finish(struct conn *conn) {
    conn_output_drop(conn);
    if (conn->flags & CONN_DRAINING && !conn_drain(conn)) finish_draining(conn);
}

static void append_made(struct output *output, struct slice made) {
    struct block *block = new_block(output, made.len, 0);
    block_fill(block, made.ptr, made.len);
    block->clears = clears_output(output->conn);
    block_push(&output->queue, block);
    output->allocated += block_allocated(block);
}

/* Makes the next bytes, if little is left before them, and they are found in a bounded time. */
static void refill(struct output *output) {
    while (output->makers && output->queue.bytes < CONN_MAKE_BELOW) {
        const struct maker *maker = output->makers;
        bool more = true;
        struct slice made = maker->functions->make(maker->state, &more);
        if (made.len > 0) append_made(output, made);
        if (!more)
            end_maker(output);
        else if (made.len == 0)
            return;
    }
}

/* Starts one write with the first blocks, if there are any. While the loop does not run, no write
 * could end: then the output is held, and nested polling or the end of the iteration sends it. */
static void submit(struct output *output) {
    struct batch batch;
    struct conn *conn = output->conn;
    refill(output);
    if (!output->queue.first) {
        if (output->makers)
            link_making(output);
        else
            finish(conn);
        return;
    }
    if (__builtin_expect(net_of(conn)->nested != NULL, 0)) {
        link_held(output);
        return;
    }
    if (output->queue.first->kind == BLOCK_SOURCE) copy_from_source(output);
    fill_batch(&batch, output, false);
    output->submitted = batch.bytes;
    int status = conn->transport->write(conn, output->write, batch.buffers, batch.count);
    if (status < 0) fail(conn, status);
}

static void note_taken(struct output *output, size_t taken) {
    CHECKED_ASSERT(taken <= output->queue.bytes);
    conn_count_output(output->conn, taken);
    output->removed += taken;
    remove_first(output, taken);
}

/* Sends what the queue begins with by reference, as far as that is possible and worth it. */
static void share_first(struct output *output) {
    struct conn *conn = output->conn;
    while (output->queue.first) {
        const struct block *first = output->queue.first;
        const struct source *source = source_of(first);
        if (!source || !source->functions->share || first->len < CONN_SHARE_MIN) return;
        size_t start = source->end - first->len;
        struct slice part = peek(first, 0, first->len);
        struct shared *shared = source->functions->share(source->source, start);
        if (!conn->transport->share(conn, shared, part)) return;
        note_taken(output, part.len);
    }
}

/* The socket takes what it can at once, and a write is started for what follows. */
static void send_at_once(struct output *output) {
    struct conn *conn = output->conn;
    struct batch batch;
    if (output->referred > 0 && conn->transport->share) share_first(output);
    if (output->queue.first && !(output->makers && output->queue.bytes < CONN_MAKE_BELOW)) {
        fill_batch(&batch, output, true);
        ssize_t sent = conn->transport->try_write(conn, batch.buffers, batch.count);
        if (sent < 0) {
            fail(conn, (int)sent);
            return;
        }
        note_taken(output, (size_t)sent);
    }
    submit(output);
}

void conn_written(struct conn *conn, int status) {
    if (filter_above(conn)) {
        filter_above(conn)->written(conn->above, status);
        return;
    }
    struct output *output = conn->output;
    if (conn->flags & CONN_CLOSING) return; /* conn_closed frees the queue */
    if (status < 0) {
        fail(conn, status);
        return;
    }
    note_taken(output, output->submitted);
    output->submitted = 0;
    if (output->makers)
        link_making(output);
    else if (output->referred > 0)
        send_at_once(output);
    else
        submit(output);
}

/* Sends held output. */
static void release(struct output *output) {
    unlink_held(output);
    struct conn *conn = output->conn;
    if (conn->flags & CONN_CLOSING) return; /* conn_closed frees the queue */
    if (!net_of(conn)->nested) net_of(conn)->writer = conn;
    send_at_once(output);
}

void conn_release_all(struct net *net) {
    while (net->held != NULL) release(net->held);
}

bool conn_release_making(struct net *net) {
    for (int i = 0; i < CONN_MAKES_MAX && net->making != NULL; i++) release(net->making);
    return net->making != NULL;
}

void conn_release_nested(struct net *net) {
    struct output *next;
    for (struct output *output = net->held; output != NULL; output = next) {
        next = output->next_held;
        if (output->conn->flags & CONN_NESTED) release(output);
    }
}

void conn_release(struct conn *conn) {
    release(conn->output);
}

static bool takes_output(const struct conn *conn) {
    return !(conn->flags & (CONN_CLOSING | CONN_DRAINING | CONN_FAILED));
}

void conn_clear_output(struct conn *conn, bool on) {
    conn->flags &= (uint16_t)~CONN_CLEARS_OUTPUT;
    if (on) conn->flags |= CONN_CLEARS_OUTPUT;
}

static struct output *output_of(struct conn *conn) {
    if (conn->output == NULL) conn->output = output_new(conn);
    return conn->output;
}

static void append(struct output *output, struct block *block) {
    block_push(end_queue(output), block);
    count_appended(output, block->len);
    output->allocated += block_allocated(block);
}

size_t conn_try_write(struct conn *conn, const char *bytes, size_t len) {
    if (len == 0 || conn->output != NULL || !takes_output(conn)) return 0;
    uv_buf_t buffer = {.base = (char *)bytes, .len = len};
    ssize_t sent = conn->transport->try_write(conn, &buffer, 1);
    if (sent < 0) {
        fail(conn, (int)sent);
        return 0;
    }
    conn_count_output(conn, (size_t)sent);
    return (size_t)sent;
}

/* Returns the bytes that take memory of the queue: those in sources do not. */
static size_t copied(const struct output *output) {
    return queued(output) - output->referred;
}

/* Bytes were appended: sends them, unless a write is outstanding or the queue is held and not too
 * long for that. */
static void send_appended(struct output *output) {
    if (output->submitted > 0) return;
    if (output->held_link == NULL)
        submit(output);
    else if (copied(output) > CONN_HOLD_MAX)
        release(output);
}

/* Copies bytes to the end of the queue. The first block is small, because most clients leave little
 * output unread; further ones double in size. */
static void append_bytes(struct output *output, const char *bytes, size_t len) {
    bool clears = clears_output(output->conn);
    struct block_queue *queue = end_queue(output);
    struct block *last = queue->first ? queue->last : NULL;
    size_t least = last ? 2 * (block_allocated(last) - sizeof(*last)) : CONN_FIRST_BLOCK;
    if (least > CONN_BLOCK_SIZE) least = CONN_BLOCK_SIZE;
    if (last) {
        size_t part = block_fill(last, bytes, len);
        queue->bytes += part;
        count_appended(output, part);
        if (part > 0) last->clears |= clears;
        bytes += part;
        len -= part;
    }
    while (len > 0) {
        size_t part = len < CONN_COPIED_MAX ? len : CONN_COPIED_MAX;
        struct block *block = new_block(output, part, least);
        block_fill(block, bytes, part);
        block->clears = clears;
        append(output, block);
        bytes += part;
        len -= part;
    }
}

void conn_queue(struct conn *conn, const char *bytes, size_t len) {
    if (len == 0 || !takes_output(conn)) return;
    struct output *output = output_of(conn);
    append_bytes(output, bytes, len);
    send_appended(output);
}

/* Returns the queue of the connection, which is held if it is new. */
static struct output *held_output_of(struct conn *conn) {
    bool is_first = conn->output == NULL;
    struct output *output = output_of(conn);
    if (is_first) link_held(output);
    return output;
}

void conn_hold(struct conn *conn, const char *bytes, size_t len) {
    if (len == 0 || !takes_output(conn)) return;
    struct output *output = held_output_of(conn);
    append_bytes(output, bytes, len);
    send_appended(output);
}

void conn_hold_source(struct conn *conn, const struct conn_source *functions, void *source,
                      size_t start, size_t end) {
    CHECKED_ASSERT(start < end);
    if (!takes_output(conn)) {
        functions->release(source);
        return;
    }
    struct output *output = held_output_of(conn);
    struct block *block = mem_alloc(sizeof(*block) + sizeof(struct source));
    *block =
        (struct block){.len = end - start, .kind = BLOCK_SOURCE, .capacity = sizeof(struct source)};
    *(struct source *)block->bytes =
        (struct source){.functions = functions, .source = source, .end = end};
    output->referred += end - start;
    append(output, block);
}

void conn_hold_maker(struct conn *conn, const struct conn_maker *functions, void *state,
                     size_t allocated) {
    if (!takes_output(conn)) {
        functions->end(state);
        return;
    }
    struct output *output = held_output_of(conn);
    struct maker *maker = mem_alloc(sizeof(*maker));
    *maker = (struct maker){
        .functions = functions, .state = state, .allocated = sizeof(*maker) + allocated};
    *(output->makers ? &output->last_maker->next : &output->makers) = maker;
    output->last_maker = maker;
    output->allocated += maker->allocated;
}

bool conn_is_holding(const struct conn *conn) {
    return conn->output != NULL && conn->output->held_link != NULL;
}

bool conn_can_hold(const struct conn *conn, size_t len) {
    if (conn->output != NULL && !conn_is_holding(conn)) return false;
    return (conn->output != NULL ? copied(conn->output) : 0) + len <= CONN_HOLD_MAX;
}

void conn_queue_owned(struct conn *conn, char *buffer, size_t start, size_t end) {
    CHECKED_ASSERT(start <= end);
    if (start == end || !takes_output(conn)) {
        if (clears_output(conn)) secret_clear(buffer, end);
        mem_free(buffer);
        return;
    }
    struct output *output = output_of(conn);
    struct block *block = mem_alloc(sizeof(*block));
    *block = (struct block){.at = buffer + start,
                            .len = end - start,
                            .buffer = buffer,
                            .kind = BLOCK_BUFFER,
                            .clears = clears_output(conn)};
    append(output, block);
    send_appended(output);
}

size_t conn_pending_output(const struct conn *conn) {
    const struct output *output = conn->output;
    if (output == NULL) return 0;
    size_t held = conn->transport->held ? conn->transport->held(conn) : 0;
    return queued(output) - output->submitted + conn->transport->unsent(conn) + held;
}

size_t conn_output_allocated(const struct conn *conn) {
    const struct output *output = conn->output;
    if (output == NULL) return 0;
    return sizeof(*output) + conn->transport->write_size + output->allocated;
}

size_t conn_output_referred(const struct conn *conn) {
    return conn->output ? conn->output->referred : 0;
}

bool conn_output_moved(struct conn *conn) {
    struct output *output = conn->output;
    if (output == NULL) return false;
    size_t taken = output->removed + queued(output) - conn_pending_output(conn);
    bool moved = taken != output->reported;
    output->reported = taken;
    return moved;
}

/* --- Bytes that many connections get --- */

struct conn_shared {
    struct shared head;
    size_t len;
    char bytes[];
};

struct conn_shared *conn_shared_new(struct slice bytes) {
    struct conn_shared *shared = mem_alloc(sizeof(*shared) + bytes.len);
    shared_begin(&shared->head);
    shared->len = bytes.len;
    memcpy(shared->bytes, bytes.ptr, bytes.len);
    return shared;
}

void conn_shared_end(struct conn_shared *shared) {
    shared_end(&shared->head);
}

bool conn_may_share(const struct conn *conn) {
    const int unfit = CONN_CLOSING | CONN_DRAINING | CONN_FAILED | CONN_ENDED | CONN_CLEARS_OUTPUT;
    return conn->transport->share && !conn->output && !(conn->flags & unfit) &&
           !net_of(conn)->nested;
}

bool conn_send_shared(struct conn *conn, struct conn_shared *shared) {
    CHECKED_ASSERT(conn_may_share(conn));
    struct slice bytes = slice_make(shared->bytes, shared->len);
    if (!conn->transport->share(conn, &shared->head, bytes)) return false;
    conn_count_output(conn, shared->len);
    return true;
}
