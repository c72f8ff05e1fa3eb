/* The state of a request that is not complete yet, in bytes from its beginning:
 *
 *      *3\r\n$5\r\nLPUSH\r\n$6\r\nmyli|                       argc 1 of 3 expected, bulk_length 6
 *      ^base                   ^    ^scanned
 *                              position
 *
 *      *3\r\n$5\r\nLPUSH\r\n$61|                              argc 1 of 3 expected, bulk_length -1
 *      ^base               ^   ^scanned
 *                          position
 *
 * Invariants
 *   1. scanned == 0 exactly between requests.
 *   2. While the count or an inline command is being read, expected == 0 and position == 0.
 *   3. Otherwise argc < expected, and argv[0 … argc) hold addresses as if the request still began
 *      at `base`; they are moved once, when the request is complete, so that a request that comes
 *      in many pieces costs no more for it.
 *   4. position <= scanned. From position + LINE_HIDDEN on it says that the line met a NUL and can
 *      only become too long. */
#include "resp/parser.h"

#include "base/memory/alloc.h"
#include "base/text/number.h"

/* The end of a line is searched in LINE_LIMIT bytes; `scanned` is beyond when a NUL hides it. */
enum { LINE_LIMIT = RESP_LINE_MAX + 1, LINE_HIDDEN = LINE_LIMIT + 1 };

/* The error texts of each kind of header, and its limit before authentication. */
struct header_kind {
    const char *too_long;
    const char *invalid;
    const char *unauthenticated;
    int64_t unauthenticated_max;
};

static const struct header_kind COUNT_HEADER = {
    "too big mbulk count string",
    "invalid multibulk length",
    "unauthenticated multibulk length",
    RESP_UNAUTHENTICATED_ARGUMENTS_MAX,
};

static const struct header_kind BULK_HEADER = {
    "too big bulk count string",
    "invalid bulk length",
    "unauthenticated bulk length",
    RESP_UNAUTHENTICATED_BULK_MAX,
};

void resp_parser_init(struct resp_parser *parser) {
    *parser = (struct resp_parser){.bulk_length = -1};
}

void resp_parser_free(struct resp_parser *parser) {
    mem_free(parser->argv);
    resp_parser_init(parser);
}

void resp_parser_reset(struct resp_parser *parser) {
    parser->scanned = 0;
}

size_t resp_parser_allocated(const struct resp_parser *parser) {
    return parser->capacity * sizeof(struct slice);
}

size_t resp_parser_needs(const struct resp_parser *parser) {
    if (parser->bulk_length >= 0) return parser->position + (size_t)parser->bulk_length + 2;
    bool hidden = parser->scanned - parser->position >= LINE_HIDDEN;
    return hidden ? parser->position + LINE_LIMIT : parser->scanned + 1;
}

size_t resp_parser_take_out(struct resp_parser *parser) {
    parser->bulk_length = 0;
    return parser->argc;
}

/* Grows by the arguments received, never by the number announced: a large announced count costs no
 * memory. */
static void argv_grow(struct resp_parser *parser) {
    MEM_RESERVE(parser->argv, parser->capacity, parser->capacity + 1);
}

static enum resp_status fail(struct resp_parser *parser, const char *error) {
    parser->error = error;
    parser->scanned = 0;
    return RESP_ERROR;
}

static enum resp_status complete(struct resp_parser *parser, const char *bytes, size_t consumed) {
    uintptr_t moved = (uintptr_t)bytes - (uintptr_t)parser->base;
    if (__builtin_expect(moved != 0, 0)) {
        for (size_t i = 0; i < parser->argc; i++)
            parser->argv[i].ptr = (const char *)((uintptr_t)parser->argv[i].ptr + moved);
    }
    parser->consumed = consumed;
    parser->scanned = 0;
    return RESP_REQUEST;
}

/* --- Inline commands --- */

