/* How the threads avoid each other: a reader in another thread notes under the lock which piece it
 * is about to copy out of the text (`reading`), copies without the lock, and notes that it has
 * finished. The owner waits only when it needs that very piece, or moves the text; other readers
 * wait for their turn, after the owner. So the owner hardly ever waits for a reader that the system
 * has put to sleep. A reader in the owner's thread needs no lock: only that thread changes what it
 * reads.
 *
 * Invariants: a capture has a copy of a piece only if the owner may have written to the piece since
 * the capture and before the next newer one, and the copy holds the bytes of that time. If neither
 * a capture nor a newer one has a copy of a piece, the piece in the text is as it was. A text only
 * grows, so a newer capture has all pieces of an older one. */
#include "ds/strings/shared_text.h"

#include "base/checked.h"
#include "base/memory/alloc.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

#ifdef TINY_LIMITS
enum { PIECE = 16 };
#else
enum { PIECE = 16 * 1024 };
#endif

#define NO_PIECE SIZE_MAX

struct text_capture {
    struct capture capture;
    /* Constant. */
    struct shared_text *shared;
    size_t len;
    size_t pieces;
    /* The owner's thread alone. */
    struct text_capture *older;
    /* Written by the owner's thread, under the lock. */
    struct text_capture *newer;
    char **copies; /* of pieces, or NULL; the table is NULL while there are none */
    /* Under the lock. */
    size_t passed; /* pieces before this one are no longer needed */
};

/* --- The text --- */

struct shared_text *shared_text_new(sds text) {
    struct shared_text *shared = mem_alloc(sizeof(*shared));
    *shared = (struct shared_text){.text = text, .reading = NO_PIECE};
    pthread_mutex_init(&shared->lock, NULL);
    pthread_cond_init(&shared->has_read, NULL);
    return shared;
}

sds shared_text_take(struct shared_text *shared) {
    assert(!shared->newest);
    sds text = shared->text;
    pthread_mutex_destroy(&shared->lock);
    pthread_cond_destroy(&shared->has_read);
    mem_free(shared);
    return text;
}

void shared_text_free(struct shared_text *shared) {
    if (shared->newest)
        capture_adopt(&shared->newest->capture, shared, shared_text_allocated(shared));
    else
        sds_free(shared_text_take(shared));
}

size_t shared_text_allocated(const struct shared_text *shared) {
    return mem_good_size(sizeof(*shared)) + sds_allocated(shared->text);
}

/* --- Pieces --- */

static size_t table_size(const struct text_capture *capture) {
    return capture->pieces * sizeof(char *);
}

static bool has_copy(const struct text_capture *capture, size_t piece) {
    return capture->copies && capture->copies[piece];
}

/* Returns whether this capture, or an older one, may still need the piece. */
static bool is_needed(const struct text_capture *capture, size_t piece) {
    return piece < capture->pieces && (capture->older || piece >= capture->passed);
}

static void set_copy(struct text_capture *capture, size_t piece, char *copy) {
    if (!capture->copies) {
        capture->copies = mem_alloc_zeroed(table_size(capture));
        capture->shared->tables++;
        capture_count(&capture->capture, mem_good_size(table_size(capture)));
    }
    capture->copies[piece] = copy;
    capture_count(&capture->capture, mem_good_size(PIECE));
}

/* The owner waits until the present reader has copied its piece, and goes before others. */
static void wait_for_reader(struct shared_text *shared) {
    shared->owner_waits = true;
    pthread_cond_wait(&shared->has_read, &shared->lock);
    shared->owner_waits = false;
    pthread_cond_broadcast(&shared->has_read);
}

/* Gives the newest capture a copy of the piece, if one is needed. Under the lock. */
static void preserve(struct shared_text *shared, size_t piece) {
    struct text_capture *newest = shared->newest;
    while (shared->reading == piece) wait_for_reader(shared);
    if (has_copy(newest, piece) || !is_needed(newest, piece)) return;
    size_t rest = newest->len - piece * PIECE;
    char *copy = mem_alloc(PIECE);
    memcpy(copy, shared->text + piece * PIECE, rest < PIECE ? rest : PIECE);
    set_copy(newest, piece, copy);
}

void shared_text_before_write(struct shared_text *shared, size_t from, size_t to) {
    const struct text_capture *newest = shared->newest;
    CHECKED_ASSERT(from <= to);
    if (!newest) return;
    if (to > newest->len) to = newest->len;
    if (from >= to) return;
    pthread_mutex_lock(&shared->lock);
    for (size_t piece = from / PIECE; piece * PIECE < to; piece++) preserve(shared, piece);
    pthread_mutex_unlock(&shared->lock);
}

bool shared_text_try_grow(struct shared_text *shared, size_t more) {
    pthread_mutex_lock(&shared->lock);
    while (shared->reading != NO_PIECE) wait_for_reader(shared);
    sds text = sds_try_grow(shared->text, more);
    if (text) shared->text = text;
    pthread_mutex_unlock(&shared->lock);
    return text != NULL;
}

/* --- Beginning and end of a capture --- */

/* The next older capture may have been finding pieces in this one: gives it the copies that it
 * lacks. */
static void give_copies(struct text_capture *capture, struct text_capture *older) {
    if (!capture->copies) return;
    for (size_t piece = 0; piece < older->pieces; piece++) {
        if (!capture->copies[piece] || has_copy(older, piece) || !is_needed(older, piece)) continue;
        set_copy(older, piece, capture->copies[piece]);
        capture->copies[piece] = NULL;
        capture_uncount(&capture->capture, mem_good_size(PIECE));
    }
}

