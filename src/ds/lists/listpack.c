/* listpack: see the header for the format, byte by byte.
 *
 * How the element of each kind lies in memory (back length drawn as its usual single byte):
 *
 *      integer 5        05 | 01                      size 2
 *      integer 1000     C3 E8 | 02                   size 3
 *      integer 1000000  F2 40 42 0F | 04             size 5
 *      string "abc"     83 'a' 'b' 'c' | 04          size 5
 *      100-byte string  E0 64 text… | 66             size 103
 *      5000-byte string F0 88 13 00 00 text… | 27 8D size 5007 (two bytes of back length)
 *      5 GB string      F5 00 F2 05 2A 01 00 00 00 text… | five bytes
 *
 * Where neighbours are of equal size, the loops below step by the last size and only *check* it,
 * which the processor predicts, instead of waiting for each length to be loaded. They do so from
 * the second equal size on, so that lists of mixed sizes do not pay for wrong guesses. */
#include "ds/lists/listpack.h"

#include "base/checked.h"
#include "base/text/number.h"
#include "base/word_bytes.h"

#include <assert.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "integers are copied as they are");

/* --- Sizes --- */

// clang-format off
const uint8_t listpack_size_table[256] = {
    [0x00 ... 0x7F] = 2, /* 7-bit integers */
    /* strings: header, text, back length */
    [0x80] = 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17,
    [0x90] = 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33,
    [0xA0] = 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49,
    [0xB0] = 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65,
    [0xC0 ... 0xDF] = 3, /* 13-bit integers */
    [0xE0 ... 0xF0] = 0, /* strings whose length stands in the next bytes; so with 0xF5 */
    [0xF1] = 4, 5, 6, 10, /* 16, 24, 32, 64-bit integers */
};
// clang-format on

/* Bytes that the back length of `data_size` bytes takes. */
static size_t back_length_size(uint64_t data_size) {
    if (data_size < 128) return 1;
    if (data_size < 16383) return 2;
    if (data_size < 2097151) return 3;
    if (data_size < 268435455) return 4;
    return data_size < (uint64_t)1 << 35 ? 5 : 6;
}

static void write_back_length(uint8_t *dst, uint64_t data_size, size_t length_size) {
    for (size_t i = length_size; i-- > 0; data_size >>= 7) {
        dst[i] = (uint8_t)((data_size & 127) | (i > 0 ? 128 : 0));
    }
}

/* Text length of an element of type LISTPACK_STRING12 or LISTPACK_STRING32. */
static size_t string12_length(const uint8_t *p) {
    return (size_t)(p[0] & 15) << 8 | p[1];
}

static size_t string32_length(const uint8_t *p) {
    uint32_t len;
    memcpy(&len, p + 1, sizeof(len));
    return len;
}

static size_t string64_length(const uint8_t *p) {
    uint64_t len;
    memcpy(&len, p + 1, sizeof(len));
    return len;
}

size_t listpack_size_long(const uint8_t *p) {
    assert((*p >= LISTPACK_STRING12 && *p <= LISTPACK_STRING32) || *p == LISTPACK_STRING64);
    size_t data_size = *p < LISTPACK_STRING32    ? 2 + string12_length(p)
                       : *p == LISTPACK_STRING32 ? 5 + string32_length(p)
                                                 : 9 + string64_length(p);
    return data_size + back_length_size(data_size);
}

size_t listpack_size_before_long(const uint8_t *p) {
    size_t data_size = 0, groups = 0;
    uint8_t byte;
    do {
        byte = *--p;
        data_size |= (size_t)(byte & 127) << (7 * groups++);
    } while (byte & 128);
    return data_size + groups;
}

/* --- Writing --- */

