/* The lock protects what the snapshot's thread and the loop share: the queue of written blocks and
 * the counts of bytes. Everything else belongs to the loop, but for `filling`, which belongs to the
 * thread until the stream is released, and `reading`, which belongs to the pool while is_reading.
 * */
#include "replication/primary/payload.h"

#include "base/alloc.h"
#include "base/random.h"
#include "net/pool.h"
#include "net/wake.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef TINY_LIMITS
enum { PAYLOAD_AHEAD_MAX = 64 };
#else
enum { PAYLOAD_AHEAD_MAX = 4 * 1024 * 1024 };
#endif
enum { MARK_LEN = 40 };

struct payload {
    struct net *net;
    struct net_wake *wake;
    struct backlog *bytes;
    uint64_t header; /* bytes before the snapshot */
    char mark[MARK_LEN + 1];
    bool is_streamed;
    bool has_thread; /* the snapshot's thread may use it */
    bool is_whole;
    bool has_failed;
    bool is_given_up;
    /* A file. */
    int fd; /* -1: none */
    uint64_t unread;
    bool is_reading;
    int read_error;
    struct backlog_block *reading;
    /* Shared with the snapshot's thread. */
    pthread_mutex_t lock;
    pthread_cond_t moved;
    struct backlog_block *first; /* written, but not collected */
    struct backlog_block *last;
    uint64_t written; /* bytes of all blocks so far */
    uint64_t taken;   /* of these, what all replicas have */
    bool is_closed;   /* nothing more is wanted */
    struct backlog_block *filling;
};

struct payload *payload_new(struct net *net, struct net_wake *wake) {
    struct payload *payload = mem_alloc_zeroed(sizeof(*payload));
    payload->net = net;
    payload->wake = wake;
    payload->bytes = backlog_new(0, 0);
    payload->fd = -1;
    pthread_mutex_init(&payload->lock, NULL);
    pthread_cond_init(&payload->moved, NULL);
    return payload;
}

static void free_blocks(struct backlog_block *block) {
    struct backlog_block *next;
    for (; block; block = next) {
        next = block->next;
        mem_free(block);
    }
}

static void free_if_unused(struct payload *payload) {
    if (!payload->is_given_up || payload->has_thread || payload->is_reading) return;
    free_blocks(payload->first);
    mem_free(payload->filling);
    mem_free(payload->reading);
    if (payload->fd >= 0) close(payload->fd);
    backlog_free(payload->bytes);
    pthread_cond_destroy(&payload->moved);
    pthread_mutex_destroy(&payload->lock);
    mem_free(payload);
}

/* --- The snapshot's thread --- */

/* Passes the block that is being filled to the loop. */
static void pass_filling(struct payload *payload) {
    struct backlog_block *block = payload->filling;
    payload->filling = NULL;
    if (!block) return;
    block->next = NULL;
    pthread_mutex_lock(&payload->lock);
    if (payload->last)
        payload->last->next = block;
    else
        payload->first = block;
    payload->last = block;
    payload->written += block->used;
    pthread_mutex_unlock(&payload->lock);
    net_wake(payload->wake);
}

/* Waits until the replicas are not too far behind. Returns false when nothing more is wanted. */
static bool wait_for_room(struct payload *payload) {
    pthread_mutex_lock(&payload->lock);
    while (!payload->is_closed && payload->written - payload->taken >= PAYLOAD_AHEAD_MAX)
        pthread_cond_wait(&payload->moved, &payload->lock);
    bool is_open = !payload->is_closed;
    pthread_mutex_unlock(&payload->lock);
    return is_open;
}

static bool take_bytes(void *arg, const void *bytes, size_t len) {
    struct payload *payload = arg;
    const char *at = bytes;
    while (len > 0) {
        if (!payload->filling) {
            if (!wait_for_room(payload)) {
                errno = ECANCELED;
                return false;
            }
            payload->filling = mem_alloc(sizeof(*payload->filling));
            payload->filling->used = 0;
        }
        struct backlog_block *block = payload->filling;
        size_t room = BACKLOG_BLOCK - block->used, part = len < room ? len : room;
        memcpy(block->bytes + block->used, at, part);
        block->used += part;
        at += part;
        len -= part;
        if (block->used == BACKLOG_BLOCK) pass_filling(payload);
    }
    return true;
}

static void release_stream(void *arg) {
    struct payload *payload = arg;
    payload->has_thread = false;
    free_if_unused(payload);
}

/* --- A stream, in the loop --- */

static void put_header(struct payload *payload, const char *text) {
    backlog_append(payload->bytes, slice_of_cstr(text));
    payload->header = payload->bytes->end;
}

