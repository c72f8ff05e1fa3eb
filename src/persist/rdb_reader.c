/* With a source, the available bytes are in a buffer of at least RDB_READER_BUFFER bytes:
 *
 *      [ consumed | available       | free      ]
 *      0     summed   at          end           size
 *
 * When a caller needs more contiguous bytes, the available ones move to the front. The buffer
 * doubles only when they fill it, so it is at most twice as large as the bytes that have arrived.
 * Bytes are added to the checksum when they leave the buffer. */
#include "persist/rdb_reader.h"

#include "base/hash/crc64.h"
#include "base/lzf/lzf.h"
#include "base/memory/alloc.h"
#include "base/text/number.h"
#include "persist/rdb_format.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void rdb_reader_start_memory(struct rdb_reader *reader, struct slice bytes, bool checksum) {
    *reader = (struct rdb_reader){.at = (const uint8_t *)bytes.ptr,
                                  .end = (const uint8_t *)slice_end(bytes),
                                  .arrived = bytes.len,
                                  .summed = (const uint8_t *)bytes.ptr,
                                  .checksum = checksum};
}

void rdb_reader_start(struct rdb_reader *reader, struct rdb_source source, bool checksum) {
    *reader = (struct rdb_reader){.source = source, .checksum = checksum};
    reader->buffer.size = RDB_READER_BUFFER;
    reader->buffer.bytes = mem_alloc(reader->buffer.size);
    reader->at = reader->end = reader->summed = reader->buffer.bytes;
}

void rdb_reader_end(struct rdb_reader *reader) {
    mem_free(reader->buffer.bytes);
    mem_free(reader->decompressed.bytes);
    reader->buffer = reader->decompressed = (struct rdb_scratch){0};
}

/* --- Errors --- */

bool rdb_reader_fail(struct rdb_reader *reader, const char *format, ...) {
    if (reader->failed) return false;
    va_list args;
    va_start(args, format);
    vsnprintf(reader->error, sizeof(reader->error), format, args);
    va_end(args);
    reader->failed = true;
    reader->error_offset = rdb_reader_offset(reader);
    return false;
}

bool rdb_reader_fail_empty(struct rdb_reader *reader) {
    reader->found_empty = !reader->failed;
    return rdb_reader_fail(reader, "a collection without elements");
}

bool rdb_reader_pass_empty(struct rdb_reader *reader) {
    if (!reader->found_empty) return false;
    reader->failed = reader->found_empty = false;
    return true;
}

const char *rdb_reader_error(const struct rdb_reader *reader) {
    return reader->failed ? reader->error : NULL;
}

uint64_t rdb_reader_error_offset(const struct rdb_reader *reader) {
    return reader->error_offset;
}

/* --- Bytes --- */

/* Adds the consumed bytes to the checksum. */
static void sum(struct rdb_reader *reader) {
    if (reader->checksum)
        reader->crc = crc64(reader->crc, reader->summed, (size_t)(reader->at - reader->summed));
    reader->summed = reader->at;
}

uint64_t rdb_reader_checksum(struct rdb_reader *reader) {
    sum(reader);
    return reader->crc;
}

bool rdb_scratch_reserve(struct rdb_scratch *scratch, size_t size) {
    if (size <= scratch->size) return true;
    uint8_t *larger = mem_try_grow(scratch->bytes, &scratch->size, size, 1);
    if (larger) scratch->bytes = larger;
    return larger;
}

/* Moves the available bytes to the front of the buffer, or of a larger one if they fill it. */
static bool make_room(struct rdb_reader *reader) {
    struct rdb_scratch *buffer = &reader->buffer;
    size_t left = (size_t)(reader->end - reader->at);
    sum(reader);
    if (left == buffer->size) {
        if (!rdb_scratch_reserve(buffer, left + 1))
            return rdb_reader_fail(reader, "no memory for a string of this size");
    } else if (left > 0) {
        memmove(buffer->bytes, reader->at, left);
    }
    reader->at = reader->summed = buffer->bytes;
    reader->end = buffer->bytes + left;
    return true;
}

