/* reply_source: values of a reply that are written while the reply is sent. They are read from a
 * capture (ds/capture.h), so they are those of the moment of the command. A reply of any size then
 * takes little memory, and no step of the loop grows with it.
 *
 *      command       writes what comes before the values ─ reply_defer ─ goes on
 *      connection    … sends ─ reply_source_write ─ sends ─ reply_source_write … reply_source_free
 *
 * Each kind of source is a struct that begins with struct reply_source, and has two functions. */
#ifndef PACKLIST_RESP_REPLY_SOURCE_H
#define PACKLIST_RESP_REPLY_SOURCE_H

#include "resp/reply.h"

struct reply_source;

struct reply_source_functions {
    /* Writes some of the values that are left, about 16 KB of them, and takes their number off
     * `left`. Or sets `texts` and `text_count` to some that are to be written as bulks; they stay
     * valid until the next call. Or does neither, after a bounded time of looking for values. */
    void (*next)(struct reply_source *source, struct reply *reply);

    /* Frees what the source owns besides its own memory and `capture`. May be NULL. */
    void (*end)(struct reply_source *source);
};

struct reply_source {
    const struct reply_source_functions *functions;
    struct capture *capture;   /* owned; NULL: the kind has its own */
    size_t allocated;          /* bytes, with captures, but without what is left to these */
    struct reply_sources *own; /* those of its client */
    struct reply_common *common;
    uint64_t left;             /* values that are not written yet */
    const struct slice *texts; /* the first of them, or none */
    size_t text_count;
    size_t written;  /* bytes of the first text */
    size_t expected; /* bytes of the values that were left when the reply got it, about */
    int protocol;
};

/* The sources of one client's replies. */
struct reply_sources {
    size_t count;
    size_t capture_bytes; /* of memory that only their captures still need */
};

/* What the replies of all clients have in common. */
struct reply_common {
    size_t sources; /* that there are */

    /* Ends a capture (capture_end). What takes long of that may be done later. */
    void (*end_capture)(struct reply_common *common, struct capture *capture);
};

/* Others are written at once. Ending a capture takes time that grows with the captures of the same
 * value. */
enum { REPLY_SOURCES_OF_ONE = 64, REPLY_SOURCES_OF_ALL = 1024 };

/* Values of fewer bytes are written at once. */
#ifdef TINY_LIMITS
enum { REPLY_DEFER_AT = 300, REPLY_SOURCE_PIECE = 100, REPLY_TEXT_PIECE = 40 };
#else
enum {
    REPLY_DEFER_AT = 64 * 1024,
    REPLY_SOURCE_PIECE = 64 * 1024, /* bytes that are written at a time */
    REPLY_TEXT_PIECE = 16 * 1024    /* a longer text is written in parts */
};
#endif

/* Bytes around the text of a bulk, about. */
enum { REPLY_BULK_FRAME = 7 };

/* Returns whether values of about so many bytes should be written while they are sent. O(1). */
static inline bool reply_may_defer(const struct reply *reply, size_t expected) {
    const struct reply_sources *sources = reply->sources;
    return __builtin_expect(expected >= REPLY_DEFER_AT, 0) && sources &&
           sources->count < REPLY_SOURCES_OF_ONE && reply->common->sources < REPLY_SOURCES_OF_ALL;
}

/* Returns a new source of so many values (> 0), of about `expected` bytes, for this reply, which
 * has `sources`. It has `size` bytes, of which those after the struct reply_source are not
 * initialised. Takes ownership of the capture, which counts in
 * reply->sources->capture_bytes, or is NULL: then the kind adds to `allocated` what it owns.
 * O(1). */
void *reply_source_new(const struct reply *reply, const struct reply_source_functions *functions,
                       size_t size, struct capture *capture, uint64_t values, size_t expected);

/* A capture that the kind has counts as the source's from now on. O(1). */
void reply_source_count(struct reply_source *source, struct capture *capture);

/* Writes the first values of the source to the end of the reply, which takes over the source for
 * those that are then left. O(1); if there are too many sources, writes all: O(values). */
void reply_defer(struct reply *reply, struct reply_source *source);

/* Writes its next values to a reply that is used for nothing else, about REPLY_SOURCE_PIECE bytes,
 * or none if they were not found in a bounded time. Returns whether there are more. */
bool reply_source_write(struct reply_source *source, struct reply *reply);

/* Frees it, and ends its capture. In the loop's thread. O(1), and what capture_release takes. */
void reply_source_free(struct reply_source *source);

#endif
