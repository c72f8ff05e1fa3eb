/* listpack: elements packed one after another: a *body*, which an entry or a quicklist node owns.
 * The *serialized* form, as in RDB files and DUMP payloads, has a header and an end byte around it.
 *
 *      serialized:  [total bytes 4 LE][count 2 LE, 65535 = unknown] element … [0xFF]
 *      element:     [encoding + data][back length 1-5 bytes]
 *
 *      first byte   data                                        first byte   data
 *      0xxxxxxx     integer 0 … 127                             1111 0000    [len 4 LE] string
 *      10llllll     string of 0 … 63 bytes                      1111 0001    integer, 2 bytes LE
 *      110xxxxx     [x 1] integer -4096 … 4095 (13 bits, BE)    1111 0010    integer, 3 bytes LE
 *      1110llll     [l 1] string of … 4095 bytes (12 bits, BE)  1111 0011    integer, 4 bytes LE
 *                                                               1111 0100    integer, 8 bytes LE
 *                                                               1111 0101    [len 8 LE] string
 *
 * The back length is the size of "encoding + data", in 7-bit groups, readable from its last byte
 * backwards: every byte but the first has its top bit set. It takes 1 byte up to 127, then 2, 3, 4,
 * 5 bytes from 128, 16383, 2097151 and 268435455 on. The last three are one less than 7 bits a byte
 * allow, because Redis writes and reads them so. Source: the listpack specification
 * (github.com/antirez/listpack) and Redis RDB version 10.
 *
 * Strings with 64-bit lengths are ours alone. They exist only in memory, as elements that have a
 * body to themselves: the serialized form cannot hold them, and checks of untrusted bytes refuse
 * them. Their back length takes 6 bytes where 5 are too few.
 *
 * Invariant of every body in memory: elements are *canonical*: a text that number_parse_int64
 * accepts is stored as the shortest integer, any other text with the shortest string header. */
#ifndef PACKLIST_DS_LISTS_LISTPACK_H
#define PACKLIST_DS_LISTS_LISTPACK_H

#include "base/slice.h"

#include <stdint.h>

enum {
    LISTPACK_HEADER_SIZE = 6,
    LISTPACK_OVERHEAD = 7, /* header and end byte: what the serialized form adds to a body */
    LISTPACK_END = 0xFF,
    LISTPACK_INTEGER_SIZE_MAX = 10 /* largest element that is an integer */
};

/* The first byte of an element; below LISTPACK_STRING6 it is an integer of 7 bits. */
enum {
    LISTPACK_STRING6 = 0x80,
    LISTPACK_INTEGER13 = 0xC0,
    LISTPACK_STRING12 = 0xE0,
    LISTPACK_STRING32 = 0xF0,
    LISTPACK_INTEGER16 = 0xF1,
    LISTPACK_INTEGER24 = 0xF2,
    LISTPACK_INTEGER32 = 0xF3,
    LISTPACK_INTEGER64 = 0xF4,
    LISTPACK_STRING64 = 0xF5
};

/* The longest text of an element that a serialized listpack can hold: the 32-bit length less room
 * for the headers. Elements with longer texts have a 64-bit length. */
#define LISTPACK_TEXT_MAX ((size_t)UINT32_MAX - 64)

/* --- Writing --- */

/* A text prepared to be stored: classified once, then sized, compared and written as often as
 * needed. A view: `text` must outlive it. */
struct listpack_element {
    struct slice text;
    int64_t integer; /* the value, when `is_integer` */
    size_t size;     /* bytes of the whole element, back length included */
    bool is_integer;
    uint8_t header_size;
    /* What precedes the text; the whole element of an integer. */
    uint8_t header[LISTPACK_INTEGER_SIZE_MAX];
};

/* Classifies `text` (at most TEXT_LENGTH_MAX bytes). O(1), except for texts of up to 20 bytes
 * that begin like a number, which are parsed as integers. */
void listpack_prepare(struct listpack_element *element, struct slice text);

/* The same for an integer, without its text: for listpack_write and `size` alone. O(1). */
void listpack_prepare_integer(struct listpack_element *element, int64_t integer);

/* Writes `element->size` bytes at `dst`. */
void listpack_write(uint8_t *dst, const struct listpack_element *element);

/* --- Reading: `p` points at an element of a valid body --- */

/* One element, decoded. `ptr` is NULL for an integer; else the text lies inside the body. */
struct listpack_value {
    const char *ptr;
    size_t len;
    int64_t integer;
};

/* Decodes the element at `p`; returns its size, back length included. */
size_t listpack_get(const uint8_t *p, struct listpack_value *value);

/* The element's text: inside the body, or, for integers, written to `buffer` (room for
 * INT64_TEXT_MAX bytes). */
