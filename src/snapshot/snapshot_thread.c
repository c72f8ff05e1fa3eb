#define _GNU_SOURCE /* SCHED_BATCH, gettid */
#include "snapshot/snapshot_thread.h"

#include "base/chain.h"
#include "base/clock.h"
#include "base/files/new_file.h"
#include "base/memory/alloc.h"
#include "base/text/sds.h"
#include "base/threads/thread.h"
#include "net/loop/wake.h"
#include "persist/rdb_file.h"
#include "snapshot/disk_file.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

/* By how much the thread's nice value is above the loop's. When both need the same processor, the
 * thread gets about a quarter of it: less would let chunks fill the memory. The thread yields after
 * each piece of work. Otherwise the scheduler would give it the time that it missed in one piece,
 * and the loop would wait for 10 ms and more. */
enum { THREAD_NICE_ABOVE = 5 };

struct snapshot_job {
    struct snapshot_thread *thread;
    struct snapshot_task task;     /* owns the paths; without the stream, which is this one: */
    struct snapshot_stream stream; /* without a function: a file */
    /* Used by the thread. */
    bool is_open;
    struct disk_file file;
    struct rdb_writer writer;
    int error; /* atomic: the loop reads it */
    enum snapshot_step step;
    /* Used by the loop. */
    bool is_cancelled; /* atomic, and written under the lock: see rename_file */
    bool is_finished;
};

struct chunk_queue {
    struct snapshot_chunk *first, *last; /* the last one is valid while there is a first */
};

struct snapshot_thread {
    bool exists; /* `id` runs */
    pthread_t id;
    struct net_wake *wake;
    struct snapshot_thread_events events;
    pthread_mutex_t lock;
    pthread_cond_t put;
    pthread_cond_t written;
    /* Protected by the lock. */
    struct chunk_queue waiting;  /* for the thread */
    struct chunk_queue returned; /* for the loop */
    size_t unwritten;            /* chunks of data, including the one that is being written */
    size_t pending;              /* bytes of these chunks */
    size_t freeing;              /* bytes of the released chunks in `waiting` */
    bool ends;
};

static void lock(struct snapshot_thread *thread) {
    pthread_mutex_lock(&thread->lock);
}

static void unlock(struct snapshot_thread *thread) {
    pthread_mutex_unlock(&thread->lock);
}

static void push(struct chunk_queue *queue, struct snapshot_chunk *chunk) {
    CHAIN_QUEUE(queue->first, queue->last, chunk, next);
}

static void push_first(struct chunk_queue *queue, struct snapshot_chunk *chunk) {
    if (!queue->first) queue->last = chunk;
    chunk->next = queue->first;
    queue->first = chunk;
}

static struct snapshot_chunk *pop(struct chunk_queue *queue) {
    struct snapshot_chunk *chunk = queue->first;
    if (chunk) queue->first = chunk->next;
    return chunk;
}

/* --- A job, in the thread --- */

static bool is_cancelled(const struct snapshot_job *job) {
    return __atomic_load_n(&job->is_cancelled, __ATOMIC_RELAXED);
}

static void fail(struct snapshot_job *job, int error, enum snapshot_step step) {
    if (job->error) return;
    job->step = step;
    __atomic_store_n(&job->error, error ? error : EIO, __ATOMIC_RELEASE);
}

/* The `go_on` of a struct rdb_sink. Yields the processor between pieces of work, and stops when the
 * job is cancelled, even in the middle of a large value. */
static bool go_on(void *arg) {
    const struct snapshot_job *job = arg;
    sched_yield();
    if (is_cancelled(job)) errno = ECANCELED;
    return !is_cancelled(job);
}

static bool is_stream(const struct snapshot_job *job) {
    return job->stream.write;
}

static bool write_bytes(void *arg, const void *bytes, size_t len) {
    struct snapshot_job *job = arg;
    if (!go_on(job)) return false;
    return is_stream(job) ? job->stream.write(job->stream.arg, bytes, len)
                          : disk_file_write(&job->file, bytes, len);
}

static bool is_alive(const struct snapshot_job *job) {
    return !job->error && !is_cancelled(job);
}

static void open_file(struct snapshot_job *job) {
    if (!is_stream(job) &&
        !disk_file_create(&job->file, job->task.temporary, job->task.sync_in_stretches)) {
        fail(job, errno, SNAPSHOT_WRITE);
        return;
    }
    struct rdb_sink sink = {.write = write_bytes, .go_on = go_on, .arg = job};
    rdb_writer_start(&job->writer, sink, job->task.compress, job->task.checksum);
    job->writer.for_valkey = job->task.for_valkey;
    job->is_open = true;
}

static void write_chunk(struct snapshot_job *job, const struct snapshot_chunk *chunk) {
    if (!job->is_open && is_alive(job)) open_file(job);
    if (!is_alive(job)) return;
    snapshot_chunk_write(chunk, &job->writer);
    if (job->writer.error) fail(job, job->writer.error, SNAPSHOT_WRITE);
}

