/* LMOVE RPOPLPUSH */
#include "base/number.h"
#include "commands/commands.h"
#include "commands/list_common.h"

/* Within one list: moves the element to the other end, or leaves it where it is. */
static void rotate(struct call *call, struct keyref *ref, enum list_end from, enum list_end to) {
    struct slice key = call->argv[1];
    reply_listpack_element(call->reply, list_peek(ref->entry, from));
    if (from != to) list_rotate(ref, from, &call->limits->list);
    call_touched(call, ref, key, EVENT_LIST, list_push_event(to), 0);
    call_touched(call, ref, key, EVENT_LIST, list_pop_event(from), 1);
}

/* Pushes the element at the end of `source` to another list, which it may create. Creating a list
 * moves no value, so the element can be pushed without a copy, but it invalidates keyrefs. */
static void push_to_other(struct call *call, struct keyref *source, struct keyref *destination,
                          enum list_end from, enum list_end to) {
    struct slice source_key = call->argv[1], key = call->argv[2];
    struct listpack_value value;
    char buffer[INT64_TEXT_MAX];
    listpack_get(list_peek(source->entry, from), &value);
    struct slice text = listpack_value_text(&value, buffer);
    if (destination->entry) {
        list_push(destination, to, &text, 1, &call->limits->list);
    } else {
        list_create(destination, key, to, &text, 1, &call->limits->list);
        call_find_write(call, source_key, source);
    }
    reply_bulk(call->reply, text);
    call_touched(call, destination, key, EVENT_LIST, list_push_event(to), 0);
}

bool list_move(struct call *call, struct keyref *source, enum list_end from, enum list_end to) {
    struct slice key = call->argv[1];
    if (slice_equal(key, call->argv[2])) {
        rotate(call, source, from, to);
        return true;
    }
    struct keyref destination;
    if (!call_find_typed_write(call, call->argv[2], VALUE_LIST, &destination)) return false;
    push_to_other(call, source, &destination, from, to);
    list_drop(source, from, 1, &call->limits->list);
    call_touched(call, source, key, EVENT_LIST, list_pop_event(from), 1);
    return true;
}

static void move_or_null(struct call *call, enum list_end from, enum list_end to) {
    struct keyref source;
    if (!call_find_typed_write(call, call->argv[1], VALUE_LIST, &source)) return;
    if (source.entry)
        list_move(call, &source, from, to);
    else
        reply_null(call->reply);
}

void lmove_command(struct call *call) {
    enum list_end from, to;
    if (call_list_end(call, 3, &from) && call_list_end(call, 4, &to)) move_or_null(call, from, to);
}

void rpoplpush_command(struct call *call) {
    move_or_null(call, LIST_TAIL, LIST_HEAD);
}
