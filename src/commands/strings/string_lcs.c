/* LCS key1 key2 [LEN] [IDX] [MINMATCHLEN length] [WITHMATCHLEN]. It is a work (engine/work.h) if
 * the texts are long. */
#include "base/memory/alloc.h"
#include "commands/commands.h"
#include "commands/strings/string_common.h"
#include "engine/work.h"
#include "resp/made_reply.h"
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

/* Finds both keys and their texts; a missing one is NULL and empty. */
static bool find_texts(struct call *call, struct entry *entries[2], struct slice texts[2],
                       char buffers[2][INT64_TEXT_MAX]) {
    bool strings = true;
    for (size_t i = 0; i < 2; i++) {
        struct entry *entry = entries[i] = call_find_read(call, call->argv[1 + i], NULL);
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

static void reply_no_memory(struct reply *reply) {
    reply_error(reply, "ERR Insufficient memory, failed allocating transient memory for LCS");
}

static void reply_lcs(struct reply *reply, struct slice a, struct slice b,
                      const struct lcs_options *options) {
    struct lcs lcs;
    if (options->len) {
        reply_integer(reply, (int64_t)lcs_length(a, b));
        return;
    }
    if (!lcs_begin(&lcs, a, b)) {
        reply_no_memory(reply);
        return;
    }
    if (options->idx)
        reply_matches(reply, &lcs, options);
    else
        reply_text(reply, &lcs);
    lcs_end(&lcs);
}

/* --- In another thread --- */

struct lcs_work {
    struct work work;
    struct lcs_options options;
    struct capture *captures[2]; /* of large texts; else NULL */
    sds texts[2];                /* those of large ones are read in the thread */
    struct made_reply made;
};

/* Reads the text from its capture, if it has one. Returns false if the memory can't be had. */
static bool read_text(struct lcs_work *lcs, size_t i) {
    if (!lcs->captures[i]) return true;
    size_t len = text_capture_len(lcs->captures[i]);
    lcs->texts[i] = sds_try_new_uninit(len);
    if (!lcs->texts[i]) return false;
    text_capture_read(lcs->captures[i], 0, lcs->texts[i], len);
    return true;
}

static void run_lcs(struct work *work) {
    struct lcs_work *lcs = (struct lcs_work *)work;
    struct reply *reply = &lcs->made.reply;
    if (read_text(lcs, 0) && read_text(lcs, 1))
        reply_lcs(reply, sds_slice(lcs->texts[0]), sds_slice(lcs->texts[1]), &lcs->options);
    else
        reply_no_memory(reply);
    made_reply_end(&lcs->made);
}

static void answer_lcs(struct call *call, struct work *work) {
    struct lcs_work *lcs = (struct lcs_work *)work;
    made_reply_pass(&lcs->made, call->reply);
}

static void free_lcs(struct work *work) {
    struct lcs_work *lcs = (struct lcs_work *)work;
    for (size_t i = 0; i < 2; i++) {
        work_end_capture(work, lcs->captures[i]);
        sds_free(lcs->texts[i]);
    }
    made_reply_free(&lcs->made);
}

static void lcs_later(struct call *call, struct entry *const entries[2],
                      const struct slice texts[2], const struct lcs_options *options) {
    static const struct work_kind kind = {run_lcs, answer_lcs, free_lcs};
    struct lcs_work *lcs = work_new(&kind, sizeof(*lcs));
    lcs->options = *options;
    made_reply_begin(&lcs->made, call->reply->protocol);
    for (size_t i = 0; i < 2; i++) {
        lcs->captures[i] = entries[i] ? work_capture(call, entries[i]) : NULL;
        if (!lcs->captures[i]) lcs->texts[i] = sds_new(texts[i]);
    }
    work_begin(call, &lcs->work);
}

void lcs_command(struct call *call) {
    enum { PAIRS_PER_STEP = 128 }; /* of bytes */
    struct lcs_options options = {0};
    struct entry *entries[2];
    struct slice texts[2];
    char buffers[2][INT64_TEXT_MAX];
    if (!find_texts(call, entries, texts, buffers) || !parse_lcs(call, &options)) return;
    if (!check_size(call, texts[0], texts[1])) return;
    if (work_pays(call, texts[0].len * texts[1].len / PAIRS_PER_STEP))
        lcs_later(call, entries, texts, &options);
    else
        reply_lcs(call->reply, texts[0], texts[1], &options);
}
