/* LPOP RPOP LMPOP */
#include "base/number.h"
#include "commands/commands.h"
#include "commands/list_common.h"

void list_pop_one(struct call *call, struct keyref *ref, struct slice key, enum list_end end) {
    reply_listpack_element(call->reply, list_peek(ref->entry, end));
    list_drop(ref, end, 1, &call->limits->list);
    call_touched(call, ref, key, EVENT_LIST, list_pop_event(end), 1);
}

/* Replies an array of up to `count` (> 0) elements from an end, and removes them. Returns their
 * number. */
static uint64_t pop_many(struct call *call, struct keyref *ref, struct slice key, enum list_end end,
                         uint64_t count) {
    uint64_t length = list_length(ref->entry);
    if (count > length) count = length;
    reply_array(call->reply, count);
    if (end == LIST_HEAD)
        list_reply_elements(call->reply, ref->entry, 0, count, LIST_FORWARD);
    else
        list_reply_elements(call->reply, ref->entry, length - 1, count, LIST_BACKWARD);
    list_drop(ref, end, count, &call->limits->list);
    call_touched(call, ref, key, EVENT_LIST, list_pop_event(end), count);
    return count;
}

static void pop(struct call *call, enum list_end end) {
    int64_t count = 0;
    bool has_count = call->argc == 3;
    if (call->argc > 3) {
        call_wrong_arity(call);
        return;
    }
    if (!pop_count_parse(call, &count)) return;
    struct keyref ref;
    if (!call_find_typed_write(call, call->argv[1], VALUE_LIST, &ref)) return;
    if (ref.entry == NULL) {
        if (has_count)
            reply_null_array(call->reply);
        else
            reply_null(call->reply);
    } else if (!has_count) {
        list_pop_one(call, &ref, call->argv[1], end);
    } else if (count == 0) {
        reply_array(call->reply, 0);
    } else {
        pop_many(call, &ref, call->argv[1], end, (uint64_t)count);
    }
}

void lpop_command(struct call *call) {
    pop(call, LIST_HEAD);
}

void rpop_command(struct call *call) {
    pop(call, LIST_TAIL);
}

/* --- Several keys --- */

bool list_mpop_parse(struct call *call, size_t index, struct pop_options *options) {
    return pop_options_parse(call, index, "left", "right", options);
}

bool list_mpop_serve(struct call *call, const struct pop_options *options) {
    enum list_end end = options->from_last ? LIST_TAIL : LIST_HEAD;
    for (size_t i = 0; i < options->key_count; i++) {
        char buffer[INT64_TEXT_MAX];
        struct slice key = options->keys[i];
        struct keyref ref;
        if (!call_find_typed_write(call, key, VALUE_LIST, &ref)) return true;
        if (ref.entry == NULL) continue;
        reply_array(call->reply, 2);
        reply_bulk(call->reply, key);
        uint64_t count = pop_many(call, &ref, key, end, options->count);
        CALL_PROPAGATE(call, list_pop_command(end), key, number_text(buffer, (int64_t)count));
        return true;
    }
    return false;
}

void lmpop_command(struct call *call) {
    struct pop_options options;
    if (!list_mpop_parse(call, 1, &options)) return;
    if (!list_mpop_serve(call, &options)) reply_null_array(call->reply);
}
