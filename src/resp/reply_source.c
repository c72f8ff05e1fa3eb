#include "resp/reply_source.h"

#include "base/memory/alloc.h"
#include "ds/capture.h"

void *reply_source_new(const struct reply *reply, const struct reply_source_functions *functions,
                       size_t size, struct capture *capture, uint64_t values, size_t expected) {
    struct reply_source *source = mem_alloc(size);
    *source = (struct reply_source){.functions = functions,
                                    .capture = capture,
                                    .allocated = mem_good_size(size) +
                                                 (capture ? capture_allocated(capture) : 0),
                                    .own = reply->sources,
                                    .common = reply->common,
                                    .left = values,
                                    .expected = expected,
                                    .protocol = reply->protocol};
    source->own->count++;
    source->common->sources++;
    return source;
}

void reply_source_count(struct reply_source *source, struct capture *capture) {
    capture_count_for(capture, &source->own->capture_bytes);
    source->allocated += capture_allocated(capture);
}

void reply_source_free(struct reply_source *source) {
    source->own->count--;
    source->common->sources--;
    if (source->functions->end) source->functions->end(source);
    if (source->capture) source->common->end_capture(source->common, source->capture);
    mem_free(source);
}

/* Returns how many of the texts are short, and together, too. */
static size_t count_short(const struct reply_source *source) {
    size_t count = 0, bytes = 0;
    while (count < source->text_count && bytes < REPLY_TEXT_PIECE)
        bytes += source->texts[count++].len;
    return bytes < REPLY_TEXT_PIECE ? count : count - 1;
}

/* Writes the next part of a long text. Returns whether it was the last one. */
static bool write_part(struct reply_source *source, struct reply *reply) {
    struct slice text = *source->texts;
    if (source->written == 0) reply_bulk_header(reply, text.len);
    size_t left = text.len - source->written;
    size_t part = left < REPLY_TEXT_PIECE ? left : REPLY_TEXT_PIECE;
    reply_raw(reply, slice_make(text.ptr + source->written, part));
    source->written += part;
    if (part < left) return false;
    reply_raw(reply, SLICE("\r\n"));
    source->written = 0;
    return true;
}

static void write_texts(struct reply_source *source, struct reply *reply) {
    size_t done = source->written ? 0 : count_short(source);
    reply_bulks(reply, source->texts, done);
    if (done == 0) done = write_part(source, reply);
    source->texts += done;
    source->text_count -= done;
    source->left -= done;
}

static void write_piece(struct reply_source *source, struct reply *reply) {
    size_t end = reply->len + REPLY_SOURCE_PIECE;
    while (source->left > 0 && reply->len < end) {
        uint64_t left = source->left;
        if (source->text_count == 0) source->functions->next(source, reply);
        if (source->text_count > 0)
            write_texts(source, reply);
        else if (source->left == left)
            return; /* it looks for values */
    }
}

bool reply_source_write(struct reply_source *source, struct reply *reply) {
    reply->len = 0;
    reply->protocol = source->protocol;
    write_piece(source, reply);
    return source->left > 0;
}

/* Corrects the expected bytes: the first values, which took so many, are a sample if they are
 * many. */
static void correct_expected(struct reply_source *source, uint64_t done, size_t bytes) {
    enum { SAMPLE_MIN = 100 };
    if (done >= SAMPLE_MIN)
        source->expected = (size_t)((double)source->left * (double)bytes / (double)done);
    else
        source->expected -= bytes < source->expected ? bytes : source->expected;
}

/* The sources include this one. */
static bool are_few(const struct reply_source *source) {
    return source->own->count <= REPLY_SOURCES_OF_ONE &&
           source->common->sources <= REPLY_SOURCES_OF_ALL;
}

void reply_defer(struct reply *reply, struct reply_source *source) {
    if (reply->before_growth) reply->before_growth(reply);
    size_t begin = reply->len;
    uint64_t values = source->left;
    do write_piece(source, reply);
    while (source->left > 0 && !are_few(source));
    if (source->left == 0) {
        reply_source_free(source);
        return;
    }
    correct_expected(source, values - source->left, reply->len - begin);
    reply_refer_to_source(reply, source);
}
