/* LPOP RPOP LMPOP, and BLPOP BRPOP BLMPOP, which wait if they must. */
#include "commands/commands.h"
#include "commands/lists/list_common.h"

/* Replies the element at an end and removes it from the list `ref`, which was found under `key`. */
static void pop_one(struct call *call, struct keyref *ref, struct slice key, enum list_end end) {
    reply_listpack_element(call->reply, list_peek(ref->entry, end));
    list_drop(ref, end, 1, &call->limits->list);
    CALL_CHANGED(call, ref, key, EVENT_LIST, list_pop_event(end), 1);
}

/* Replies an array of up to `count` (> 0) elements from an end, and removes them. Returns their
 * number. */
static uint64_t pop_many(struct call *call, struct keyref *ref, struct slice key, bool from_last,
                         uint64_t count) {
    enum list_end end = from_last ? LIST_TAIL : LIST_HEAD;
    uint64_t length = list_length(ref->entry);
    if (count > length) count = length;
    reply_array(call->reply, count);
    if (end == LIST_HEAD)
        list_reply_elements(call, ref->entry, 0, count, LIST_FORWARD);
    else
        list_reply_elements(call, ref->entry, length - 1, count, LIST_BACKWARD);
    list_drop(ref, end, count, &call->limits->list);
    CALL_CHANGED(call, ref, key, EVENT_LIST, list_pop_event(end), count);
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
        pop_one(call, &ref, call->argv[1], end);
    } else if (count == 0) {
        reply_array(call->reply, 0);
    } else {
        pop_many(call, &ref, call->argv[1], end == LIST_TAIL, (uint64_t)count);
    }
}

COMMAND_FORM(lpop_command, pop, LIST_HEAD)
COMMAND_FORM(rpop_command, pop, LIST_TAIL)

/* --- Several keys --- */

static void pop_key(struct call *call, struct keyref *ref, struct slice key, bool from_last) {
    reply_array(call->reply, 2);
    reply_bulk(call->reply, key);
    pop_one(call, ref, key, from_last ? LIST_TAIL : LIST_HEAD);
}

static const struct pop_type lists = {
    .type = VALUE_LIST,
    .ends = {"left", "right"},
    .commands = {SLICE("LPOP"), SLICE("RPOP")},
    .pop_one = pop_key,
    .pop_many = pop_many,
};

COMMAND_FORM(lmpop_command, pop_from_any, &lists)
COMMAND_FORM(blpop_command, block_pop, &lists, false)
COMMAND_FORM(brpop_command, block_pop, &lists, true)
COMMAND_FORM(blmpop_command, block_mpop, &lists)
