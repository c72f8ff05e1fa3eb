/* LMOVE RPOPLPUSH LMOVEM, and BLMOVE BRPOPLPUSH BLMOVEM, which wait if they must. */
#include "base/text/number.h"
#include "commands/commands.h"
#include "commands/common.h"
#include "commands/lists/list_common.h"

/* --- LMOVE RPOPLPUSH --- */

/* Within one list: moves the element to the other end, or leaves it where it is. */
static void rotate(struct call *call, struct keyref *ref, enum list_end from, enum list_end to) {
    struct slice key = call->argv[1];
    reply_listpack_element(call->reply, list_peek(ref->entry, from));
    if (from != to) list_rotate(ref, from, &call->limits->list);
    CALL_CHANGED(call, ref, key, EVENT_LIST, list_push_event(to), 0);
    CALL_CHANGED(call, ref, key, EVENT_LIST, list_pop_event(from), 1);
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
    bool creates = destination->entry == NULL;
    list_put(call, destination, key, to, &text, 1);
    if (creates) call_find_write(call, source_key, source);
    reply_bulk(call->reply, text);
    CALL_CHANGED(call, destination, key, EVENT_LIST, list_push_event(to), 0);
}

/* Moves the element at the `from` end of the list `source`, which was found under argv[1]
 * and exists, to the `to` end of the list under argv[2], and replies it. Otherwise replies
 * WRONGTYPE, moves nothing and returns false. */
static bool move_one(struct call *call, struct keyref *source, enum list_end from,
                     enum list_end to) {
    struct slice key = call->argv[1];
    if (slice_equal(key, call->argv[2])) {
        rotate(call, source, from, to);
        return true;
    }
    struct keyref destination;
    if (!call_find_typed_write(call, call->argv[2], VALUE_LIST, &destination)) return false;
    push_to_other(call, source, &destination, from, to);
    list_drop(source, from, 1, &call->limits->list);
    CALL_CHANGED(call, source, key, EVENT_LIST, list_pop_event(from), 1);
    return true;
}

static void move_or_null(struct call *call, enum list_end from, enum list_end to) {
    struct keyref source;
    if (!call_find_typed_write(call, call->argv[1], VALUE_LIST, &source)) return;
    if (source.entry)
        move_one(call, &source, from, to);
    else
        reply_null(call->reply);
}

void lmove_command(struct call *call) {
    enum list_end from = LIST_HEAD, to = LIST_HEAD;
    if (call_list_end(call, 3, &from) && call_list_end(call, 4, &to)) move_or_null(call, from, to);
}

COMMAND_FORM(rpoplpush_command, move_or_null, LIST_TAIL, LIST_HEAD)

/* --- BLMOVE source destination LEFT|RIGHT LEFT|RIGHT timeout, BRPOPLPUSH --- */

struct ends {
    enum list_end from, to;
};

/* Waits for argv[1], the list from which the command moves; the state is copied. */
static void wait_for_source(struct call *call, const struct waiter_kind *kind, const void *state,
                            size_t state_size, int64_t deadline_ms) {
    call_block(call, &(struct block_request){
                         .kind = kind,
                         .state = state,
                         .state_size = state_size,
                         .keys = call->argv + 1,
                         .key_count = 1,
                         .deadline_ms = deadline_ms,
                     });
}

/* Moves the element and propagates LMOVE or RPOPLPUSH: BLMOVE and BRPOPLPUSH have the timeout as
 * the last argument. */
static void move(struct call *call, struct keyref *source, const struct ends *ends) {
    bool is_blmove = call->argc == 6;
    struct slice name = is_blmove ? SLICE("LMOVE") : SLICE("RPOPLPUSH");
    if (move_one(call, source, ends->from, ends->to))
        call_propagate_with(call, &name, 1, call->argv + 1, call->argc - 2);
}

static bool serve_move(struct call *call, struct slice key, void *state) {
    struct keyref source;
    if (!block_find_ready(call, key, VALUE_LIST, &source)) return false;
    move(call, &source, state);
    return true;
}

static void blocking_move(struct call *call, struct ends ends, int64_t deadline_ms) {
    static const struct waiter_kind kind = {.serve = serve_move};
    struct keyref source;
    if (!call_find_typed_write(call, call->argv[1], VALUE_LIST, &source)) return;
    if (source.entry)
        move(call, &source, &ends);
    else if (!call_may_block(call))
        reply_null(call->reply); /* as LMOVE; a timeout is a null array */
    else
        wait_for_source(call, &kind, &ends, sizeof(ends), deadline_ms);
}