/* Writes encoding and data of an integer in its shortest form; returns their size. */
static size_t encode_integer(uint8_t *dst, int64_t value) {
    if (value >= 0 && value <= 127) {
        dst[0] = (uint8_t)value;
        return 1;
    }
    if (value >= -4096 && value <= 4095) {
        dst[0] = (uint8_t)(LISTPACK_INTEGER13 | ((value >> 8) & 31));
        dst[1] = (uint8_t)value;
        return 2;
    }
    size_t width = 8;
    dst[0] = LISTPACK_INTEGER64;
    if (value >= INT16_MIN && value <= INT16_MAX) {
        dst[0] = LISTPACK_INTEGER16;
        width = 2;
    } else if (value >= -8388608 && value <= 8388607) {
        dst[0] = LISTPACK_INTEGER24;
        width = 3;
    } else if (value >= INT32_MIN && value <= INT32_MAX) {
        dst[0] = LISTPACK_INTEGER32;
        width = 4;
    }
    memcpy(dst + 1, &value, width);
    return 1 + width;
}

/* Writes the shortest header for a text of `len` bytes; returns the header's size. */
static size_t encode_string_header(uint8_t *dst, size_t len) {
    if (len < 64) {
        dst[0] = (uint8_t)(LISTPACK_STRING6 | len);
        return 1;
    }
    if (len < 4096) {
        dst[0] = (uint8_t)(LISTPACK_STRING12 | len >> 8);
        dst[1] = (uint8_t)len;
        return 2;
    }
    uint64_t len64 = len;
    if (len > LISTPACK_TEXT_MAX) {
        dst[0] = LISTPACK_STRING64;
        memcpy(dst + 1, &len64, sizeof(len64));
        return 9;
    }
    dst[0] = LISTPACK_STRING32;
    memcpy(dst + 1, &len64, sizeof(uint32_t));
    return 5;
}

static void prepare_integer(struct listpack_element *element) {
    size_t data_size = encode_integer(element->header, element->integer);
    element->header[data_size] = (uint8_t)data_size;
    element->header_size = (uint8_t)(data_size + 1);
    element->size = element->header_size;
}

void listpack_prepare_integer(struct listpack_element *element, int64_t integer) {
    *element = (struct listpack_element){.integer = integer, .is_integer = true};
    prepare_integer(element);
}

void listpack_prepare(struct listpack_element *element, struct slice text) {
    assert(text.len <= TEXT_LENGTH_MAX);
    element->text = text;
    element->integer = 0;
    element->is_integer = number_parse_int64(text, &element->integer);
    if (element->is_integer) {
        prepare_integer(element);
        return;
    }
    element->header_size = (uint8_t)encode_string_header(element->header, text.len);
    size_t data_size = element->header_size + text.len;
    element->size = data_size + back_length_size(data_size);
}

void listpack_write(uint8_t *dst, const struct listpack_element *element) {
    size_t len = element->text.len;
    if ((element->header[0] & 0xC0) == LISTPACK_STRING6) {
        *dst = element->header[0];
        if (len > 0) memcpy(dst + 1, element->text.ptr, len);
        dst[1 + len] = (uint8_t)(1 + len);
        CHECKED_ASSERT(element->size == len + 2 && listpack_equal(dst, element));
        return;
    }
    memcpy(dst, element->header, element->header_size);
    if (element->is_integer) return;
    uint8_t *text = dst + element->header_size;
    memcpy(text, element->text.ptr, len);
    size_t data_size = element->header_size + len;
    write_back_length(text + len, data_size, element->size - data_size);
    CHECKED_ASSERT(listpack_size(dst) == element->size);
    CHECKED_ASSERT(listpack_size_before(dst + element->size) == element->size);
}

/* --- Reading --- */

/* The value of an element that is an integer. */
static int64_t decode_integer(const uint8_t *p) {
    if (*p < LISTPACK_STRING6) return *p;
    if (*p < LISTPACK_STRING12) {
        /* 13 bits: the sign is bit 12, carried up by shifting through the top of the word. */
        return (int64_t)((uint64_t)(p[0] & 31) << 59 | (uint64_t)p[1] << 51) >> 51;
    }
    size_t width = listpack_size_table[*p] - 2;
    uint64_t bits = 0;
    memcpy(&bits, p + 1, width);
    unsigned shift = 64 - 8 * (unsigned)width;
    return (int64_t)(bits << shift) >> shift;
}

