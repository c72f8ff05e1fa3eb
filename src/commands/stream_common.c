#include "commands/stream_common.h"

/* --- Ids --- */

enum { ID_LENGTH_MAX = 127 };

static bool fail_id(struct call *call) {
    return reply_error(call->reply, "ERR Invalid stream ID specified as stream command argument");
}

/* Digits, which may have a plus sign and zeros before them, as in Redis. */
static bool parse_number(struct slice text, uint64_t *number) {
    const char *at = text.ptr, *end = slice_end(text);
    uint64_t value = 0;
    if (at < end && *at == '+') at++;
    if (at == end) return false;
    for (; at < end; at++) {
        if (!number_is_digit(*at) || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*at - '0'), &value))
            return false;
    }
    *number = value;
    return true;
}

/* ms, ms-seq or ms-*; `seq` is left as it is where none is given. */
static bool parse_parts(struct slice text, struct stream_new_id *id) {
    if (text.len == 0 || text.len > ID_LENGTH_MAX) return false;
    const char *dash = memchr(text.ptr, '-', text.len);
    size_t ms_len = dash ? (size_t)(dash - text.ptr) : text.len;
    id->has_ms = true;
    id->has_seq = false;
    if (!parse_number(slice_make(text.ptr, ms_len), &id->id.ms)) return false;
    if (!dash) return true;
    struct slice seq = slice_make(dash + 1, text.len - ms_len - 1);
    if (slice_equal(seq, SLICE("*"))) return true;
    id->has_seq = true;
    return parse_number(seq, &id->id.seq);
}

bool stream_is_id(struct slice text, uint64_t missing_seq, struct stream_id *id) {
    struct stream_new_id parts = {.id = {0, missing_seq}};
    bool open = slice_ends(text, SLICE("-*"));
    if (open || !parse_parts(text, &parts)) return false;
    *id = parts.id;
    return true;
}

bool stream_parse_id(struct call *call, size_t index, uint64_t missing_seq, struct stream_id *id) {
    return stream_is_id(call->argv[index], missing_seq, id) || fail_id(call);
}

bool stream_parse_new_id(struct call *call, size_t index, struct stream_new_id *id) {
    struct slice text = call->argv[index];
    *id = (struct stream_new_id){.id = STREAM_ID_MIN};
    if (slice_equal(text, SLICE("*"))) return true;
    if (!parse_parts(text, id)) return fail_id(call);
    if (!memchr(text.ptr, '-', text.len)) id->has_seq = true;
    return true;
}

bool stream_parse_bound(struct call *call, size_t index, bool is_end, struct stream_id *id) {
    struct slice text = call->argv[index];
    uint64_t missing_seq = is_end ? UINT64_MAX : 0;
    if (slice_equal(text, SLICE("-"))) {
        *id = STREAM_ID_MIN;
        return true;
    }
    if (slice_equal(text, SLICE("+"))) {
        *id = STREAM_ID_MAX;
        return true;
    }
    if (text.len < 2 || text.ptr[0] != '(') return stream_parse_id(call, index, missing_seq, id);
    if (!stream_is_id(slice_make(text.ptr + 1, text.len - 1), missing_seq, id))
        return fail_id(call);
    if (is_end ? stream_id_decrement(id) : stream_id_increment(id)) return true;
    return reply_error(call->reply, is_end ? "ERR invalid end ID for the interval"
                                           : "ERR invalid start ID for the interval");
}

/* --- Replies --- */

inline void stream_reply_id(struct reply *reply, struct stream_id id) {
    char text[STREAM_ID_TEXT_MAX];
    reply_bulk(reply, stream_id_text(text, id));
}

void stream_reply_entry(struct reply *reply, struct stream_entry *entry) {
    reply_array(reply, 2);
    stream_reply_members(reply, entry);
}

void stream_reply_members(struct reply *reply, struct stream_entry *entry) {
    struct stream_pair pair;
    stream_reply_id(reply, entry->id);
    reply_array(reply, 2 * entry->pairs);
    while (streamlog_next_pair(entry, &pair)) {
        reply_bulk(reply, pair.field);
        reply_bulk(reply, pair.value);
    }
}

