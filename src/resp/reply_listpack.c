/* The fused writer: listpack bytes → RESP bytes, element by element, in one loop without a call.
 *
 *      listpack   [A=8A]hello-list[0B] [C3 E8][02] …
 *                       |                |
 *      RESP       $10\r\nhello-list\r\n $4\r\n1000\r\n …
 *
 * A short string costs three fixed-size stores: its header from a table (8 bytes, 4 or 5 of them
 * valid), its text (32 or 64 bytes, `len` of them valid) and the line end; the next element
 * overwrites the excess. This needs two margins: the reply has OUT_SLACK bytes after the last
 * element, and an element is read this way only when WIDE bytes from its start on are readable. The
 * last ones of a body, where the readable bytes may end with it, are first copied to the stack,
 * where they have that margin.
 *
 * Iterating a listpack is a chain of dependent loads, which costs more than the copying. So where
 * two neighbours have the same header byte the loop assumes that the third has it too, and only
 * checks: see string_run. */
#include "resp/reply.h"

#include "resp/reply_internal.h"
#include "resp/reply_sink.h"

#include <assert.h>

enum {
    WIDE = 65,      /* readable bytes that the fixed-size copies ask for: one header byte and 64 */
    OUT_SLACK = 80, /* bytes that may be written after an element's reply */

    /* The most bytes by which an element's reply exceeds the element: a 64-bit integer of 20
     * characters takes 10 bytes in the listpack and 27 in the reply. */
    GROWTH_MAX = 17
};

/* --- Integers --- */

/* An integer as a bulk; without a branch on sign or digits where it has at most eight. */
static inline char *write_integer(char *out, int64_t value) {
    uint64_t magnitude = value < 0 ? -(uint64_t)value : (uint64_t)value;
    unsigned negative = value < 0;
    if (__builtin_expect(magnitude < DIGITS_LIMIT, 1)) {
        struct digits digits = digits_of((uint32_t)magnitude);
        unsigned len = digits.count + negative;
        uint32_t header = ('$' | '0' << 8 | '\r' << 16 | '\n' << 24) + (len << 8);
        memcpy(out, &header, 4);
        out[4] = '-';
        memcpy(out + 4 + negative, &digits.text, 8);
        return reply_write_line_end(out + 4 + len);
    }
    char *text = out + (negative || magnitude > 999999999 ? 5 : 4);
    char *end = digits_write_signed(text, value);
    const char *header = reply_length_headers[end - text];
    memcpy(out, header, 4);
    if (text - out == 5) out[4] = header[4];
    return reply_write_line_end(end);
}

/* Returns whether `byte`, which is not that of a short string, begins an integer element. */
static inline bool is_integer(unsigned byte) {
    return byte < LISTPACK_STRING12 || byte - LISTPACK_INTEGER16 <= 3u;
}

/* Returns whether `byte` begins an integer element of `size` bytes. */
static inline bool is_integer_of(unsigned byte, size_t size) {
    switch (size) {
    case 2: return byte < LISTPACK_STRING6;
    case 3: return (byte & 0xE0) == LISTPACK_INTEGER13;
    case 10: return byte == LISTPACK_INTEGER64;
    default: return byte == LISTPACK_INTEGER16 + size - 4;
    }
}

/* The value of an integer element of `size` bytes. Reads 9 bytes, whatever its size. */
static inline int64_t read_integer_wide(const uint8_t *p, size_t size) {
    if (size == 2) return *p;
    if (size == 3) return (int64_t)((uint64_t)(p[0] & 31) << 59 | (uint64_t)p[1] << 51) >> 51;
    uint64_t bits;
    memcpy(&bits, p + 1, sizeof(bits));
    unsigned shift = 64 - 8 * ((unsigned)size - 2);
    return (int64_t)(bits << shift) >> shift;
}

/* --- Strings --- */

static inline bool is_short_string(unsigned byte) {
    return (byte & 0xC0) == LISTPACK_STRING6;
}

static inline bool is_middle_string(unsigned byte) {
    return (byte & 0xF0) == LISTPACK_STRING12;
}