size_t listpack_get(const uint8_t *p, struct listpack_value *value) {
    unsigned byte = *p;
    size_t header_size;
    if ((byte & 0xC0) == LISTPACK_STRING6) {
        header_size = 1;
        value->len = byte & 63;
    } else if ((byte & 0xF0) == LISTPACK_STRING12) {
        header_size = 2;
        value->len = string12_length(p);
    } else if (byte == LISTPACK_STRING32) {
        header_size = 5;
        value->len = string32_length(p);
    } else if (byte == LISTPACK_STRING64) {
        header_size = 9;
        value->len = string64_length(p);
    } else {
        value->ptr = NULL;
        value->len = 0;
        value->integer = decode_integer(p);
        return listpack_size_table[byte];
    }
    value->ptr = (const char *)p + header_size;
    value->integer = 0;
    size_t data_size = header_size + value->len;
    return data_size + back_length_size(data_size);
}

struct slice listpack_value_text(const struct listpack_value *value, char *buffer) {
    if (value->ptr != NULL) return slice_make(value->ptr, value->len);
    return number_text(buffer, value->integer);
}

/* `forward` is a constant where these are inlined. */
static inline size_t size_at(const uint8_t *p, bool forward) {
    return forward ? listpack_size(p) : listpack_size_before(p);
}

static inline __attribute__((always_inline)) const uint8_t *seek(const uint8_t *p, size_t index,
                                                                 bool forward) {
    size_t previous = 0;
    while (index > 0) {
        size_t size = size_at(p, forward);
        if (size == previous) {
            for (; index > 0 && size_at(p, forward) == previous; index--)
                p = forward ? p + previous : p - previous;
            previous = 0;
            continue;
        }
        p = forward ? p + size : p - size;
        index--;
        previous = size;
    }
    return p;
}

const uint8_t *listpack_seek(const uint8_t *first, size_t index) {
    return seek(first, index, true);
}

const uint8_t *listpack_seek_back(const uint8_t *end, size_t index) {
    return seek(end - listpack_size_before(end), index, false);
}

/* --- Searching --- */

bool listpack_equal(const uint8_t *p, const struct listpack_element *needle) {
    /* The first byte decides how many follow, so no more is read before it agrees. */
    if (*p != needle->header[0]) return false;
    if (memcmp(p, needle->header, needle->header_size) != 0) return false;
    return needle->is_integer || needle->text.len == 0 ||
           memcmp(p + needle->header_size, needle->text.ptr, needle->text.len) == 0;
}

/* The first and the last eight bytes of the needle's encoding without its back length, in one word
 * each. Nearly every other element differs in one of them; those with a long common prefix (numbers
 * padded with zeros, names of one kind) differ in the last. */
struct probe {
    uint64_t head;
    uint64_t head_mask; /* ones where the needle has bytes */
    uint64_t tail;
    size_t tail_at; /* offset of the last eight bytes; 0, and no mask, when there are not so many */
    uint64_t tail_mask;
};

static struct probe make_probe(const struct listpack_element *needle) {
    uint8_t bytes[LISTPACK_INTEGER_SIZE_MAX + 8] = {0}, ones[8] = {0};
    size_t header = needle->header_size;
    size_t text = needle->is_integer ? 0 : needle->text.len, shown = text < 8 ? text : 8;
    memcpy(bytes, needle->header, header);
    if (shown > 0) memcpy(bytes + header, needle->text.ptr, shown);
    size_t data = needle->is_integer ? header - 1 : header + text; /* an integer's back length: 1 */
    memset(ones, 0xFF, data < 8 ? data : 8);
    struct probe probe = {.head = word_bytes_load(bytes), .head_mask = word_bytes_load(ones)};
    if (data < 8) return probe;
    probe.tail_at = data - 8;
    probe.tail_mask = UINT64_MAX;
    probe.tail = word_bytes_load(text < 8 ? bytes + probe.tail_at
                                          : (const uint8_t *)needle->text.ptr + text - 8);
    return probe;
}

/* Returns whether the element at `p`, with 8 readable bytes, may equal the needle. Where the first
 * bytes agree it has the same length, so the last ones may be read. */
