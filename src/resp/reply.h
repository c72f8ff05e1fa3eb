/* reply: values → RESP2 or RESP3 bytes, appended to a growing buffer.
 *
 * The writer never fails and never flushes: the owner of the buffer sends it. The protocol version
 * decides how the types that RESP2 lacks are written (map → flat array, set → array, double → bulk,
 * boolean → integer, null → $-1, push → array).
 *
 * A large text need not be copied into the buffer: the reply refers to a capture of it, and the
 * owner sends it from there. So it is with values of which there are many (resp/reply_source.h).
 * The bytes of the reply are then those of the buffer, with what it refers to inserted at its
 * position.
 *
 * A reply may have a sink instead of a buffer (resp/reply_sink.h): each writer then passes its
 * value to the sink, and no bytes are written. Such a reply never has room (`capacity` equals
 * `len`), so every writer finds the sink on its way to a larger buffer: without a sink it costs
 * nothing. */
#ifndef PACKLIST_RESP_REPLY_H
#define PACKLIST_RESP_REPLY_H

#include "base/slice.h"
#include "base/text/sds.h"
#include "ds/lists/listpack.h"

#include <stdbool.h>
#include <stdint.h>

struct reply_sink;   /* resp/reply_sink.h */
struct reply_source; /* resp/reply_source.h */
struct reply_sources;
struct reply_common;
struct capture; /* ds/capture.h */

/* Bytes [start, end) of a captured text, or values of a source, which belong at `position` of the
 * buffer. */
struct reply_reference {
    size_t position;
    struct reply_source *source; /* owned by the reply; NULL: a text */
    struct capture *capture;     /* of a text, owned by the reply */
    size_t start;
    size_t end;
};

struct reply {
    char *data; /* NULL with a sink */
    size_t len; /* without the referred texts; with a sink: as if what it has got were RESP */
    size_t capacity;
    int protocol; /* 2 or 3 */

    struct reply_common *common;        /* NULL: the owner cannot send what the reply refers to */
    struct reply_sources *sources;      /* the client's; NULL: the owner can send none of them */
    struct reply_reference *references; /* in ascending order of their positions */
    size_t reference_count;
    size_t reference_capacity;
    size_t referred; /* bytes of the referred texts */

    /* Called before the buffer grows, or a reference is added. When the bytes will not be sent, it
     * may make `len` smaller, so that later ones overwrite them. May be NULL. */
    void (*before_growth)(struct reply *reply);
    struct reply_sink *sink; /* takes the values; NULL: `data` gets bytes */
};

/* An empty RESP2 reply with room for `capacity` bytes; 0 allocates nothing until the first write.
 * The bytes and references are freed by reply_free, which leaves an empty reply. */
void reply_init(struct reply *reply, size_t capacity);
void reply_free(struct reply *reply);

/* Makes a reply that passes its values to the sink. It needs no reply_free. */
static inline struct reply reply_into_sink(struct reply_sink *sink, int protocol) {
    return (struct reply){.protocol = protocol, .sink = sink};
}

/* As reply_init, with a request: an array of bulk strings. Growing has left no copy of its bytes in
 * freed memory. O(bytes). */
void reply_init_request(struct reply *reply, const struct slice *argv, size_t argc);

/* Appends a request. O(bytes). */
void reply_request(struct reply *reply, const struct slice *argv, size_t argc);

/* Returns the bytes of the reply, with the referred texts, but without the values of sources. */
static inline size_t reply_size(const struct reply *reply) {
    return reply->len + reply->referred;
}

/* Returns the bytes of what was written after the first `begin` bytes of the buffer, with what it
 * refers to there, as far as is known before sources are read; 0 if that was dropped. O(references
 * there). */
size_t reply_size_from(const struct reply *reply, size_t begin);

/* Drops all that was written after the first `len` bytes of the buffer, with the references there.
 * O(1) without references. A reply with a sink can only be dropped as a whole, in the middle of
 * aggregates, too. */
void reply_drop_references(struct reply *reply, size_t from);
void reply_drop_values(struct reply *reply);
static inline void reply_truncate(struct reply *reply, size_t len) {
    reply->len = len;
    if (__builtin_expect(reply->reference_count > 0, 0)) reply_drop_references(reply, len);
    if (__builtin_expect(reply->sink != NULL, 0)) reply_drop_values(reply);
}

/* The owner of the reply has taken over the captures and sources of all references. O(1). */
void reply_forget_references(struct reply *reply);

/* Gives the reply an empty buffer of `capacity` bytes; the buffer that it had is not freed.
 * Protocol and before_growth stay. */
void reply_replace_buffer(struct reply *reply, size_t capacity);

/* The slow path of reply_make_room: a larger buffer, at least doubled, unless before_growth makes
 * room. Returns false, and does nothing, if the reply has a sink. */
bool reply_grow(struct reply *reply, size_t more);

/* Makes room for `more` (> 0) bytes after data + len (which may be written directly, then
 * len += n). Returns false if the reply has a sink, which takes the value instead. Amortised
 * O(1). */
static inline bool reply_make_room(struct reply *reply, size_t more) {
    return __builtin_expect(reply->capacity - reply->len >= more, 1) || reply_grow(reply, more);
}