void blmove_command(struct call *call) {
    struct ends ends;
    int64_t deadline_ms;
    if (call_list_end(call, 3, &ends.from) && call_list_end(call, 4, &ends.to) &&
        call_timeout(call, 5, &deadline_ms))
        blocking_move(call, ends, deadline_ms);
}

void brpoplpush_command(struct call *call) {
    int64_t deadline_ms;
    if (call_timeout(call, 3, &deadline_ms))
        blocking_move(call, (struct ends){LIST_TAIL, LIST_HEAD}, deadline_ms);
}

/* --- LMOVEM BLMOVEM ---
 *
 * They move several elements from an end of one list to an end of another, at once:
 *
 *      source: a b c d       LEFT LEFT COUNT 3 OBO       destination: c b a …
 *                            LEFT LEFT COUNT 3 BULK      destination: a b c …
 *
 * OBO (one by one) gives the order that as many LMOVEs give: it is reversed when both ends are the
 * same and the lists are not. BULK keeps the order. The reply is what the destination has got, in
 * its order there. The command log gets LMOVEs, because servers without LMOVEM read it, too. */

struct many_moves {
    enum list_end from, to;
    uint64_t count;
    bool exactly; /* moves nothing from a shorter list */
    bool in_bulk;
};

/* Parses LEFT|RIGHT LEFT|RIGHT, and [COUNT|EXACTLY count OBO|BULK] from argv[at] on. Otherwise
 * replies the error. */
static bool parse_many(struct call *call, size_t at, struct many_moves *moves) {
    int64_t count = 1;
    *moves = (struct many_moves){.count = 1};
    if (!call_list_end(call, 3, &moves->from) || !call_list_end(call, 4, &moves->to)) return false;
    if (call->argc == at) return true;
    if (call->argc != at + 3) return call_syntax_error(call);
    moves->exactly = slice_is(call->argv[at], "exactly");
    if (!moves->exactly && !slice_is(call->argv[at], "count")) return call_syntax_error(call);
    if (!call_integer_in(call, at + 1, 1, INT64_MAX, &count, "ERR count should be greater than 0"))
        return false;
    moves->count = (uint64_t)count;
    moves->in_bulk = slice_is(call->argv[at + 2], "bulk");
    return moves->in_bulk || slice_is(call->argv[at + 2], "obo") || call_syntax_error(call);
}

static enum list_end other_end(enum list_end end) {
    return end == LIST_HEAD ? LIST_TAIL : LIST_HEAD;
}

static enum list_direction other_direction(enum list_direction direction) {
    return direction == LIST_FORWARD ? LIST_BACKWARD : LIST_FORWARD;
}

/* Replies the elements from position `first` on, in that direction. */
static void reply_block(struct call *call, struct entry *entry, uint64_t first, uint64_t count,
                        enum list_direction direction) {
    reply_array(call->reply, count);
    list_reply_elements(call, entry, direction == LIST_FORWARD ? first : first + count - 1, count,
                        direction);
}

/* Within one list: the elements come to the other end, or all stays as it is. */
static void rotate_block(struct call *call, struct keyref *ref, uint64_t first,
                         const struct many_moves *moves) {
    struct slice key = call->argv[1];
    reply_block(call, ref->entry, first, moves->count, LIST_FORWARD);
    if (moves->from != moves->to)
        for (uint64_t i = 0; i < moves->count; i++)
            list_rotate(ref, moves->from, &call->limits->list);
    CALL_CHANGED(call, ref, key, EVENT_LIST, list_push_event(moves->to), 0);
    CALL_CHANGED(call, ref, key, EVENT_LIST, list_pop_event(moves->from), moves->count);
}

/* Pushes copies of the elements, which are read in `direction`, to the other list, which it may
 * create. That invalidates keyrefs but moves no value, so the iterator goes on. */
