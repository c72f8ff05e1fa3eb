#define _GNU_SOURCE /* SCHED_BATCH, SCHED_IDLE, gettid */
#include "durability/slices.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "durability/snapshot.h"
#include "ds/quicklist_frozen.h"
#include "persist/rdb_list.h"
#include "net/pool.h"
#include "persist/rdb_file.h"
#include "server/lazyfree.h"
#include "server/server.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum {
    CHUNK_SIZE = 256 * 1024,
    FLIGHT_MAX = 4 * 1024 * 1024,
    SPARES_MAX = 16,
    LISTS_PER_CHUNK = 4,
    LOOK_EVERY = 16 * 1024 /* bytes that are written between two looks at the time */
};

enum { PIECE_LITERAL, PIECE_STRING, PIECE_LISTPACK, PIECE_LIST };

struct piece {
    uint64_t len;
    uint32_t kind;
    uint32_t count;
};

struct slices_list {
    struct slices_list *next;
    struct quicklist_frozen *frozen;
};

struct slices_chunk {
    struct slices_chunk *next;
    size_t capacity; /* of bytes */
    size_t used;
    struct slices_list *lists;
    size_t literal; /* where the header of a literal stands that can be continued, or SIZE_MAX */
    uint8_t bytes[];
};

static struct slices *slices(void) {
    return &server.durability.slices;
}

/* --- In the pool --- */

static void write_chunk(struct slices *s, const struct slices_chunk *chunk) {
    const uint8_t *at = chunk->bytes, *end = at + chunk->used;
    struct piece piece;
    while (at < end) {
        memcpy(&piece, at, sizeof(piece));
        at += sizeof(piece);
        if (piece.kind == PIECE_LIST) {
            struct quicklist_frozen *frozen;
            memcpy(&frozen, at, sizeof(frozen));
            rdb_write_frozen_list(&s->out, frozen);
        } else if (piece.kind == PIECE_LITERAL)
            rdb_write_bytes(&s->out, at, piece.len);
        else if (piece.kind == PIECE_STRING)
            rdb_write_string(&s->out, slice_make(at, piece.len));
        else
            rdb_write_listpack(&s->out, at, at + piece.len, piece.count);
        at += piece.len;
    }
}

/* The thread takes only time that nobody else wants, until the loop has to wait for it. (Prototype: in
 * the pool's thread, which goes back to SCHED_BATCH with its next piece of work if it may: needs a
 * thread of its own.) */
static void be_idle(struct slices *s) {
    sched_setscheduler(0, SCHED_IDLE, &(struct sched_param){0});
    __atomic_store_n(&s->tid, gettid(), __ATOMIC_RELEASE);
}

static void be_back(struct slices *s) {
    __atomic_store_n(&s->tid, 0, __ATOMIC_RELEASE);
    sched_setscheduler(0, SCHED_BATCH, &(struct sched_param){0});
}

static void hurry(struct slices *s) {
    int tid = __atomic_load_n(&s->tid, __ATOMIC_ACQUIRE);
    if (tid == 0) return;
    sched_setscheduler(tid, SCHED_BATCH, &(struct sched_param){0});
    __atomic_store_n(&s->tid, 0, __ATOMIC_RELEASE);
}

static void work(void *arg) {
    struct slices *s = arg;
    be_idle(s);
    for (const struct slices_chunk *chunk = s->sent; chunk && !s->stopped; chunk = chunk->next)
        write_chunk(s, chunk);
    if (s->out.error) s->error = s->out.error;
    be_back(s);
}

static void work_at_end(void *arg) {
    struct slices *s = arg;
    errno = 0;
    bool done = !s->stopped && rdb_write_end(&s->out);
    if (!done && !s->error) s->error = s->out.error;
    if (done) done = disk_file_close(&s->file, true) && disk_file_rename(s->temporary, s->name);
    else disk_file_close(&s->file, false);
    if (!done && !s->error) s->error = errno ? errno : ECANCELED;
    if (!done) unlink(s->temporary);
}

/* --- Chunks --- */

