/* LPUSH RPUSH LPUSHX RPUSHX */
#include "commands/commands.h"
#include "commands/list_common.h"

static void push(struct call *call, enum list_end end, bool only_existing) {
    struct slice key = call->argv[1];
    const struct slice *elements = call->argv + 2;
    size_t count = call->argc - 2;
    struct keyref ref;
    if (!call_find_typed_write(call, key, VALUE_LIST, &ref)) return;
    if (ref.entry) {
        list_push(&ref, end, elements, count, &call->limits->list);
    } else if (only_existing) {
        reply_integer(call->reply, 0);
        return;
    } else {
        list_create(&ref, key, end, elements, count, &call->limits->list);
    }
    reply_integer(call->reply, (int64_t)list_length(ref.entry));
    call_touched(call, &ref, key, EVENT_LIST, list_push_event(end), count);
}

void lpush_command(struct call *call) {
    push(call, LIST_HEAD, false);
}

void rpush_command(struct call *call) {
    push(call, LIST_TAIL, false);
}

void lpushx_command(struct call *call) {
    push(call, LIST_HEAD, true);
}

void rpushx_command(struct call *call) {
    push(call, LIST_TAIL, true);
}