static inline bool probe_matches(const struct probe *probe, const uint8_t *p) {
    if ((word_bytes_load(p) ^ probe->head) & probe->head_mask) return false;
    return ((word_bytes_load(p + probe->tail_at) ^ probe->tail) & probe->tail_mask) == 0;
}

const uint8_t *listpack_find(const uint8_t *first, const uint8_t *end,
                             const struct listpack_element *needle, size_t max, size_t *skipped) {
    CHECKED_ASSERT(first <= end);
    const struct probe probe = make_probe(needle);
    const uint8_t *p = first;
    size_t n = 0, previous = 0;
    while (n < max && end - p >= 8) {
        size_t size = listpack_size(p);
        if (size == previous) {
            while (n < max && end - p >= 8 && listpack_size(p) == previous) {
                if (probe_matches(&probe, p) && listpack_equal(p, needle)) goto found;
                p += previous;
                n++;
            }
            previous = 0;
            continue;
        }
        if (probe_matches(&probe, p) && listpack_equal(p, needle)) goto found;
        p += size;
        n++;
        previous = size;
    }
    for (; n < max && p < end; n++) {
        if (listpack_equal(p, needle)) goto found;
        p += listpack_size(p);
    }
    p = NULL;
found:
    *skipped = n;
    return p;
}

const uint8_t *listpack_find_back(const uint8_t *first, const uint8_t *end,
                                  const struct listpack_element *needle, size_t max,
                                  size_t *skipped) {
    CHECKED_ASSERT(first <= end);
    const struct probe probe = make_probe(needle);
    const uint8_t *p = end;
    size_t n = 0;
    for (; n < max && p > first; n++) {
        p -= listpack_size_before(p);
        if (end - p >= 8 && !probe_matches(&probe, p)) continue;
        if (listpack_equal(p, needle)) {
            *skipped = n;
            return p;
        }
    }
    *skipped = n;
    return NULL;
}

/* Removes the first `max` matches in [first, end). Each byte after the first match moves once. */
static uint8_t *remove_first(uint8_t *first, uint8_t *end, const struct listpack_element *needle,
                             size_t max, size_t *removed) {
    uint8_t *from = first, *to = first;
    size_t skipped;
    *removed = 0;
    while (*removed < max) {
        const uint8_t *match = listpack_find(from, end, needle, SIZE_MAX, &skipped);
        if (match == NULL) break;
        size_t kept = (size_t)(match - from);
        if (to != from) memmove(to, from, kept);
        to += kept;
        from += kept + needle->size;
        ++*removed;
    }
    size_t rest = (size_t)(end - from);
    CHECKED_ASSERT((size_t)(from - to) == *removed * needle->size);
    if (to != from) memmove(to, from, rest);
    return to + rest;
}

uint8_t *listpack_remove_matching(uint8_t *first, uint8_t *end,
                                  const struct listpack_element *needle, size_t max, bool from_end,
                                  size_t *removed) {
    if (!from_end) return remove_first(first, end, needle, max, removed);
    /* From the end: find the leftmost match to remove, then remove all from there on. */
    uint8_t *leftmost = end;
    for (size_t n = 0; n < max; n++) {
        size_t skipped;
        const uint8_t *match = listpack_find_back(first, leftmost, needle, SIZE_MAX, &skipped);
        if (match == NULL) break;
        leftmost = first + (match - first);
    }
    return remove_first(leftmost, end, needle, SIZE_MAX, removed);
}

/* --- The serialized form --- */

enum { COUNT_UNKNOWN = 65535 };

void listpack_write_header(uint8_t *dst, size_t body_size, size_t count) {
    assert(body_size <= UINT32_MAX - LISTPACK_OVERHEAD);
    uint32_t total = (uint32_t)(body_size + LISTPACK_OVERHEAD);
    uint16_t count16 = (uint16_t)(count < COUNT_UNKNOWN ? count : COUNT_UNKNOWN);
    memcpy(dst, &total, sizeof(total));
    memcpy(dst + 4, &count16, sizeof(count16));
}

