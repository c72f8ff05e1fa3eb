/* rdb_writer: writes RDB primitives to a sink, through a buffer.
 *
 * The functions return no error. After the sink has failed, every call does nothing, and `error`
 * keeps the errno; during long work the caller checks it now and then. Formats: rdb_format.h. */
#ifndef PACKLIST_PERSIST_RDB_WRITER_H
#define PACKLIST_PERSIST_RDB_WRITER_H

#include "base/text/sds.h"
#include "ds/strings/shared_text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Takes over expensive pieces, to write them elsewhere: in the order of all that is written, and
 * with exactly the bytes that the named function would write. */
struct rdb_deferral {
    void (*string)(void *arg, struct slice text);                 /* rdb_write_string */
    void (*listpack)(void *arg, struct slice body, size_t count); /* rdb_write_listpack */
};

/* A sink for the bytes. `write` takes all `len` (> 0) bytes, or returns false with errno set. It
 * receives pieces of up to `piece` bytes (at least RDB_WRITER_PIECE_MIN; 0: RDB_WRITER_BUFFER), or
 * a longer single string. `go_on` is called now and then during long work that writes nothing;
 * returning false with errno set ends the work like a failed write. It may be NULL. */
struct rdb_sink {
    bool (*write)(void *arg, const void *bytes, size_t len);
    bool (*go_on)(void *arg);
    void *arg;
    size_t piece;
    const struct rdb_deferral *deferral; /* NULL: everything is written here */
};

enum { RDB_WRITER_PIECE_MIN = 64 };

/* A `write` that appends to the string at `arg`, an sds. */
bool rdb_sink_append(void *arg, const void *bytes, size_t len);

#ifdef TINY_LIMITS
enum { RDB_WRITER_BUFFER = 64 };
#else
enum { RDB_WRITER_BUFFER = 128 * 1024 };
#endif

/* Lives on the caller's stack. All fields are private, but `error`, and for_valkey, which the
 * caller may set when the writer is started. */
struct rdb_writer {
    uint8_t *buffer; /* sink.piece bytes */
    size_t used;
    uint64_t flushed; /* bytes that the sink has received */
    uint64_t crc;     /* of these bytes */
    int error;        /* 0, or the errno of the sink's failure */
    bool compress;
    bool checksum;
    bool for_valkey; /* a file of Valkey 9, which has a form of its own for fields that expire, and
                        none for producers of streams */
    struct rdb_sink sink;
    uint8_t *scratch; /* for compression; at most the size that a part of a large text needs */
    size_t scratch_size;
};

/* Starts a writer. With `compress`, texts of more than 20 bytes are compressed if LZF saves at
 * least 4 (rdbcompression). With `checksum`, the writer keeps the CRC-64 of what it writes
 * (rdbchecksum). */
void rdb_writer_start(struct rdb_writer *writer, struct rdb_sink sink, bool compress,
                      bool checksum);

/* Frees the writer's memory. Bytes that were not flushed are lost. */
void rdb_writer_end(struct rdb_writer *writer);

/* Passes the buffered bytes to the sink. Returns true when every byte so far has reached it. */
bool rdb_writer_flush(struct rdb_writer *writer);

/* Returns the bytes written so far, including buffered ones. O(1). */
static inline uint64_t rdb_writer_offset(const struct rdb_writer *writer) {
    return writer->flushed + writer->used;
}

/* Returns the CRC-64 of everything written so far; 0 without `checksum`. */
uint64_t rdb_writer_checksum(const struct rdb_writer *writer);

void rdb_write_byte(struct rdb_writer *writer, uint8_t byte);
void rdb_write_bytes(struct rdb_writer *writer, const void *bytes, size_t len);

/* Little-endian. */
void rdb_write_uint64(struct rdb_writer *writer, uint64_t value);

/* In 1, 2, 5 or 9 bytes. */
void rdb_write_length(struct rdb_writer *writer, uint64_t length);

/* Writes a text in its shortest form: as an integer of 8, 16 or 32 bits if it is the canonical
 * decimal of one; compressed if `compress` allows it and it saves bytes; otherwise plain.
 * O(len). */
void rdb_write_string(struct rdb_writer *writer, struct slice text);

/* Writes a captured text of more than RDB_LZF_TEXT_MIN bytes like rdb_write_string. Reads it once
 * or twice, and passes each part (text_capture_pass) after writing it. O(len). */
void rdb_write_text_capture(struct rdb_writer *writer, struct capture *capture);

/* Writes the decimal text of an integer like rdb_write_string. O(1). */
void rdb_write_integer(struct rdb_writer *writer, int64_t value);

/* Writes a listpack of `count` elements with the body [first, end) like rdb_write_string; adds
 * header and end byte. O(body). */
void rdb_write_listpack(struct rdb_writer *writer, const uint8_t *first, const uint8_t *end,
                        size_t count);

/* Writes a listpack whose body of `body_size` bytes is already compressed: `stream` is the LZF
 * stream of the body alone. Writes it as it is, whatever `compress` says. O(stream). */
void rdb_write_compressed_listpack(struct rdb_writer *writer, struct slice stream, size_t body_size,
                                   size_t count);

#endif
