#include "commands/scan_common.h"

#include "base/glob.h"
#include "base/number.h"

bool scan_begin(struct scan *scan, struct call *call, size_t index) {
    *scan = (struct scan){.call = call, .wanted = 10};
    if (number_parse_uint64(call->argv[index], &scan->cursor)) return true;
    return reply_error(call->reply, "ERR invalid cursor");
}

static bool parse_count(struct scan *scan, size_t index) {
    int64_t count;
    if (!call_integer(scan->call, index, &count)) return false;
    scan->wanted = (uint64_t)count;
    if (count >= 1) return true;
    return call_syntax_error(scan->call);
}

bool scan_parse_option(struct scan *scan, size_t index) {
    struct call *call = scan->call;
    struct slice option = call->argv[index];
    if (slice_is(option, "novalues"))
        return reply_error(call->reply, "ERR NOVALUES option can only be used in HSCAN");
    bool has_value = index + 1 < call->argc;
    if (has_value && slice_is(option, "count")) return parse_count(scan, index + 1);
    if (has_value && slice_is(option, "match")) {
        scan->pattern = call->argv[index + 1];
        scan->has_pattern = !glob_is_match_all(scan->pattern);
        return true;
    }
    return call_syntax_error(call);
}

bool scan_matches(const struct scan *scan, struct slice text) {
    return !scan->has_pattern || glob_match(scan->pattern, text, false);
}

void scan_reply(struct scan *scan, struct slice text) {
    reply_bulk(&scan->items, text);
    scan->replied++;
}

static void reply_cursor(struct call *call, uint64_t cursor) {
    char digits[INT64_TEXT_MAX];
    reply_array(call->reply, 2);
    reply_bulk(call->reply, slice_make(digits, number_format_uint64(digits, cursor)));
}

void scan_run(struct scan *scan, uint64_t (*step)(struct scan *scan)) {
    enum { STEPS_PER_ITEM_WANTED = 10 }; /* how long to search a sparse table for them */
    struct reply *reply = scan->call->reply;
    uint64_t steps = scan->wanted < UINT64_MAX / STEPS_PER_ITEM_WANTED
                         ? scan->wanted * STEPS_PER_ITEM_WANTED
                         : UINT64_MAX;
    reply_init(&scan->items, 256);
    do {
        scan->cursor = step(scan);
    } while (scan->cursor && --steps && scan->visited < scan->wanted);
    reply_cursor(scan->call, scan->cursor);
    reply_array(reply, scan->replied);
    reply_append_bulks(reply, &scan->items, scan->replied);
    reply_free(&scan->items);
}

void scan_reply_empty(struct call *call) {
    reply_cursor(call, 0);
    reply_array(call->reply, 0);
}
