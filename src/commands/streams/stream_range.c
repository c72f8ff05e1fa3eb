#include "commands/streams/stream_range.h"

#include "commands/common.h"
#include "commands/streams/stream_common.h"

/* --- Entries that are written while the reply is sent --- */

/* source.left counts the entries that are not finished, and the texts of a pair that it has. */
struct entry_source {
    struct reply_source source;
    struct stream_iter iter;
    struct stream_entry entry; /* the one that was begun: its pairs follow */
    struct stream_pair pair;
    struct slice texts[2]; /* of the pair, if the source is to write it */
};

static void begin_entry(struct entry_source *entries, struct reply *reply) {
    streamlog_iter_next(&entries->iter, &entries->entry);
    reply_array(reply, 2);
    stream_reply_id(reply, entries->entry.id);
    reply_array(reply, 2 * entries->entry.pairs);
}

/* Has the source write the pair, in parts if it is long. */
static void leave_pair(struct entry_source *entries) {
    struct reply_source *source = &entries->source;
    entries->texts[0] = entries->pair.field;
    entries->texts[1] = entries->pair.value;
    source->texts = entries->texts;
    source->text_count = 2;
    source->left += 2;
}

/* It ends with an entry or with a pair that is left to the source. */
static void next_entries(struct reply_source *source, struct reply *reply) {
    struct entry_source *entries = (struct entry_source *)source;
    const struct stream_pair *pair = &entries->pair;
    size_t end = reply->len + REPLY_TEXT_PIECE;
    while (source->left > 0 && (entries->entry.pairs > 0 || reply->len < end)) {
        if (entries->entry.pairs == 0) begin_entry(entries, reply);
        streamlog_next_pair(&entries->entry, &entries->pair);
        if (entries->entry.pairs == 0) source->left--;
        if (pair->field.len + pair->value.len >= REPLY_TEXT_PIECE || reply->len >= end) {
            leave_pair(entries);
            return;
        }
        reply_bulk(reply, pair->field);
        reply_bulk(reply, pair->value);
    }
}

static const struct reply_source_functions functions = {next_entries, NULL};

/* --- Replying --- */

/* A range that is being replied. */
struct progress {
    struct call *call;
    struct entry *stream;
    const struct stream_range *range;
    size_t mark;     /* where the reply began */
    size_t asked_at; /* bytes of the reply when it was last asked whether to defer the rest */
    uint64_t replied;
};

/* Returns how many entries of the range are left from this one on. */
static uint64_t count_left(const struct progress *progress, struct stream_id from) {
    const struct stream_range *range = progress->range;
    const struct streamlog *log = stream_log(progress->stream);
    uint64_t most = range->count - progress->replied;
    uint64_t left = range->reverse ? streamlog_count(log, range->first, from)
                                   : streamlog_count(log, from, range->last);
    return left < most ? left : most;
}

/* Returns about how many bytes `left` entries take, of which the first ones lie in this node. */
static size_t expect_bytes(const struct progress *progress, size_t written,
                           struct stream_node_size node, uint64_t left) {
    size_t of_all = (written + node.bytes) / (progress->replied + node.entries);
    if (left < node.entries) return node.bytes / node.entries * left;
    return node.bytes + of_all * (left - node.entries);
}

static void defer(const struct progress *progress, struct capture *capture, struct stream_id from,
                  uint64_t left, size_t expected) {
    const struct stream_range *range = progress->range;
    struct reply *reply = progress->call->reply;
    struct entry_source *entries =
        reply_source_new(reply, &functions, sizeof(*entries), capture, left, expected);
    streamlog_iter_start(&entries->iter, streamlog_captured(capture),
                         range->reverse ? range->first : from, range->reverse ? from : range->last,
                         range->reverse);
    entries->entry.pairs = 0;
    reply_defer(reply, &entries->source);
}

/* Replies the entries from this one on later, if with its node the reply would be large. Returns
 * how many, 0 if it does not. */
static uint64_t defer_from(struct progress *progress, struct stream_id from,
                           const struct stream_iter *iter) {
    struct reply *reply = progress->call->reply;
    struct stream_node_size node = streamlog_iter_node(iter);
    size_t written = reply->len - progress->mark;
    if (!reply_may_defer(reply, written - progress->asked_at + node.bytes)) return 0;
    if (reply->len < progress->mark) return 0; /* what was written is over a limit, and dropped */
    progress->asked_at = written;
    uint64_t left = count_left(progress, from);
    size_t expected = expect_bytes(progress, written, node, left);
    struct capture *capture = capture_to_defer(progress->call, progress->stream, expected);
    if (!capture) return 0;
    defer(progress, capture, from, left, expected);
    return left;
}

uint64_t stream_reply_range(struct call *call, struct entry *stream,
                            const struct stream_range *range) {
    struct reply *reply = call->reply;
    struct progress progress = {call, stream, range, reply_begin(reply), 0, 0};
    const struct streamlog_node *node = NULL;
    struct stream_iter iter;
    struct stream_entry entry;
    uint64_t replied = 0, most = range->count;
    streamlog_iter_start(&iter, stream_log(stream), range->first, range->last, range->reverse);
    while (replied < most && streamlog_iter_next(&iter, &entry)) {
        if (iter.node != node) {
            node = iter.node;
            progress.replied = replied;
            uint64_t deferred = defer_from(&progress, entry.id, &iter);
            replied += deferred;
            if (deferred > 0) break;
        }
        stream_reply_entry(reply, &entry);
        replied++;
    }
    reply_array_end(reply, progress.mark, replied);
    return replied;
}