/* Size of "encoding + data" of the untrusted element at `p` < end, or 0 when it is malformed or its
 * header is cut off. The data may still lie beyond `end`. */
static uint64_t untrusted_data_size(const uint8_t *p, const uint8_t *end) {
    unsigned byte = *p;
    if (byte < LISTPACK_STRING12 || (byte >= LISTPACK_INTEGER16 && byte <= LISTPACK_INTEGER64)) {
        return listpack_size_table[byte] - 1;
    }
    if (byte < LISTPACK_STRING32) return end - p >= 2 ? 2 + string12_length(p) : 0;
    if (byte == LISTPACK_STRING32) return end - p >= 5 ? 5 + (uint64_t)string32_length(p) : 0;
    return 0;
}

/* Returns whether this valid element has the form that listpack_prepare would choose for its
 * text. */
static bool is_canonical(const uint8_t *p) {
    struct listpack_value value;
    uint8_t shortest[LISTPACK_INTEGER_SIZE_MAX];
    listpack_get(p, &value);
    if (value.ptr == NULL) {
        encode_integer(shortest, value.integer);
        return listpack_size_table[shortest[0]] == listpack_size_table[*p];
    }
    int64_t integer;
    return (size_t)(value.ptr - (const char *)p) == encode_string_header(shortest, value.len) &&
           !number_parse_int64(slice_make(value.ptr, value.len), &integer);
}

/* The same where the first byte or two decide: strings that can't be integers, as nearly all
 * are. */
static inline bool is_surely_canonical(const uint8_t *p) {
    enum { INTEGER_TEXT_LONGEST = 20 };
    if (*p < LISTPACK_STRING6) return true;
    if (*p >= LISTPACK_INTEGER13) return false;
    return *p > (LISTPACK_STRING6 | INTEGER_TEXT_LONGEST) || *p == LISTPACK_STRING6 ||
           (p[1] != '-' && !number_is_digit((char)p[1]));
}

/* Checks an element at `p` < end whose first byte does not determine its size, or that is cut off:
 * returns its size, or 0. */
static size_t validate_long(const uint8_t *p, const uint8_t *end) {
    uint64_t data_size = untrusted_data_size(p, end);
    size_t length_size = back_length_size(data_size);
    if (data_size == 0 || data_size + length_size > (uint64_t)(end - p)) return 0;
    uint8_t expected[5];
    write_back_length(expected, data_size, length_size);
    return memcmp(p + data_size, expected, length_size) == 0 ? data_size + length_size : 0;
}

/* How the last byte of an element of `size` bytes and the first of the next differ from `seam`. */
static inline unsigned seam_difference(const uint8_t *p, size_t size, uint16_t seam) {
    uint16_t word;
    memcpy(&word, p + size - 1, sizeof(word));
    return word ^ seam;
}

/* Returns whether the element at `p` is followed by four of the same size and a fifth that begins
 * like them. */
static inline bool are_four_alike(const uint8_t *p, const uint8_t *end, size_t size,
                                  uint16_t seam) {
    if ((size_t)(end - p) <= 5 * size) return false;
    const uint8_t *third = p + 2 * size;
    return p[size] == seam >> 8 &&
           !(seam_difference(p + size, size, seam) | seam_difference(third, size, seam) |
             seam_difference(third + size, size, seam) |
             seam_difference(third + 2 * size, size, seam));
}

/* Skips the elements after the one at `p` that are of the same size, by their first byte and back
 * length, without waiting for the size of each; returns the last. */
static inline const uint8_t *last_alike(const uint8_t *p, const uint8_t *end, size_t size,
                                        size_t *count) {
    uint8_t first = *p, last = p[size - 1];
    uint16_t seam = (uint16_t)(first << 8 | last);
    while ((size_t)(end - p) >= 2 * size && p[size] == first && p[2 * size - 1] == last) {
        p += size;
        for (++*count; are_four_alike(p, end, size, seam); *count += 4) p += 4 * size;
    }
    return p;
}

