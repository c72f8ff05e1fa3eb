/* BLPOP BRPOP BLMPOP BLMOVE BRPOPLPUSH: reply at once if they can, otherwise wait. */
#include "commands/block_pop.h"
#include "commands/commands.h"
#include "commands/list_common.h"

/* --- BLPOP BRPOP BLMPOP --- */

static void pop_key(struct call *call, struct keyref *ref, struct slice key, bool from_last) {
    enum list_end end = from_last ? LIST_TAIL : LIST_HEAD;
    reply_array(call->reply, 2);
    reply_bulk(call->reply, key);
    list_pop_one(call, ref, key, end);
    CALL_PROPAGATE(call, list_pop_command(end), key);
}

static const struct block_pop_type list_pops = {
    .type = VALUE_LIST,
    .pop = pop_key,
    .mpop_parse = list_mpop_parse,
    .mpop_serve = list_mpop_serve,
};

void blpop_command(struct call *call) {
    block_pop(call, &list_pops, false);
}

void brpop_command(struct call *call) {
    block_pop(call, &list_pops, true);
}

void blmpop_command(struct call *call) {
    block_mpop(call, &list_pops);
}

/* --- BLMOVE source destination LEFT|RIGHT LEFT|RIGHT timeout, BRPOPLPUSH --- */

struct ends {
    enum list_end from, to;
};

/* Moves the element and propagates LMOVE or RPOPLPUSH: BLMOVE and BRPOPLPUSH have the timeout as
 * the last argument. */
static void move(struct call *call, struct keyref *source, const struct ends *ends) {
    enum { ARGUMENTS_MAX = 5 };
    struct slice argv[ARGUMENTS_MAX];
    size_t count = call->argc - 1;
    if (!list_move(call, source, ends->from, ends->to) || !call->propagates) return;
    memcpy(argv, call->argv, count * sizeof(*argv));
    argv[0] = count == ARGUMENTS_MAX ? SLICE("LMOVE") : SLICE("RPOPLPUSH");
    call_propagate_as(call, argv, count);
}

static bool serve_move(struct call *call, struct slice key, const void *state) {
    struct keyref source;
    if (!block_find_ready(call, key, VALUE_LIST, &source)) return false;
    move(call, &source, state);
    return true;
}

static void blocking_move(struct call *call, struct ends ends, int64_t deadline_ms) {
    static const struct waiter_kind kind = {.serve = serve_move};
    struct keyref source;
    if (!call_find_typed_write(call, call->argv[1], VALUE_LIST, &source)) return;
    if (source.entry) {
        move(call, &source, &ends);
    } else if (!call_may_block(call)) {
        reply_null(call->reply); /* as LMOVE; a timeout is a null array */
    } else {
        call_block(call, &(struct block_request){
                             .kind = &kind,
                             .state = &ends,
                             .state_size = sizeof(ends),
                             .keys = call->argv + 1,
                             .key_count = 1,
                             .deadline_ms = deadline_ms,
                         });
    }
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
