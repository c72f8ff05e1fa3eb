#include "commands/deferred_records.h"

struct record_source {
    struct reply_source source;
    struct records_iter iter;
    unsigned parts;
    int64_t now_ms;
    struct text_batch batch;
};

static void next_records(struct reply_source *source, struct reply *reply) {
    struct record_source *records = (struct record_source *)source;
    struct text_batch *batch = &records->batch;
    (void)reply;
    records_iter_next_batch(&records->iter, records->parts, records->now_ms, batch);
    source->texts = batch->texts;
    source->text_count = batch->count;
}

static const struct reply_source_functions functions = {next_records, NULL};

__attribute__((noinline)) bool deferred_records_reply_table(const struct call *call,
                                                            struct entry *entry, unsigned parts,
                                                            int64_t now_ms, uint64_t count) {
    size_t expected = value_allocated(entry);
    struct capture *capture = capture_to_defer(call, entry, expected);
    if (!capture) return false;
    uint64_t texts = parts == (RECORD_FIELD | RECORD_VALUE) ? 2 * count : count;
    struct record_source *records =
        reply_source_new(call->reply, &functions, sizeof(*records), capture, texts, expected);
    records_iter_start_capture(&records->iter, capture);
    records->parts = parts;
    records->now_ms = now_ms;
    reply_defer(call->reply, &records->source);
    return true;
}