static void push_block(struct call *call, struct keyref *source, struct keyref *destination,
                       uint64_t first, const struct many_moves *moves,
                       enum list_direction direction) {
    struct quicklist_iter iter;
    bool creates = destination->entry == NULL;
    list_iter_start(&iter, source->entry,
                    direction == LIST_FORWARD ? first : first + moves->count - 1, direction);
    for (uint64_t i = 0; i < moves->count; i++) {
        struct listpack_value value;
        char buffer[INT64_TEXT_MAX];
        listpack_get(quicklist_iter_next(&iter), &value);
        struct slice text = listpack_value_text(&value, buffer);
        list_put(call, destination, call->argv[2], moves->to, &text, 1);
    }
    quicklist_iter_end(&iter);
    if (creates) call_find_write(call, call->argv[1], source);
}

static void move_block(struct call *call, struct keyref *source, struct keyref *destination,
                       uint64_t first, const struct many_moves *moves) {
    bool reverses = !moves->in_bulk && moves->from == moves->to;
    enum list_direction direction = reverses ? LIST_BACKWARD : LIST_FORWARD;
    reply_block(call, source->entry, first, moves->count, direction);
    push_block(call, source, destination, first, moves,
               moves->to == LIST_TAIL ? direction : other_direction(direction));
    CALL_CHANGED(call, destination, call->argv[2], EVENT_LIST, list_push_event(moves->to), 0);
    list_drop(source, moves->from, moves->count, &call->limits->list);
    CALL_CHANGED(call, source, call->argv[1], EVENT_LIST, list_pop_event(moves->from),
                 moves->count);
}

static struct slice end_word(enum list_end end) {
    return end == LIST_HEAD ? SLICE("LEFT") : SLICE("RIGHT");
}

static void propagate_moves(struct call *call, struct slice source, struct slice destination,
                            enum list_end from, enum list_end to, uint64_t count) {
    for (uint64_t i = 0; i < count; i++)
        CALL_PROPAGATE(call, SLICE("LMOVE"), source, destination, end_word(from), end_word(to));
}

/* LMOVEs between two ends of the same name reverse the order. Where it must be kept, the elements
 * go to the far end of the destination and come back. */
static void propagate_many(struct call *call, const struct many_moves *moves) {
    struct slice source = call->argv[1], destination = call->argv[2];
    bool detour = moves->in_bulk && moves->from == moves->to;
    enum list_end to = detour ? other_end(moves->to) : moves->to;
    propagate_moves(call, source, destination, moves->from, to, moves->count);
    if (detour) propagate_moves(call, destination, destination, to, moves->to, moves->count);
}

/* Returns whether the list has as many elements as must be moved; then sets how many there are. */
static bool has_enough(const struct entry *entry, struct many_moves *moves) {
    uint64_t length = entry ? list_length(entry) : 0;
    if (moves->exactly ? length < moves->count : length == 0) return false;
    if (moves->count > length) moves->count = length;
    return true;
}

/* Moves the elements and replies them; the source has enough. */
static void move_many(struct call *call, struct keyref *source, const struct many_moves *moves) {
    uint64_t first = moves->from == LIST_HEAD ? 0 : list_length(source->entry) - moves->count;
    struct keyref destination;
    if (slice_equal(call->argv[1], call->argv[2])) {
        rotate_block(call, source, first, moves);
    } else {
        if (!call_find_typed_write(call, call->argv[2], VALUE_LIST, &destination)) return;
        move_block(call, source, &destination, first, moves);
    }
    propagate_many(call, moves);
}

static bool serve_blmovem(struct call *call, struct slice key, void *state) {
    struct many_moves moves = *(const struct many_moves *)state;
    struct keyref source;
    if (!block_find_ready(call, key, VALUE_LIST, &source) || !has_enough(source.entry, &moves))
        return false;
    move_many(call, &source, &moves);
    return true;
}

/* BLMOVEM has a timeout before the options. */
static void move_or_wait(struct call *call, bool waits) {
    static const struct waiter_kind kind = {.serve = serve_blmovem};
    struct many_moves moves;
    struct keyref source;
    int64_t deadline_ms = 0;
    if (!parse_many(call, waits ? 6 : 5, &moves)) return;
    if (waits && !call_timeout(call, 5, &deadline_ms)) return;
    if (!call_find_typed_write(call, call->argv[1], VALUE_LIST, &source)) return;
    if (has_enough(source.entry, &moves))
        move_many(call, &source, &moves);
    else if (waits)
        wait_for_source(call, &kind, &moves, sizeof(moves), deadline_ms);
    else
        reply_null_array(call->reply);
}

COMMAND_FORM(lmovem_command, move_or_wait, false)
COMMAND_FORM(blmovem_command, move_or_wait, true)
