/* capture: a value as it was at one moment, which is read while the value goes on changing: by the
 * thread that writes a snapshot, by one that computes, or for a reply.
 *
 *      loop's thread      begin ── the value changes, is freed, renamed … ─── release
 *      reader             └─ reads ───────────────────────────────────────────┘       └ free
 *
 * A value may have any number of captures at a time. Each has its own moment, and they end in any
 * order.
 *
 * Each structure for large values begins captures of its own kind and has the functions that read
 * them: ds/lists/quicklist.h, ds/sorted_sets/skiplist.h, ds/records/recordtable.h,
 * ds/streams/streamlog.h, ds/strings/shared_text.h. This is what the kinds have in common. `struct
 * capture` is the first member of each kind; whoever holds a capture knows by the value's type
 * which kind it is.
 *
 * The structure and its captures share their memory. Before the structure changes a piece of it (a
 * node of a list, a stream or a sorted set, a block of a table of records, 16 KB of a text), it
 * leaves the piece to the captures that read it, and changes a copy. So a change costs at most one
 * piece more, once for each piece, however many captures need it (ds/pieces.h).
 *
 * A captured structure must only be changed or freed in the loop's thread. One to which no key
 * leads, so that no capture can begin, may be freed in another thread as soon as that thread finds
 * it without captures (pieces_are_captured, shared_text_is_captured): the loop may be releasing the
 * last capture at this moment, but the last thing that a release does to the structure is to set
 * `newest` to NULL. So that is stored with release semantics, and loaded with acquire semantics. */
#ifndef PACKLIST_DS_CAPTURE_H
#define PACKLIST_DS_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct capture;
struct leftovers; /* ds/capture.c */

/* The captures of one structure that were not released, and its epochs: each capture begins one,
 * and reads the pieces that were made in those before. */
struct captures {
    struct capture *newest; /* NULL: there are no captures; atomic, as said above */
    struct capture *oldest;
    uint32_t epoch;      /* of the pieces that are made now */
    uint32_t read_below; /* pieces of earlier epochs are read by some capture; 0: none is */
};

/* So many captures of a structure may begin before its pieces must be numbered anew
 * (pieces_renew). */
#ifdef TINY_LIMITS
#define CAPTURES_EPOCH_MAX 50u
#else
#define CAPTURES_EPOCH_MAX (UINT32_MAX - 1)
#endif

/* What one kind does in addition to capture_release and capture_free. All but free_structure may be
 * NULL; so may that, for a kind that is never left as a whole. */
struct capture_functions {
    /* Ends the sharing. */
    void (*release)(struct capture *capture);
    /* Frees what the capture owns besides its own memory and what was left to it. */
    void (*free)(struct capture *capture);
    /* Frees a structure that was left as a whole (captures_adopt). */
    void (*free_structure)(void *structure);
};

struct capture {
    const struct capture_functions *functions;
    struct captures *captures; /* in the structure; NULL: released, or of a kind without them */
    struct capture *older;
    struct capture *newer;
    uint32_t epoch;   /* which it has begun: it reads pieces of earlier ones */
    size_t allocated; /* bytes of the capture itself and of copies made at its beginning */
    size_t left;      /* bytes that only captures still need, and this one is the newest of them */
    size_t *left_by_all; /* the caller's sum over several captures, changed likewise; or NULL */
    struct leftovers *leftovers;
    void *orphan; /* the structure, if its owner has freed it and left it as a whole */
    size_t orphan_bytes;
};

/* --- For whoever holds a capture --- */

/* Bytes allocated for the capture besides those in *left, the counter that it began with. O(1). */
static inline size_t capture_allocated(const struct capture *capture) {
    return capture->allocated;
}

/* From now on *left, or none if it is NULL, includes the bytes that the counter with which the
 * capture began included. O(1). */
void capture_count_for(struct capture *capture, size_t *left);

/* Ends the capture: nobody may read it from now on. Pieces that no other capture reads belong to
 * the structure alone again. What was left to this capture and is still read by an older one goes
 * to that. Returns the bytes that capture_free is going to free besides capture_allocated; *left
 * becomes smaller by them and by those that go to the older one, whose own counter becomes larger.
 * In the loop's thread. O(captures), and O(groups of what was left to the newer ones): at most the
 * square of the captures of the value, 0.1 ms for a thousand; for a text O(pieces) when an older
 * capture gets its copies. */
size_t capture_release(struct capture *capture);

/* Frees a released capture, with all memory that only it still needed. In any thread. O(what was
 * left), and with an orphan O(its pieces). */
void capture_free(struct capture *capture);

/* Releases and frees it, in the loop's thread. */
void capture_end(struct capture *capture);

/* --- For the structures --- */

/* Returns a new capture of `size` bytes, of which those after the struct capture are not
 * initialised; a new epoch begins, which must not be the last (CAPTURES_EPOCH_MAX). Until the
 * release *left, unless `left` is NULL, includes the bytes that only this capture or older ones
 * still need. `captures` is NULL for a structure that finds its captures otherwise. O(1). */
void *capture_begin(const struct capture_functions *functions, size_t size,
                    struct captures *captures, size_t *left);

/* Leaves memory of `size` bytes (mem_good_size), which was made in `epoch`, to the captures that
 * read it: `epoch` is less than captures->read_below. O(1), O(captures) for memory that was made
 * after the oldest of them had begun. */
void captures_leave(struct captures *captures, uint32_t epoch, void *memory, size_t size);

/* Count bytes of memory that the capture is to free itself, or that go to another one. O(1). */
void capture_count(struct capture *capture, size_t bytes);
void capture_uncount(struct capture *capture, size_t bytes);

/* How many pieces of memory were left to it. O(what was left). */
size_t capture_pieces_left(const struct capture *capture);

/* The structure, which takes `allocated` bytes, is freed by its owner. If it is captured, leaves it
 * to its captures and returns true: it is freed as a whole, with the last of them. O(1). */
bool captures_adopt(struct captures *captures, void *structure, size_t allocated);

/* For a structure that finds its captures otherwise: leave it to its newest capture, and to the
 * next older one when that is released. O(1). */
void capture_adopt(struct capture *newest, void *structure, size_t allocated);
void capture_pass_orphan(struct capture *newest, struct capture *older);

#endif
