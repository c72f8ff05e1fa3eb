/* shared_text: a large text whose owner goes on changing it while others read captures of it: the
 * bytes as they were at one moment. Copy on write, in pieces of 16 KB.
 *
 *      text                 │ piece 0 │ piece 1 │ piece 2 │ … the last one │ appended later
 *      newest capture       │    –    │  copy   │    –    │ …
 *      an older capture     │  copy   │    –    │    –    │ …
 *
 * Before the owner writes to a piece that a capture may still need, it gives the newest capture a
 * copy of the piece. A capture without a copy of a piece finds it in the next newer capture that
 * has one, or in the text. A text that its owner frees goes over to its captures, with all of this.
 *
 *      owner       capture ─ before_write, try_grow, free … ─────── release
 *      reader              └ read, pass … ─ notifies the owner ──────┘      └ free (in any thread)
 *
 * The reader of a capture is the owner's thread itself, or another one. Those of other threads copy
 * one piece at a time. All other functions are for the owner's thread alone; but a text to which no
 * key leads may be freed in another thread, once shared_text_is_captured says there that it is not
 * (ds/capture.h). */
#ifndef PACKLIST_DS_STRINGS_SHARED_TEXT_H
#define PACKLIST_DS_STRINGS_SHARED_TEXT_H

#include "base/text/sds.h"
#include "ds/capture.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct text_capture;

/* Other modules may read `text`, and nothing else. */
struct shared_text {
    sds text;
    struct text_capture *newest; /* NULL: not captured; atomic, as in struct captures */
    size_t tables;               /* captures, not released, that have copies of pieces */
    bool owner_waits;            /* for a reader in another thread */
    size_t reading; /* the piece that another thread copies out of the text; SIZE_MAX: none */
    pthread_mutex_t lock;
    pthread_cond_t has_read;
};

/* --- The text, in the owner's thread --- */

/* Takes ownership of the text. O(1). */
struct shared_text *shared_text_new(sds text);

/* Frees the text; while it is captured, it goes over to the captures instead. O(1) besides
 * freeing. */
void shared_text_free(struct shared_text *shared);

/* Frees it, without the text, which is returned with its ownership. It must not be captured.
 * O(1). */
sds shared_text_take(struct shared_text *shared);

/* Bytes allocated for it, the text included. O(1). */
size_t shared_text_allocated(const struct shared_text *shared);

/* Returns whether the text has a capture that was not released. In any thread. O(1). */
static inline bool shared_text_is_captured(const struct shared_text *shared) {
    return __atomic_load_n(&shared->newest, __ATOMIC_ACQUIRE) != NULL;
}

/* To be called before the bytes [from, to) of the text are written. Bytes after the captured length
 * need no such call. O(to - from), and at least a piece, on the first call for a piece; the first
 * one after a capture clears a table of one pointer per piece. Waits while the reader copies one of
 * these pieces (microseconds). */
void shared_text_before_write(struct shared_text *shared, size_t from, size_t to);

/* As sds_try_grow: makes room for `more` bytes; false, with nothing changed, when the memory cannot
 * be had. The text may move; the reader then waits. */
bool shared_text_try_grow(struct shared_text *shared, size_t more);

/* --- A capture --- */

/* Captures the text as it is now (ds/capture.h). Until the release, *left (if `left` is not NULL)
 * includes the bytes of memory that only captures still need: copies of pieces, and a text that the
 * owner has freed. Such bytes are counted for the newest capture. An older capture that needs
 * copies of pieces gets them at the release. O(1). */
struct capture *text_capture_begin(struct shared_text *shared, size_t *left);

/* Length of the captured text, in bytes. O(1). */
size_t text_capture_len(const struct capture *capture);

/* A reader in another thread: copies the captured bytes [offset, offset + len) to `out`.
 * O(len + pieces * newer captures). */
void text_capture_read(struct capture *capture, size_t offset, char *out, size_t len);

/* A reader in the owner's thread: returns where captured bytes from `offset` on lie in one piece of
 * memory: at least one, at most `most`. Valid until the next call for this text or any of its
 * captures. `offset` is below the captured length. O(1) while no capture has copies, otherwise
 * O(most / 16 KB * newer captures). */
struct slice text_capture_peek(const struct capture *capture, size_t offset, size_t most);

/* The reader will not read the bytes before `offset` again, so the owner no longer copies them.
 * O(1). */
void text_capture_pass(struct capture *capture, size_t offset);

/* Checks the invariant, in the owner's thread. O(pieces * captures). */
bool shared_text_check(struct shared_text *shared);

#endif