static void release(struct capture *base) {
    struct text_capture *capture = (struct text_capture *)base;
    struct shared_text *shared = capture->shared;
    struct text_capture *older = capture->older, *newer = capture->newer;
    if (capture->copies) shared->tables--;
    if (older) {
        pthread_mutex_lock(&shared->lock);
        give_copies(capture, older);
        older->newer = newer;
        pthread_mutex_unlock(&shared->lock);
        capture_pass_orphan(base, &older->capture);
    }
    if (newer)
        newer->older = older;
    else /* if it is NULL, another thread may free the text now */
        __atomic_store_n(&shared->newest, older, __ATOMIC_RELEASE);
}

static void free_copies(struct capture *base) {
    struct text_capture *capture = (struct text_capture *)base;
    if (capture->copies)
        for (size_t i = 0; i < capture->pieces; i++) mem_free(capture->copies[i]);
    mem_free(capture->copies);
}

static void free_structure(void *shared) {
    shared_text_free(shared);
}

static const struct capture_functions capture_functions = {
    .release = release, .free = free_copies, .free_structure = free_structure};

static struct text_capture *captured(const struct capture *base) {
    CHECKED_ASSERT(base->functions == &capture_functions);
    return (struct text_capture *)(uintptr_t)base;
}

struct capture *text_capture_begin(struct shared_text *shared, size_t *left) {
    struct text_capture *capture = capture_begin(&capture_functions, sizeof(*capture), NULL, left);
    capture->shared = shared;
    capture->len = sds_len(shared->text);
    capture->pieces = (capture->len + PIECE - 1) / PIECE;
    capture->newer = NULL;
    capture->copies = NULL;
    capture->passed = 0;
    capture->older = shared->newest;
    shared->newest = capture;
    if (!capture->older) return &capture->capture;
    pthread_mutex_lock(&shared->lock);
    capture->older->newer = capture;
    pthread_mutex_unlock(&shared->lock);
    return &capture->capture;
}

size_t text_capture_len(const struct capture *base) {
    return captured(base)->len;
}

/* --- Reading a capture --- */

/* Returns the copy of the piece that the capture needs, or NULL: it is in the text. */
static const char *find_copy(const struct text_capture *capture, size_t piece) {
    for (; capture; capture = capture->newer)
        if (has_copy(capture, piece)) return capture->copies[piece];
    return NULL;
}

/* Copies `len` bytes out of one piece: of a copy, which nobody changes, or of the text, which is
 * noted meanwhile. */
static void read_piece(struct text_capture *capture, size_t piece, size_t within, char *out,
                       size_t len) {
    struct shared_text *shared = capture->shared;
    pthread_mutex_lock(&shared->lock);
    const char *copy;
    while (!(copy = find_copy(capture, piece)) &&
           (shared->reading != NO_PIECE || shared->owner_waits))
        pthread_cond_wait(&shared->has_read, &shared->lock);
    const char *at = copy ? copy : shared->text + piece * PIECE;
    if (!copy) shared->reading = piece;
    pthread_mutex_unlock(&shared->lock);
    memcpy(out, at + within, len);
    if (copy) return;
    pthread_mutex_lock(&shared->lock);
    shared->reading = NO_PIECE;
    pthread_cond_broadcast(&shared->has_read);
    pthread_mutex_unlock(&shared->lock);
}

void text_capture_read(struct capture *base, size_t offset, char *out, size_t len) {
    struct text_capture *capture = captured(base);
    CHECKED_ASSERT(offset <= capture->len && len <= capture->len - offset);
    while (len > 0) {
        size_t piece = offset / PIECE, within = offset % PIECE, part = PIECE - within;
        if (part > len) part = len;
        read_piece(capture, piece, within, out, part);
        offset += part;
        out += part;
        len -= part;
    }
}

struct slice text_capture_peek(const struct capture *base, size_t offset, size_t most) {
    const struct text_capture *capture = captured(base);
    assert(offset < capture->len);
    if (most > capture->len - offset) most = capture->len - offset;
    if (capture->shared->tables == 0) return slice_make(capture->shared->text + offset, most);
    size_t piece = offset / PIECE, part = PIECE - offset % PIECE;
    const char *copy = find_copy(capture, piece);
    if (!copy)
        while (part < most && !find_copy(capture, ++piece)) part += PIECE;
    return slice_make(copy ? copy + offset % PIECE : capture->shared->text + offset,
                      part < most ? part : most);
}

void text_capture_pass(struct capture *base, size_t offset) {
    struct text_capture *capture = captured(base);
    CHECKED_ASSERT(offset <= capture->len);
    pthread_mutex_lock(&capture->shared->lock);
    capture->passed = offset == capture->len ? capture->pieces : offset / PIECE;
    pthread_mutex_unlock(&capture->shared->lock);
}

/* --- Checking --- */

static size_t copied_bytes(const struct text_capture *capture) {
    if (!capture->copies) return 0;
    size_t bytes = mem_good_size(table_size(capture));
    for (size_t i = 0; i < capture->pieces; i++)
        if (capture->copies[i]) bytes += mem_good_size(PIECE);
    return bytes;
}

bool shared_text_check(struct shared_text *shared) {
    if (!sds_check(shared->text)) return false;
    size_t len = sds_len(shared->text), tables = 0;
    const struct text_capture *newer = NULL;
    bool good = true;
    pthread_mutex_lock(&shared->lock);
    for (const struct text_capture *c = shared->newest; c; c = c->older) {
        good &= c->shared == shared && c->newer == newer && c->passed <= c->pieces &&
                c->len <= len && copied_bytes(c) == c->capture.left;
        len = c->len;
        newer = c;
        tables += c->copies != NULL;
    }
    pthread_mutex_unlock(&shared->lock);
    return good && shared->tables == tables;
}
