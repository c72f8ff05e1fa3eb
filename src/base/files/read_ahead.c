/* The thread fills pieces in a ring, whose reader takes them in turn:
 *
 *      [ being read from | full | being filled ]
 *        taken                    filled
 *
 * Both numbers only grow; a number modulo the count of pieces gives the piece. A side that has
 * nothing to do waits; both sides never wait at once. The last piece, without bytes, is never given
 * back. */
#define _GNU_SOURCE /* O_DIRECT */
#include "base/files/read_ahead.h"

#include "base/files/file.h"
#include "base/memory/alloc.h"
#include "base/threads/thread.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef TINY_LIMITS
enum { PIECE_SIZE = 4096 };
#else
enum { PIECE_SIZE = 512 * 1024 };
#endif
enum {
    PIECES = 3,
    ALIGNMENT = 4096,          /* of memory, offsets and lengths: no disk wants more */
    SIZE_MIN = 4 * PIECE_SIZE, /* of a file that is worth a thread */
    SAMPLES = 16
};

struct piece {
    uint8_t *bytes; /* the first one's is the memory of all pieces */
    ssize_t len;    /* 0: the end; -1: `error` */
    int error;
};

struct read_ahead {
    int fd;
    int fd_flags;    /* as they were */
    bool has_thread; /* if false, the rest is unused */
    off_t offset;    /* where the thread reads next */
    size_t used;     /* bytes of the piece that is being read from */
    pthread_t thread;
    pthread_mutex_t lock; /* guards all that follows, and which side has which piece */
    pthread_cond_t moved;
    bool ends;
    uint64_t filled, taken;
    struct piece pieces[PIECES];
};

/* --- In the thread --- */

/* Fills a piece. Some file systems refuse O_DIRECT only when reading; and at a bad block, only the
 * page cache gives the bytes before it. */
static void fill(struct read_ahead *ahead, struct piece *piece) {
    piece->len = file_read_some_at(ahead->fd, piece->bytes, PIECE_SIZE, ahead->offset);
    if (piece->len < 0 && fcntl(ahead->fd, F_GETFL) & O_DIRECT) {
        fcntl(ahead->fd, F_SETFL, ahead->fd_flags);
        piece->len = file_read_some_at(ahead->fd, piece->bytes, PIECE_SIZE, ahead->offset);
    }
    piece->error = errno;
    if (piece->len > 0) ahead->offset += piece->len;
}

static void *run(void *arg) {
    struct read_ahead *ahead = arg;
    ssize_t len = 1;
    thread_set_name("read_ahead");
    pthread_mutex_lock(&ahead->lock);
    while (!ahead->ends && len > 0) {
        if (ahead->filled - ahead->taken == PIECES) {
            pthread_cond_wait(&ahead->moved, &ahead->lock);
            continue;
        }
        struct piece *piece = &ahead->pieces[ahead->filled % PIECES];
        pthread_mutex_unlock(&ahead->lock);
        fill(ahead, piece);
        len = piece->len;
        pthread_mutex_lock(&ahead->lock);
        ahead->filled++;
        pthread_cond_signal(&ahead->moved);
    }
    pthread_mutex_unlock(&ahead->lock);
    return NULL;
}

/* --- Beginning --- */

static bool is_page_cached(const uint8_t *file, off_t offset, size_t page_size) {
    unsigned char cached = 0;
    off_t page = offset / (off_t)page_size * (off_t)page_size;
    return mincore((void *)(uintptr_t)(file + page), page_size, &cached) == 0 && (cached & 1);
}

/* Returns whether most of a sample of pages are in the page cache. (The file is mapped to ask for
 * that, but not read through it.) The system reports all pages as cached to a process that neither
 * owns the file nor may write it. */
