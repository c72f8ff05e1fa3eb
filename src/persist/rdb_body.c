/* Ziplist: the format of lists, hashes and sorted sets before the listpack (Redis 2.6 to 6.2):
 *
 *      [total bytes 4 LE][offset of the last entry 4 LE][count 2 LE, 65535: unknown] entry … [FF]
 *      entry     [bytes of the entry before: 1 below 254 | 0xFE, 4 LE][encoding + data]
 *
 *      first byte   data                               first byte   data
 *      00llllll     string of 0 … 63 bytes             1101 0000    integer, 4 bytes LE
 *      01llllll     [l 1] string of … 16383 bytes      1110 0000    integer, 8 bytes LE
 *      10000000     [len 4 BE] string                  1111 0000    integer, 3 bytes LE
 *      1100 0000    integer, 2 bytes LE                1111 1110    integer, 1 byte
 *                                                      1111 xxxx    integer x - 1, x = 1 … 13
 *
 * Source: the files of Redis 2.6 to 6.2. */
#include "persist/rdb_body.h"

#include "base/memory/alloc.h"
#include "base/text/number.h"
#include "ds/lists/listpack.h"

#include <string.h>

static const char no_memory[] = "no memory, or no place, for a string of this size";

/* --- Writing a body anew --- */

/* A ziplist of nearly 4 GB can become a longer listpack, which neither nodes nor files can hold. */
static bool append_element(struct rdb_scratch *scratch, size_t *used,
                           const struct listpack_element *element) {
    if (element->size > RDB_BODY_MAX - *used) return false;
    if (!rdb_scratch_reserve(scratch, *used + element->size)) return false;
    listpack_write(scratch->bytes + *used, element);
    *used += element->size;
    return true;
}

bool rdb_body_append(struct rdb_scratch *scratch, size_t *used, struct slice text) {
    struct listpack_element element;
    if (text.len > LISTPACK_TEXT_MAX) return false;
    listpack_prepare(&element, text);
    return append_element(scratch, used, &element);
}

bool rdb_body_append_integer(struct rdb_scratch *scratch, size_t *used, int64_t integer) {
    struct listpack_element element;
    listpack_prepare_integer(&element, integer);
    return append_element(scratch, used, &element);
}

static void view_scratch(const struct rdb_scratch *scratch, size_t used, struct rdb_body *body) {
    body->first = scratch->bytes;
    body->end = used > 0 ? scratch->bytes + used : body->first;
}

/* --- Listpacks --- */

static bool encode_anew(struct rdb_scratch *scratch, struct rdb_body *body) {
    size_t used = 0;
    for (const uint8_t *p = body->first; p < body->end;) {
        struct listpack_value value;
        p += listpack_get(p, &value);
        bool done = value.ptr ? rdb_body_append(scratch, &used, slice_make(value.ptr, value.len))
                              : rdb_body_append_integer(scratch, &used, value.integer);
        if (!done) return false;
    }
    view_scratch(scratch, used, body);
    return true;
}

/* Sets *body to the body of a listpack. If it is canonical and `in_place`, that is a view of
 * `bytes`. */
static bool take_listpack(struct slice bytes, bool in_place, struct rdb_scratch *scratch,
                          struct rdb_body *body, const char **error) {
    bool canonical;
    const uint8_t *serialized = (const uint8_t *)bytes.ptr;
    *error = "malformed listpack" RDB_INTEGRITY;
    if (!listpack_validate(serialized, bytes.len, &body->count, &canonical)) return false;
    body->first = serialized + LISTPACK_HEADER_SIZE;
    body->end = serialized + bytes.len - 1;
    *error = no_memory;
    return (canonical && in_place) || encode_anew(scratch, body);
}

/* Like take_listpack, for a listpack that is malformed unless it has the back lengths of Valkey
 * 9.1. The body is in the scratch buffer. */
static bool take_lengthened(struct slice bytes, struct rdb_scratch *scratch, struct rdb_body *body,
                            const char **error) {
    const uint8_t *serialized = (const uint8_t *)bytes.ptr;
    if (bytes.len < LISTPACK_OVERHEAD) return false;
    uint8_t *longer = mem_try_alloc(bytes.len + bytes.len / 16384 + 1);
    if (!longer) return false;
    size_t added =
        listpack_copy_lengthened(longer + LISTPACK_HEADER_SIZE, serialized + LISTPACK_HEADER_SIZE,
                                 serialized + bytes.len - 1) +
        LISTPACK_OVERHEAD - bytes.len;
    uint32_t total;
    memcpy(longer, serialized, LISTPACK_HEADER_SIZE);
    memcpy(&total, longer, sizeof(total));
    total += (uint32_t)added;
    memcpy(longer, &total, sizeof(total));
    longer[bytes.len - 1 + added] = serialized[bytes.len - 1];
    bool taken = added > 0 &&
                 take_listpack(slice_make(longer, bytes.len + added), false, scratch, body, error);
    mem_free(longer);
    return taken;
}

/* --- Ziplists --- */

enum {
    ZIPLIST_HEADER_SIZE = 10,
    ZIPLIST_END = 0xFF,
    ZIPLIST_COUNT_UNKNOWN = 65535,
    ZIPLIST_LONG_LENGTH = 0xFE, /* of the entry before: its length is in 4 more bytes */
    ZIPLIST_STRING14 = 0x40,
    ZIPLIST_STRING32 = 0x80,
    ZIPLIST_INTEGER16 = 0xC0,
    ZIPLIST_INTEGER32 = 0xD0,
    ZIPLIST_INTEGER64 = 0xE0,
    ZIPLIST_INTEGER24 = 0xF0,
    ZIPLIST_INTEGER8 = 0xFE,
    ZIPLIST_SMALL_MIN = 0xF1,
    ZIPLIST_SMALL_MAX = 0xFD
};

