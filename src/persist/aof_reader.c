#include "persist/aof_reader.h"

#include "base/alloc.h"

#include <errno.h>
#include <string.h>

/* Bytes read at once. For a longer command the buffer grows with the bytes that have arrived. */
#ifdef TINY_LIMITS
enum { BUFFER_SIZE = 64 };
#else
enum { BUFFER_SIZE = 128 * 1024 };
#endif

void aof_reader_start(struct aof_reader *reader, struct rdb_source source, uint64_t offset) {
    *reader = (struct aof_reader){
        .source = source, .offset = offset, .next_offset = offset, .whole = offset};
}

void aof_reader_end(struct aof_reader *reader) {
    aof_parser_free(&reader->parser);
    mem_free(reader->bytes);
    reader->bytes = NULL;
}

/* Reads more bytes into the buffer. Returns false on failure. */
static bool fill(struct aof_reader *reader) {
    size_t have = reader->end - reader->begin;
    if (reader->begin > 0) {
        memmove(reader->bytes, reader->bytes + reader->begin, have);
        reader->begin = 0;
        reader->end = have;
    }
    MEM_RESERVE(reader->bytes, reader->capacity, have ? have + 1 : BUFFER_SIZE);
    ssize_t count =
        reader->source.read(reader->source.arg, reader->bytes + have, reader->capacity - have);
    if (count < 0) return false;
    reader->end += (size_t)count;
    reader->at_end = count == 0;
    return true;
}

static enum aof_read bad(struct aof_reader *reader, const char *error, size_t at) {
    reader->error = error;
    reader->error_offset = reader->offset + at;
    return AOF_READ_BAD;
}

/* The item is complete: the next one begins after it. */
static enum aof_read take(struct aof_reader *reader, enum aof_read read) {
    reader->begin += reader->parser.consumed;
    reader->next_offset = reader->offset + reader->parser.consumed;
    if (!reader->in_multi) reader->whole = reader->next_offset;
    return read;
}

static bool is_word(const struct aof_parser *parser, const char *word) {
    return parser->argc == 1 && slice_is(parser->argv[0], word);
}

static enum aof_read take_command(struct aof_reader *reader) {
    if (is_word(&reader->parser, "multi")) {
        if (reader->in_multi) return bad(reader, "MULTI inside MULTI", 0);
        reader->in_multi = true;
        reader->multi_offset = reader->offset;
        return take(reader, AOF_READ_MULTI);
    }
    if (is_word(&reader->parser, "exec")) {
        if (!reader->in_multi) return bad(reader, "EXEC without MULTI", 0);
        reader->in_multi = false;
        return take(reader, AOF_READ_EXEC);
    }
    return take(reader, AOF_READ_COMMAND);
}

enum aof_read aof_reader_next(struct aof_reader *reader) {
    struct aof_parser *parser = &reader->parser;
    reader->offset = reader->next_offset;
    for (;;) {
        switch (aof_parse(parser, reader->bytes + reader->begin, reader->end - reader->begin)) {
        case AOF_ITEM_COMMAND: return take_command(reader);
        case AOF_ITEM_ANNOTATION: return take(reader, AOF_READ_ANNOTATION);
        case AOF_ITEM_BAD: return bad(reader, parser->error, parser->error_at);
        case AOF_ITEM_MORE: break;
        }
        bool has_rest = reader->begin < reader->end;
        if (reader->at_end) return has_rest || reader->in_multi ? AOF_READ_CUT : AOF_READ_END;
        if (!fill(reader)) return AOF_READ_FAILED;
    }
}
