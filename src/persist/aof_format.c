#include "persist/aof_format.h"

#include "base/alloc.h"
#include "base/number.h"

enum { ANNOTATION_MAX = 1024 };

/* The parser's position in the item. */
struct place {
    const char *bytes;
    size_t len;
    size_t at;
};

static enum aof_item bad(struct aof_parser *parser, const struct place *place, const char *error) {
    parser->error = error;
    parser->error_at = place->at;
    return AOF_ITEM_BAD;
}

/* \r\n */
static enum aof_item take_line_end(struct aof_parser *parser, struct place *place) {
    static const char line_end[] = {'\r', '\n'};
    for (size_t i = 0; i < sizeof(line_end); i++) {
        if (place->at == place->len) return AOF_ITEM_MORE;
        if (place->bytes[place->at] != line_end[i])
            return bad(parser, place, "a line does not end where it should");
        place->at++;
    }
    return AOF_ITEM_COMMAND;
}

/* "<type><number>\r\n" */
static enum aof_item take_header(struct aof_parser *parser, struct place *place, char type,
                                 uint64_t max, uint64_t *number) {
    if (place->at == place->len) return AOF_ITEM_MORE;
    if (place->bytes[place->at] != type)
        return bad(parser, place,
                   type == '*' ? "no command begins here" : "no argument begins here");
    const char *digits = place->bytes + ++place->at;
    size_t count = 0;
    while (place->at < place->len && count < INT64_TEXT_MAX && number_is_digit(digits[count])) {
        place->at++;
        count++;
    }
    if (place->at == place->len) return AOF_ITEM_MORE;
    if (!number_parse_uint64(slice_make(digits, count), number) || *number > max)
        return bad(parser, place, "a count or length is not a number in range");
    return take_line_end(parser, place);
}

static enum aof_item take_argument(struct aof_parser *parser, struct place *place) {
    uint64_t length;
    enum aof_item item = take_header(parser, place, '$', INT64_MAX, &length);
    if (item != AOF_ITEM_COMMAND) return item;
    if (length > place->len - place->at) return AOF_ITEM_MORE;
    MEM_RESERVE(parser->argv, parser->capacity, parser->argc + 1);
    parser->argv[parser->argc++] = slice_make(place->bytes + place->at, (size_t)length);
    place->at += (size_t)length;
    return take_line_end(parser, place);
}

static enum aof_item take_command(struct aof_parser *parser, struct place *place) {
    uint64_t count;
    enum aof_item item = take_header(parser, place, '*', INT32_MAX, &count);
    if (item == AOF_ITEM_COMMAND && count == 0)
        return bad(parser, place, "a command has no arguments");
    while (item == AOF_ITEM_COMMAND && count-- > 0) item = take_argument(parser, place);
    return item;
}

static enum aof_item take_annotation(struct aof_parser *parser, struct place *place) {
    const char *end = memchr(place->bytes, '\n', place->len);
    size_t len = end ? (size_t)(end - place->bytes) : place->len;
    if (len > ANNOTATION_MAX) return bad(parser, place, "an annotation does not end");
    if (end == NULL) return AOF_ITEM_MORE;
    if (end[-1] != '\r') return bad(parser, place, "an annotation does not end as it should");
    MEM_RESERVE(parser->argv, parser->capacity, 1);
    parser->argv[parser->argc++] = slice_make(place->bytes, len - 1);
    place->at = len + 1;
    return AOF_ITEM_ANNOTATION;
}

enum aof_item aof_parse(struct aof_parser *parser, const char *bytes, size_t len) {
    struct place place = {bytes, len, 0};
    parser->argc = 0;
    if (len == 0) return AOF_ITEM_MORE;
    enum aof_item item =
        *bytes == '#' ? take_annotation(parser, &place) : take_command(parser, &place);
    parser->consumed = place.at;
    return item;
}

void aof_parser_free(struct aof_parser *parser) {
    mem_free(parser->argv);
    *parser = (struct aof_parser){0};
}