/* As listpack_validate, for a body without header and end byte. */
static bool validate_body(const uint8_t *first, const uint8_t *end, size_t *count,
                          bool *canonical) {
    enum { ALWAYS_CANONICAL_MIN = LISTPACK_STRING6 + 21, ALWAYS_CANONICAL_MAX = 0xBF };
    const uint8_t *p = first;
    *count = 0;
    *canonical = true;
    while (p < end) {
        size_t size = listpack_size_table[*p];
        if (size == 0 || size > (size_t)(end - p))
            size = validate_long(p, end);
        else if (p[size - 1] != size - 1)
            return false;
        if (size == 0) return false;
        if (*p >= ALWAYS_CANONICAL_MIN && *p <= ALWAYS_CANONICAL_MAX) {
            p = last_alike(p, end, size, count);
        } else if (*canonical && !is_surely_canonical(p)) {
            *canonical = is_canonical(p);
        }
        p += size;
        ++*count;
    }
    return true;
}

bool listpack_validate(const uint8_t *bytes, size_t size, size_t *count, bool *canonical) {
    *count = 0;
    *canonical = true;
    return size >= LISTPACK_OVERHEAD &&
           listpack_validate_split(bytes, bytes + LISTPACK_HEADER_SIZE, size - LISTPACK_OVERHEAD,
                                   count, canonical);
}

bool listpack_validate_split(const uint8_t *header, const uint8_t *first, size_t body_size,
                             size_t *count, bool *canonical) {
    const uint8_t *end = first + body_size;
    uint32_t total;
    uint16_t count16;
    *count = 0;
    *canonical = true;
    memcpy(&total, header, sizeof(total));
    memcpy(&count16, header + sizeof(total), sizeof(count16));
    if (total != body_size + LISTPACK_OVERHEAD || *end != LISTPACK_END) return false;
    if (!validate_body(first, end, count, canonical)) return false;
    return count16 == COUNT_UNKNOWN || count16 == *count;
}

/* Returns whether the back length of the element at `p` is one that fits in one byte less than
 * ours, and is written so. All its bits are then ones. */
static bool is_back_length_short(const uint8_t *p, uint64_t data_size, uint64_t left) {
    size_t ours = back_length_size(data_size);
    bool is_edge = data_size > 128 && back_length_size(data_size - 1) < ours;
    if (!is_edge || data_size + ours - 1 > left || p[data_size] != 127) return false;
    for (size_t i = 1; i < ours - 1; i++) {
        if (p[data_size + i] != 255) return false;
    }
    return true;
}

size_t listpack_copy_lengthened(uint8_t *dst, const uint8_t *first, const uint8_t *end) {
    uint8_t *out = dst;
    const uint8_t *copied = first; /* up to here */
    for (const uint8_t *p = first; p < end;) {
        uint64_t left = (uint64_t)(end - p);
        uint64_t data_size = untrusted_data_size(p, end);
        size_t length_size = back_length_size(data_size);
        bool is_short = is_back_length_short(p, data_size, left);
        if (data_size == 0 || data_size + length_size - is_short > left) break;
        p += data_size + length_size - is_short;
        if (!is_short) continue;
        size_t run = (size_t)(p - copied) - (length_size - 1);
        memcpy(out, copied, run);
        write_back_length(out + run, data_size, length_size);
        out += run + length_size;
        copied = p;
    }
    size_t rest = (size_t)(end - copied);
    if (rest > 0) memcpy(out, copied, rest);
    return (size_t)(out - dst) + rest;
}

/* Returns whether the body is one element with a 64-bit length, in its right form. */
static bool is_string64(const uint8_t *first, const uint8_t *end) {
    size_t size = (size_t)(end - first);
    return size > LISTPACK_TEXT_MAX && *first == LISTPACK_STRING64 &&
           string64_length(first) > LISTPACK_TEXT_MAX && listpack_size(first) == size &&
           listpack_size_before(end) == size;
}

bool listpack_body_check(const uint8_t *first, const uint8_t *end, size_t count) {
    size_t found;
    bool canonical;
    if (count == 1 && first <= end && is_string64(first, end)) return true;
    return first <= end && validate_body(first, end, &found, &canonical) && canonical &&
           found == count;
}
