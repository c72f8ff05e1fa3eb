/* XLEN XRANGE XREVRANGE */
#include "commands/commands.h"
#include "commands/stream_common.h"

void xlen_command(struct call *call) {
    struct keyref ref;
    if (call_find_typed_read(call, call->argv[1], VALUE_STREAM, &ref))
        reply_integer(call->reply, ref.entry ? (int64_t)stream_length(ref.entry) : 0);
}

/* --- XRANGE key start end [COUNT count], XREVRANGE key end start [COUNT count] --- */

static bool parse_count(struct call *call, int64_t *count) {
    for (size_t at = 4; at < call->argc; at += 2) {
        if (at + 1 == call->argc || !slice_is(call->argv[at], "count"))
            return call_syntax_error(call);
        if (!call_integer(call, at + 1, count)) return false;
        if (*count < 0) *count = 0;
    }
    return true;
}

static void range(struct call *call, bool reverse) {
    struct stream_id first, last;
    struct keyref ref;
    int64_t count = -1;
    if (!stream_parse_bound(call, reverse ? 3 : 2, false, &first) ||
        !stream_parse_bound(call, reverse ? 2 : 3, true, &last) || !parse_count(call, &count))
        return;
    if (!call_find_typed_read(call, call->argv[1], VALUE_STREAM, &ref)) return;
    if (!ref.entry)
        reply_array(call->reply, 0);
    else if (count == 0)
        reply_null_array(call->reply);
    else
        stream_reply_range(call->reply, ref.entry, first, last, reverse,
                           count < 0 ? 0 : (uint64_t)count);
}

void xrange_command(struct call *call) {
    range(call, false);
}

void xrevrange_command(struct call *call) {
    range(call, true);
}
