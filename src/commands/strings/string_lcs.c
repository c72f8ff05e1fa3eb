/* LCS key1 key2 [LEN] [IDX] [MINMATCHLEN length] [WITHMATCHLEN] */
#include "base/memory/alloc.h"
#include "commands/commands.h"
#include "commands/strings/string_common.h"
#include "types/lcs.h"

struct lcs_options {
    bool len, idx, with_match_len;
    int64_t min_match_len;
};

static bool parse_lcs(struct call *call, struct lcs_options *options) {
    for (size_t i = 3; i < call->argc; i++) {
        struct slice option = call->argv[i];
        if (slice_is(option, "len")) {
            options->len = true;
        } else if (slice_is(option, "idx")) {
            options->idx = true;
        } else if (slice_is(option, "withmatchlen")) {
            options->with_match_len = true;
        } else if (slice_is(option, "minmatchlen") && i + 1 < call->argc) {
            if (!call_integer(call, ++i, &options->min_match_len)) return false;
        } else {
            return call_syntax_error(call);
        }
    }
    if (!options->len || !options->idx) return true;
    return reply_error(call->reply,
                       "ERR If you want both the length and indexes, please just use IDX.");
}

/* Finds the texts of both keys; a missing one is empty. */
static bool find_texts(struct call *call, struct slice texts[2], char buffers[2][INT64_TEXT_MAX]) {
    bool strings = true;
    for (size_t i = 0; i < 2; i++) {
        const struct entry *entry = call_find_read(call, call->argv[1 + i], NULL);
        if (entry && entry_type(entry) != VALUE_STRING)
            strings = false;
        else
            texts[i] = string_text_or_empty(entry, buffers[i]);
    }
    if (!strings) reply_error(call->reply, "ERR The specified keys must contain string values");
    return strings;
}

/* Limits the product of the lengths, with which the time grows: to what a table of four bytes for
 * each pair could have. */
static bool check_size(struct call *call, struct slice a, struct slice b) {
    if (a.len >= UINT32_MAX - 1 || b.len >= UINT32_MAX - 1)
        return reply_error(call->reply, "ERR String too long for LCS");
    if ((a.len + 1) * (b.len + 1) <= call_string_max(call) / sizeof(uint32_t)) return true;
    return reply_error(
        call->reply,
        "ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len");
}

static void reply_range(struct reply *reply, size_t start, size_t length) {
    reply_array(reply, 2);
    reply_integer(reply, (int64_t)start);
    reply_integer(reply, (int64_t)(start + length) - 1);
}

static void reply_matches(struct reply *reply, struct lcs *lcs, const struct lcs_options *options) {
    struct lcs_match match;
    size_t count = 0;
    reply_map(reply, 2);
    reply_bulk_cstr(reply, "matches");
    size_t mark = reply_begin(reply);
    while (lcs_next(lcs, &match)) {
        if ((int64_t)match.length < options->min_match_len) continue;
        reply_array(reply, 2 + options->with_match_len);
        reply_range(reply, match.a, match.length);
        reply_range(reply, match.b, match.length);
        if (options->with_match_len) reply_integer(reply, (int64_t)match.length);
        count++;
    }
    reply_array_end(reply, mark, count);
    reply_named_integer(reply, "len", (int64_t)lcs->length);
}

/* Replies the subsequence itself, which is found from its end. */
static void reply_text(struct reply *reply, struct lcs *lcs) {
    char *text = mem_alloc(lcs->length);
    size_t at = lcs->length;
    struct lcs_match match;
    while (lcs_next(lcs, &match)) {
        at -= match.length;
        memcpy(text + at, lcs->a.ptr + match.a, match.length);
    }
    reply_bulk(reply, slice_make(text, lcs->length));
    mem_free(text);
}

void lcs_command(struct call *call) {
    struct lcs_options options = {0};
    struct slice texts[2];
    char buffers[2][INT64_TEXT_MAX];
    struct lcs lcs;
    if (!find_texts(call, texts, buffers) || !parse_lcs(call, &options)) return;
    if (!check_size(call, texts[0], texts[1])) return;
    if (options.len) {
        reply_integer(call->reply, (int64_t)lcs_length(texts[0], texts[1]));
        return;
    }
    if (!lcs_begin(&lcs, texts[0], texts[1])) {
        reply_error(call->reply,
                    "ERR Insufficient memory, failed allocating transient memory for LCS");
        return;
    }
    if (options.idx)
        reply_matches(call->reply, &lcs, &options);
    else
        reply_text(call->reply, &lcs);
    lcs_end(&lcs);
}
