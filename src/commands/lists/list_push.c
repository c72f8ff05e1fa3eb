/* LPUSH RPUSH LPUSHX RPUSHX, LPUSHBOUND RPUSHBOUND */
#include "base/text/number.h"
#include "commands/commands.h"
#include "commands/lists/list_common.h"

static void push(struct call *call, enum list_end end, bool only_existing) {
    struct slice key = call->argv[1];
    const struct slice *elements = call->argv + 2;
    size_t count = call->argc - 2;
    struct keyref ref;
    if (!call_find_typed_write(call, key, VALUE_LIST, &ref)) return;
    if (only_existing && !ref.entry) {
        reply_integer(call->reply, 0);
        return;
    }
    list_put(call, &ref, key, end, elements, count);
    reply_integer(call->reply, (int64_t)list_length(ref.entry));
    CALL_CHANGED(call, &ref, key, EVENT_LIST, list_push_event(end), count);
}

COMMAND_FORM(lpush_command, push, LIST_HEAD, false)
COMMAND_FORM(rpush_command, push, LIST_TAIL, false)
COMMAND_FORM(lpushx_command, push, LIST_HEAD, true)
COMMAND_FORM(rpushx_command, push, LIST_TAIL, true)

/* --- LPUSHBOUND RPUSHBOUND ---
 *
 * They push to a list that keeps at most so many elements. EVICT, the default, removes what is too
 * much from the other end; REJECT pushes nothing when not all elements fit. */

struct bound {
    uint64_t max;
    bool rejects;
    const struct slice *elements;
    size_t count;
};

/* key maxlen [EVICT|REJECT] element …: the word of an option is never an element there. */
static bool parse_bound(struct call *call, struct bound *bound) {
    int64_t max = 0;
    size_t at = 3;
    if (!call_integer_in(call, 2, 1, INT64_MAX, &max, "ERR maxlen should be greater than 0"))
        return false;
    bound->max = (uint64_t)max;
    bound->rejects = slice_is(call->argv[at], "reject");
    if (bound->rejects || slice_is(call->argv[at], "evict")) at++;
    bound->elements = call->argv + at;
    bound->count = call->argc - at;
    if (bound->count == 0) call_wrong_arity(call);
    return bound->count != 0;
}

/* Returns how many of the elements do not fit. */
static uint64_t misfits(const struct bound *bound, uint64_t length) {
    uint64_t space = length < bound->max ? bound->max - length : 0;
    return bound->count > space ? bound->count - space : 0;
}

/* Propagates what is done: a push of `elements`, and an LTRIM if some were removed. */
static void propagate_bound(struct call *call, enum list_end end, const struct slice *elements,
                            size_t count, uint64_t max, bool trims) {
    char digits[INT64_TEXT_MAX];
    struct slice key = call->argv[1];
    const struct slice push[] = {end == LIST_HEAD ? SLICE("LPUSH") : SLICE("RPUSH"), key};
    call_propagate_with(call, push, 2, elements, count);
    if (!trims) return;
    if (end == LIST_HEAD)
        CALL_PROPAGATE(call, SLICE("LTRIM"), key, SLICE("0"),
                       number_text(digits, (int64_t)max - 1));
    else
        CALL_PROPAGATE(call, SLICE("LTRIM"), key, number_text(digits, -(int64_t)max), SLICE("-1"));
}

/* Pushes the elements and removes from the other end what is too much. Elements that would be
 * removed at once are not pushed. Returns the new length. */
static uint64_t push_within(struct call *call, struct keyref *ref, enum list_end end,
                            const struct bound *bound) {
    struct slice key = call->argv[1];
    size_t skipped = bound->count > bound->max ? bound->count - (size_t)bound->max : 0;
    const struct slice *elements = bound->elements + skipped;
    size_t count = bound->count - skipped;
    list_put(call, ref, key, end, elements, count);
    uint64_t length = list_length(ref->entry);
    uint64_t excess = length > bound->max ? length - bound->max : 0;
    CALL_CHANGED(call, ref, key, EVENT_LIST, list_push_event(end), count);
    if (excess) {
        list_drop(ref, end == LIST_HEAD ? LIST_TAIL : LIST_HEAD, excess, &call->limits->list);
        CALL_CHANGED(call, ref, key, EVENT_LIST, "ltrim", excess);
    }
    propagate_bound(call, end, elements, count, bound->max, excess != 0);
    return length - excess;
}

static void push_bound(struct call *call, enum list_end end) {
    struct bound bound;
    struct keyref ref;
    if (!parse_bound(call, &bound)) return;
    if (!call_find_typed_write(call, call->argv[1], VALUE_LIST, &ref)) return;
    uint64_t refused = bound.rejects ? misfits(&bound, ref.entry ? list_length(ref.entry) : 0) : 0;
    if (refused)
        reply_integer(call->reply, -(int64_t)refused);
    else
        reply_integer(call->reply, (int64_t)push_within(call, &ref, end, &bound));
}

COMMAND_FORM(lpushbound_command, push_bound, LIST_HEAD)
COMMAND_FORM(rpushbound_command, push_bound, LIST_TAIL)