static void close_file(struct snapshot_job *job) {
    bool whole = is_alive(job) &&
                 (job->task.is_rdb ? rdb_write_end(&job->writer) : rdb_writer_flush(&job->writer));
    if (is_alive(job) && !whole) fail(job, job->writer.error, SNAPSHOT_WRITE);
    rdb_writer_end(&job->writer);
    job->is_open = false;
    if (is_stream(job)) return;
    if (!disk_file_close(&job->file, whole) && whole) fail(job, errno, SNAPSHOT_WRITE);
}

/* Renames under the lock: when cancel has returned, either the file has its name already or it will
 * never get it. Keeps the replaced file open until the lock is released, because the system needs
 * long to free the pages of a large file. */
static void rename_file(struct snapshot_job *job) {
    bool renamed = false;
    int replaced = open(job->task.name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    lock(job->thread);
    if (is_alive(job)) {
        renamed = rename(job->task.temporary, job->task.name) == 0;
        if (!renamed) fail(job, errno, SNAPSHOT_RENAME);
    }
    unlock(job->thread);
    if (replaced >= 0) close(replaced);
    if (renamed && !new_file_sync_folder_of(job->task.name)) fail(job, errno, SNAPSHOT_RENAME);
}

static void end_job(struct snapshot_job *job) {
    if (!job->is_open && is_alive(job)) open_file(job);
    bool was_open = job->is_open;
    if (job->is_open) close_file(job);
    if (is_alive(job) && job->task.name) rename_file(job);
    if (was_open && !is_alive(job) && job->task.temporary) unlink(job->task.temporary);
}

static void free_job(struct snapshot_job *job) {
    if (is_stream(job)) job->stream.released(job->stream.arg);
    sds_free(job->task.temporary);
    sds_free(job->task.name);
    mem_free(job);
}

/* --- The thread --- */

/* Counts the memory as being freed until it is free. */
static void free_released(struct snapshot_thread *thread, struct snapshot_chunk *chunk) {
    size_t size = chunk->released_size;
    snapshot_chunk_free(chunk);
    lock(thread);
    thread->freeing -= size;
    unlock(thread);
}

/* Writes or frees a chunk from the queue. Returns the chunk if it goes back to the loop. */
static struct snapshot_chunk *handle_chunk(struct snapshot_thread *thread,
                                           struct snapshot_chunk *chunk) {
    if (chunk->is_released) {
        free_released(thread, chunk);
        return NULL;
    }
    if (chunk->is_last) {
        end_job(chunk->job);
        return chunk;
    }
    size_t size = snapshot_chunk_size(chunk);
    write_chunk(chunk->job, chunk);
    sched_yield();
    if (!snapshot_chunk_is_shared(chunk)) {
        snapshot_chunk_free(chunk);
        chunk = NULL;
    }
    lock(thread);
    thread->pending -= size;
    unlock(thread);
    return chunk;
}

static void *run(void *arg) {
    struct snapshot_thread *thread = arg;
    thread_set_name("snapshot");
    pthread_setschedparam(pthread_self(), SCHED_BATCH, &(struct sched_param){0});
    id_t id = (id_t)gettid(); /* its nice value is the loop's, which has created it */
    setpriority(PRIO_PROCESS, id, getpriority(PRIO_PROCESS, id) + THREAD_NICE_ABOVE);
    lock(thread);
    for (;;) {
        struct snapshot_chunk *chunk = pop(&thread->waiting);
        if (!chunk && thread->ends) break;
        if (!chunk) {
            pthread_cond_wait(&thread->put, &thread->lock);
            continue;
        }
        bool is_data = !chunk->is_released && !chunk->is_last;
        unlock(thread);
        chunk = handle_chunk(thread, chunk);
        lock(thread);
        if (chunk) push(&thread->returned, chunk);
        if (is_data) thread->unwritten--;
        if (is_data) pthread_cond_broadcast(&thread->written);
        if (is_data || chunk) net_wake(thread->wake);
    }
    unlock(thread);
    return NULL;
}

/* --- In the loop --- */

static void put(struct snapshot_thread *thread, struct snapshot_chunk *chunk) {
    lock(thread);
    push(&thread->waiting, chunk);
    thread->unwritten += !chunk->is_last;
    thread->pending += chunk->is_last ? 0 : snapshot_chunk_size(chunk);
    pthread_cond_signal(&thread->put);
    unlock(thread);
}

/* Before all others: to free is short, and what waits to be written may need minutes, in which the
 * memory is of use. */
static void put_released(struct snapshot_thread *thread, struct snapshot_chunk *chunk) {
    lock(thread);
    push_first(&thread->waiting, chunk);
    thread->freeing += chunk->released_size;
    pthread_cond_signal(&thread->put);
    unlock(thread);
}

static struct snapshot_chunk *take_returned(struct snapshot_thread *thread) {
    lock(thread);
    struct snapshot_chunk *chunk = pop(&thread->returned);
    unlock(thread);
    return chunk;
}

static void note_end(struct snapshot_job *job) {
    const struct snapshot_thread_events *events = &job->thread->events;
    struct snapshot_result result = {job->error, job->step};
    if (!is_cancelled(job)) events->ended(events->arg, job, result);
    free_job(job);
}

static void handle_returned(struct snapshot_thread *thread) {
    struct snapshot_chunk *chunk;
    while ((chunk = take_returned(thread))) {
        if (chunk->is_last) {
            note_end(chunk->job);
            snapshot_chunk_free(chunk);
        } else {
            thread->events.returned(thread->events.arg, chunk);
        }
    }
}

static void on_wake(void *arg) {
    struct snapshot_thread *thread = arg;
    handle_returned(thread);
    thread->events.progressed(thread->events.arg);
}

/* Makes timed waits use the monotonic clock. */
static void init_condition(pthread_cond_t *condition) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}