struct slice listpack_value_text(const struct listpack_value *value, char *buffer);

/* Size of each element by its first byte; 0 for longer strings. */
extern const uint8_t listpack_size_table[256];

/* The sizes that the two functions below do not compute inline. */
size_t listpack_size_long(const uint8_t *p);
size_t listpack_size_before_long(const uint8_t *p);

/* Size of the element at `p` in bytes, back length included: p + size is the next. O(1). */
static inline size_t listpack_size(const uint8_t *p) {
    size_t size = listpack_size_table[*p];
    return __builtin_expect(size != 0, 1) ? size : listpack_size_long(p);
}

/* Size of the element that ends just before `p`: p - size is its start. O(1). */
static inline size_t listpack_size_before(const uint8_t *p) {
    return p[-1] < 128 ? (size_t)p[-1] + 1 : listpack_size_before_long(p);
}

/* Takes one element at the position *at, which is between elements: the one that begins there, or,
 * when not `forward`, the one that ends there; moves *at over it. O(1). */
static inline const uint8_t *listpack_step(const uint8_t **at, bool forward) {
    const uint8_t *element = forward ? *at : *at - listpack_size_before(*at);
    *at = forward ? element + listpack_size(element) : element;
    return element;
}

/* The start of element `index` (0-based), iterating from `first`, or from `end` backwards (0 = the
 * last). O(index); about half a nanosecond a step where neighbours are of equal size. */
const uint8_t *listpack_seek(const uint8_t *first, size_t index);
const uint8_t *listpack_seek_back(const uint8_t *end, size_t index);

/* The start of element `index` (== count: the end) of the body [first, end) of `count` elements,
 * iterating from the nearer side. */
static inline const uint8_t *listpack_seek_in(const uint8_t *first, const uint8_t *end,
                                              size_t count, size_t index) {
    if (index == count) return end;
    if (index <= count / 2) return listpack_seek(first, index);
    return listpack_seek_back(end, count - 1 - index);
}

/* The first element in [first, end) that equals `needle`, or NULL. `*skipped` gets the number of
 * elements passed before it (all of them when NULL). Compares at most `max` elements. Reads each
 * header once and compares bytes only where the size and header agree. O(bytes). */
const uint8_t *listpack_find(const uint8_t *first, const uint8_t *end,
                             const struct listpack_element *needle, size_t max, size_t *skipped);

/* The same from `end` backwards. */
const uint8_t *listpack_find_back(const uint8_t *first, const uint8_t *end,
                                  const struct listpack_element *needle, size_t max,
                                  size_t *skipped);

/* Returns whether the element at `p` equals `needle`. */
bool listpack_equal(const uint8_t *p, const struct listpack_element *needle);

/* Removes up to `max` elements that equal `needle` from the body [first, end), the first ones, or
 * the last ones when `from_end`; closes the gaps in one pass; returns the new end. `*removed` gets
 * their number. O(bytes). */
uint8_t *listpack_remove_matching(uint8_t *first, uint8_t *end,
                                  const struct listpack_element *needle, size_t max, bool from_end,
                                  size_t *removed);

/* --- The serialized form --- */

/* Writes the 6-byte header for a body of `body_size` bytes and `count` elements; the caller copies
 * the body and ends with LISTPACK_END. */
void listpack_write_header(uint8_t *dst, size_t body_size, size_t count);

/* Checks untrusted bytes completely: header, every element within bounds, every back length, end
 * byte, count. Returns whether they are valid. If so, the body is [bytes + 6, bytes + size - 1),
 * `*count` has the number of elements and `*canonical` is true if every element is canonical (if
 * not, the owner re-encodes each one). O(size), never reads outside [bytes, bytes + size). */
bool listpack_validate(const uint8_t *bytes, size_t size, size_t *count, bool *canonical);

/* The same for a header that is stored separately: the body of `body_size` bytes at `first` is
 * followed by the end byte. */
bool listpack_validate_split(const uint8_t *header, const uint8_t *first, size_t body_size,
                             size_t *count, bool *canonical);

/* Valkey, from 9.1 on, writes the back lengths of 16383, 2097151 and 268435455 in the 2, 3, 4 bytes
 * that they fit in. Copies the untrusted body [first, end) to `dst`, with such back lengths written
 * as ours. `dst` has room for as many bytes and one more for each 16384, rounded up. Returns the
 * size there. Copies other malformed elements unchanged. O(size). */
size_t listpack_copy_lengthened(uint8_t *dst, const uint8_t *first, const uint8_t *end);

/* Checks the invariant: [first, end) is exactly `count` valid canonical elements, or one with a
 * 64-bit length. For tests and assertions. */
bool listpack_body_check(const uint8_t *first, const uint8_t *end, size_t count);

#endif
