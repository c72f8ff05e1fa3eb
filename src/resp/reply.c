/* reply: see the header. Every writer reserves the most it can need, writes through a local
 * pointer, and sets the length once. */
#include "resp/reply.h"

#include "base/alloc.h"
#include "base/number.h"
#include "resp/reply_internal.h"

#include <stdarg.h>
#include <stdio.h>

// clang-format off
#define HEADERS_OF_TEN(tens) \
    "$" tens "0\r\n", "$" tens "1\r\n", "$" tens "2\r\n", "$" tens "3\r\n", "$" tens "4\r\n", \
    "$" tens "5\r\n", "$" tens "6\r\n", "$" tens "7\r\n", "$" tens "8\r\n", "$" tens "9\r\n"

const char reply_length_headers[REPLY_SHORT_LENGTHS][8] = {
    HEADERS_OF_TEN(""), HEADERS_OF_TEN("1"), HEADERS_OF_TEN("2"),
    HEADERS_OF_TEN("3"), HEADERS_OF_TEN("4"), HEADERS_OF_TEN("5"),
    HEADERS_OF_TEN("6"), HEADERS_OF_TEN("7"), HEADERS_OF_TEN("8"),
    HEADERS_OF_TEN("9"),
};
// clang-format on

static inline void reply_header(struct reply *reply, char type, uint64_t number) {
    char *out = reply_reserve(reply, REPLY_LINE_MAX);
    reply->len = (size_t)(reply_write_header(out, type, number) - reply->data);
}

static inline bool is_resp3(const struct reply *reply) {
    return reply->protocol >= 3;
}

/* --- The buffer --- */

void reply_init(struct reply *reply, size_t capacity) {
    *reply = (struct reply){.protocol = 2};
    if (capacity > 0) reply_grow(reply, capacity);
}

void reply_free(struct reply *reply) {
    reply_truncate(reply, 0);
    mem_free(reply->references);
    reply->references = NULL;
    reply->reference_capacity = 0;
    mem_free(reply->data);
    reply->data = NULL;
    reply->capacity = 0;
}

void reply_replace_buffer(struct reply *reply, size_t capacity) {
    reply->data = NULL;
    reply->len = reply->capacity = 0;
    reply_grow(reply, capacity);
}

void reply_grow(struct reply *reply, size_t more) {
    if (reply->before_growth) reply->before_growth(reply);
    if (reply->capacity - reply->len >= more) return;
    size_t needed = reply->len + more;
    size_t doubled = 2 * reply->capacity;
    reply->capacity = mem_good_size(needed > doubled ? needed : doubled);
    reply->data = mem_realloc(reply->data, reply->capacity);
}

/* --- Lines --- */

/* "<type>text\r\n". */
static char *write_text_line(struct reply *reply, char type, struct slice text) {
    char *out = reply_reserve(reply, 1 + text.len + 2);
    *out = type;
    if (text.len > 0) memcpy(out + 1, text.ptr, text.len);
    reply_write_line_end(out + 1 + text.len);
    reply->len += 1 + text.len + 2;
    return out + 1;
}

void reply_status(struct reply *reply, struct slice text) {
    write_text_line(reply, '+', text);
}

static bool is_line_break(char c) {
    return c == '\r' || c == '\n';
}

static void reply_error_text(struct reply *reply, struct slice text) {
    while (text.len > 0 && is_line_break(text.ptr[text.len - 1])) text.len--;
    while (text.len > 0 && is_line_break(*text.ptr)) {
        text.ptr++;
        text.len--;
    }
    char *line = write_text_line(reply, '-', text);
    for (size_t i = 0; i < text.len; i++) {
        if (is_line_break(line[i])) line[i] = ' ';
    }
}

void reply_error(struct reply *reply, const char *text) {
    reply_error_text(reply, slice_of_cstr(text));
}

void reply_error_format(struct reply *reply, const char *format, ...) {
    char shorter[256];
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int len = vsnprintf(shorter, sizeof(shorter), format, args);
    if (len < (int)sizeof(shorter)) {
        reply_error_text(reply, slice_make(shorter, len > 0 ? (size_t)len : 0));
    } else {
        char *longer = mem_alloc((size_t)len + 1);
        vsnprintf(longer, (size_t)len + 1, format, again);
        reply_error_text(reply, slice_make(longer, (size_t)len));
        mem_free(longer);
    }
    va_end(again);
    va_end(args);
}

void reply_integer(struct reply *reply, int64_t value) {
    if (value >= 0) {
        reply_header(reply, ':', (uint64_t)value);
        return;
    }
    char *out = reply_reserve(reply, REPLY_LINE_MAX);
    *out++ = ':';
    reply->len = (size_t)(reply_write_line_end(digits_write_signed(out, value)) - reply->data);
}

/* --- Bulks --- */

void reply_bulk(struct reply *reply, struct slice text) {
    char *out = reply_reserve(reply, REPLY_LINE_MAX + text.len + 2);
    out = reply_write_header(out, '$', text.len);
    if (text.len > 0) memcpy(out, text.ptr, text.len);
    reply->len = (size_t)(reply_write_line_end(out + text.len) - reply->data);
}

