#include "snapshot/snapshot_chunk.h"

#include "base/memory/alloc.h"
#include "persist/type_format.h"

#include <string.h>

#ifdef TINY_LIMITS
enum { CHUNK_ROOM = 256 };
#else
enum { CHUNK_ROOM = 256 * 1024 };
#endif

enum piece_kind { PIECE_LITERAL, PIECE_STRING, PIECE_LISTPACK, PIECE_CAPTURE, PIECE_COMMANDS };

struct piece {
    uint64_t len;
    uint16_t kind;
    uint16_t type;  /* of a captured value */
    uint32_t count; /* elements of a listpack, or index of a capture */
};

struct snapshot_chunk *snapshot_chunk_new(size_t size) {
    size_t capacity = sizeof(struct piece) + size;
    if (capacity < CHUNK_ROOM) capacity = CHUNK_ROOM;
    struct snapshot_chunk *chunk = mem_alloc(sizeof(*chunk) + capacity);
    *chunk = (struct snapshot_chunk){.capacity = capacity, .literal = SIZE_MAX};
    return chunk;
}

size_t snapshot_chunk_release(struct snapshot_chunk *chunk) {
    size_t left = 0;
    for (unsigned i = 0; i < chunk->capture_count; i++) left += capture_release(chunk->captures[i]);
    return left;
}

void snapshot_chunk_free(struct snapshot_chunk *chunk) {
    for (unsigned i = 0; i < chunk->capture_count; i++) capture_free(chunk->captures[i]);
    mem_free(chunk);
}

bool snapshot_chunk_has_room(const struct snapshot_chunk *chunk, size_t size) {
    return chunk->capacity - chunk->used >= sizeof(struct piece) + size &&
           chunk->capture_count < SNAPSHOT_CHUNK_CAPTURES && chunk->shared_size < CHUNK_ROOM;
}

size_t snapshot_chunk_size(const struct snapshot_chunk *chunk) {
    return sizeof(*chunk) + chunk->capacity + chunk->shared_size;
}

/* --- Filling --- */

static void append(struct snapshot_chunk *chunk, const void *bytes, size_t len) {
    memcpy(chunk->bytes + chunk->used, bytes, len);
    chunk->used += len;
}

static void add(struct snapshot_chunk *chunk, struct piece piece, const void *bytes) {
    chunk->literal = SIZE_MAX;
    append(chunk, &piece, sizeof(piece));
    append(chunk, bytes, piece.len);
}

void snapshot_chunk_add_literal(struct snapshot_chunk *chunk, const void *bytes, size_t len) {
    struct piece last;
    if (chunk->literal == SIZE_MAX) {
        size_t at = chunk->used;
        add(chunk, (struct piece){.len = len, .kind = PIECE_LITERAL}, bytes);
        chunk->literal = at;
        return;
    }
    memcpy(&last, chunk->bytes + chunk->literal, sizeof(last));
    last.len += len;
    memcpy(chunk->bytes + chunk->literal, &last, sizeof(last));
    append(chunk, bytes, len);
}

void snapshot_chunk_add_string(struct snapshot_chunk *chunk, struct slice text) {
    add(chunk, (struct piece){.len = text.len, .kind = PIECE_STRING}, text.ptr);
}

void snapshot_chunk_add_listpack(struct snapshot_chunk *chunk, struct slice body, size_t count) {
    struct piece piece = {.len = body.len, .kind = PIECE_LISTPACK, .count = (uint32_t)count};
    add(chunk, piece, body.ptr);
}

size_t snapshot_chunk_add_capture(struct snapshot_chunk *chunk, bool as_commands, struct slice key,
                                  enum value_type type, struct capture *capture) {
    size_t size = capture_allocated(capture);
    struct piece piece = {.len = key.len,
                          .kind = as_commands ? PIECE_COMMANDS : PIECE_CAPTURE,
                          .type = (uint16_t)type,
                          .count = chunk->capture_count};
    add(chunk, piece, key.ptr);
    chunk->captures[chunk->capture_count++] = capture;
    chunk->shared_size += size;
    return size;
}

/* --- Writing --- */

static void write_capture(const struct snapshot_chunk *chunk, const struct piece *piece,
                          struct slice key, struct rdb_writer *writer) {
    const struct type_format *format = type_format_of((enum value_type)piece->type);
    struct value_source source = {.capture = chunk->captures[piece->count]};
    if (piece->kind == PIECE_COMMANDS)
        format->write_commands(writer, key, source);
    else
        format->write(writer, source);
}

static void write_piece(const struct snapshot_chunk *chunk, const struct piece *piece,
                        const uint8_t *at, struct rdb_writer *writer) {
    struct slice bytes = slice_make(at, piece->len);
    switch ((enum piece_kind)piece->kind) {
    case PIECE_LITERAL: rdb_write_bytes(writer, at, piece->len); return;
    case PIECE_STRING: rdb_write_string(writer, bytes); return;
    case PIECE_LISTPACK: rdb_write_listpack(writer, at, at + piece->len, piece->count); return;
    case PIECE_CAPTURE:
    case PIECE_COMMANDS: write_capture(chunk, piece, bytes, writer); return;
    }
}

void snapshot_chunk_write(const struct snapshot_chunk *chunk, struct rdb_writer *writer) {
    const uint8_t *at = chunk->bytes, *end = at + chunk->used;
    while (at < end && !writer->error) {
        struct piece piece;
        memcpy(&piece, at, sizeof(piece));
        at += sizeof(piece);
        write_piece(chunk, &piece, at, writer);
        at += piece.len;
    }
}
