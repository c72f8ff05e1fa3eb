/* rdb_writer: RDB primitives into a sink, through a buffer.
 *
 * Nothing here fails by its return value: after the sink has failed, every call does nothing and
 * `error` keeps the errno; who writes much looks at it now and then. Formats: rdb_format.h. */
#ifndef PACKLIST_PERSIST_RDB_WRITER_H
#define PACKLIST_PERSIST_RDB_WRITER_H

#include "base/slice.h"
#include "ds/shared_text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Takes what is much work to write, to write it elsewhere, in the order of all that is written and
 * in just the bytes that the named function would write now. */
struct rdb_deferral {
    void (*string)(void *arg, struct slice text);                 /* rdb_write_string */
    void (*listpack)(void *arg, struct slice body, size_t count); /* rdb_write_listpack */
};

/* Where the bytes go. `write` takes all `len` (> 0) bytes, or returns false with errno set. It gets
 * pieces of up to `piece` bytes (at least RDB_WRITER_PIECE_MIN; 0: RDB_WRITER_BUFFER), or longer
 * ones where a single string is. `go_on`, which may be NULL, is called now and then during long
 * work that writes nothing; false with errno set ends it as a failed write does. */
struct rdb_sink {
    bool (*write)(void *arg, const void *bytes, size_t len);
    bool (*go_on)(void *arg);
    void *arg;
    size_t piece;
    const struct rdb_deferral *deferral; /* NULL: all is written here */
};

enum { RDB_WRITER_PIECE_MIN = 64 };

#ifdef TINY_LIMITS
enum { RDB_WRITER_BUFFER = 64 };
#else
enum { RDB_WRITER_BUFFER = 128 * 1024 };
#endif

/* Lives on the caller's stack. The fields but `error` are private. */
struct rdb_writer {
    uint8_t *buffer; /* sink.piece bytes */
    size_t used;
    uint64_t flushed; /* bytes that went to the sink */
    uint64_t crc;     /* of them */
    int error;        /* 0, or the errno of the sink's failure */
    bool compress;
    bool checksum;
    struct rdb_sink sink;
    uint8_t *scratch; /* for packing; no larger than a part of a large text needs */
    size_t scratch_size;
};

/* `compress`: texts of more than 20 bytes are packed where LZF gains 4 (rdbcompression).
 * `checksum`: the CRC-64 of what is written is kept (rdbchecksum). */
void rdb_writer_start(struct rdb_writer *writer, struct rdb_sink sink, bool compress,
                      bool checksum);

/* Frees what the writer holds. What was not flushed is lost. */
void rdb_writer_end(struct rdb_writer *writer);

/* Gives the sink what is left in the buffer: true when every byte so far has reached it. */
bool rdb_writer_flush(struct rdb_writer *writer);

/* Gives the sink what is left in the buffer, if it takes work over: then a call of its deferral may
 * follow. */
static inline const struct rdb_deferral *rdb_writer_defer(struct rdb_writer *writer) {
    return writer->sink.deferral && rdb_writer_flush(writer) ? writer->sink.deferral : NULL;
}

/* Bytes written so far, those still in the buffer included. O(1). */
static inline uint64_t rdb_writer_offset(const struct rdb_writer *writer) {
    return writer->flushed + writer->used;
}

/* The CRC-64 of everything written so far; 0 where no checksum is kept. */
uint64_t rdb_writer_checksum(const struct rdb_writer *writer);

void rdb_write_byte(struct rdb_writer *writer, uint8_t byte);
void rdb_write_bytes(struct rdb_writer *writer, const void *bytes, size_t len);

/* Little-endian. */
void rdb_write_uint16(struct rdb_writer *writer, uint16_t value);
void rdb_write_uint64(struct rdb_writer *writer, uint64_t value);

/* In 1, 2, 5 or 9 bytes. */
void rdb_write_length(struct rdb_writer *writer, uint64_t length);

/* A text in its shortest form: as an integer of 8, 16 or 32 bits when it is the canonical decimal
 * of one, packed when `compress` says so and it gains, else as it is. O(len). */
void rdb_write_string(struct rdb_writer *writer, struct slice text);

/* A captured text of more than RDB_LZF_TEXT_MIN bytes, as rdb_write_string would write it. It is
 * read once or twice, and passed (text_capture_pass) as it is written. O(len). */
void rdb_write_text_capture(struct rdb_writer *writer, struct text_capture *capture);

/* The decimal text of an integer, as rdb_write_string would write it. O(1). */
void rdb_write_integer(struct rdb_writer *writer, int64_t value);

/* As rdb_write_string of the listpack of `count` elements with the body [first, end), header and
 * end byte added. */
void rdb_write_listpack(struct rdb_writer *writer, const uint8_t *first, const uint8_t *end,
                        size_t count);

/* The same for a body of `body_size` bytes that is packed already: `stream` is the LZF stream of
 * the body alone. Written as it stands, whatever `compress` says. */
void rdb_write_packed_listpack(struct rdb_writer *writer, struct slice stream, size_t body_size,
                               size_t count);

#endif