/* Up to 32 bytes are copied in place, by two words that overlap. */
static inline char *write_text(char *out, struct slice text) {
    if (text.len < 16) {
        slice_copy(out, text);
    } else if (text.len <= 32) {
        memcpy(out, text.ptr, 16);
        memcpy(out + text.len - 16, slice_end(text) - 16, 16);
    } else {
        memcpy(out, text.ptr, text.len);
    }
    return out + text.len;
}

void reply_bulks(struct reply *reply, const struct slice *texts, size_t count) {
    size_t size = count * (REPLY_LINE_MAX + 2);
    for (size_t i = 0; i < count; i++) size += texts[i].len;
    char *out = reply_reserve(reply, size);
    for (size_t i = 0; i < count; i++)
        out =
            reply_write_line_end(write_text(reply_write_header(out, '$', texts[i].len), texts[i]));
    reply->len = (size_t)(out - reply->data);
}

void reply_bulk_integer(struct reply *reply, int64_t value) {
    char text[INT64_TEXT_MAX + DIGITS_SLACK];
    reply_bulk(reply, slice_make(text, (size_t)(digits_write_signed(text, value) - text)));
}

/* --- What RESP2 lacks --- */

void reply_null(struct reply *reply) {
    reply_raw(reply, is_resp3(reply) ? SLICE("_\r\n") : SLICE("$-1\r\n"));
}

void reply_null_array(struct reply *reply) {
    reply_raw(reply, is_resp3(reply) ? SLICE("_\r\n") : SLICE("*-1\r\n"));
}

void reply_bool(struct reply *reply, bool value) {
    if (is_resp3(reply)) {
        reply_raw(reply, value ? SLICE("#t\r\n") : SLICE("#f\r\n"));
    } else {
        reply_raw(reply, value ? SLICE(":1\r\n") : SLICE(":0\r\n"));
    }
}

void reply_double(struct reply *reply, double value) {
    char text[DOUBLE_TEXT_MAX];
    struct slice slice = slice_make(text, number_format_double(text, value));
    if (is_resp3(reply)) {
        write_text_line(reply, ',', slice);
    } else {
        reply_bulk(reply, slice);
    }
}

void reply_verbatim(struct reply *reply, struct slice text, const char format[3]) {
    if (!is_resp3(reply)) {
        reply_bulk(reply, text);
        return;
    }
    char *out = reply_reserve(reply, REPLY_LINE_MAX + 4 + text.len + 2);
    out = reply_write_header(out, '=', 4 + text.len);
    memcpy(out, format, 3);
    out[3] = ':';
    if (text.len > 0) memcpy(out + 4, text.ptr, text.len);
    reply->len = (size_t)(reply_write_line_end(out + 4 + text.len) - reply->data);
}

void reply_big_number(struct reply *reply, struct slice digits) {
    if (is_resp3(reply)) {
        write_text_line(reply, '(', digits);
    } else {
        reply_bulk(reply, digits);
    }
}

/* --- Aggregates --- */

void reply_array(struct reply *reply, size_t count) {
    reply_header(reply, '*', count);
}

void reply_map(struct reply *reply, size_t pairs) {
    if (is_resp3(reply)) {
        reply_header(reply, '%', pairs);
    } else {
        reply_header(reply, '*', 2 * pairs);
    }
}

void reply_set(struct reply *reply, size_t count) {
    reply_header(reply, is_resp3(reply) ? '~' : '*', count);
}

void reply_push(struct reply *reply, size_t count) {
    reply_header(reply, is_resp3(reply) ? '>' : '*', count);
}

void reply_attribute(struct reply *reply, size_t pairs) {
    reply_header(reply, '|', pairs);
}

size_t reply_begin(const struct reply *reply) {
    return reply->len;
}

/* Moves what was written since `mark` up by the header, and writes the header there. */
static void insert_header(struct reply *reply, size_t mark, char type, uint64_t number) {
    char header[REPLY_LINE_MAX];
    size_t size = (size_t)(reply_write_header(header, type, number) - header);
    reply_reserve(reply, size);
    if (mark > reply->len) return; /* before_growth has dropped the bytes */
    char *at = reply->data + mark;
    memmove(at + size, at, reply->len - mark);
    memcpy(at, header, size);
    reply->len += size;
    reply_move_references(reply, mark, size);
}

void reply_array_end(struct reply *reply, size_t mark, size_t count) {
    insert_header(reply, mark, '*', count);
}

void reply_set_end(struct reply *reply, size_t mark, size_t count) {
    insert_header(reply, mark, is_resp3(reply) ? '~' : '*', count);
}

void reply_map_end(struct reply *reply, size_t mark, size_t pairs) {
    if (is_resp3(reply)) {
        insert_header(reply, mark, '%', pairs);
    } else {
        insert_header(reply, mark, '*', 2 * pairs);
    }
}
