/* The output of a connection that the socket did not take at once.
 *
 *      struct output: the one outstanding write, and a queue of chunks
 *
 *      first                                            last
 *      | sent | submitted … | → | … submitted | new | → | new | free | → | in a source | → …
 *             ^start                                          ^end   ^capacity
 *
 * Bytes in a source may move or change between two callbacks, so they cannot be submitted. The
 * socket takes what it can from the source itself, up to CONN_SOURCE_BATCH bytes at a time. When
 * the queue begins with a source after that, the next few of its bytes are copied and submitted,
 * which tells when the socket takes more.
 *
 * Invariants
 *   1. The struct exists exactly while bytes are queued. Then either a write is outstanding, or it
 *     is held: it is in the net's list and is sent before the loop sleeps.
 *   2. queued = sum of (end - start) >= submitted. The submitted bytes are the first of the queue;
 *      there are some exactly while it is not held.
 *   3. Submitted bytes do not move until the write's callback. New bytes may be appended after
 *     them, even in the same chunk.
 *
 * A message to a hundred subscribers makes a queue for each of them, and frees it when the
 * iteration ends. The net keeps up to CONN_SPARES_MAX such structs and first chunks for the next
 * ones; their memory is written where it was written last, and is still cached. */
#include "base/alloc.h"
#include "base/checked.h"
#include "base/secret.h"
#include "net/connections/nested.h"

#include <string.h>

struct chunk {
    struct chunk *next;
    char *bytes; /* after this struct, or a buffer that was handed over; unused with a source */
    size_t start;
    size_t end;
    size_t capacity;                     /* 0 with a source */
    bool clears;                         /* it is overwritten before it is freed */
    const struct conn_source *functions; /* NULL: no source */
    void *source;
};

struct output {
    struct conn *conn;
    struct chunk *first;
    struct chunk *last;
    size_t queued;
    size_t submitted;
    size_t allocated;          /* bytes of the chunks */
    size_t referred;           /* bytes in sources */
    struct output *next_held;  /* also of spare ones */
    struct output **held_link; /* the pointer to this in the net's list; NULL = not held */
    size_t removed;            /* bytes removed from the queue since it exists */
    size_t reported;           /* bytes that the socket had taken at the last conn_output_moved */
    bool is_usual;             /* `write` is a uv_write_t */
    _Alignas(uint64_t) char write[]; /* the transport's state of the outstanding write */
};

static size_t chunk_allocated(const struct chunk *chunk) {
    return sizeof(*chunk) + chunk->capacity;
}

static struct chunk *chunk_of(void *block, size_t size) {
    struct chunk *chunk = block;
    *chunk = (struct chunk){.bytes = (char *)(chunk + 1), .capacity = size - sizeof(struct chunk)};
    return chunk;
}

static struct chunk *chunk_new(struct net *net, size_t len, size_t least) {
    size_t size = sizeof(struct chunk) + len;
    size = mem_good_size(size > least ? size : least);
    struct chunk *spare = net->spare_chunks;
    if (spare == NULL || size != chunk_allocated(spare)) return chunk_of(mem_alloc(size), size);
    net->spare_chunks = spare->next;
    net->spare_chunk_count--;
    return chunk_of(spare, size);
}

/* Returns whether the chunk is kept for the next one. Only first chunks are, all of one size. */
static bool keep_chunk(struct net *net, struct chunk *chunk) {
    bool is_first = chunk->bytes == (char *)(chunk + 1) &&
                    chunk_allocated(chunk) == mem_good_size(CONN_FIRST_CHUNK);
    if (!is_first || net->spare_chunk_count == CONN_SPARES_MAX) return false;
    chunk->next = net->spare_chunks;
    net->spare_chunks = chunk;
    net->spare_chunk_count++;
    return true;
}