static struct slices_chunk *new_chunk(struct slices *s, size_t room) {
    struct slices_chunk *chunk = s->spare;
    if (room <= CHUNK_SIZE && chunk) {
        s->spare = chunk->next;
        s->spare_count--;
    } else {
        size_t capacity = room > CHUNK_SIZE ? room : CHUNK_SIZE;
        chunk = mem_alloc(sizeof(*chunk) + capacity);
        chunk->capacity = capacity;
        s->memory += capacity;
        if (s->memory > s->memory_peak) s->memory_peak = s->memory;
    }
    chunk->next = NULL;
    chunk->lists = NULL;
    chunk->used = 0;
    chunk->literal = SIZE_MAX;
    return chunk;
}

static void thaw(struct slices *s, struct slices_chunk *chunk) {
    for (struct slices_list *list = chunk->lists, *next; list; list = next) {
        next = list->next;
        uint64_t begin = clock_ticks();
        s->left_bytes += quicklist_thaw(list->frozen);
        uint64_t ticks = clock_ticks() - begin;
        if (ticks > s->thaw_ticks_max) s->thaw_ticks_max = ticks;
        mem_free(list);
    }
    chunk->lists = NULL;
}

static void free_chunk(struct slices *s, struct slices_chunk *chunk, bool keep) {
    thaw(s, chunk);
    if (keep && chunk->capacity == CHUNK_SIZE && s->spare_count < SPARES_MAX) {
        chunk->next = s->spare;
        s->spare = chunk;
        s->spare_count++;
        return;
    }
    s->memory -= chunk->capacity;
    mem_free(chunk);
}

static void free_chunks(struct slices *s, struct slices_chunk *chunk, bool keep) {
    while (chunk) {
        struct slices_chunk *next = chunk->next;
        free_chunk(s, chunk, keep);
        chunk = next;
    }
}

static void send_ready(struct slices *s);

static void queue_filling(struct slices *s) {
    if (!s->filling) return;
    if (s->ready_last)
        s->ready_last->next = s->filling;
    else
        s->ready_first = s->filling;
    s->ready_last = s->filling;
    s->filling = NULL;
    s->lists_waiting = 0;
    if (!s->in_flight) send_ready(s);
}

static void append_piece(struct slices *s, struct piece piece, const void *bytes) {
    size_t room = sizeof(piece) + piece.len;
    if (s->filling && s->filling->capacity - s->filling->used < room) queue_filling(s);
    if (!s->filling) s->filling = new_chunk(s, room);
    struct slices_chunk *chunk = s->filling;
    struct piece last;
    if (piece.kind == PIECE_LITERAL && chunk->literal != SIZE_MAX) {
        memcpy(&last, chunk->bytes + chunk->literal, sizeof(last));
        last.len += piece.len;
        memcpy(chunk->bytes + chunk->literal, &last, sizeof(last));
    } else {
        chunk->literal = piece.kind == PIECE_LITERAL ? chunk->used : SIZE_MAX;
        memcpy(chunk->bytes + chunk->used, &piece, sizeof(piece));
        chunk->used += sizeof(piece);
    }
    memcpy(chunk->bytes + chunk->used, bytes, piece.len);
    chunk->used += piece.len;
}

static bool take_literal(void *arg, const void *bytes, size_t len) {
    append_piece(arg, (struct piece){.len = len, .kind = PIECE_LITERAL}, bytes);
    return true;
}

static bool take_text(void *arg, struct slice text, size_t count) {
    append_piece(arg,
                 (struct piece){.len = text.len,
                                .kind = count ? PIECE_LISTPACK : PIECE_STRING,
                                .count = (uint32_t)count},
                 text.ptr);
    return true;
}

static bool take_list(void *arg, struct quicklist *quicklist) {
    struct slices *s = arg;
    struct quicklist_frozen *frozen = quicklist_freeze(quicklist);
    append_piece(s, (struct piece){.len = sizeof(frozen), .kind = PIECE_LIST}, &frozen);
    struct slices_list *list = mem_alloc(sizeof(*list));
    *list = (struct slices_list){s->filling->lists, frozen};
    s->filling->lists = list;
    s->lists++;
    s->frozen_bytes += quicklist_serialized_size(quicklist);
    if (++s->lists_waiting >= LISTS_PER_CHUNK) queue_filling(s);
    return true;
}

/* --- The walk --- */