static bool is_cached(int fd, off_t size) {
    size_t page_size = (size_t)sysconf(_SC_PAGESIZE), cached = 0;
    void *file = mmap(NULL, (size_t)size, PROT_READ, MAP_SHARED, fd, 0);
    if (file == MAP_FAILED) return false;
    for (off_t i = 0; i < SAMPLES; i++)
        cached += is_page_cached(file, size / SAMPLES * i, page_size);
    munmap(file, (size_t)size);
    return 2 * cached > SAMPLES;
}

static bool is_worth_a_thread(int fd) {
    struct stat facts;
    return fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_size >= SIZE_MIN &&
           !is_cached(fd, facts.st_size);
}

static void release(struct read_ahead *ahead) {
    pthread_cond_destroy(&ahead->moved);
    pthread_mutex_destroy(&ahead->lock);
    fcntl(ahead->fd, F_SETFL, ahead->fd_flags);
    mem_free(ahead->pieces[0].bytes);
}

static bool start_thread(struct read_ahead *ahead) {
    if (fcntl(ahead->fd, F_SETFL, ahead->fd_flags | O_DIRECT) != 0) return false;
    uint8_t *memory = mem_alloc_aligned(ALIGNMENT, PIECES * PIECE_SIZE);
    for (size_t i = 0; i < PIECES; i++) ahead->pieces[i].bytes = memory + i * PIECE_SIZE;
    pthread_mutex_init(&ahead->lock, NULL);
    pthread_cond_init(&ahead->moved, NULL);
    if (thread_create(&ahead->thread, run, ahead) == 0) return true;
    release(ahead);
    return false;
}

struct read_ahead *read_ahead_new(int fd) {
    assert(lseek(fd, 0, SEEK_CUR) <= 0); /* or fails, in a pipe */
    struct read_ahead *ahead = mem_alloc(sizeof(*ahead));
    *ahead = (struct read_ahead){.fd = fd, .fd_flags = fcntl(fd, F_GETFL)};
    ahead->has_thread = is_worth_a_thread(fd) && start_thread(ahead);
    return ahead;
}

/* --- Reading --- */

bool read_ahead_has_thread(const struct read_ahead *ahead) {
    return ahead->has_thread;
}

/* Waits until the piece to read from is full, and returns it. */
static const struct piece *wait_for_piece(struct read_ahead *ahead) {
    pthread_mutex_lock(&ahead->lock);
    while (ahead->filled == ahead->taken) pthread_cond_wait(&ahead->moved, &ahead->lock);
    pthread_mutex_unlock(&ahead->lock);
    return &ahead->pieces[ahead->taken % PIECES];
}

static void give_back_piece(struct read_ahead *ahead) {
    ahead->used = 0;
    pthread_mutex_lock(&ahead->lock);
    ahead->taken++;
    pthread_cond_signal(&ahead->moved);
    pthread_mutex_unlock(&ahead->lock);
}

static ssize_t read_piece(struct read_ahead *ahead, void *bytes, size_t room) {
    const struct piece *piece = wait_for_piece(ahead);
    if (piece->len < 0) errno = piece->error;
    if (piece->len <= 0) return piece->len;
    size_t left = (size_t)piece->len - ahead->used;
    if (room > left) room = left;
    memcpy(bytes, piece->bytes + ahead->used, room);
    ahead->used += room;
    if (room == left) give_back_piece(ahead);
    return (ssize_t)room;
}

ssize_t read_ahead_read(struct read_ahead *ahead, void *bytes, size_t room) {
    return ahead->has_thread ? read_piece(ahead, bytes, room)
                             : file_read_some(ahead->fd, bytes, room);
}

void read_ahead_free(struct read_ahead *ahead) {
    if (ahead->has_thread) {
        pthread_mutex_lock(&ahead->lock);
        ahead->ends = true;
        pthread_cond_signal(&ahead->moved);
        pthread_mutex_unlock(&ahead->lock);
        pthread_join(ahead->thread, NULL);
        release(ahead);
    }
    mem_free(ahead);
}
