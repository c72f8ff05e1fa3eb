/* Layout of a compressed listpack, in terms of LZF ([n] begins a literal run of n + 1 bytes):
 *
 *      [5][header, 6] [stream of the body] [0][FF]
 *
 * If the stream begins with a literal run that can also hold the header, both are one run. */
#include "persist/rdb_writer.h"

#include "base/hash/crc64.h"
#include "base/lzf/lzf.h"
#include "base/memory/alloc.h"
#include "base/text/number.h"
#include "ds/lists/listpack.h"
#include "persist/rdb_format.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

enum {
    LENGTH_SIZE_MAX = 9,
    INTEGER_TEXT_MAX = 11 /* "-2147483648" */
};

void rdb_writer_start(struct rdb_writer *writer, struct rdb_sink sink, bool compress,
                      bool checksum) {
    if (sink.piece == 0) sink.piece = RDB_WRITER_BUFFER;
    assert(sink.piece >= RDB_WRITER_PIECE_MIN);
    *writer = (struct rdb_writer){
        .buffer = mem_alloc(sink.piece), .compress = compress, .checksum = checksum, .sink = sink};
}

void rdb_writer_end(struct rdb_writer *writer) {
    mem_free_sized(writer->buffer, writer->sink.piece);
    mem_free(writer->scratch);
    writer->buffer = writer->scratch = NULL;
}

bool rdb_sink_append(void *arg, const void *bytes, size_t len) {
    sds *text = arg;
    *text = sds_append(*text, slice_make(bytes, len));
    return true;
}

/* --- Bytes --- */

/* Passes bytes to the sink; all earlier bytes have reached it. */
static void sink(struct rdb_writer *writer, const void *bytes, size_t len) {
    if (len == 0 || writer->error) return;
    if (writer->checksum) writer->crc = crc64(writer->crc, bytes, len);
    writer->flushed += len;
    if (!writer->sink.write(writer->sink.arg, bytes, len)) writer->error = errno ? errno : EIO;
}

bool rdb_writer_flush(struct rdb_writer *writer) {
    sink(writer, writer->buffer, writer->used);
    writer->used = 0;
    return writer->error == 0;
}

uint64_t rdb_writer_checksum(const struct rdb_writer *writer) {
    return writer->checksum ? crc64(writer->crc, writer->buffer, writer->used) : 0;
}

/* Returns space for `len` bytes in the buffer; `len` is at most the size of a piece. The caller
 * writes there and adds the length to `used`. */
static inline uint8_t *reserve(struct rdb_writer *writer, size_t len) {
    if (writer->sink.piece - writer->used < len) rdb_writer_flush(writer);
    return writer->buffer + writer->used;
}

void rdb_write_byte(struct rdb_writer *writer, uint8_t byte) {
    *reserve(writer, 1) = byte;
    writer->used++;
}

void rdb_write_bytes(struct rdb_writer *writer, const void *bytes, size_t len) {
    if (len > writer->sink.piece) {
        rdb_writer_flush(writer);
        sink(writer, bytes, len);
        return;
    }
    slice_copy((char *)reserve(writer, len), slice_make(bytes, len));
    writer->used += len;
}

void rdb_write_uint64(struct rdb_writer *writer, uint64_t value) {
    rdb_write_bytes(writer, &value, sizeof(value));
}

/* --- Lengths and integers --- */

void rdb_write_length(struct rdb_writer *writer, uint64_t length) {
    uint8_t *at = reserve(writer, LENGTH_SIZE_MAX);
    if (length < 1u << 6) {
        at[0] = (uint8_t)length;
        writer->used += 1;
    } else if (length < 1u << 14) {
        at[0] = (uint8_t)(RDB_LENGTH_14 | length >> 8);
        at[1] = (uint8_t)length;
        writer->used += 2;
    } else if (length <= UINT32_MAX) {
        uint32_t big_endian = __builtin_bswap32((uint32_t)length);
        at[0] = RDB_LENGTH_32;
        memcpy(at + 1, &big_endian, sizeof(big_endian));
        writer->used += 5;
    } else {
        uint64_t big_endian = __builtin_bswap64(length);
        at[0] = RDB_LENGTH_64;
        memcpy(at + 1, &big_endian, sizeof(big_endian));
        writer->used += 9;
    }
}