static bool is_blank(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Returns whether the byte ends an argument outside of quotes; of the blanks, \v and \f do not. */
static bool ends_word(char c) {
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/* The byte that an escape stands for; `at` is after the backslash and moves past the escape. */
static char unescape(char **at, const char *end) {
    char *c = *at;
    if (*c == 'x' && end - c >= 3 && hex_digit(c[1]) >= 0 && hex_digit(c[2]) >= 0) {
        *at = c + 3;
        return (char)(hex_digit(c[1]) * 16 + hex_digit(c[2]));
    }
    *at = c + 1;
    switch (*c) {
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    case 'b': return '\b';
    case 'a': return '\a';
    default: return *c;
    }
}

/* Unquotes what follows the opening `quote` to *out. Returns the position after the closing one;
 * NULL when there is none, or when it is followed by anything but a blank. */
static char *unquote(char *at, char *end, char quote, char **out) {
    while (at < end && *at != quote) {
        char c = *at++;
        if (c == '\\' && at < end) {
            if (quote == '"')
                c = unescape(&at, end);
            else if (*at == '\'')
                c = *at++;
        }
        *(*out)++ = c;
    }
    if (at == end) return NULL;
    at++;
    return at == end || is_blank(*at) ? at : NULL;
}

enum resp_split resp_split_next(char **at, char *end, struct slice *argument) {
    char *in = *at;
    while (in < end && is_blank(*in)) in++;
    *at = in;
    if (in == end) return RESP_SPLIT_END;

    char *start = in;
    char *out = in;
    while (in < end && !ends_word(*in)) {
        if (*in == '"' || *in == '\'') {
            in = unquote(in + 1, end, *in, &out);
            if (in == NULL) return RESP_SPLIT_UNBALANCED;
            break;
        }
        *out++ = *in++;
    }
    *at = in;
    *argument = slice_make(start, (size_t)(out - start));
    return RESP_SPLIT_ARGUMENT;
}

/* Looks for `end_byte` from `from` on in the line that begins at `position`. Returns its index, or
 * SIZE_MAX when it is not there (yet), with `scanned` set. */
static size_t line_end(struct resp_parser *parser, const char *bytes, size_t len, size_t from,
                       char end_byte) {
    size_t limit = parser->position + LINE_LIMIT;
    if (limit > len) limit = len;
    for (size_t i = from; i < limit; i++) {
        if (bytes[i] == end_byte) return i;
        if (bytes[i] == '\0') {
            parser->scanned = parser->position + LINE_HIDDEN;
            return SIZE_MAX;
        }
    }
    if (parser->scanned < limit) parser->scanned = limit;
    return SIZE_MAX;
}

static bool line_is_too_long(const struct resp_parser *parser, size_t len) {
    return len - parser->position >= LINE_LIMIT;
}

static enum resp_status parse_inline(struct resp_parser *parser, char *bytes, size_t len) {
    size_t newline = line_end(parser, bytes, len, parser->scanned, '\n');
    if (newline == SIZE_MAX) {
        if (line_is_too_long(parser, len)) return fail(parser, "too big inline request");
        return RESP_MORE;
    }
    char *at = bytes;
    for (;;) {
        if (parser->argc == parser->capacity) argv_grow(parser);
        enum resp_split split = resp_split_next(&at, bytes + newline, &parser->argv[parser->argc]);
        if (split == RESP_SPLIT_UNBALANCED) return fail(parser, "unbalanced quotes in request");
        if (split == RESP_SPLIT_END) break;
        parser->argc++;
    }
    parser->base = bytes; /* all slices are new */
    return complete(parser, bytes, newline + 1);
}

/* --- Arrays of bulk strings --- */

/* The usual header: a type byte that the caller has checked, one to nine digits, \r and one byte
 * more, all present. Returns its length and sets *number; 0 if read_header must decide. */
static inline size_t plain_header(const char *at, const char *end, int64_t *number) {
    if (__builtin_expect(end - at < 4, 0)) return 0;
    unsigned value = (unsigned)(unsigned char)at[1] - '0';
    if (value > 9) return 0;
    if (__builtin_expect(at[2] == '\r', 1)) {
        *number = value;
        return 4;
    }
    if (value == 0 || end - at < 12) return 0;
    size_t i = 2;
    for (; i < 10; i++) {
        unsigned digit = (unsigned)(unsigned char)at[i] - '0';
        if (digit > 9) break;
        value = value * 10 + digit;
    }
    if (at[i] != '\r') return 0;
    *number = value;
    return i + 2;
}

/* Reads any header at `position`, strictly. RESP_REQUEST when it is complete: sets *number, and
 * `position` after it. */
static enum resp_status read_header(struct resp_parser *parser, const char *bytes, size_t len,
                                    const struct header_kind *kind, int64_t *number) {
    /* One back: the \r may have been there, and only the byte after it missing. */
    size_t from = parser->scanned > parser->position ? parser->scanned - 1 : parser->position;
    size_t at = line_end(parser, bytes, len, from, '\r');
    if (at == SIZE_MAX) {
        return line_is_too_long(parser, len) ? fail(parser, kind->too_long) : RESP_MORE;
    }
    if (at + 1 == len) {
        parser->scanned = len;
        return RESP_MORE;
    }
    const char *type = bytes + parser->position;
    if (kind == &BULK_HEADER && *type != '$') {
        static const char got[] = "expected '$', got '?'";
        _Static_assert(sizeof(got) <= sizeof(parser->error_buffer), "the text fits");
        memcpy(parser->error_buffer, got, sizeof(got));
        parser->error_buffer[sizeof(got) - 3] = *type;
        return fail(parser, parser->error_buffer);
    }
    if (!number_parse_int64(slice_make(type + 1, (size_t)(bytes + at - type) - 1), number)) {
        return fail(parser, kind->invalid);
    }
    parser->position = parser->scanned = at + 2;
    return RESP_REQUEST;
}

static enum resp_status check_number(struct resp_parser *parser, const struct header_kind *kind,
                                     int64_t number, int64_t min, int64_t max,
                                     const struct resp_limits *limits) {
    if (number < min || number > max) return fail(parser, kind->invalid);
    if (!limits->authenticated && number > kind->unauthenticated_max) {
        return fail(parser, kind->unauthenticated);
    }
    return RESP_REQUEST;
}

/* Reads the count into `expected`; RESP_REQUEST when it is complete (0 is a whole, empty
 * request). */
static enum resp_status parse_count(struct resp_parser *parser, const char *bytes, size_t len,
                                    const struct resp_limits *limits) {
    int64_t count;
    size_t header = plain_header(bytes, bytes + len, &count);
    if (__builtin_expect(header != 0, 1)) {
        parser->position = header;
    } else {
        enum resp_status status = read_header(parser, bytes, len, &COUNT_HEADER, &count);
        if (status != RESP_REQUEST) return status;
    }
    if (__builtin_expect(count > RESP_UNAUTHENTICATED_ARGUMENTS_MAX, 0)) {
        enum resp_status status =
            check_number(parser, &COUNT_HEADER, count, INT64_MIN, RESP_ARGUMENTS_MAX, limits);
        if (status != RESP_REQUEST) return status;
    }
    parser->expected = count > 0 ? (uint32_t)count : 0;
    return RESP_REQUEST;
}

/* Reads the header of an argument into bulk_length and moves `position` past it: the slow path. */
static __attribute__((noinline)) enum resp_status
parse_bulk_header(struct resp_parser *parser, const char *bytes, size_t len,
                  const struct resp_limits *limits) {
    int64_t length;
    enum resp_status status = read_header(parser, bytes, len, &BULK_HEADER, &length);
    if (status != RESP_REQUEST) return status;
    status = check_number(parser, &BULK_HEADER, length, 0, limits->bulk_max, limits);
    if (status == RESP_REQUEST) parser->bulk_length = length;
    return status;
}

static enum resp_status parse_arguments(struct resp_parser *parser, const char *bytes, size_t len,
                                        const struct resp_limits *limits) {
    const char *end = bytes + len;
    const char *at = bytes + parser->position;
    uintptr_t moved = (uintptr_t)parser->base - (uintptr_t)bytes;
    size_t argc = parser->argc;
    size_t expected = parser->expected;
    int64_t length = parser->bulk_length;
    int64_t plain_max = limits->bulk_max;
    if (!limits->authenticated && plain_max > RESP_UNAUTHENTICATED_BULK_MAX) {
        plain_max = RESP_UNAUTHENTICATED_BULK_MAX;
    }
    for (;;) {
        if (length < 0) {
            size_t header = at < end && *at == '$' ? plain_header(at, end, &length) : 0;
            if (__builtin_expect(header == 0 || length > plain_max, 0)) {
                parser->argc = argc;
                parser->position = (size_t)(at - bytes);
                parser->bulk_length = -1;
                if (parser->scanned < parser->position) parser->scanned = parser->position;
                enum resp_status status = parse_bulk_header(parser, bytes, len, limits);
                if (status != RESP_REQUEST) return status;
                length = parser->bulk_length;
                at = bytes + parser->position;
            } else {
                at += header;
            }
        }
        if ((size_t)(end - at) < (size_t)length + 2) break;
        if (__builtin_expect(argc == parser->capacity, 0)) argv_grow(parser);
        parser->argv[argc++] = slice_make((const char *)((uintptr_t)at + moved), (size_t)length);
        at += length + 2;
        length = -1;
        if (argc == expected) {
            parser->argc = argc;
            return complete(parser, bytes, (size_t)(at - bytes));
        }
    }
    parser->argc = argc;
    parser->bulk_length = length;
    parser->position = parser->scanned = (size_t)(at - bytes);
    return RESP_MORE;
}

static inline __attribute__((always_inline)) enum resp_status
parse(struct resp_parser *parser, char *bytes, size_t len, const struct resp_limits *limits) {
    if (parser->scanned == 0) {
        if (len == 0) return RESP_MORE;
        parser->argc = 0;
        parser->expected = 0;
        parser->position = 0;
        parser->bulk_length = -1;
        parser->base = bytes;
    }
    if (bytes[0] != '*') return parse_inline(parser, bytes, len);
    if (parser->expected == 0) {
        enum resp_status status = parse_count(parser, bytes, len, limits);
        if (status != RESP_REQUEST) return status;
        if (parser->expected == 0) return complete(parser, bytes, parser->position);
    }
    return parse_arguments(parser, bytes, len, limits);
}

__attribute__((flatten)) enum resp_status resp_parse(struct resp_parser *parser, char *bytes,
                                                     size_t len, const struct resp_limits *limits) {
    return parse(parser, bytes, len, limits);
}

enum resp_status resp_parse_array(struct resp_parser *parser, char *bytes, size_t len,
                                  const struct resp_limits *limits) {
    if (len > 0 && bytes[0] != '*' && bytes[0] != '\r' && bytes[0] != '\n') {
        parser->error = "a line of text";
        return RESP_ERROR;
    }
    return parse(parser, bytes, len, limits);
}
