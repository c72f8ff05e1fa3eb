/* shared_text: a large text whose owner goes on changing it while another thread, the reader, reads
 * a capture of it: the bytes as they were at one moment. Copy on write, in pieces of 16 KB.
 *
 *      text        │ piece 0 │ piece 1 │ piece 2 │ … the last one │ what was appended later
 *      copies      │  none   │  copy   │  none   │ …
 *
 * Capturing copies nothing. Before the owner writes to a piece that the reader may still need, it
 * gives the capture a copy of the piece. The buffer stays the owner's, which may enlarge it; an
 * owner that frees or replaces the text leaves the buffer to the capture.
 *
 *      owner       capture ─ before_write, try_grow, free … ─────── release
 *      reader              └ read, pass … ─ notifies the owner ──────┘      └ free (in any thread)
 *
 * The functions of struct shared_text, and those that begin and release a capture, are for the
 * owner's thread alone. */
#ifndef PACKLIST_DS_SHARED_TEXT_H
#define PACKLIST_DS_SHARED_TEXT_H

#include "base/sds.h"

#include <stdbool.h>
#include <stddef.h>

struct text_capture;

/* Other modules may read both fields, and write neither. */
struct shared_text {
    sds text;
    struct text_capture *capture; /* NULL: not captured */
};

/* --- The text, in the owner's thread --- */

/* Takes ownership of the text. O(1). */
struct shared_text *shared_text_new(sds text);

/* Frees the text; while it is captured, the capture gets the buffer instead. O(1) besides
 * freeing. */
void shared_text_free(struct shared_text *shared);

/* Frees it, without the text, which is returned with its ownership. It must not be captured.
 * O(1). */
sds shared_text_take(struct shared_text *shared);

/* Bytes allocated for it, the text included. O(1). */
size_t shared_text_allocated(const struct shared_text *shared);

/* To be called before the bytes [from, to) of the text are written. Bytes behind the captured
 * length need no such call. O(to - from), and at least a piece, on the first call for a piece;
 * waits while the reader copies one of these pieces (microseconds). */
void shared_text_before_write(struct shared_text *shared, size_t from, size_t to);

/* As sds_try_grow: makes room for `more` bytes; false, with nothing changed, when the memory cannot
 * be had. The text may move; the reader then waits. */
bool shared_text_try_grow(struct shared_text *shared, size_t more);

/* --- A capture --- */

/* Captures the text as it is now; it must not be captured already. Until the release, *left
 * includes the bytes of memory that only the capture still needs: copies of pieces, and a buffer
 * that the owner has left. O(len / 16 KB): clears a table of one pointer per piece. */
struct text_capture *text_capture_begin(struct shared_text *shared, size_t *left);

/* Bytes allocated for it besides those in *left. O(1). */
size_t text_capture_allocated(const struct text_capture *capture);

/* Length of the captured text, in bytes. O(1). */
size_t text_capture_len(const struct text_capture *capture);

/* The reader: copies the captured bytes [offset, offset + len) to `out`. O(len). */
void text_capture_read(struct text_capture *capture, size_t offset, char *out, size_t len);

/* The reader will not read the bytes before `offset` again, so the owner no longer copies them.
 * O(1). */
void text_capture_pass(struct text_capture *capture, size_t offset);

/* Ends the capture, in the owner's thread, when the reader has finished: the text, which may be
 * gone, can be captured again. Returns the bytes by which *left becomes smaller. O(1). */
size_t text_capture_release(struct text_capture *capture);

/* Frees a released capture, with all memory that only it still needed. In any thread. */
void text_capture_free(struct text_capture *capture);

/* Checks the invariant, in the owner's thread. O(pieces). */
bool shared_text_check(const struct shared_text *shared);

#endif