/* A string of up to 63 bytes; WIDE readable bytes at `p`. */
static inline char *write_short_string(char *out, const uint8_t *p) {
    size_t len = *p & 63;
    memcpy(out, reply_length_headers[len], 8);
    out += reply_length_header_size(len);
    memcpy(out, p + 1, 32);
    if (len > 32) memcpy(out + 32, p + 33, 32);
    return reply_write_line_end(out + len);
}

/* A string whose text is exactly [text, text + len). */
static inline char *write_exact_string(char *out, const char *text, size_t len) {
    out = reply_write_header(out, '$', len);
    memcpy(out, text, len);
    return reply_write_line_end(out + len);
}

/* Any element; reads no bytes beyond it. */
static char *write_exact(char *out, const uint8_t *p) {
    struct listpack_value value;
    listpack_get(p, &value);
    if (value.ptr == NULL) return write_integer(out, value.integer);
    return write_exact_string(out, value.ptr, value.len);
}

/* --- Runs --- */

/* A writer under way. */
struct run {
    char *out;
    const uint8_t *p; /* the next element */
    size_t left;      /* elements to write */
};

/* Short strings from run->p on as long as they have one and the same length of at most `copied`, a
 * constant; the last may begin at `last_wide`. No load waits for another here: the check of the
 * next header byte is predicted. */
static inline __attribute__((always_inline)) void
string_run_of(struct run *run, const uint8_t *last_wide, size_t copied) {
    const uint8_t byte = *run->p;
    const size_t len = byte & 63, header_size = reply_length_header_size(len);
    uint64_t header;
    memcpy(&header, reply_length_headers[len], 8);
    char *out = run->out;
    const uint8_t *p = run->p;
    size_t left = run->left;
    do {
        memcpy(out, &header, 8);
        memcpy(out + header_size, p + 1, copied);
        out = reply_write_line_end(out + header_size + len);
        p += len + 2;
        left--;
    } while (left > 0 && p <= last_wide && *p == byte);
    *run = (struct run){out, p, left};
}

static void string_run(struct run *run, const uint8_t *last_wide) {
    size_t len = *run->p & 63;
    if (len <= 16) {
        string_run_of(run, last_wide, 16);
    } else if (len <= 32) {
        string_run_of(run, last_wide, 32);
    } else if (len <= 48) {
        string_run_of(run, last_wide, 48);
    } else {
        string_run_of(run, last_wide, 64);
    }
}

/* Integers from run->p on as long as they are of `size` bytes, a constant: of one encoding. */
static inline __attribute__((always_inline)) void
integer_run_of(struct run *run, const uint8_t *last_wide, size_t size) {
    struct run at = *run;
    do {
        at.out = write_integer(at.out, read_integer_wide(at.p, size));
        at.p += size;
        at.left--;
    } while (at.left > 0 && at.p <= last_wide && is_integer_of(*at.p, size));
    *run = at;
}

static void integer_run(struct run *run, const uint8_t *last_wide) {
    switch (listpack_size_table[*run->p]) {
    case 2: integer_run_of(run, last_wide, 2); break;
    case 3: integer_run_of(run, last_wide, 3); break;
    case 4: integer_run_of(run, last_wide, 4); break;
    case 5: integer_run_of(run, last_wide, 5); break;
    case 6: integer_run_of(run, last_wide, 6); break;
    default: integer_run_of(run, last_wide, 10);
    }
}

/* Strings of 64 to 4095 bytes, one after another; each needs 64 readable bytes after it. */
static void middle_string_run(struct run *run, const uint8_t *last_wide) {
    struct run at = *run;
    do {
        size_t len = (size_t)(at.p[0] & 15) << 8 | at.p[1];
        const uint8_t *text = at.p + 2;
        if (text + len > last_wide) break;
        *at.out = '$';
        char *out = reply_write_line_end(digits_write_short(at.out + 1, (uint32_t)len));
        for (size_t i = 0; i < len; i += 64) memcpy(out + i, text + i, 64);
        at.out = reply_write_line_end(out + len);
        at.p = text + len + (len < 126 ? 1 : 2);
        at.left--;
    } while (at.left > 0 && at.p <= last_wide && is_middle_string(*at.p));
    *run = at;
}