/* Writes a string that is the text of a 32-bit integer. */
static void write_encoded_integer(struct rdb_writer *writer, int32_t value) {
    uint8_t *at = reserve(writer, 5);
    if (value >= INT8_MIN && value <= INT8_MAX) {
        at[0] = RDB_LENGTH_ENCODED | RDB_STRING_INT8;
        at[1] = (uint8_t)value;
        writer->used += 2;
    } else if (value >= INT16_MIN && value <= INT16_MAX) {
        int16_t value16 = (int16_t)value;
        at[0] = RDB_LENGTH_ENCODED | RDB_STRING_INT16;
        memcpy(at + 1, &value16, sizeof(value16));
        writer->used += 3;
    } else {
        at[0] = RDB_LENGTH_ENCODED | RDB_STRING_INT32;
        memcpy(at + 1, &value, sizeof(value));
        writer->used += 5;
    }
}

static bool is_int32(int64_t value) {
    return value >= INT32_MIN && value <= INT32_MAX;
}

void rdb_write_integer(struct rdb_writer *writer, int64_t value) {
    if (is_int32(value)) {
        write_encoded_integer(writer, (int32_t)value);
        return;
    }
    char digits[INT64_TEXT_MAX];
    size_t len = number_format_int64(digits, value);
    rdb_write_length(writer, len);
    rdb_write_bytes(writer, digits, len);
}

/* --- Strings --- */

/* Returns the reused buffer, or NULL when there is no memory: then the text is stored plain. */
static uint8_t *scratch_buffer(struct rdb_writer *writer, size_t size) {
    if (size <= writer->scratch_size) return writer->scratch;
    mem_free(writer->scratch);
    writer->scratch = mem_try_alloc(size);
    writer->scratch_size = writer->scratch ? size : 0;
    return writer->scratch;
}

/* Returns whether the sink compresses the next piece; all that precedes it has then reached it. */
static bool defers_compression(struct rdb_writer *writer) {
    return writer->compress && writer->sink.deferral && rdb_writer_flush(writer);
}

/* Compresses the text into the scratch buffer. Returns the stream, or an empty slice when it would
 * exceed `most` bytes. */
static struct slice compress_text(struct rdb_writer *writer, struct slice text, size_t most) {
    if (!writer->compress) return SLICE("");
    uint8_t *out = scratch_buffer(writer, most);
    if (!out) return SLICE("");
    return slice_make(out, lzf_compress_text(text, out, most));
}

static void write_compressed_lengths(struct rdb_writer *writer, size_t compressed_len, size_t len) {
    rdb_write_byte(writer, RDB_LENGTH_ENCODED | RDB_STRING_LZF);
    rdb_write_length(writer, compressed_len);
    rdb_write_length(writer, len);
}

/* --- Large texts are compressed in parts, twice: first for the length of the stream, which
 * precedes it, and then to write it. So compressing needs little memory, whatever the size. --- */

#ifdef TINY_LIMITS
enum { PART = 100 };
#else
enum { PART = 256 * 1024 };
#endif

/* A text or a capture of one, and buffers for its parts. */
struct large_text {
    struct capture *capture; /* NULL: use `text` */
    struct slice text;
    size_t len;
    char *part;          /* PART bytes */
    uint8_t *compressed; /* LZF_PART_SIZE_MAX(PART) bytes */
};

static struct slice read_part(const struct large_text *large, size_t offset) {
    size_t len = large->len - offset < PART ? large->len - offset : PART;
    if (!large->capture) return slice_make(large->text.ptr + offset, len);
    text_capture_read(large->capture, offset, large->part, len);
    return slice_make(large->part, len);
}

static bool goes_on(struct rdb_writer *writer) {
    if (writer->sink.go_on && !writer->sink.go_on(writer->sink.arg))
        writer->error = errno ? errno : EIO;
    return writer->error == 0;
}

/* Returns the length of the stream, or 0 if compression saves too little. */
static size_t compressed_size(struct rdb_writer *writer, const struct large_text *large) {
    size_t size = 0, most = large->len - RDB_LZF_GAIN_MIN;
    if (!writer->compress || large->len > lzf_text_max) return 0;
    for (size_t offset = 0; offset < large->len && size <= most && goes_on(writer); offset += PART)
        size += lzf_compress_part(read_part(large, offset), large->compressed);
    return size <= most && !writer->error ? size : 0;
}