/* Reads more bytes after the available ones. Returns false when there are no more. */
static bool refill(struct rdb_reader *reader) {
    if (!reader->source.read || reader->failed) return false;
    const uint8_t *limit = reader->buffer.bytes + reader->buffer.size;
    if (reader->end == limit && !make_room(reader)) return false;
    size_t used = (size_t)(reader->end - reader->buffer.bytes);
    ssize_t got = reader->source.read(reader->source.arg, reader->buffer.bytes + used,
                                      reader->buffer.size - used);
    if (got < 0) return rdb_reader_fail(reader, "can't read: %s", strerror(errno));
    reader->end += got;
    reader->arrived += (uint64_t)got;
    return got > 0;
}

static __attribute__((noinline)) bool need_more(struct rdb_reader *reader, size_t len) {
    if (reader->source.read && (size_t)(reader->end - reader->at) < len) {
        if (reader->failed || !make_room(reader)) return false;
    }
    while ((size_t)(reader->end - reader->at) < len) {
        if (!refill(reader))
            return rdb_reader_fail(reader,
                                   "unexpected end of the data (Short read or OOM loading DB)");
    }
    return true;
}

/* Returns whether `len` contiguous bytes are available, after reading if necessary. */
static inline bool need(struct rdb_reader *reader, size_t len) {
    if (__builtin_expect(reader->failed, 0)) return false;
    return __builtin_expect((size_t)(reader->end - reader->at) >= len, 1) || need_more(reader, len);
}

bool rdb_reader_is_at_end(struct rdb_reader *reader) {
    return reader->at == reader->end && !refill(reader);
}

bool rdb_read_byte(struct rdb_reader *reader, uint8_t *byte) {
    if (!need(reader, 1)) return false;
    *byte = *reader->at++;
    return true;
}

bool rdb_read_bytes(struct rdb_reader *reader, size_t len, const uint8_t **bytes) {
    if (!need(reader, len)) return false;
    *bytes = reader->at;
    reader->at += len;
    return true;
}

bool rdb_skip_bytes(struct rdb_reader *reader, uint64_t len) {
    while (len > 0) {
        if (!need(reader, 1)) return false;
        size_t at_hand = (size_t)(reader->end - reader->at);
        size_t step = len < at_hand ? (size_t)len : at_hand;
        reader->at += step;
        len -= step;
    }
    return !reader->failed;
}

static bool read_word(struct rdb_reader *reader, void *word, size_t size) {
    if (!need(reader, size)) return false;
    memcpy(word, reader->at, size);
    reader->at += size;
    return true;
}

bool rdb_read_uint32(struct rdb_reader *reader, uint32_t *value) {
    return read_word(reader, value, sizeof(*value));
}

bool rdb_read_uint64(struct rdb_reader *reader, uint64_t *value) {
    return read_word(reader, value, sizeof(*value));
}

/* --- Lengths --- */

static bool read_long_length(struct rdb_reader *reader, uint8_t first, uint64_t *length) {
    uint32_t length32;
    if (first == RDB_LENGTH_32) {
        if (!rdb_read_uint32(reader, &length32)) return false;
        *length = __builtin_bswap32(length32);
        return true;
    }
    if (!rdb_read_uint64(reader, length)) return false;
    *length = __builtin_bswap64(*length);
    return true;
}

/* Reads a length, or, if *encoding becomes >= 0, the encoding of a string. */
static bool read_length_or_encoding(struct rdb_reader *reader, uint64_t *length, int *encoding) {
    uint8_t first, second;
    *encoding = -1;
    if (!rdb_read_byte(reader, &first)) return false;
    switch (first & 0xC0) {
    case 0: *length = first; return true;
    case RDB_LENGTH_14:
        if (!rdb_read_byte(reader, &second)) return false;
        *length = (uint64_t)(first & 0x3F) << 8 | second;
        return true;
    case RDB_LENGTH_ENCODED: *encoding = first & 0x3F; return true;
    }
    if (first != RDB_LENGTH_32 && first != RDB_LENGTH_64)
        return rdb_reader_fail(reader, "unknown length encoding 0x%02X", first);
    return read_long_length(reader, first, length);
}

bool rdb_read_length(struct rdb_reader *reader, uint64_t *length) {
    int encoding;
    if (!read_length_or_encoding(reader, length, &encoding)) return false;
    return encoding < 0 || rdb_reader_fail(reader, "a length was expected, not a string");
}

/* --- Strings --- */

