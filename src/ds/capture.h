/* capture: a value as it was at one moment, which is read while the value goes on changing: by the
 * thread that writes a snapshot, or for a reply that refers to a text.
 *
 *      loop's thread      begin ── the value changes, is freed, renamed … ─── release
 *      reader             └─ reads ───────────────────────────────────────────┘       └ free
 *
 * Each structure for large values begins captures of its own kind and has the functions that read
 * them: ds/lists/quicklist.h, ds/sorted_sets/skiplist.h, ds/records/recordtable.h,
 * ds/streams/streamlog.h, ds/strings/shared_text.h. This is what the kinds have in common. `struct
 * capture` is the first member of each kind; whoever holds a capture knows by the value's type
 * which kind it is.
 *
 * The structure and the capture share their memory. Before the structure changes a piece of it (16
 * KB of a text, a node of a list, a stream or a sorted set, a block of a table of records), it
 * gives the capture a copy of the piece, or leaves the piece to the capture and changes a copy. So
 * a change costs at most one piece more, once for each piece. A captured structure must only be
 * changed or freed in the loop's thread; but of a keyspace that is freed elsewhere texts may be
 * captured for replies (shared_text_free). Only a text may have several captures at a time. */
#ifndef PACKLIST_DS_CAPTURE_H
#define PACKLIST_DS_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct capture;
struct leftovers_block;

/* Memory that the structure no longer uses, but that the capture may still read; freed with it. */
struct leftovers {
    size_t bytes;         /* of all that was left, and of the blocks that record it */
    size_t *bytes_of_all; /* the caller's sum over several captures, changed likewise; or NULL */
    struct leftovers_block *blocks;
};

/* What one kind does in addition to capture_release and capture_free. Either may be NULL. */
struct capture_functions {
    /* Ends the sharing; `place` still says whether the structure exists. */
    void (*release)(struct capture *capture);
    /* Frees what the capture owns besides its own memory and what was left to it. */
    void (*free)(struct capture *capture);
};

struct capture {
    const struct capture_functions *functions;
    struct capture **place; /* the structure's pointer to the capture; NULL: released, or freed */
    void *orphan;           /* the structure, if its owner has freed it and left it as a whole */
    size_t allocated;       /* bytes of the capture itself and of copies made at its beginning */
    struct leftovers left;  /* changed by the loop's thread until the release */
};

/* --- For whoever holds a capture --- */

/* Bytes allocated for the capture besides those in *left, the counter that it began with. O(1). */
static inline size_t capture_allocated(const struct capture *capture) {
    return capture->allocated;
}

/* Ends the capture when nobody reads it any more: the structure, which may be freed, owns again all
 * memory that it still uses, and can be captured again. Returns the bytes by which *left becomes
 * smaller. In the loop's thread. O(1); for a text O(pieces) when an older capture gets its
 * copies. */
size_t capture_release(struct capture *capture);

/* Frees a released capture, with all memory that only it still needed. In any thread. O(what was
 * left), and with an orphan O(its pieces). */
void capture_free(struct capture *capture);

/* Releases and frees it, in the loop's thread. */
void capture_end(struct capture *capture);

/* --- For the structures --- */

/* Returns a new capture of `size` bytes, of which those after the struct capture are not
 * initialised. Until the release *left, unless `left` is NULL, includes the bytes that only the
 * capture still needs. *place, which must be NULL, points to the capture until then; `place` is
 * NULL for a structure that finds its captures otherwise. O(1). */
void *capture_begin(const struct capture_functions *functions, size_t size, struct capture **place,
                    size_t *left);

/* Leaves memory of `size` bytes (mem_good_size) to the capture that reads it; frees it if that is
 * NULL. O(1). */
void capture_drop(struct capture *capture, void *memory, size_t size);

/* Counts bytes of memory that the capture frees itself. O(1). */
void capture_count(struct capture *capture, size_t bytes);

/* How many pieces of memory were left. O(what was left). */
size_t capture_pieces_left(const struct capture *capture);

/* The structure, which takes `allocated` bytes, is freed by its owner. If it is captured, leaves it
 * to the capture as an orphan, which the capture's function frees, and returns true. O(1). */
bool capture_adopts(struct capture **place, void *structure, size_t allocated);

#endif
