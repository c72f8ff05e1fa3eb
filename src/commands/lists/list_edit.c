/* LSET LINSERT LREM LTRIM: changes inside a list. */
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

/* Finds the position of the first element equal to `text`. */
static bool find_first(const struct entry *entry, struct slice text, uint64_t *index) {
    struct listpack_element needle;
    struct quicklist_iter iter;
    listpack_prepare(&needle, text);
    list_iter_start(&iter, entry, 0, LIST_FORWARD);
    bool found = quicklist_iter_find(&iter, &needle, UINT64_MAX, index);
    quicklist_iter_end(&iter);
    return found;
}

void linsert_command(struct call *call) {
    struct slice key = call->argv[1], where = call->argv[2], pivot = call->argv[3];
    struct keyref ref;
    uint64_t index;
    bool after = slice_is(where, "after");
    if (!after && !slice_is(where, "before")) {
        call_syntax_error(call);
        return;
    }
    if (!call_find_typed_write(call, key, VALUE_LIST, &ref)) return;
    if (ref.entry == NULL) {
        reply_integer(call->reply, 0);
    } else if (!find_first(ref.entry, pivot, &index)) {
        reply_integer(call->reply, -1);
    } else {
        list_insert(&ref, index, after, call->argv[4], &call->limits->list);
        reply_integer(call->reply, (int64_t)list_length(ref.entry));
        CALL_CHANGED(call, &ref, key, EVENT_LIST, "linsert", 1);
    }
}

void lrem_command(struct call *call) {
    struct slice key = call->argv[1];
    struct keyref ref;
    int64_t count;
    /* INT64_MIN has no positive counterpart. */
    if (!call_integer_in(call, 2, -INT64_MAX, INT64_MAX, &count, NULL)) return;
    if (!call_find_typed_write(call, key, VALUE_LIST, &ref)) return;
    uint64_t removed = 0;
    if (ref.entry) {
        uint64_t max = count == 0 ? UINT64_MAX : (uint64_t)(count < 0 ? -count : count);
        removed = list_remove(&ref, call->argv[3], max, count < 0 ? LIST_BACKWARD : LIST_FORWARD,
                              &call->limits->list);
    }
    reply_integer(call->reply, (int64_t)removed);
    if (removed) CALL_CHANGED(call, &ref, key, EVENT_LIST, "lrem", removed);
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