static void write_large(struct rdb_writer *writer, struct large_text *large) {
    large->part = (char *)scratch_buffer(writer, PART + LZF_PART_SIZE_MAX(PART));
    if (!large->part) {
        writer->error = ENOMEM;
        return;
    }
    large->compressed = (uint8_t *)large->part + PART;
    size_t size = compressed_size(writer, large);
    if (size)
        write_compressed_lengths(writer, size, large->len);
    else
        rdb_write_length(writer, large->len);
    for (size_t offset = 0; offset < large->len && !writer->error; offset += PART) {
        struct slice part = read_part(large, offset);
        if (large->capture) text_capture_pass(large->capture, offset + part.len);
        if (size) part = slice_make(large->compressed, lzf_compress_part(part, large->compressed));
        rdb_write_bytes(writer, part.ptr, part.len);
    }
}

void rdb_write_text_capture(struct rdb_writer *writer, struct capture *capture) {
    struct large_text large = {.capture = capture, .len = text_capture_len(capture)};
    write_large(writer, &large);
}

static void write_text(struct rdb_writer *writer, struct slice text) {
    struct slice stream = SLICE("");
    if (text.len >= RDB_LZF_TEXT_MIN && defers_compression(writer)) {
        writer->sink.deferral->string(writer->sink.arg, text);
        return;
    }
    if (text.len > PART && writer->compress) {
        struct large_text large = {.text = text, .len = text.len};
        write_large(writer, &large);
        return;
    }
    if (text.len >= RDB_LZF_TEXT_MIN)
        stream = compress_text(writer, text, text.len - RDB_LZF_GAIN_MIN);
    if (stream.len > 0) {
        write_compressed_lengths(writer, stream.len, text.len);
        rdb_write_bytes(writer, stream.ptr, stream.len);
    } else {
        rdb_write_length(writer, text.len);
        rdb_write_bytes(writer, text.ptr, text.len);
    }
}

void rdb_write_string(struct rdb_writer *writer, struct slice text) {
    int64_t value;
    if (text.len <= INTEGER_TEXT_MAX && number_parse_int64(text, &value) && is_int32(value))
        write_encoded_integer(writer, (int32_t)value);
    else
        write_text(writer, text);
}

/* --- Listpacks --- */

/* The bytes around the stream of a body: literal runs with the header and the end byte. */
enum { FRAME_SIZE = 1 + LISTPACK_HEADER_SIZE + 2 };

void rdb_write_listpack(struct rdb_writer *writer, const uint8_t *first, const uint8_t *end,
                        size_t count) {
    size_t body_size = (size_t)(end - first);
    size_t size = body_size + LISTPACK_OVERHEAD;
    /* Compresses the body alone: the body need not be copied, and a loader can keep the stream. */
    struct slice stream = SLICE("");
    if (size >= RDB_LZF_TEXT_MIN && defers_compression(writer)) {
        writer->sink.deferral->listpack(writer->sink.arg, slice_make(first, body_size), count);
        return;
    }
    if (size >= RDB_LZF_TEXT_MIN)
        stream = compress_text(writer, slice_make(first, body_size),
                               size - RDB_LZF_GAIN_MIN - FRAME_SIZE);
    if (stream.len > 0) {
        rdb_write_compressed_listpack(writer, stream, body_size, count);
        return;
    }
    uint8_t header[LISTPACK_HEADER_SIZE];
    listpack_write_header(header, body_size, count);
    rdb_write_length(writer, size);
    rdb_write_bytes(writer, header, sizeof(header));
    rdb_write_bytes(writer, first, body_size);
    rdb_write_byte(writer, LISTPACK_END);
}

void rdb_write_compressed_listpack(struct rdb_writer *writer, struct slice stream, size_t body_size,
                                   size_t count) {
    uint8_t front[1 + LISTPACK_HEADER_SIZE] = {LISTPACK_HEADER_SIZE - 1};
    static const uint8_t back[] = {0, LISTPACK_END};
    listpack_write_header(front + 1, body_size, count);
    uint8_t first_run = (uint8_t)stream.ptr[0];
    if (first_run + LISTPACK_HEADER_SIZE < LZF_LITERALS_MAX) { /* one run for both */
        front[0] = first_run + LISTPACK_HEADER_SIZE;
        stream = slice_make(stream.ptr + 1, stream.len - 1);
    }
    write_compressed_lengths(writer, sizeof(front) + stream.len + sizeof(back),
                             body_size + LISTPACK_OVERHEAD);
    rdb_write_bytes(writer, front, sizeof(front));
    rdb_write_bytes(writer, stream.ptr, stream.len);
    rdb_write_bytes(writer, back, sizeof(back));
}