static void begin_database(struct slices *s, const struct keyspace_walk *walk) {
    uint64_t *word = &s->databases_begun[walk->number / 64 % 4], bit = 1ull << walk->number % 64;
    if (*word & bit)
        rdb_write_select(&s->writer, (uint64_t)walk->number);
    else
        rdb_write_database(&s->writer, (uint64_t)walk->number, keyspace_count(walk->keyspace),
                           keyspace_expiring_count(walk->keyspace));
    *word |= bit;
    s->database = walk->number;
}

static void save_entry(struct slices *s, const struct keyspace_walk *walk,
                       const struct entry *entry) {
    if (s->database != walk->number) begin_database(s, walk);
    rdb_write_entry(&s->writer, entry, snapshot_usage_of(entry));
    s->keys_done++;
}

static void visit(struct keyspace_walk *walk, const struct entry *entry) {
    struct slices *s = slices();
    if (s->stopped) return;
    if (s->deadline) { /* in a slice */
        save_entry(s, walk, entry);
        uint64_t offset = rdb_writer_offset(&s->writer);
        if (offset - s->checked < LOOK_EVERY) return;
        s->checked = offset;
        walk->paused = clock_ticks() > s->deadline;
        return;
    }
    uint64_t begin = clock_ticks();
    save_entry(s, walk, entry);
    s->keys_early++;
    uint64_t ticks = clock_ticks() - begin;
    if (ticks > s->early_ticks_max) s->early_ticks_max = ticks;
}

/* One walk after the other; true when all are over. */
static bool walk_on(struct slices *s) {
    while (s->next_walk < s->walk_count) {
        struct keyspace_walk *walk = &s->walks[s->next_walk];
        while (keyspace_walk_step(walk)) {
            if (clock_ticks() > s->deadline) return false;
        }
        s->next_walk++;
    }
    return true;
}

/* --- Its life --- */

static void clean_up(struct slices *s) {
    free_chunks(s, s->filling, false);
    free_chunks(s, s->ready_first, false);
    free_chunks(s, s->spare, false);
    s->filling = s->ready_first = s->ready_last = s->spare = NULL;
    s->spare_count = 0;
    rdb_writer_end(&s->writer);
    rdb_writer_end(&s->out);
}

/* Not before lists in them are thawed. */
static void free_adopted(struct slices *s) {
    if (s->walking) return; /* TODO: in walks_over, when it was given up */
    for (int i = 0; i < s->walk_count; i++)
        if (s->walks[i].adopted) lazyfree_keyspace(s->walks[i].keyspace);
}

static void conclude(void *arg) {
    struct slices *s = arg;
    struct slices_end end = {.ok = !s->error,
                             .was_stopped = s->stopped,
                             .seconds = (clock_wall_ms() - s->begin_ms) / 1000,
                             .memory_peak = s->memory_peak};
    if (s->error && !s->stopped)
        log_warning("Write error while saving in slices: %s", strerror(s->error));
    log_notice("Sliced: %lld ms, %llu slices, %.0f ms in the loop, longest %.0f us; %llu of %llu keys "
               "saved before a change, longest %.0f us; buffers %zu KB; %llu lists frozen, %zu KB left by them, longest thaw %.0f us; longest slice %llu us of processor",
               (long long)(clock_wall_ms() - s->begin_ms), (unsigned long long)s->slices,
               (double)clock_ticks_to_us(s->slice_ticks) / 1000,
               (double)clock_ticks_to_us(s->slice_ticks_max), (unsigned long long)s->keys_early,
               (unsigned long long)s->keys_done, (double)clock_ticks_to_us(s->early_ticks_max),
               s->memory_peak >> 10, (unsigned long long)s->lists, s->left_bytes >> 10,
               (double)clock_ticks_to_us(s->thaw_ticks_max), (unsigned long long)s->cpu_ns_max / 1000);
    clean_up(s);
    free_adopted(s);
    s->finishing = false;
    s->running = s->walking; /* a walk that was given up goes on in silence */
    s->ended(&end);
}

static void on_sent(void *arg) {
    struct slices *s = arg;
    free_chunks(s, s->sent, true);
    s->sent = NULL;
    s->in_flight = false;
    if (s->error) s->stopped = true;
    send_ready(s);
}