void stream_reply_range(struct reply *reply, const struct entry *entry, struct stream_id first,
                        struct stream_id last, bool reverse, uint64_t count) {
    struct stream_iter iter;
    struct stream_entry one;
    size_t mark = reply_begin(reply), replied = 0;
    stream_iter_start(&iter, entry, first, last, reverse);
    while ((count == 0 || replied < count) && streamlog_iter_next(&iter, &one)) {
        stream_reply_entry(reply, &one);
        replied++;
    }
    reply_array_end(reply, mark, replied);
}

/* --- Trimming --- */

bool stream_is_references(struct slice text, enum stream_references *references) {
    if (slice_is(text, "keepref"))
        *references = STREAM_KEEP_REFERENCES;
    else if (slice_is(text, "delref"))
        *references = STREAM_DROP_REFERENCES;
    else if (slice_is(text, "acked"))
        *references = STREAM_ONLY_ACKNOWLEDGED;
    else
        return false;
    return true;
}

static bool parse_threshold(struct call *call, size_t index, struct stream_trim_options *options) {
    int64_t length;
    if (options->strategy == STREAM_MINID)
        return stream_parse_id(call, index, 0, &options->trim.min_id);
    if (!call_integer(call, index, &length)) return false;
    options->trim.max_length = (uint64_t)length;
    return length >= 0 || reply_error(call->reply, "ERR The MAXLEN argument must be >= 0.");
}

static bool parse_strategy(struct call *call, size_t *index, struct stream_trim_options *options,
                           enum stream_strategy strategy) {
    size_t at = *index + 1;
    if (options->strategy != STREAM_NO_TRIM)
        return reply_error(call->reply,
                           "ERR syntax error, MAXLEN and MINID options at the same time are not "
                           "compatible");
    options->strategy = strategy;
    options->trim.by_id = strategy == STREAM_MINID;
    bool has_more = at + 1 < call->argc;
    if (has_more && slice_equal(call->argv[at], SLICE("~"))) {
        options->trim.whole_nodes = true;
        at++;
    } else if (has_more && slice_equal(call->argv[at], SLICE("="))) {
        at++;
    }
    *index = at + 1;
    return parse_threshold(call, at, options);
}

bool stream_parse_trim(struct call *call, size_t *index, struct stream_trim_options *options,
                       bool *taken) {
    struct slice word = call->argv[*index];
    *taken = true;
    if (*index + 1 < call->argc) {
        if (slice_is(word, "maxlen")) return parse_strategy(call, index, options, STREAM_MAXLEN);
        if (slice_is(word, "minid")) return parse_strategy(call, index, options, STREAM_MINID);
        if (slice_is(word, "limit")) {
            options->has_limit = true;
            *index += 2;
            if (!call_integer(call, *index - 1, &options->limit)) return false;
            return options->limit >= 0 ||
                   reply_error(call->reply, "ERR The LIMIT argument must be >= 0.");
        }
    }
    if (!options->has_references && stream_is_references(word, &options->references)) {
        options->has_references = true;
        ++*index;
        return true;
    }
    *taken = false;
    return true;
}

/* The work of one command that trims whole nodes and names no limit. */
static uint64_t default_limit(const struct call *call) {
    enum { NODES = 100, DEFAULT = 10000, MAX = 1000000 };
    size_t entries = call->limits->stream.node_entries;
    if (entries == 0) return DEFAULT;
    return entries < MAX / NODES ? entries * NODES : MAX;
}

bool stream_check_trim(struct call *call, struct stream_trim_options *options) {
    if (options->limit > 0 && options->strategy == STREAM_NO_TRIM)
        return reply_error(call->reply,
                           "ERR syntax error, LIMIT cannot be used without specifying a trimming "
                           "strategy");
    if (call_is_repeated(call)) return true; /* Redis propagates = with LIMIT */
    if (options->has_limit && !options->trim.whole_nodes)
        return reply_error(call->reply,
                           "ERR syntax error, LIMIT cannot be used without the special ~ option");
    if (options->has_limit)
        options->trim.limit = (uint64_t)options->limit;
    else if (options->trim.whole_nodes)
        options->trim.limit = default_limit(call);
    return true;
}
