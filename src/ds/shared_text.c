/* How the two threads avoid each other: the reader notes under the lock which piece it is about to
 * copy out of the shared buffer (`reading`), copies without the lock, and notes that it has
 * finished. The owner waits only when it needs that very piece, or moves the buffer. So it
 * hardly ever waits for a reader that the system has put to sleep.
 *
 * Invariants: a piece has a copy only if the owner may have written to it since the capture, and
 * the copy holds the captured bytes; the reader never reads a piece that has a copy from the
 * buffer. */
#include "ds/shared_text.h"

#include "base/alloc.h"
#include "base/checked.h"

#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

#ifdef TINY_LIMITS
enum { PIECE = 16 };
#else
enum { PIECE = 16 * 1024 };
#endif

#define NO_PIECE SIZE_MAX

struct text_capture {
    /* The owner's thread. */
    struct shared_text *shared; /* NULL: it was freed, or this was released */
    sds abandoned;              /* the buffer, when the owner has left it here */
    size_t left;                /* bytes that only the capture needs */
    size_t *left_of_all;
    /* Constant. */
    size_t len;
    size_t pieces;
    size_t allocated;
    pthread_mutex_t lock;
    pthread_cond_t has_read;
    /* Under the lock. */
    const char *buffer;
    size_t reading; /* the piece that is being copied out of the buffer, or NO_PIECE */
    size_t passed;  /* pieces before this one are no longer needed */
    char *copies[]; /* of pieces, or NULL */
};

/* --- The text --- */

struct shared_text *shared_text_new(sds text) {
    struct shared_text *shared = mem_alloc(sizeof(*shared));
    *shared = (struct shared_text){.text = text};
    return shared;
}

static void note_left(struct text_capture *capture, size_t bytes) {
    capture->left += bytes;
    *capture->left_of_all += bytes;
}

void shared_text_free(struct shared_text *shared) {
    struct text_capture *capture = shared->capture;
    if (capture) {
        capture->shared = NULL;
        capture->abandoned = shared->text;
        note_left(capture, sds_allocated(shared->text));
    } else {
        sds_free(shared->text);
    }
    mem_free(shared);
}

sds shared_text_take(struct shared_text *shared) {
    sds text = shared->text;
    assert(!shared->capture);
    mem_free(shared);
    return text;
}

size_t shared_text_allocated(const struct shared_text *shared) {
    return mem_good_size(sizeof(*shared)) + sds_allocated(shared->text);
}

static size_t piece_size(const struct text_capture *capture, size_t piece) {
    size_t rest = capture->len - piece * PIECE;
    return rest < PIECE ? rest : PIECE;
}

/* Gives the capture a copy of the piece, if it still needs one. Under the lock. */
static void preserve(struct text_capture *capture, size_t piece) {
    while (capture->reading == piece) pthread_cond_wait(&capture->has_read, &capture->lock);
    if (piece < capture->passed || capture->copies[piece]) return;
    size_t size = piece_size(capture, piece);
    char *copy = mem_alloc(size);
    memcpy(copy, capture->buffer + piece * PIECE, size);
    capture->copies[piece] = copy;
    note_left(capture, mem_good_size(size));
}

void shared_text_before_write(struct shared_text *shared, size_t from, size_t to) {
    struct text_capture *capture = shared->capture;
    if (!capture) return;
    if (to > capture->len) to = capture->len;
    if (from >= to) return;
    CHECKED_ASSERT(capture->shared == shared && !capture->abandoned);
    pthread_mutex_lock(&capture->lock);
    size_t first = from / PIECE;
    if (first < capture->passed) first = capture->passed;
    for (size_t piece = first; piece * PIECE < to; piece++) preserve(capture, piece);
    pthread_mutex_unlock(&capture->lock);
}

bool shared_text_try_grow(struct shared_text *shared, size_t more) {
    struct text_capture *capture = shared->capture;
    if (capture) {
        pthread_mutex_lock(&capture->lock);
        while (capture->reading != NO_PIECE) pthread_cond_wait(&capture->has_read, &capture->lock);
    }
    sds text = sds_try_grow(shared->text, more);
    if (text) shared->text = text;
    if (capture) {
        capture->buffer = shared->text;
        pthread_mutex_unlock(&capture->lock);
    }
    return text != NULL;
}

/* --- A capture --- */

struct text_capture *text_capture_begin(struct shared_text *shared, size_t *left) {
    assert(!shared->capture);
    size_t len = sds_len(shared->text), pieces = (len + PIECE - 1) / PIECE;
    size_t size = sizeof(struct text_capture) + pieces * sizeof(char *);
    struct text_capture *capture = mem_alloc_zeroed(size);
    capture->shared = shared;
    capture->left_of_all = left;
    capture->len = len;
    capture->pieces = pieces;
    capture->allocated = mem_good_size(size);
    capture->buffer = shared->text;
    capture->reading = NO_PIECE;
    pthread_mutex_init(&capture->lock, NULL);
    pthread_cond_init(&capture->has_read, NULL);
    shared->capture = capture;
    return capture;
}

size_t text_capture_allocated(const struct text_capture *capture) {
    return capture->allocated;
}

size_t text_capture_len(const struct text_capture *capture) {
    return capture->len;
}

/* The address of the piece; if that is in the buffer, notes the piece as being read. */
static const char *begin_read(struct text_capture *capture, size_t piece) {
    pthread_mutex_lock(&capture->lock);
    const char *at = capture->copies[piece];
    if (!at) {
        at = capture->buffer + piece * PIECE;
        capture->reading = piece;
    }
    pthread_mutex_unlock(&capture->lock);
    return at;
}

static void end_read(struct text_capture *capture) {
    pthread_mutex_lock(&capture->lock);
    capture->reading = NO_PIECE;
    pthread_cond_signal(&capture->has_read);
    pthread_mutex_unlock(&capture->lock);
}

void text_capture_read(struct text_capture *capture, size_t offset, char *out, size_t len) {
    while (len > 0) {
        size_t piece = offset / PIECE, within = offset % PIECE, part = PIECE - within;
        if (part > len) part = len;
        memcpy(out, begin_read(capture, piece) + within, part);
        end_read(capture);
        offset += part;
        out += part;
        len -= part;
    }
}

void text_capture_pass(struct text_capture *capture, size_t offset) {
    pthread_mutex_lock(&capture->lock);
    capture->passed = offset == capture->len ? capture->pieces : offset / PIECE;
    pthread_mutex_unlock(&capture->lock);
}

size_t text_capture_release(struct text_capture *capture) {
    if (capture->shared) capture->shared->capture = NULL;
    capture->shared = NULL;
    *capture->left_of_all -= capture->left;
    return capture->left;
}

void text_capture_free(struct text_capture *capture) {
    for (size_t i = 0; i < capture->pieces; i++) mem_free(capture->copies[i]);
    sds_free(capture->abandoned);
    pthread_mutex_destroy(&capture->lock);
    pthread_cond_destroy(&capture->has_read);
    mem_free(capture);
}

bool shared_text_check(const struct shared_text *shared) {
    struct text_capture *capture = shared->capture;
    if (!sds_check(shared->text)) return false;
    if (!capture) return true;
    size_t copied = 0;
    pthread_mutex_lock(&capture->lock);
    for (size_t i = 0; i < capture->pieces; i++)
        if (capture->copies[i]) copied += mem_good_size(piece_size(capture, i));
    bool good = capture->buffer == shared->text && capture->passed <= capture->pieces;
    pthread_mutex_unlock(&capture->lock);
    return good && capture->shared == shared && !capture->abandoned && copied == capture->left &&
           capture->len <= sds_len(shared->text);
}