/* Returns a buffer of `size` bytes with undefined content. */
static uint8_t *text_buffer(struct rdb_reader *reader, size_t size) {
    struct rdb_scratch *scratch = &reader->decompressed;
    if (size <= scratch->size) return scratch->bytes;
    size_t wanted = size < RDB_READER_BUFFER ? RDB_READER_BUFFER : size;
    mem_free(scratch->bytes);
    scratch->bytes = mem_try_alloc(wanted);
    scratch->size = scratch->bytes ? wanted : 0;
    if (!scratch->bytes) rdb_reader_fail(reader, "no memory for a string of this size");
    return scratch->bytes;
}

/* Reads an integer of 1, 2 or 4 bytes as decimal text. */
static bool read_integer_text(struct rdb_reader *reader, int encoding, struct slice *text) {
    size_t width = (size_t)1 << encoding;
    uint32_t bits = 0;
    if (!read_word(reader, &bits, width)) return false;
    unsigned shift = 32 - 8 * (unsigned)width;
    char *digits = (char *)text_buffer(reader, INT64_TEXT_MAX);
    if (!digits) return false;
    *text = slice_make(digits, number_format_int64(digits, (int32_t)(bits << shift) >> shift));
    return true;
}

/* Reads the lengths of a compressed string, and checks that they are plausible. */
static bool read_compressed_lengths(struct rdb_reader *reader, uint64_t *compressed,
                                    uint64_t *len) {
    if (!rdb_read_length(reader, compressed) || !rdb_read_length(reader, len)) return false;
    if (*compressed == 0 || *len == 0 || *compressed > lzf_text_max || *len > lzf_text_max ||
        *len / LZF_EXPANSION_MAX > *compressed)
        return rdb_reader_fail(reader, "LZF lengths that can't be: %llu bytes from %llu",
                               (unsigned long long)*len, (unsigned long long)*compressed);
    return true;
}

/* Reads what precedes the `stored` bytes of a string. If *encoding becomes negative, they are its
 * text; with RDB_STRING_LZF they expand to `len` bytes. */
static bool read_string_header(struct rdb_reader *reader, int *encoding, uint64_t *stored,
                               uint64_t *len) {
    if (!read_length_or_encoding(reader, len, encoding)) return false;
    if (*encoding > RDB_STRING_LZF)
        return rdb_reader_fail(reader, "unknown string encoding %d", *encoding);
    if (*encoding == RDB_STRING_LZF) return read_compressed_lengths(reader, stored, len);
    *stored = *encoding < 0 ? *len : 1u << *encoding;
    return true;
}

bool rdb_read_stored_string(struct rdb_reader *reader, struct rdb_stored_string *string) {
    uint64_t length, stored;
    int encoding;
    const uint8_t *bytes;
    if (!read_string_header(reader, &encoding, &stored, &length)) return false;
    if (encoding >= 0 && encoding != RDB_STRING_LZF) {
        string->compressed = false;
        bool good = read_integer_text(reader, encoding, &string->bytes);
        string->len = string->bytes.len;
        return good;
    }
    if (!rdb_read_bytes(reader, stored, &bytes)) return false;
    *string = (struct rdb_stored_string){.bytes = slice_make(bytes, stored),
                                         .compressed = encoding == RDB_STRING_LZF,
                                         .len = length};
    return true;
}

bool rdb_decompress_string(struct rdb_reader *reader, const struct rdb_stored_string *string,
                           struct slice *text) {
    uint8_t *out = text_buffer(reader, string->len);
    if (!out) return false;
    if (!lzf_decompress_text(string->bytes, out, string->len))
        return rdb_reader_fail(reader, "invalid LZF stream");
    *text = slice_make(out, string->len);
    return true;
}

bool rdb_read_string(struct rdb_reader *reader, struct slice *text) {
    struct rdb_stored_string string;
    if (!rdb_read_stored_string(reader, &string)) return false;
    if (string.compressed) return rdb_decompress_string(reader, &string, text);
    *text = string.bytes;
    return true;
}

bool rdb_read_kept_string(struct rdb_reader *reader, struct rdb_scratch *kept, struct slice *text) {
    if (!rdb_read_string(reader, text)) return false;
    if (!rdb_scratch_reserve(kept, text->len))
        return rdb_reader_fail(reader, "no memory for a string of this size");
    slice_copy((char *)kept->bytes, *text);
    text->ptr = (const char *)kept->bytes;
    return true;
}

bool rdb_skip_string(struct rdb_reader *reader) {
    uint64_t stored, len;
    int encoding;
    return read_string_header(reader, &encoding, &stored, &len) && rdb_skip_bytes(reader, stored);
}
