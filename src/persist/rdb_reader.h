/* rdb_reader: reads RDB primitives from memory, or from a source through a buffer.
 *
 * The input is not trusted. A length in it never causes an allocation in advance: a text is
 * collected in a buffer that doubles as its bytes arrive, and a compressed text may not claim more
 * than its bytes can expand to (264 for each 3).
 *
 * Functions that return bool return false on an error: bad or truncated input, or a failed source.
 * The reader keeps the first error and its offset, and every later call fails. Formats:
 * rdb_format.h. */
#ifndef PACKLIST_PERSIST_RDB_READER_H
#define PACKLIST_PERSIST_RDB_READER_H

#include "base/slice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A source of bytes. `read` stores up to `size` (> 0) bytes at `bytes` and returns their number; 0
 * at the end; -1 with errno set. */
struct rdb_source {
    ssize_t (*read)(void *arg, void *bytes, size_t size);
    void *arg;
};

#ifdef TINY_LIMITS
enum { RDB_READER_BUFFER = 64 };
#else
enum { RDB_READER_BUFFER = 128 * 1024 };
#endif
enum { RDB_READER_ERROR_MAX = 256 };

/* A buffer that grows as needed. */
struct rdb_scratch {
    uint8_t *bytes;
    size_t size;
};

/* Gives the buffer room for `size` bytes; its content stays. False when there is no memory. */
bool rdb_scratch_reserve(struct rdb_scratch *scratch, size_t size);

/* Lives on the caller's stack, and must not be copied. The fields are private. */
struct rdb_reader {
    const uint8_t *at;  /* the next byte */
    const uint8_t *end; /* of the available bytes */
    struct rdb_source source;
    struct rdb_scratch buffer; /* bytes from the source; empty for memory */
    uint64_t arrived;          /* bytes of the input up to `end` */
    const uint8_t *summed;     /* the bytes before it are in `crc` */
    uint64_t crc;
    bool checksum;
    bool failed;
    bool found_empty;                 /* the error is that of rdb_reader_fail_empty */
    struct rdb_scratch decompressed;  /* text of the last string that was stored otherwise */
    char error[RDB_READER_ERROR_MAX]; /* text of the first error */
    uint64_t error_offset;
};

/* Starts reading from memory. The bytes must stay valid: strings that are stored as plain bytes are
 * views of them. With `checksum` the reader keeps the CRC-64 of what it has read. */
void rdb_reader_start_memory(struct rdb_reader *reader, struct slice bytes, bool checksum);

/* Starts reading from a source. */
void rdb_reader_start(struct rdb_reader *reader, struct rdb_source source, bool checksum);

/* Frees the reader's memory. */
void rdb_reader_end(struct rdb_reader *reader);

/* Returns the bytes consumed so far. O(1). */
static inline uint64_t rdb_reader_offset(const struct rdb_reader *reader) {
    return reader->arrived - (uint64_t)(reader->end - reader->at);
}

/* Returns the CRC-64 of the bytes consumed so far; 0 without `checksum`. */
uint64_t rdb_reader_checksum(struct rdb_reader *reader);

/* Return the first error (NULL: none; valid as long as the reader), and the offset at which it was
 * found. */
const char *rdb_reader_error(const struct rdb_reader *reader);
uint64_t rdb_reader_error_offset(const struct rdb_reader *reader);

/* Ends the texts of errors in the structure of a value. Redis has these words in its log, and tools
 * look for them, as for others in parentheses. */
#define RDB_INTEGRITY " (integrity check failed)"

/* Sets an error that the caller has found, unless there is one already. Always returns false. */
bool rdb_reader_fail(struct rdb_reader *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same for a value, read to its end, that is a collection without elements. Always returns
 * false. */
bool rdb_reader_fail_empty(struct rdb_reader *reader);

/* Takes that error back: what follows the value can be read. Returns false, and does nothing, when
 * there is no error, or another one. */
bool rdb_reader_pass_empty(struct rdb_reader *reader);

/* Returns whether every byte is consumed. May read from the source. */
bool rdb_reader_is_at_end(struct rdb_reader *reader);

bool rdb_read_byte(struct rdb_reader *reader, uint8_t *byte);

/* Reads `len` bytes as a view, valid until the next call. */
bool rdb_read_bytes(struct rdb_reader *reader, size_t len, const uint8_t **bytes);

/* Skips `len` bytes without keeping them. */
bool rdb_skip_bytes(struct rdb_reader *reader, uint64_t len);

/* Little-endian. */
bool rdb_read_uint32(struct rdb_reader *reader, uint32_t *value);
bool rdb_read_uint64(struct rdb_reader *reader, uint64_t *value);

bool rdb_read_length(struct rdb_reader *reader, uint64_t *length);

/* Reads a string in any of its forms, as a view, valid until the next call. */
bool rdb_read_string(struct rdb_reader *reader, struct slice *text);

/* The same, but the string stays valid until `kept` is used again or freed; the caller frees
 * kept->bytes. */
bool rdb_read_kept_string(struct rdb_reader *reader, struct rdb_scratch *kept, struct slice *text);

/* A string as it is stored, for a caller that keeps it compressed. Its slices are views, as
 * above. */
struct rdb_stored_string {
    struct slice bytes; /* the text, or its LZF stream */
    bool compressed;
    size_t len; /* of the text */
};
bool rdb_read_stored_string(struct rdb_reader *reader, struct rdb_stored_string *string);

/* Decompresses a string. Fails unless its stream expands to exactly `len` bytes. The text is a
 * view, valid until the next call; string->bytes stays valid as long. */
bool rdb_decompress_string(struct rdb_reader *reader, const struct rdb_stored_string *string,
                           struct slice *text);

/* Skips a string without decompressing it. */
bool rdb_skip_string(struct rdb_reader *reader);

#endif
