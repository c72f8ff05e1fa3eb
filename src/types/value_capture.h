/* value_capture: a value as it was at one moment, which another thread writes to a file while the
 * value goes on changing. An incremental snapshot captures each value that is too large to be
 * copied at once; it knows captures of no other kind.
 *
 *      loop's thread      begin ── the value changes, is deleted, renamed … ─── release
 *      writer thread            └─ persist/type_format.h: write_capture ──────┘       └─ free
 *
 * A capture belongs to the memory that the entry points to, not to the entry: an entry may move,
 * and a rename gives the memory to another entry. A snapshot captures a value at most once at a
 * time; the text of a string may have further captures, for replies that refer to it.
 *
 * The value and the capture share their memory. Before the value changes a piece of it (16 KB of a
 * text, a node of a list, a stream or a sorted set, a block of a table of records), it gives the
 * capture a copy of the piece, or leaves the piece to the capture and changes a copy. So a change
 * costs at most one piece more, once for each piece.
 *
 * To begin costs O(1) for strings and lists. Sets, hashes and streams copy one pointer for 512
 * pieces, sorted sets one for each node, which has about 100 members: 1 MB for 10 million. */
#ifndef PACKLIST_TYPES_VALUE_CAPTURE_H
#define PACKLIST_TYPES_VALUE_CAPTURE_H

#include "store/entry.h"

struct value_capture {
    enum value_type type;
    void *state; /* the type's own; NULL: nothing was captured */
};

/* Captures the value as it is now; a list must not be captured already. Nothing visible of it
 * changes, and the entry does not move. Returns false and does nothing when the value is so small
 * that it should be copied. Until the release, *left includes the bytes of memory that only the
 * capture still needs. In the loop's thread. */
bool value_capture_begin(struct value_capture *capture, struct entry *entry, size_t *left);

/* Returns whether the value has a capture that was not released. If so, only the loop's thread may
 * change or free the value. O(1). */
bool value_is_captured(const struct entry *entry);

/* Bytes allocated for the capture beside what *left counts. O(1). */
size_t value_capture_allocated(const struct value_capture *capture);

/* Ends the capture when no thread reads it any more: the value, which may be gone, can be captured
 * again. Returns the bytes by which *left becomes smaller. In the loop's thread. O(1). */
size_t value_capture_release(struct value_capture *capture);

/* Frees a released capture, with all memory that only it still needed. In any thread. */
void value_capture_free(struct value_capture *capture);

#endif
