/* LLEN LINDEX LRANGE: commands that only read a list. */
#include "commands/commands.h"
#include "commands/list_common.h"

void llen_command(struct call *call) {
    struct keyref ref;
    if (!call_find_typed_read(call, call->argv[1], VALUE_LIST, &ref)) return;
    reply_integer(call->reply, ref.entry ? (int64_t)list_length(ref.entry) : 0);
}

static void reply_element(struct reply *reply, const struct entry *entry, uint64_t position) {
    struct list_iter iter;
    list_iter_start(&iter, entry, position, LIST_FORWARD);
    reply_listpack_element(reply, list_iter_next(&iter));
    list_iter_end(&iter);
}

void lindex_command(struct call *call) {
    struct keyref ref;
    int64_t index;
    uint64_t position;
    if (!call_find_typed_read(call, call->argv[1], VALUE_LIST, &ref)) return;
    if (ref.entry == NULL) {
        reply_null(call->reply);
        return;
    }
    if (!call_integer(call, 2, &index)) return;
    if (list_position(index, list_length(ref.entry), &position))
        reply_element(call->reply, ref.entry, position);
    else
        reply_null(call->reply);
}

void lrange_command(struct call *call) {
    struct keyref ref;
    int64_t start, stop;
    uint64_t from, count;
    if (!call_integer(call, 2, &start) || !call_integer(call, 3, &stop)) return;
    if (!call_find_typed_read(call, call->argv[1], VALUE_LIST, &ref)) return;
    range_clamp(start, stop, ref.entry ? list_length(ref.entry) : 0, &from, &count);
    reply_array(call->reply, count);
    if (count) list_reply_elements(call->reply, ref.entry, from, count, LIST_FORWARD);
}