struct snapshot_stream payload_begin_stream(struct payload *payload) {
    char header[MARK_LEN + 16];
    random_hex(payload->mark, MARK_LEN);
    snprintf(header, sizeof(header), "$EOF:%s\r\n", payload->mark);
    put_header(payload, header);
    payload->is_streamed = payload->has_thread = true;
    return (struct snapshot_stream){take_bytes, release_stream, payload};
}

void payload_cancel_stream(struct payload *payload) {
    payload->has_thread = false;
}

static void collect(struct payload *payload) {
    pthread_mutex_lock(&payload->lock);
    struct backlog_block *block = payload->first, *next;
    payload->first = payload->last = NULL;
    pthread_mutex_unlock(&payload->lock);
    for (; block; block = next) {
        next = block->next;
        backlog_append_block(payload->bytes, block);
    }
}

/* The thread has written its last byte. */
void payload_end_stream(struct payload *payload) {
    pass_filling(payload);
    collect(payload);
    backlog_append(payload->bytes, slice_make(payload->mark, MARK_LEN));
    payload->is_whole = true;
}

static void note_taken(struct payload *payload) {
    uint64_t begin = payload->bytes->begin;
    pthread_mutex_lock(&payload->lock);
    payload->taken = begin > payload->header ? begin - payload->header : 0;
    pthread_cond_signal(&payload->moved);
    pthread_mutex_unlock(&payload->lock);
}

/* --- A file --- */

/* Runs in a thread of the pool. */
static void read_block(void *arg) {
    struct payload *payload = arg;
    struct backlog_block *block = payload->reading;
    size_t most = payload->unread < BACKLOG_BLOCK ? (size_t)payload->unread : BACKLOG_BLOCK;
    ssize_t got;
    do {
        got = read(payload->fd, block->bytes, most);
    } while (got < 0 && errno == EINTR);
    payload->read_error = got > 0 ? 0 : got < 0 ? errno : EIO;
    block->used = got > 0 ? (size_t)got : 0;
}

static void read_on(struct payload *payload);

static void after_read(void *arg) {
    struct payload *payload = arg;
    struct backlog_block *block = payload->reading;
    payload->is_reading = false;
    payload->reading = NULL;
    if (payload->is_given_up || payload->read_error) {
        mem_free(block);
        payload->has_failed = true;
        free_if_unused(payload);
        return;
    }
    payload->unread -= block->used;
    backlog_append_block(payload->bytes, block);
    payload->is_whole = payload->unread == 0;
    read_on(payload);
}

/* Reads the next block, unless the replicas are too far behind. */
static void read_on(struct payload *payload) {
    bool is_full = backlog_len(payload->bytes) >= PAYLOAD_AHEAD_MAX;
    if (payload->fd < 0 || payload->is_reading || payload->is_whole || is_full) return;
    if (payload->has_failed) return;
    payload->reading = mem_alloc(sizeof(*payload->reading));
    payload->is_reading = true;
    net_pool_run(payload->net, read_block, after_read, payload);
}

bool payload_begin_file(struct payload *payload, const char *path) {
    struct stat facts;
    char header[32];
    payload->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (payload->fd < 0) return false;
    unlink(path);
    if (fstat(payload->fd, &facts) != 0) return false;
    payload->unread = (uint64_t)facts.st_size;
    snprintf(header, sizeof(header), "$%llu\r\n", (unsigned long long)payload->unread);
    put_header(payload, header);
    read_on(payload);
    return true;
}

void payload_put(struct payload *payload, struct slice bytes) {
    char header[32];
    snprintf(header, sizeof(header), "$%zu\r\n", bytes.len);
    put_header(payload, header);
    backlog_append(payload->bytes, bytes);
    payload->is_whole = true;
}

/* --- Either --- */

bool payload_step(struct payload *payload) {
    if (payload->has_thread) collect(payload);
    uint64_t begin = payload->bytes->begin;
    bool more = backlog_trim(payload->bytes);
    if (payload->has_thread && payload->bytes->begin != begin) note_taken(payload);
    read_on(payload);
    return more;
}

struct backlog *payload_bytes(struct payload *payload) {
    return payload->bytes;
}

bool payload_is_streamed(const struct payload *payload) {
    return payload->is_streamed;
}

bool payload_is_whole(const struct payload *payload) {
    return payload->is_whole;
}

bool payload_has_failed(const struct payload *payload) {
    return payload->has_failed;
}

void payload_give_up(struct payload *payload) {
    payload->is_given_up = true;
    pthread_mutex_lock(&payload->lock);
    payload->is_closed = true;
    pthread_cond_signal(&payload->moved);
    pthread_mutex_unlock(&payload->lock);
    free_if_unused(payload);
}

size_t payload_allocated(const struct payload *payload) {
    return sizeof(*payload) + backlog_allocated(payload->bytes);
}
