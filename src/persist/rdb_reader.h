/* rdb_reader: RDB primitives out of memory or out of a source, through a buffer.
 *
 * Nothing that is read is trusted. A length in the input never makes the reader ask for memory in
 * advance: a text in a file is collected in a buffer that doubles as its bytes arrive, and one
 * packed by LZF may claim no more than the packed bytes can become (264 for each 3).
 *
 * Every function returns false when there is an error: bad input, a truncated one, or one of the
 * source. The first one is kept, with its place, and everything fails after it. Formats:
 * rdb_format.h. */
#ifndef PACKLIST_PERSIST_RDB_READER_H
#define PACKLIST_PERSIST_RDB_READER_H

#include "base/slice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Where the bytes come from. `read` puts up to `room` (> 0) bytes at `bytes` and returns how many;
 * 0 at the end; -1 with errno set. */
struct rdb_source {
    ssize_t (*read)(void *arg, void *bytes, size_t room);
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

/* Lives on the caller's stack, and must not be copied. The fields are private. */
struct rdb_reader {
    const uint8_t *at;  /* the next byte */
    const uint8_t *end; /* of the bytes at hand */
    struct rdb_source source;
    struct rdb_scratch buffer; /* what came from the source; empty over memory */
    uint64_t arrived;          /* bytes of the input up to `end` */
    const uint8_t *summed;     /* bytes before it are in `crc` */
    uint64_t crc;
    bool checksum;
    bool failed;
    struct rdb_scratch unpacked;      /* the text of the last string that was not stored as such */
    char error[RDB_READER_ERROR_MAX]; /* text of the first error */
    uint64_t error_offset;
};

/* Reads bytes that stay where they are as long as the reader is used: strings that are stored as
 * their bytes are views into them. `checksum`: the CRC-64 of what was read is kept. */
void rdb_reader_start_memory(struct rdb_reader *reader, struct slice bytes, bool checksum);

/* The same, from a source. */
void rdb_reader_start(struct rdb_reader *reader, struct rdb_source source, bool checksum);

/* Frees what the reader holds. */
void rdb_reader_end(struct rdb_reader *reader);

/* Bytes consumed so far. O(1). */
static inline uint64_t rdb_reader_offset(const struct rdb_reader *reader) {
    return reader->arrived - (uint64_t)(reader->end - reader->at);
}

/* The CRC-64 of what was consumed so far; 0 where none is kept. */
uint64_t rdb_reader_checksum(struct rdb_reader *reader);

/* NULL, or what is wrong, without its place: it lives as long as the reader. The place is how far
 * the reader had come. */
const char *rdb_reader_error(const struct rdb_reader *reader);
uint64_t rdb_reader_error_offset(const struct rdb_reader *reader);

/* Notes an error that the caller found, unless there is one already. Always false. */
bool rdb_reader_fail(struct rdb_reader *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Is every byte consumed? Asks the source for more when none is at hand. */
bool rdb_reader_is_at_end(struct rdb_reader *reader);

bool rdb_read_byte(struct rdb_reader *reader, uint8_t *byte);

/* `len` bytes, a view that lives until the next call. */
bool rdb_read_bytes(struct rdb_reader *reader, size_t len, const uint8_t **bytes);

/* Leaves `len` bytes out, without keeping them. */
bool rdb_skip_bytes(struct rdb_reader *reader, uint64_t len);

/* Little-endian. */
bool rdb_read_uint32(struct rdb_reader *reader, uint32_t *value);
bool rdb_read_uint64(struct rdb_reader *reader, uint64_t *value);

bool rdb_read_length(struct rdb_reader *reader, uint64_t *length);

/* A string in any of its forms. The text is a view that lives until the next call. */
bool rdb_read_string(struct rdb_reader *reader, struct slice *text);

/* A string as it is stored, for who would keep it packed. Views, as above. */
struct rdb_stored_string {
    struct slice bytes; /* the text, or its LZF stream */
    bool packed;
    size_t len; /* of the text */
};
bool rdb_read_stored_string(struct rdb_reader *reader, struct rdb_stored_string *string);

/* The text of a string that is packed: fails when its stream does not unpack to just `len` bytes. A
 * view that lives until the next call; so does string->bytes. */
bool rdb_unpack_string(struct rdb_reader *reader, const struct rdb_stored_string *string,
                       struct slice *text);

/* Leaves a string out, without unpacking it. */
bool rdb_skip_string(struct rdb_reader *reader);

#endif