/* Writes elements that begin at or before `last_wide`, and so have WIDE readable bytes. */
static void write_wide(struct run *state, const uint8_t *last_wide) {
    struct run run = *state;
    unsigned previous = LISTPACK_END;
    while (run.left > 0 && run.p <= last_wide) {
        unsigned byte = *run.p;
        if (is_short_string(byte)) {
            if (byte == previous) {
                string_run(&run, last_wide);
                previous = LISTPACK_END;
                continue;
            }
            run.out = write_short_string(run.out, run.p);
            run.p += (byte & 63) + 2;
            run.left--;
            previous = byte;
        } else if (is_integer(byte)) {
            integer_run(&run, last_wide);
        } else {
            const uint8_t *before = run.p;
            if (is_middle_string(byte)) middle_string_run(&run, last_wide);
            if (run.p != before) continue;
            run.out = write_exact(run.out, run.p);
            run.p += listpack_size_long(run.p);
            run.left--;
        }
    }
    *state = run;
}

/* Writes the elements that begin in the last WIDE - 1 bytes of the readable ones. */
static void write_tail(struct run *run, const uint8_t *body_end) {
    uint8_t copy[2 * WIDE];
    size_t size = (size_t)(body_end - run->p);
    assert(size > 0 && size < WIDE);
    memcpy(copy, run->p, size);
    memset(copy + size, 0, WIDE);
    struct run tail = {run->out, copy, run->left};
    write_wide(&tail, copy + size - 1);
    assert(tail.left == 0);
    *run = (struct run){tail.out, run->p + (tail.p - copy), 0};
}

/* Makes room for the replies of `count` elements of `body_size` bytes together. Returns false if
 * the reply has a sink. */
static inline bool make_room(struct reply *reply, size_t body_size, size_t count) {
    return reply_make_room(reply, body_size + count * GROWTH_MAX + OUT_SLACK);
}

/* The element for a sink. */
static void pass_element(struct reply *reply, const uint8_t *element) {
    struct listpack_value value;
    listpack_get(element, &value);
    if (value.ptr == NULL)
        reply_bulk_integer(reply, value.integer);
    else
        reply_bulk(reply, slice_make(value.ptr, value.len));
}

static const uint8_t *pass_run(struct reply *reply, const uint8_t *p, size_t count) {
    for (; count > 0; count--) {
        pass_element(reply, p);
        p += listpack_size(p);
    }
    return p;
}

static const uint8_t *pass_run_back(struct reply *reply, const uint8_t *p, size_t count) {
    for (; count > 0; count--) {
        p -= listpack_size_before(p);
        pass_element(reply, p);
    }
    return p;
}

const uint8_t *reply_listpack_run(struct reply *reply, const uint8_t *first, size_t count,
                                  const uint8_t *body_end, const uint8_t *readable_end) {
    if (!make_room(reply, (size_t)(body_end - first), count)) return pass_run(reply, first, count);
    struct run run = {reply->data + reply->len, first, count};
    if (readable_end - first >= WIDE) write_wide(&run, readable_end - WIDE);
    if (run.left > 0) write_tail(&run, body_end);
    reply->len = (size_t)(run.out - reply->data);
    return run.p;
}

const uint8_t *reply_listpack_run_back(struct reply *reply, const uint8_t *end, size_t count,
                                       const uint8_t *body_first, const uint8_t *readable_end) {
    if (!make_room(reply, (size_t)(end - body_first), count))
        return pass_run_back(reply, end, count);
    char *out = reply->data + reply->len;
    const uint8_t *p = end;
    for (; count > 0; count--) {
        p -= listpack_size_before(p);
        bool wide = readable_end - p >= WIDE;
        if (wide && is_short_string(*p)) {
            out = write_short_string(out, p);
        } else if (wide && is_integer(*p)) {
            out = write_integer(out, read_integer_wide(p, listpack_size_table[*p]));
        } else {
            out = write_exact(out, p);
        }
    }
    reply->len = (size_t)(out - reply->data);
    return p;
}

void reply_listpack_element(struct reply *reply, const uint8_t *element) {
    if (!make_room(reply, listpack_size(element), 1)) {
        pass_element(reply, element);
        return;
    }
    char *out = reply->data + reply->len;
    reply->len = (size_t)(write_exact(out, element) - reply->data);
}