/* Appends bytes that are RESP already. Not with a sink. */
static inline void reply_raw(struct reply *reply, struct slice bytes) {
    if (bytes.len == 0 || !reply_make_room(reply, bytes.len)) return;
    memcpy(reply->data + reply->len, bytes.ptr, bytes.len);
    reply->len += bytes.len;
}

/* Appends the `count` bulks that `part`, a RESP2 reply without a sink, consists of. O(bytes). */
void reply_append_bulks(struct reply *reply, const struct reply *part, size_t count);

/* +text. `text` has no line break. */
void reply_status(struct reply *reply, struct slice text);

/* +OK. */
static inline void reply_ok(struct reply *reply) {
    if (!reply_make_room(reply, 5)) {
        reply_status(reply, SLICE("OK")); /* for the sink */
        return;
    }
    memcpy(reply->data + reply->len, "+OK\r\n", 5);
    reply->len += 5;
}

/* -text: the whole error line, code first ("ERR no such key"); line breaks at its ends are cut off,
 * others become blanks. Those that return a bool return false, for callers that end so. */
bool reply_error(struct reply *reply, const char *text);
void reply_error_text(struct reply *reply, struct slice text);
bool reply_error_format(struct reply *reply, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

void reply_integer(struct reply *reply, int64_t value);
void reply_bulk(struct reply *reply, struct slice text);

/* What comes before the bytes of a bulk; after them comes a line end. Not with a sink. */
void reply_bulk_header(struct reply *reply, size_t len);

/* `count` texts, each as a bulk. Reserves once, and copies short texts without a call: the cheap
 * way for many of them. O(bytes). */
void reply_bulks(struct reply *reply, const struct slice *texts, size_t count);

/* The bytes [start, end) of a captured text as a bulk, by reference. Takes ownership of the
 * capture. Only if the reply may refer, and for texts so large that a reference costs less than a
 * copy. O(1). */
enum {
#ifdef TINY_LIMITS
    REPLY_REFER_AT = 400
#else
    REPLY_REFER_AT = 32 * 1024
#endif
};
void reply_bulk_captured(struct reply *reply, struct capture *capture, size_t start, size_t end);

/* Appends a bulk, or bytes that are RESP already, and takes ownership of them. Many are not copied,
 * O(1), if the reply may refer. Otherwise O(bytes). reply_raw_owned: not with a sink. */
void reply_bulk_owned(struct reply *reply, sds text);
void reply_raw_owned(struct reply *reply, sds bytes);

/* The values of a source come here, which the reply takes over; reply_defer calls it. O(1). */
void reply_refer_to_source(struct reply *reply, struct reply_source *source);

static inline void reply_bulk_cstr(struct reply *reply, const char *cstr) {
    reply_bulk(reply, slice_of_cstr(cstr));
}

/* A name, then its value: a pair of a map. */
void reply_named_integer(struct reply *reply, const char *name, int64_t value);
void reply_named_text(struct reply *reply, const char *name, struct slice text);

void reply_bulk_integer(struct reply *reply, int64_t value); /* its decimal text as a bulk */
void reply_null(struct reply *reply);                        /* $-1 or _ */
void reply_null_array(struct reply *reply);                  /* *-1 or _ */
void reply_bool(struct reply *reply, bool value);

/* The shortest text that reads back as `value`; inf, -inf, nan. */
void reply_double(struct reply *reply, double value);

/* `format` is "txt" or "mkd"; RESP2 gets the bare text. */
void reply_verbatim(struct reply *reply, struct slice text, const char format[3]);
void reply_big_number(struct reply *reply, struct slice digits);

/* Headers of aggregates: the members follow. Maps take pairs. Attributes are RESP3's only (caller
 * checks). */
void reply_array(struct reply *reply, size_t count);
void reply_map(struct reply *reply, size_t pairs);
void reply_set(struct reply *reply, size_t count);
void reply_push(struct reply *reply, size_t count);
void reply_attribute(struct reply *reply, size_t pairs);

/* An aggregate whose length is known only afterwards: `mark` is the position where it begins; the
 * matching reply_*_end inserts the header there and moves the members by its few bytes, O(bytes
 * written since). Nests. */
size_t reply_begin(struct reply *reply);
void reply_array_end(struct reply *reply, size_t mark, size_t count);
void reply_set_end(struct reply *reply, size_t mark, size_t count);
void reply_map_end(struct reply *reply, size_t mark, size_t pairs);

/* One listpack element as a bulk. */
void reply_listpack_element(struct reply *reply, const uint8_t *element);

/* `count` elements of the body [first, body_end) starting at `first`, each as a bulk, in one fused
 * loop, for LRANGE. Bytes before `readable_end` (>= body_end) may be read, so that copies can be of
 * fixed size; the more of them, the better. Reserves once, by the size of the body. A few
 * nanoseconds an element. Returns the position after the last element. */
const uint8_t *reply_listpack_run(struct reply *reply, const uint8_t *first, size_t count,
                                  const uint8_t *body_end, const uint8_t *readable_end);

/* The same from `end` backwards, last element first, of the body [body_first, end). Returns the
 * position of the element written last. */
const uint8_t *reply_listpack_run_back(struct reply *reply, const uint8_t *end, size_t count,
                                       const uint8_t *body_first, const uint8_t *readable_end);

#endif
