/* LMOVEM BLMOVEM: move several elements from an end of one list to an end of another, at once.
 *
 *      source: a b c d       LEFT LEFT COUNT 3 OBO       destination: c b a …
 *                            LEFT LEFT COUNT 3 BULK      destination: a b c …
 *
 * OBO (one by one) gives the order that as many LMOVEs give: it is reversed when both ends are the
 * same and the lists are not. BULK keeps the order. The reply is what the destination has got, in
 * its order there. The command log gets LMOVEs, because servers without LMOVEM read it, too. */
#include "base/number.h"
#include "commands/block_pop.h"
#include "commands/commands.h"
#include "commands/list_common.h"

struct many_moves {
    enum list_end from, to;
    uint64_t count;
    bool exactly; /* moves nothing from a shorter list */
    bool in_bulk;
};

/* --- Arguments: source destination LEFT|RIGHT LEFT|RIGHT … [COUNT|EXACTLY count OBO|BULK] --- */

/* Parses the two ends, and what stands from argv[at] on. Otherwise replies the error. */
static bool parse(struct call *call, size_t at, struct many_moves *moves) {
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

/* --- Moving --- */

static enum list_end other_end(enum list_end end) {
    return end == LIST_HEAD ? LIST_TAIL : LIST_HEAD;
}

static enum list_direction other_direction(enum list_direction direction) {
    return direction == LIST_FORWARD ? LIST_BACKWARD : LIST_FORWARD;
}

/* Replies the elements from position `first` on, in that direction. */
static void reply_block(struct call *call, const struct entry *entry, uint64_t first,
                        uint64_t count, enum list_direction direction) {
    reply_array(call->reply, count);
    list_reply_elements(call->reply, entry, direction == LIST_FORWARD ? first : first + count - 1,
                        count, direction);
}

/* Within one list: the elements come to the other end, or all stays as it is. */
static void rotate_block(struct call *call, struct keyref *ref, uint64_t first,
                         const struct many_moves *moves) {
    struct slice key = call->argv[1];
    reply_block(call, ref->entry, first, moves->count, LIST_FORWARD);
    if (moves->from != moves->to)
        for (uint64_t i = 0; i < moves->count; i++)
            list_rotate(ref, moves->from, &call->limits->list);
    call_touched(call, ref, key, EVENT_LIST, list_push_event(moves->to), 0);
    call_touched(call, ref, key, EVENT_LIST, list_pop_event(moves->from), moves->count);
}

/* Pushes copies of the elements, which are read in `direction`, to the other list, which it may
 * create. That invalidates keyrefs but moves no value, so the iterator goes on. */
static void push_block(struct call *call, struct keyref *source, struct keyref *destination,
                       uint64_t first, const struct many_moves *moves,
                       enum list_direction direction) {
    struct list_iter iter;
    bool creates = destination->entry == NULL;
    list_iter_start(&iter, source->entry,
                    direction == LIST_FORWARD ? first : first + moves->count - 1, direction);
    for (uint64_t i = 0; i < moves->count; i++) {
        struct listpack_value value;
        char buffer[INT64_TEXT_MAX];
        listpack_get(list_iter_next(&iter), &value);
        struct slice text = listpack_value_text(&value, buffer);
        if (destination->entry)
            list_push(destination, moves->to, &text, 1, &call->limits->list);
        else
            list_create(destination, call->argv[2], moves->to, &text, 1, &call->limits->list);
    }
    list_iter_end(&iter);
    if (creates) call_find_write(call, call->argv[1], source);
}

static void move_block(struct call *call, struct keyref *source, struct keyref *destination,
                       uint64_t first, const struct many_moves *moves) {
    bool reverses = !moves->in_bulk && moves->from == moves->to;
    enum list_direction direction = reverses ? LIST_BACKWARD : LIST_FORWARD;
    reply_block(call, source->entry, first, moves->count, direction);
    push_block(call, source, destination, first, moves,
               moves->to == LIST_TAIL ? direction : other_direction(direction));
    call_touched(call, destination, call->argv[2], EVENT_LIST, list_push_event(moves->to), 0);
    list_drop(source, moves->from, moves->count, &call->limits->list);
    call_touched(call, source, call->argv[1], EVENT_LIST, list_pop_event(moves->from),
                 moves->count);
}

/* --- The command log --- */

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
static void propagate(struct call *call, const struct many_moves *moves) {
    struct slice source = call->argv[1], destination = call->argv[2];
    bool detour = moves->in_bulk && moves->from == moves->to;
    enum list_end to = detour ? other_end(moves->to) : moves->to;
    propagate_moves(call, source, destination, moves->from, to, moves->count);
    if (detour) propagate_moves(call, destination, destination, to, moves->to, moves->count);
}

/* --- The commands --- */

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
    propagate(call, moves);
}

void lmovem_command(struct call *call) {
    struct many_moves moves;
    struct keyref source;
    if (!parse(call, 5, &moves)) return;
    if (!call_find_typed_write(call, call->argv[1], VALUE_LIST, &source)) return;
    if (has_enough(source.entry, &moves))
        move_many(call, &source, &moves);
    else
        reply_null_array(call->reply);
}

static bool serve_blmovem(struct call *call, struct slice key, const void *state) {
    struct many_moves moves = *(const struct many_moves *)state;
    struct keyref source;
    if (!block_find_ready(call, key, VALUE_LIST, &source) || !has_enough(source.entry, &moves))
        return false;
    move_many(call, &source, &moves);
    return true;
}

void blmovem_command(struct call *call) {
    static const struct waiter_kind kind = {.serve = serve_blmovem};
    struct many_moves moves;
    struct keyref source;
    int64_t deadline_ms;
    if (!parse(call, 6, &moves) || !call_timeout(call, 5, &deadline_ms)) return;
    if (!call_find_typed_write(call, call->argv[1], VALUE_LIST, &source)) return;
    if (has_enough(source.entry, &moves)) {
        move_many(call, &source, &moves);
    } else {
        call_block(call, &(struct block_request){
                             .kind = &kind,
                             .state = &moves,
                             .state_size = sizeof(moves),
                             .keys = call->argv + 1,
                             .key_count = 1,
                             .deadline_ms = deadline_ms,
                         });
    }
}