/* Returns how many bytes follow the first byte of an integer entry; 0 when there are none, -1 when
 * there is no such encoding. */
static int integer_width(uint8_t encoding) {
    switch (encoding) {
    case ZIPLIST_INTEGER8: return 1;
    case ZIPLIST_INTEGER16: return 2;
    case ZIPLIST_INTEGER24: return 3;
    case ZIPLIST_INTEGER32: return 4;
    case ZIPLIST_INTEGER64: return 8;
    }
    return encoding >= ZIPLIST_SMALL_MIN && encoding <= ZIPLIST_SMALL_MAX ? 0 : -1;
}

/* Reads an entry's text: into `digits`, or as a view of the ziplist. Returns where the entry ends,
 * or NULL when that is not before `end` or there is no such encoding. */
static const uint8_t *read_integer(const uint8_t *p, const uint8_t *end, char *digits,
                                   struct slice *text) {
    int width = integer_width(*p);
    if (width < 0 || end - p - 1 < width) return NULL;
    int64_t value = (*p & 15) - 1;
    if (width > 0) {
        uint64_t bits = 0;
        memcpy(&bits, p + 1, (size_t)width);
        unsigned shift = 64 - 8 * (unsigned)width;
        value = (int64_t)(bits << shift) >> shift;
    }
    *text = slice_make(digits, number_format_int64(digits, value));
    return p + 1 + width;
}

static const uint8_t *read_text(const uint8_t *p, const uint8_t *end, char *digits,
                                struct slice *text) {
    size_t header, len;
    uint32_t len32;
    switch (*p & 0xC0) {
    case 0:
        header = 1;
        len = *p;
        break;
    case ZIPLIST_STRING14:
        if (end - p < 2) return NULL;
        header = 2;
        len = (size_t)(p[0] & 0x3F) << 8 | p[1];
        break;
    case ZIPLIST_STRING32:
        if (*p != ZIPLIST_STRING32 || end - p < 5) return NULL;
        header = 5;
        memcpy(&len32, p + 1, sizeof(len32));
        len = __builtin_bswap32(len32);
        break;
    default: return read_integer(p, end, digits, text);
    }
    if ((size_t)(end - p) - header < len) return NULL;
    *text = slice_make(p + header, len);
    return p + header + len;
}

/* Reads the size of the previous entry at `p` < end. Returns where it ends; NULL when it is cut off
 * or not `size`. */
static const uint8_t *check_size_before(const uint8_t *p, const uint8_t *end, size_t size) {
    uint32_t size_before = *p;
    if (size_before < ZIPLIST_LONG_LENGTH) return size_before == size ? p + 1 : NULL;
    if (size_before != ZIPLIST_LONG_LENGTH || end - p < 5) return NULL;
    memcpy(&size_before, p + 1, sizeof(size_before));
    return size_before == size ? p + 5 : NULL;
}

/* Returns whether the frame of the ziplist is valid. Reads *last_offset and *count from it. */
static bool ziplist_frame(struct slice bytes, uint32_t *last_offset, uint16_t *count) {
    uint32_t total;
    if (bytes.len < ZIPLIST_HEADER_SIZE + 1) return false;
    memcpy(&total, bytes.ptr, sizeof(total));
    memcpy(last_offset, bytes.ptr + 4, sizeof(*last_offset));
    memcpy(count, bytes.ptr + 8, sizeof(*count));
    return total == bytes.len && (uint8_t)bytes.ptr[bytes.len - 1] == ZIPLIST_END;
}

/* Sets *body to the body of a ziplist, which is in the scratch buffer. */
static bool take_ziplist(struct slice bytes, struct rdb_scratch *scratch, struct rdb_body *body,
                         const char **error) {
    uint32_t last_offset;
    uint16_t told_count;
    *error = "malformed ziplist" RDB_INTEGRITY;
    if (!ziplist_frame(bytes, &last_offset, &told_count)) return false;
    const uint8_t *start = (const uint8_t *)bytes.ptr, *end = start + bytes.len - 1;
    const uint8_t *p = start + ZIPLIST_HEADER_SIZE, *last = p;
    size_t used = 0, size_before = 0;
    for (body->count = 0; p < end; body->count++) {
        char digits[INT64_TEXT_MAX];
        struct slice text;
        last = p;
        p = check_size_before(p, end, size_before);
        if (!p || p == end || !(p = read_text(p, end, digits, &text))) return false;
        size_before = (size_t)(p - last);
        *error = no_memory;
        if (!rdb_body_append(scratch, &used, text)) return false;
        *error = "malformed ziplist" RDB_INTEGRITY;
    }
    if (last_offset != (size_t)(last - start) ||
        (told_count != ZIPLIST_COUNT_UNKNOWN && told_count != body->count))
        return false;
    view_scratch(scratch, used, body);
    return true;
}

/* --- Both --- */

bool rdb_view_body(struct rdb_reader *reader, struct slice bytes, bool is_ziplist,
                   struct rdb_scratch *scratch, struct rdb_body *body) {
    const char *error;
    bool good = is_ziplist ? take_ziplist(bytes, scratch, body, &error)
                           : take_listpack(bytes, true, scratch, body, &error) ||
                                 take_lengthened(bytes, scratch, body, &error);
    return good || rdb_reader_fail(reader, "%s", error);
}

bool rdb_read_body(struct rdb_reader *reader, bool is_ziplist, struct rdb_scratch *scratch,
                   struct rdb_body *body) {
    struct slice bytes;
    return rdb_read_string(reader, &bytes) &&
           rdb_view_body(reader, bytes, is_ziplist, scratch, body);
}