static void chunk_free(struct net *net, struct chunk *chunk) {
    if (chunk->clears) secret_clear(chunk->bytes, chunk->capacity);
    if (chunk->functions)
        chunk->functions->release(chunk->source);
    else if (chunk->bytes != (char *)(chunk + 1))
        mem_free(chunk->bytes);
    else if (keep_chunk(net, chunk))
        return;
    mem_free(chunk);
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

void conn_free_spares(struct net *net) {
    while (net->spare_chunks != NULL) {
        struct chunk *chunk = net->spare_chunks;
        net->spare_chunks = chunk->next;
        mem_free(chunk);
    }
    while (net->spare_outputs != NULL) {
        struct output *output = net->spare_outputs;
        net->spare_outputs = output->next_held;
        mem_free(output);
    }
}

/* --- The list of connections that hold output --- */

static void link_held(struct output *output) {
    struct net *net = net_of(output->conn);
    output->next_held = net->held;
    output->held_link = &net->held;
    if (net->held != NULL) net->held->held_link = &output->next_held;
    net->held = output;
    if (__builtin_expect(net->nested != NULL, 0)) nested_note_held(output->conn);
}

static void unlink_held(struct output *output) {
    if (output->held_link == NULL) return;
    *output->held_link = output->next_held;
    if (output->next_held != NULL) output->next_held->held_link = output->held_link;
    output->held_link = NULL;
}

/* --- Dropping --- */

static void free_first_dropped(struct net *net) {
    struct chunk *chunk = net->dropped;
    net->dropped = chunk->next;
    chunk_free(net, chunk);
}

/* Not inlined: every loop iteration would save more registers. */
__attribute__((noinline)) bool conn_free_dropped(struct net *net) {
    for (int i = 0; i < CONN_DROPS_MAX && net->dropped != NULL; i++) free_first_dropped(net);
    return net->dropped != NULL;
}

/* The queue of a client that read nothing may have a hundred thousand chunks. Only the owners of
 * sources rely on their release. */
static void drop_chunks(struct net *net, struct output *output) {
    if (output->first == NULL) return;
    struct chunk *dropped_before = net->dropped;
    output->last->next = dropped_before;
    net->dropped = output->first;
    if (output->referred == 0 && output->allocated > CONN_DROP_AT_ONCE) return;
    while (net->dropped != dropped_before) free_first_dropped(net);
}

void conn_output_drop(struct conn *conn) {
    if (conn->output == NULL) return;
    unlink_held(conn->output);
    drop_chunks(net_of(conn), conn->output);
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

static size_t chunk_len(const struct chunk *chunk) {
    return chunk->end - chunk->start;
}

/* Removes bytes from the first chunks. */
static void remove_first(struct output *output, size_t left) {
    while (left > 0) {
        struct chunk *chunk = output->first;
        size_t len = chunk_len(chunk), part = len < left ? len : left;
        if (chunk->functions) output->referred -= part;
        if (len > left) {
            chunk->start += left;
            return;
        }
        left -= len;
        output->first = chunk->next;
        output->allocated -= chunk_allocated(chunk);
        chunk_free(net_of(output->conn), chunk);
    }
}

/* Removes bytes that were sent from the queue. */
static void remove_sent(struct output *output, size_t sent) {
    CHECKED_ASSERT(sent <= output->queued);
    output->queued -= sent;
    output->removed += sent;
    remove_first(output, sent);
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

/* Adds bytes of the source, of which a batch has at most CONN_SOURCE_BATCH. Returns whether all of
 * them are in the batch. */
static bool add_source(struct batch *batch, const struct chunk *chunk, size_t *referred) {
    size_t offset = chunk->start;
    while (offset < chunk->end && batch->count < CONN_BATCH_MAX && *referred < CONN_SOURCE_BATCH) {
        size_t most = CONN_SOURCE_BATCH - *referred;
        if (most > chunk->end - offset) most = chunk->end - offset;
        struct slice part = chunk->functions->peek(chunk->source, offset, most);
        add_buffer(batch, part.ptr, part.len);
        offset += part.len;
        *referred += part.len;
    }
    return offset == chunk->end;
}

/* Makes a batch of the first chunks: up to the first one that has a source, or with sources. */
static void fill_batch(struct batch *batch, const struct output *output, bool with_sources) {
    size_t referred = 0;
    batch->count = 0;
    batch->bytes = 0;
    for (struct chunk *chunk = output->first; chunk && batch->count < CONN_BATCH_MAX;
         chunk = chunk->next) {
        if (!chunk->functions)
            add_buffer(batch, chunk->bytes + chunk->start, chunk_len(chunk));
        else if (!with_sources || !add_source(batch, chunk, &referred))
            return;
    }
}

/* Puts a copy of the first bytes of the first chunk, which has a source, before it. */
static void copy_from_source(struct output *output) {
    struct chunk *from = output->first;
    size_t len = chunk_len(from);
    if (len > CONN_CHUNK_SIZE) len = CONN_CHUNK_SIZE;
    struct chunk *chunk = chunk_new(net_of(output->conn), len, 0);
    while (chunk->end < len) {
        struct slice part =
            from->functions->peek(from->source, from->start + chunk->end, len - chunk->end);
        memcpy(chunk->bytes + chunk->end, part.ptr, part.len);
        chunk->end += part.len;
    }
    remove_first(output, len);
    chunk->next = output->first;
    if (output->first == NULL) output->last = chunk;
    output->first = chunk;
    output->allocated += chunk_allocated(chunk);
}

/* Starts one write with the first chunks. While the loop does not run, no write could end: then the
 * output is held, and nested polling or the end of the iteration sends it. */
static void submit(struct output *output) {
    struct batch batch;
    struct conn *conn = output->conn;
    if (__builtin_expect(net_of(conn)->nested != NULL, 0)) {
        link_held(output);
        return;
    }
    if (output->first->functions) copy_from_source(output);
    fill_batch(&batch, output, false);
    output->submitted = batch.bytes;
    int status = conn->transport->write(conn, output->write, batch.buffers, batch.count);
    if (status < 0) fail(conn, status);
}

/* All output is sent. */
static void finish(struct conn *conn) {
    conn_output_drop(conn);
    if (conn->flags & CONN_DRAINING && !conn_drain(conn)) finish_draining(conn);
}

static void note_taken(struct output *output, size_t taken) {
    conn_count_output(output->conn, taken);
    remove_sent(output, taken);
}

/* Sends what the queue begins with by reference, as far as that is possible and worth it. */
static void share_first(struct output *output) {
    struct conn *conn = output->conn;
    while (output->first) {
        const struct chunk *chunk = output->first;
        const struct conn_source *functions = chunk->functions;
        if (!functions || !functions->share || chunk_len(chunk) < CONN_SHARE_MIN) return;
        struct slice part = functions->peek(chunk->source, chunk->start, chunk_len(chunk));
        struct shared *shared = functions->share(chunk->source, chunk->start);
        if (!conn->transport->share(conn, shared, part)) return;
        note_taken(output, part.len);
    }
}

/* The socket takes what it can at once, and a write is started for what follows. */
static void send_at_once(struct output *output) {
    struct conn *conn = output->conn;
    struct batch batch;
    if (output->referred > 0 && conn->transport->share) share_first(output);
    fill_batch(&batch, output, true);
    ssize_t sent = conn->transport->try_write(conn, batch.buffers, batch.count);
    if (sent < 0) {
        fail(conn, (int)sent);
        return;
    }
    note_taken(output, (size_t)sent);
    if (output->first != NULL)
        submit(output);
    else
        finish(conn);
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
    if (output->first == NULL)
        finish(conn);
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

static bool clears_output(const struct conn *conn) {
    return (conn->flags & CONN_CLEARS_OUTPUT) != 0;
}

static struct output *output_of(struct conn *conn) {
    if (conn->output == NULL) conn->output = output_new(conn);
    return conn->output;
}

static void append(struct output *output, struct chunk *chunk) {
    if (output->last != NULL)
        output->last->next = chunk;
    else
        output->first = chunk;
    output->last = chunk;
    output->allocated += chunk_allocated(chunk);
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
    return output->queued - output->referred;
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

/* Copies bytes to the end of the queue. The first chunk is small, because most clients leave little
 * output unread; further ones double in size. */
static void append_bytes(struct output *output, const char *bytes, size_t len) {
    output->queued += len;
    struct chunk *last = output->last;
    size_t least = last == NULL ? CONN_FIRST_CHUNK : last->capacity * 2;
    if (least > CONN_CHUNK_SIZE) least = CONN_CHUNK_SIZE;
    if (last != NULL && !last->functions) {
        size_t room = last->capacity - last->end;
        size_t part = len < room ? len : room;
        memcpy(last->bytes + last->end, bytes, part);
        last->clears |= clears_output(output->conn);
        last->end += part;
        bytes += part;
        len -= part;
    }
    if (len > 0) {
        struct chunk *chunk = chunk_new(net_of(output->conn), len, least);
        memcpy(chunk->bytes, bytes, len);
        chunk->end = len;
        chunk->clears = clears_output(output->conn);
        append(output, chunk);
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
    struct chunk *chunk = mem_alloc(sizeof(*chunk));
    *chunk = (struct chunk){.start = start, .end = end, .functions = functions, .source = source};
    output->queued += end - start;
    output->referred += end - start;
    append(output, chunk);
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
    struct chunk *chunk = mem_alloc(sizeof(*chunk));
    *chunk = (struct chunk){.bytes = buffer,
                            .start = start,
                            .end = end,
                            .capacity = end,
                            .clears = clears_output(conn)};
    output->queued += end - start;
    append(output, chunk);
    send_appended(output);
}

size_t conn_pending_output(const struct conn *conn) {
    const struct output *output = conn->output;
    if (output == NULL) return 0;
    size_t held = conn->transport->held ? conn->transport->held(conn) : 0;
    return output->queued - output->submitted + conn->transport->unsent(conn) + held;
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
    size_t taken = output->removed + output->queued - conn_pending_output(conn);
    bool moved = taken != output->reported;
    output->reported = taken;
    return moved;
}
