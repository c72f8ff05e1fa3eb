/* reply: see the header. Every writer reserves the most it can need, writes through a local
 * pointer, and sets the length once. If there is no room because of a sink, it calls the sink. */
#include "resp/reply.h"

#include "base/memory/alloc.h"
#include "base/text/number.h"
#include "ds/strings/shared_text.h"
#include "resp/reply_internal.h"
#include "resp/reply_sink.h"
#include "resp/reply_source.h"

#include <assert.h>
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

/* Writes "<type><number>\r\n". Returns false if the reply has a sink. */
static inline bool write_header(struct reply *reply, char type, uint64_t number) {
    if (!reply_make_room(reply, REPLY_LINE_MAX)) return false;
    char *out = reply->data + reply->len;
    reply->len = (size_t)(reply_write_header(out, type, number) - reply->data);
    return true;
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

void reply_init_request(struct reply *reply, const struct slice *argv, size_t argc) {
    enum { HEADER_MAX = 32 }; /* with the line end after a text */
    size_t size = HEADER_MAX;
    for (size_t i = 0; i < argc; i++) size += HEADER_MAX + argv[i].len;
    reply_init(reply, size);
    reply_request(reply, argv, argc);
}

void reply_request(struct reply *reply, const struct slice *argv, size_t argc) {
    reply_array(reply, argc);
    for (size_t i = 0; i < argc; i++) reply_bulk(reply, argv[i]);
}

bool reply_grow(struct reply *reply, size_t more) {
    if (reply->sink) return false;
    if (reply->before_growth) reply->before_growth(reply);
    if (reply->capacity - reply->len >= more) return true;
    reply->data = mem_grow(reply->data, &reply->capacity, reply->len + more, 1);
    return true;
}

/* --- The sink --- */

/* Counts the bytes that a value would have in RESP. Returns the sink, which gets the value. */
static struct reply_sink *sink_for(struct reply *reply, size_t size) {
    reply->len = reply->capacity = reply->len + size;
    return reply->sink;
}

/* The bytes of "<type>text\r\n", "<type><number>\r\n" and "$<length>\r\ntext\r\n". */
static size_t line_size(size_t text_len) {
    return 1 + text_len + 2;
}

static size_t header_size(uint64_t number) {
    return line_size(number_uint64_length(number));
}

static size_t bulk_size(size_t text_len) {
    return header_size(text_len) + text_len + 2;
}

void reply_drop_values(struct reply *reply) {
    reply->capacity = reply->len;
    reply->sink->functions->drop(reply->sink);
}

static void pass_aggregate(struct reply *reply, enum reply_aggregate kind, size_t members) {
    bool is_map = kind == REPLY_MAP;
    struct reply_sink *sink = sink_for(reply, header_size(is_map ? members / 2 : members));
    sink->functions->aggregate(sink, kind, members);
}

/* --- Lines --- */

/* Writes "<type>text\r\n". Returns where its text begins; NULL if the reply has a sink. */
static char *write_text_line(struct reply *reply, char type, struct slice text) {
    if (!reply_make_room(reply, 1 + text.len + 2)) return NULL;
    char *out = reply->data + reply->len;
    *out = type;
    if (text.len > 0) memcpy(out + 1, text.ptr, text.len);
    reply_write_line_end(out + 1 + text.len);
    reply->len += 1 + text.len + 2;
    return out + 1;
}

void reply_status(struct reply *reply, struct slice text) {
    if (write_text_line(reply, '+', text)) return;
    struct reply_sink *sink = sink_for(reply, line_size(text.len));
    sink->functions->status(sink, text);
}

static bool is_line_break(char c) {
    return c == '\r' || c == '\n';
}

static void blank_line_breaks(char *text, size_t len) {
    for (size_t i = 0; i < len; i++) {
        if (is_line_break(text[i])) text[i] = ' ';
    }
}

static void pass_error(struct reply *reply, struct slice text) {
    struct reply_sink *sink = sink_for(reply, line_size(text.len));
    char *line = mem_alloc(text.len + 1);
    memcpy(line, text.ptr, text.len);
    blank_line_breaks(line, text.len);
    sink->functions->error(sink, slice_make(line, text.len));
    mem_free(line);
}

void reply_error_text(struct reply *reply, struct slice text) {
    while (text.len > 0 && is_line_break(text.ptr[text.len - 1])) text.len--;
    while (text.len > 0 && is_line_break(*text.ptr)) text = slice_make(text.ptr + 1, text.len - 1);
    char *line = write_text_line(reply, '-', text);
    if (line)
        blank_line_breaks(line, text.len);
    else
        pass_error(reply, text);
}

bool reply_error(struct reply *reply, const char *text) {
    reply_error_text(reply, slice_of_cstr(text));
    return false;
}

bool reply_error_format(struct reply *reply, const char *format, ...) {
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
    return false;
}

void reply_integer(struct reply *reply, int64_t value) {
    if (!reply_make_room(reply, REPLY_LINE_MAX)) {
        struct reply_sink *sink = sink_for(reply, line_size(number_int64_length(value)));
        sink->functions->integer(sink, value);
        return;
    }
    char *out = reply->data + reply->len;
    if (value >= 0) {
        reply->len = (size_t)(reply_write_header(out, ':', (uint64_t)value) - reply->data);
        return;
    }
    *out++ = ':';
    reply->len = (size_t)(reply_write_line_end(digits_write_signed(out, value)) - reply->data);
}

/* --- Bulks --- */

static void pass_bulk(struct reply *reply, struct slice text) {
    struct reply_sink *sink = sink_for(reply, bulk_size(text.len));
    sink->functions->bulk(sink, text);
}

void reply_bulk(struct reply *reply, struct slice text) {
    if (!reply_make_room(reply, REPLY_LINE_MAX + text.len + 2)) {
        pass_bulk(reply, text);
        return;
    }
    char *out = reply_write_header(reply->data + reply->len, '$', text.len);
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

void reply_bulk_header(struct reply *reply, size_t len) {
    reply_make_room(reply, REPLY_LINE_MAX);
    reply->len = (size_t)(reply_write_header(reply->data + reply->len, '$', len) - reply->data);
}

void reply_bulks(struct reply *reply, const struct slice *texts, size_t count) {
    size_t size = count * (REPLY_LINE_MAX + 2);
    for (size_t i = 0; i < count; i++) size += texts[i].len;
    if (count == 0) return;
    if (!reply_make_room(reply, size)) {
        for (size_t i = 0; i < count; i++) pass_bulk(reply, texts[i]);
        return;
    }
    char *out = reply->data + reply->len;
    for (size_t i = 0; i < count; i++)
        out =
            reply_write_line_end(write_text(reply_write_header(out, '$', texts[i].len), texts[i]));
    reply->len = (size_t)(out - reply->data);
}

void reply_bulk_integer(struct reply *reply, int64_t value) {
    char text[INT64_TEXT_MAX + DIGITS_SLACK];
    reply_bulk(reply, slice_make(text, (size_t)(digits_write_signed(text, value) - text)));
}

void reply_named_integer(struct reply *reply, const char *name, int64_t value) {
    reply_bulk_cstr(reply, name);
    reply_integer(reply, value);
}

void reply_named_text(struct reply *reply, const char *name, struct slice text) {
    reply_bulk_cstr(reply, name);
    reply_bulk(reply, text);
}

void reply_append_bulks(struct reply *reply, const struct reply *part, size_t count) {
    if (!reply->sink) {
        reply_raw(reply, slice_make(part->data, part->len));
        return;
    }
    const char *p = part->data;
    for (; count > 0; count--) {
        size_t len = 0;
        for (p++; *p != '\r'; p++) len = 10 * len + (size_t)(*p - '0');
        pass_bulk(reply, slice_make(p + 2, len));
        p += 2 + len + 2;
    }
}

/* --- What RESP2 lacks --- */

static void write_null(struct reply *reply, enum reply_null resp2_kind, struct slice resp2_bytes) {
    struct slice bytes = is_resp3(reply) ? SLICE("_\r\n") : resp2_bytes;
    if (reply->sink) {
        struct reply_sink *sink = sink_for(reply, bytes.len);
        sink->functions->null(sink, is_resp3(reply) ? REPLY_NULL_RESP3 : resp2_kind);
    } else {
        reply_raw(reply, bytes);
    }
}

void reply_null(struct reply *reply) {
    write_null(reply, REPLY_NULL_BULK, SLICE("$-1\r\n"));
}

void reply_null_array(struct reply *reply) {
    write_null(reply, REPLY_NULL_ARRAY, SLICE("*-1\r\n"));
}

void reply_bool(struct reply *reply, bool value) {
    if (!is_resp3(reply)) {
        reply_integer(reply, value);
    } else if (reply->sink) {
        struct reply_sink *sink = sink_for(reply, line_size(1));
        sink->functions->boolean(sink, value);
    } else {
        reply_raw(reply, value ? SLICE("#t\r\n") : SLICE("#f\r\n"));
    }
}

void reply_double(struct reply *reply, double value) {
    char text[DOUBLE_TEXT_MAX];
    struct slice slice = slice_make(text, number_format_double(text, value));
    if (!is_resp3(reply)) {
        reply_bulk(reply, slice);
    } else if (!write_text_line(reply, ',', slice)) {
        struct reply_sink *sink = sink_for(reply, line_size(slice.len));
        sink->functions->floating(sink, value);
    }
}

void reply_verbatim(struct reply *reply, struct slice text, const char format[3]) {
    if (!is_resp3(reply)) {
        reply_bulk(reply, text);
        return;
    }
    if (!reply_make_room(reply, REPLY_LINE_MAX + 4 + text.len + 2)) {
        struct reply_sink *sink = sink_for(reply, bulk_size(4 + text.len));
        sink->functions->verbatim(sink, text, format);
        return;
    }
    char *out = reply_write_header(reply->data + reply->len, '=', 4 + text.len);
    memcpy(out, format, 3);
    out[3] = ':';
    if (text.len > 0) memcpy(out + 4, text.ptr, text.len);
    reply->len = (size_t)(reply_write_line_end(out + 4 + text.len) - reply->data);
}

void reply_big_number(struct reply *reply, struct slice digits) {
    if (!is_resp3(reply)) {
        reply_bulk(reply, digits);
    } else if (!write_text_line(reply, '(', digits)) {
        struct reply_sink *sink = sink_for(reply, line_size(digits.len));
        sink->functions->big_number(sink, digits);
    }
}

/* --- Aggregates --- */

void reply_array(struct reply *reply, size_t count) {
    if (!write_header(reply, '*', count)) pass_aggregate(reply, REPLY_ARRAY, count);
}

void reply_map(struct reply *reply, size_t pairs) {
    bool is_map = is_resp3(reply);
    if (!write_header(reply, is_map ? '%' : '*', is_map ? pairs : 2 * pairs))
        pass_aggregate(reply, is_map ? REPLY_MAP : REPLY_ARRAY, 2 * pairs);
}

void reply_set(struct reply *reply, size_t count) {
    bool is_set = is_resp3(reply);
    if (!write_header(reply, is_set ? '~' : '*', count))
        pass_aggregate(reply, is_set ? REPLY_SET : REPLY_ARRAY, count);
}

void reply_push(struct reply *reply, size_t count) {
    if (!write_header(reply, is_resp3(reply) ? '>' : '*', count))
        pass_aggregate(reply, REPLY_ARRAY, count);
}

void reply_attribute(struct reply *reply, size_t pairs) {
    write_header(reply, '|', pairs);
}

size_t reply_begin(struct reply *reply) {
    if (reply->sink) reply->sink->functions->begin(reply->sink);
    return reply->len;
}

/* Moves the references after `size` bytes that were inserted at `from`. One at `from` belongs to
 * what ends there: each value of a reply begins with bytes of its own. */
static void move_references(struct reply *reply, size_t from, size_t size) {
    for (size_t i = reply->reference_count; i > 0 && reply->references[i - 1].position > from; i--)
        reply->references[i - 1].position += size;
}

/* Moves what was written since `mark` up by the header, and writes the header there. */
static void insert_header(struct reply *reply, size_t mark, char type, uint64_t number) {
    char header[REPLY_LINE_MAX];
    size_t size = (size_t)(reply_write_header(header, type, number) - header);
    reply_make_room(reply, size);
    if (mark > reply->len) return; /* before_growth has dropped the bytes */
    char *at = reply->data + mark;
    memmove(at + size, at, reply->len - mark);
    memcpy(at, header, size);
    reply->len += size;
    move_references(reply, mark, size);
}

/* Ends an aggregate, which has `count` pairs if it is a map; RESP2 has only arrays. */
static inline void end_aggregate(struct reply *reply, size_t mark, enum reply_aggregate kind,
                                 size_t count) {
    static const char types[] = {[REPLY_ARRAY] = '*', [REPLY_MAP] = '%', [REPLY_SET] = '~'};
    if (!is_resp3(reply)) {
        count *= kind == REPLY_MAP ? 2 : 1;
        kind = REPLY_ARRAY;
    }
    if (reply->sink) {
        struct reply_sink *sink = sink_for(reply, header_size(count));
        sink->functions->end(sink, kind);
    } else {
        insert_header(reply, mark, types[kind], count);
    }
}

void reply_array_end(struct reply *reply, size_t mark, size_t count) {
    end_aggregate(reply, mark, REPLY_ARRAY, count);
}

void reply_set_end(struct reply *reply, size_t mark, size_t count) {
    end_aggregate(reply, mark, REPLY_SET, count);
}

void reply_map_end(struct reply *reply, size_t mark, size_t pairs) {
    end_aggregate(reply, mark, REPLY_MAP, pairs);
}

/* --- References to what is not copied --- */

static void add_reference(struct reply *reply, struct reply_reference reference) {
    MEM_RESERVE(reply->references, reply->reference_capacity, reply->reference_count + 1);
    reply->references[reply->reference_count++] = reference;
    reply->referred += reference.end - reference.start;
}

static void refer_to_text(struct reply *reply, struct capture *capture, size_t start, size_t end) {
    add_reference(reply,
                  (struct reply_reference){
                      .position = reply->len, .capture = capture, .start = start, .end = end});
}

void reply_bulk_captured(struct reply *reply, struct capture *capture, size_t start, size_t end) {
    assert(reply->common && start < end);
    if (reply->before_growth) reply->before_growth(reply);
    reply_bulk_header(reply, end - start);
    refer_to_text(reply, capture, start, end);
    reply_raw(reply, SLICE("\r\n"));
}

static bool should_refer(const struct reply *reply, sds text) {
    return sds_len(text) >= REPLY_REFER_AT && reply->common;
}

/* Returns a capture of the text, which alone owns it. */
static struct capture *capture_owned(sds text) {
    struct shared_text *shared = shared_text_new(text);
    struct capture *capture = text_capture_begin(shared, NULL);
    shared_text_free(shared); /* it goes over to the capture */
    return capture;
}

void reply_bulk_owned(struct reply *reply, sds text) {
    if (should_refer(reply, text)) {
        reply_bulk_captured(reply, capture_owned(text), 0, sds_len(text));
        return;
    }
    reply_bulk(reply, sds_slice(text));
    sds_free(text);
}

void reply_raw_owned(struct reply *reply, sds bytes) {
    if (should_refer(reply, bytes)) {
        if (reply->before_growth) reply->before_growth(reply);
        reply_raw(reply, slice_make(bytes, 1)); /* see move_references */
        refer_to_text(reply, capture_owned(bytes), 1, sds_len(bytes));
        return;
    }
    reply_raw(reply, sds_slice(bytes));
    sds_free(bytes);
}

void reply_refer_to_source(struct reply *reply, struct reply_source *source) {
    add_reference(reply, (struct reply_reference){.position = reply->len, .source = source});
}

static size_t referred_size(const struct reply_reference *reference) {
    return reference->source ? reference->source->expected : reference->end - reference->start;
}

size_t reply_size_from(const struct reply *reply, size_t begin) {
    size_t size = reply->len > begin ? reply->len - begin : 0, i = reply->reference_count;
    for (; i > 0 && reply->references[i - 1].position > begin; i--)
        size += referred_size(&reply->references[i - 1]);
    return size;
}

void reply_forget_references(struct reply *reply) {
    enum { KEEP_MAX = 64 };
    reply->reference_count = 0;
    reply->referred = 0;
    if (reply->reference_capacity <= KEEP_MAX) return;
    mem_free(reply->references);
    reply->references = NULL;
    reply->reference_capacity = 0;
}

void reply_drop_references(struct reply *reply, size_t from) {
    for (; reply->reference_count > 0; reply->reference_count--) {
        struct reply_reference *last = &reply->references[reply->reference_count - 1];
        if (last->position <= from) return;
        reply->referred -= last->end - last->start;
        if (last->source)
            reply_source_free(last->source);
        else
            reply->common->end_capture(reply->common, last->capture);
    }
    reply_forget_references(reply);
}
