#include "persist/command_reader.h"

#include "base/memory/alloc.h"
#include "base/text/number.h"

#include <stdio.h>
#include <string.h>

/* --- The parser --- */

enum { ANNOTATION_MAX = 1024 };

/* The parser's position in the item. */
struct place {
    const char *bytes;
    size_t len;
    size_t at;
};

static enum command_item bad_item(struct command_parser *parser, const struct place *place,
                                  const char *error) {
    parser->error = error;
    parser->error_at = place->at;
    return COMMAND_ITEM_BAD;
}

/* \r\n */
static enum command_item take_line_end(struct command_parser *parser, struct place *place) {
    static const char line_end[] = {'\r', '\n'};
    for (size_t i = 0; i < sizeof(line_end); i++) {
        if (place->at == place->len) return COMMAND_ITEM_MORE;
        if (place->bytes[place->at] != line_end[i])
            return bad_item(parser, place, "a line does not end where it should");
        place->at++;
    }
    return COMMAND_ITEM_COMMAND;
}

/* "<type><number>\r\n" */
static enum command_item take_header(struct command_parser *parser, struct place *place, char type,
                                     uint64_t max, uint64_t *number) {
    if (place->at == place->len) return COMMAND_ITEM_MORE;
    if (place->bytes[place->at] != type)
        return bad_item(parser, place,
                        type == '*' ? "no command begins here" : "no argument begins here");
    const char *digits = place->bytes + ++place->at;
    size_t count = 0;
    while (place->at < place->len && count < INT64_TEXT_MAX && number_is_digit(digits[count])) {
        place->at++;
        count++;
    }
    if (place->at == place->len) return COMMAND_ITEM_MORE;
    if (!number_parse_uint64(slice_make(digits, count), number) || *number > max)
        return bad_item(parser, place, "a count or length is not a number in range");
    return take_line_end(parser, place);
}

static enum command_item take_argument(struct command_parser *parser, struct place *place) {
    uint64_t length;
    enum command_item item = take_header(parser, place, '$', INT64_MAX, &length);
    if (item != COMMAND_ITEM_COMMAND) return item;
    if (length > place->len - place->at) return COMMAND_ITEM_MORE;
    MEM_RESERVE(parser->argv, parser->capacity, parser->argc + 1);
    parser->argv[parser->argc++] = slice_make(place->bytes + place->at, (size_t)length);
    place->at += (size_t)length;
    return take_line_end(parser, place);
}

static enum command_item parse_command(struct command_parser *parser, struct place *place) {
    uint64_t count;
    enum command_item item = take_header(parser, place, '*', INT32_MAX, &count);
    if (item == COMMAND_ITEM_COMMAND && count == 0)
        return bad_item(parser, place, "a command has no arguments");
    while (item == COMMAND_ITEM_COMMAND && count-- > 0) item = take_argument(parser, place);
    return item;
}

static enum command_item take_annotation(struct command_parser *parser, struct place *place) {
    const char *end = memchr(place->bytes, '\n', place->len);
    size_t len = end ? (size_t)(end - place->bytes) : place->len;
    if (len > ANNOTATION_MAX) return bad_item(parser, place, "an annotation does not end");
    if (end == NULL) return COMMAND_ITEM_MORE;
    if (end[-1] != '\r') return bad_item(parser, place, "an annotation does not end as it should");
    MEM_RESERVE(parser->argv, parser->capacity, 1);
    parser->argv[parser->argc++] = slice_make(place->bytes, len - 1);
    place->at = len + 1;
    return COMMAND_ITEM_ANNOTATION;
}

enum command_item command_parse(struct command_parser *parser, const char *bytes, size_t len) {
    struct place place = {bytes, len, 0};
    parser->argc = 0;
    if (len == 0) return COMMAND_ITEM_MORE;
    enum command_item item =
        *bytes == '#' ? take_annotation(parser, &place) : parse_command(parser, &place);
    parser->consumed = place.at;
    return item;
}

void command_parser_free(struct command_parser *parser) {
    mem_free(parser->argv);
    *parser = (struct command_parser){0};
}

/* --- The reader --- */

/* Bytes read at once. For a longer command the buffer grows with the bytes that have arrived. */
#ifdef TINY_LIMITS
enum { BUFFER_SIZE = 64 };
#else
enum { BUFFER_SIZE = 128 * 1024 };
#endif

void command_reader_start(struct command_reader *reader, struct rdb_source source,
                          uint64_t offset) {
    *reader = (struct command_reader){
        .source = source, .offset = offset, .next_offset = offset, .whole = offset};
}

void command_reader_end(struct command_reader *reader) {
    command_parser_free(&reader->parser);
    mem_free(reader->bytes);
    reader->bytes = NULL;
}

/* Reads more bytes into the buffer. Returns false on failure. */
static bool fill(struct command_reader *reader) {
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

static enum command_read bad(struct command_reader *reader, const char *error, size_t at) {
    reader->error = error;
    reader->error_offset = reader->offset + at;
    return COMMAND_READ_BAD;
}

/* The item is complete: the next one begins after it. */
static enum command_read take(struct command_reader *reader, enum command_read read) {
    reader->begin += reader->parser.consumed;
    reader->next_offset = reader->offset + reader->parser.consumed;
    if (!reader->in_multi) reader->whole = reader->next_offset;
    return read;
}

static bool is_word(const struct command_parser *parser, const char *word) {
    return parser->argc == 1 && slice_is(parser->argv[0], word);
}

static enum command_read take_command(struct command_reader *reader) {
    if (is_word(&reader->parser, "multi")) {
        if (reader->in_multi) return bad(reader, "MULTI inside MULTI", 0);
        reader->in_multi = true;
        reader->multi_offset = reader->offset;
        return take(reader, COMMAND_READ_MULTI);
    }
    if (is_word(&reader->parser, "exec")) {
        if (!reader->in_multi) return bad(reader, "EXEC without MULTI", 0);
        reader->in_multi = false;
        return take(reader, COMMAND_READ_EXEC);
    }
    return take(reader, COMMAND_READ_COMMAND);
}

enum command_read command_reader_next(struct command_reader *reader) {
    struct command_parser *parser = &reader->parser;
    reader->offset = reader->next_offset;
    for (;;) {
        switch (command_parse(parser, reader->bytes + reader->begin, reader->end - reader->begin)) {
        case COMMAND_ITEM_COMMAND: return take_command(reader);
        case COMMAND_ITEM_ANNOTATION: return take(reader, COMMAND_READ_ANNOTATION);
        case COMMAND_ITEM_BAD: return bad(reader, parser->error, parser->error_at);
        case COMMAND_ITEM_MORE: break;
        }
        bool has_rest = reader->begin < reader->end;
        if (reader->at_end)
            return has_rest || reader->in_multi ? COMMAND_READ_CUT : COMMAND_READ_END;
        if (!fill(reader)) return COMMAND_READ_FAILED;
    }
}

size_t command_reader_time_line(char line[AOF_TIME_LINE_MAX], int64_t time_s) {
    return (size_t)snprintf(line, AOF_TIME_LINE_MAX, "#TS:%lld\r\n", (long long)time_s);
}