static struct snapshot_thread *make(struct net *net, const struct snapshot_thread_events *events) {
    struct snapshot_thread *thread = mem_alloc_zeroed(sizeof(*thread));
    thread->events = *events;
    thread->wake = net_wake_new(net, on_wake, thread);
    pthread_mutex_init(&thread->lock, NULL);
    pthread_cond_init(&thread->put, NULL);
    init_condition(&thread->written);
    return thread;
}

bool snapshot_thread_start(struct snapshot_thread **place, struct net *net,
                           const struct snapshot_thread_events *events) {
    if (!*place) *place = make(net, events);
    struct snapshot_thread *thread = *place;
    if (thread->exists) return true;
    int error = thread->wake ? thread_create(&thread->id, run, thread) : EAGAIN;
    thread->exists = error == 0;
    errno = error;
    return thread->exists;
}

static void stop(struct snapshot_thread *thread) {
    struct snapshot_chunk *chunk;
    lock(thread);
    thread->ends = true;
    pthread_cond_signal(&thread->put);
    unlock(thread);
    pthread_join(thread->id, NULL);
    handle_returned(thread);
    while ((chunk = pop(&thread->waiting))) free_released(thread, chunk); /* by handle_returned */
}

void snapshot_thread_free(struct snapshot_thread *thread) {
    if (thread && thread->exists) stop(thread);
    mem_free(thread);
}

size_t snapshot_thread_pending(struct snapshot_thread *thread) {
    if (!thread) return 0;
    lock(thread);
    size_t pending = thread->pending;
    unlock(thread);
    return pending;
}

size_t snapshot_thread_leaving(struct snapshot_thread *thread) {
    if (!thread) return 0;
    lock(thread);
    size_t leaving = thread->pending + thread->freeing;
    unlock(thread);
    return leaving;
}

void snapshot_thread_wait_for_room(struct snapshot_thread *thread, size_t size, size_t max) {
    lock(thread);
    while (thread->pending > 0 && thread->pending + size > max)
        pthread_cond_wait(&thread->written, &thread->lock);
    unlock(thread);
}

bool snapshot_thread_drain(struct snapshot_thread *thread, int most_ms) {
    int64_t end_us = clock_monotonic_us() + most_ms * 1000;
    struct timespec end = {.tv_sec = end_us / 1000000, .tv_nsec = end_us % 1000000 * 1000};
    lock(thread);
    for (int error = 0; thread->unwritten > 0 && error == 0;)
        error = pthread_cond_timedwait(&thread->written, &thread->lock, &end);
    bool done = thread->unwritten == 0;
    unlock(thread);
    handle_returned(thread);
    return done;
}

void snapshot_thread_free_chunk(struct snapshot_thread *thread, struct snapshot_chunk *chunk,
                                size_t left) {
    chunk->released_size = snapshot_chunk_size(chunk) + left;
    chunk->is_released = true;
    put_released(thread, chunk);
}

/* --- Jobs, in the loop --- */

struct snapshot_job *snapshot_job_begin(struct snapshot_thread *thread,
                                        const struct snapshot_task *task) {
    struct snapshot_job *job = mem_alloc_zeroed(sizeof(*job));
    job->thread = thread;
    job->task = *task;
    if (task->stream) job->stream = *task->stream;
    job->task.stream = NULL; /* the caller's */
    return job;
}

const char *snapshot_job_temporary(const struct snapshot_job *job) {
    return job->task.temporary;
}

void snapshot_job_put(struct snapshot_job *job, struct snapshot_chunk *chunk) {
    assert(!job->is_finished);
    chunk->job = job;
    put(job->thread, chunk);
}

void snapshot_job_finish(struct snapshot_job *job) {
    assert(!job->is_finished);
    struct snapshot_chunk *end = snapshot_chunk_new(0);
    end->job = job;
    end->is_last = true;
    job->is_finished = true;
    put(job->thread, end);
}

int snapshot_job_error(const struct snapshot_job *job) {
    return __atomic_load_n(&job->error, __ATOMIC_ACQUIRE);
}

void snapshot_job_cancel(struct snapshot_job *job) {
    lock(job->thread);
    __atomic_store_n(&job->is_cancelled, true, __ATOMIC_RELAXED);
    unlock(job->thread);
    if (!job->is_finished) snapshot_job_finish(job);
}
