/* LSET LTRIM: changes at given positions of a list. */
#include "commands/commands.h"
#include "commands/lists/list_common.h"

void lset_command(struct call *call) {
    struct slice key = call->argv[1];
    struct keyref ref;
    int64_t index;
    uint64_t position;
    if (!call_find_typed_write(call, key, VALUE_LIST, &ref)) return;
    if (ref.entry == NULL) {
        reply_error(call->reply, "ERR no such key");
        return;
    }
    if (!call_integer(call, 2, &index)) return;
    if (!list_position(index, list_length(ref.entry), &position)) {
        reply_error(call->reply, "ERR index out of range");
        return;
    }
    list_set(&ref, position, call->argv[3], &call->limits->list);
    reply_ok(call->reply);
    CALL_CHANGED(call, &ref, key, EVENT_LIST, "lset", 1);
}

void ltrim_command(struct call *call) {
    struct slice key = call->argv[1];
    struct keyref ref;
    int64_t start, stop;
    uint64_t from, count;
    if (!call_integer(call, 2, &start) || !call_integer(call, 3, &stop)) return;
    if (!call_find_typed_write(call, key, VALUE_LIST, &ref)) return;
    if (ref.entry) {
        uint64_t length = list_length(ref.entry);
        range_clamp(start, stop, length, &from, &count);
        list_trim(&ref, from, count, &call->limits->list);
        CALL_CHANGED(call, &ref, key, EVENT_LIST, "ltrim", length - count);
    }
    reply_ok(call->reply);
}