/* Sends what is ready; at the end closes the file. */
static void send_ready(struct slices *s) {
    if (s->in_flight || s->finishing) return;
    bool over = !s->walking || s->stopped;
    if (s->ready_first && !s->stopped) {
        s->sent = s->ready_first;
        s->ready_first = s->ready_last = NULL;
        s->in_flight = true;
        net_pool_run(server.net, work, on_sent, s);
    } else if (over) {
        s->finishing = true;
        net_pool_run(server.net, work_at_end, conclude, s);
    }
}

bool slices_begin(const char *temporary, const char *name,
                  void (*ended)(const struct slices_end *)) {
    struct slices *s = slices();
    if (s->running) {
        errno = EBUSY; /* TODO: a walk that was given up is still being ended */
        return false;
    }
    mem_free(s->walks);
    *s = (struct slices){.database = -1, .ended = ended, .begin_ms = clock_wall_ms()};
    snprintf(s->temporary, sizeof(s->temporary), "%s", temporary);
    snprintf(s->name, sizeof(s->name), "%s", name);
    if (!disk_file_create(&s->file, temporary, server.config.rdb_save_incremental_fsync))
        return false;
    s->running = s->walking = true;
    bool packs = server.config.rdbcompression;
    rdb_writer_start(&s->writer, (struct rdb_sink){take_literal, s, take_text, take_list}, packs, false);
    rdb_writer_start(&s->out, (struct rdb_sink){disk_file_write, &s->file, NULL, NULL}, packs,
                     server.config.rdbchecksum);
    rdb_write_header(&s->writer, &(struct rdb_facts){.server_version = PACKLIST_REDIS_VERSION,
                                                     .created_s = clock_wall_ms() / 1000,
                                                     .used_memory = mem_used()});
    s->walk_count = (int)server.config.databases;
    s->walks = mem_alloc_zeroed((size_t)s->walk_count * sizeof(*s->walks));
    for (int i = 0; i < s->walk_count; i++) {
        s->walks[i] = (struct keyspace_walk){.visit = visit, .number = i};
        keyspace_walk_start(&s->walks[i], server.keyspaces[i]);
        s->keys_total += keyspace_count(server.keyspaces[i]);
    }
    s->turn_end = clock_ticks();
    return true;
}

static void walks_over(struct slices *s) {
    s->walking = false;
    if (s->stopped) {
        if (!s->in_flight && !s->finishing && !s->writer.buffer) {
            s->running = false;
            free_adopted(s);
        }
        return;
    }
    rdb_writer_flush(&s->writer);
    queue_filling(s);
    send_ready(s);
}

/* As long as all else took in this turn, within limits. */
static uint64_t slice_ticks(const struct slices *s, uint64_t now) {
    uint64_t most = clock_us_to_ticks((uint64_t)server.config.rdb_save_slice_us);
    uint64_t least = most / 8;
    uint64_t turn = (now - s->turn_end) * (uint64_t)server.config.rdb_save_slice_percent / 100;
    return turn < least ? least : turn > most ? most : turn;
}

static bool is_throttled(const struct slices *s) {
    return s->memory - s->spare_count * CHUNK_SIZE >= FLIGHT_MAX && !s->stopped;
}

static uint64_t cpu_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

bool slices_step(void) {
    struct slices *s = slices();
    if (!s->walking) return false;
    uint64_t now = clock_ticks();
    if (is_throttled(s)) {
        hurry(s);
        s->turn_end = now;
        return false; /* the thread's end wakes the loop up */
    }
    s->deadline = now + slice_ticks(s, now);
    uint64_t cpu = cpu_ns();
    bool over = walk_on(s);
    cpu = cpu_ns() - cpu;
    if (cpu > s->cpu_ns_max) s->cpu_ns_max = cpu;
    s->deadline = 0;
    s->turn_end = clock_ticks();
    s->slices++;
    s->slice_ticks += s->turn_end - now;
    if (s->turn_end - now > s->slice_ticks_max) s->slice_ticks_max = s->turn_end - now;
    if (over) walks_over(s);
    return !over;
}

bool slices_is_running(void) {
    return slices()->running;
}

void slices_stop(void) {
    struct slices *s = slices();
    if (!s->running || s->stopped) return;
    s->stopped = true;
    send_ready(s);
}

void slices_adopt(struct keyspace *keyspace) {
    keyspace_walk_of(keyspace)->adopted = true;
}
