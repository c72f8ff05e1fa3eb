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

static bool serve_blpop(struct call *call, struct slice key);
static bool serve_brpop(struct call *call, struct slice key);
static bool serve_blmpop(struct call *call, struct slice key);

static const struct block_pop_kind list_pops = {
    .type = VALUE_LIST,
    .pop = pop_key,
    .mpop_parse = list_mpop_parse,
    .mpop_serve = list_mpop_serve,
    .serve_first = serve_blpop,
    .serve_last = serve_brpop,
    .serve_mpop = serve_blmpop,
};

static bool serve_blpop(struct call *call, struct slice key) {
    return block_pop_serve(call, key, &list_pops, false);
}

static bool serve_brpop(struct call *call, struct slice key) {
    return block_pop_serve(call, key, &list_pops, true);
}

static bool serve_blmpop(struct call *call, struct slice key) {
    return block_mpop_serve(call, key, &list_pops);
}

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

/* Moves the element and propagates LMOVE or RPOPLPUSH: BLMOVE and BRPOPLPUSH have the timeout as
 * the last argument. */
static void move(struct call *call, struct keyref *source, enum list_end from, enum list_end to) {
    enum { ARGUMENTS_MAX = 5 };
    struct slice argv[ARGUMENTS_MAX];
    size_t count = call->argc - 1;
    if (!list_move(call, source, from, to) || !call->propagates) return;
    memcpy(argv, call->argv, count * sizeof(*argv));
    argv[0] = count == ARGUMENTS_MAX ? SLICE("LMOVE") : SLICE("RPOPLPUSH");
    call_propagate_as(call, argv, count);
}

static bool serve_move(struct call *call, struct slice key, enum list_end from, enum list_end to) {
    struct keyref source;
    if (!block_find_ready(call, key, VALUE_LIST, &source)) return false;
    move(call, &source, from, to);
    return true;
}

static bool serve_blmove(struct call *call, struct slice key) {
    enum list_end from, to;
    return call_list_end(call, 3, &from) && call_list_end(call, 4, &to) &&
           serve_move(call, key, from, to);
}

static bool serve_brpoplpush(struct call *call, struct slice key) {
    return serve_move(call, key, LIST_TAIL, LIST_HEAD);
}

static void blocking_move(struct call *call, enum list_end from, enum list_end to,
                          int64_t deadline_ms, bool (*serve)(struct call *, struct slice)) {
    struct keyref source;
    if (!call_find_typed_write(call, call->argv[1], VALUE_LIST, &source)) return;
    if (source.entry) {
        move(call, &source, from, to);
    } else if (!call_may_block(call)) {
        reply_null(call->reply); /* as LMOVE; a timeout is a null array */
    } else {
        call_block(call, &(struct block_request){
                             .keys = call->argv + 1,
                             .key_count = 1,
                             .deadline_ms = deadline_ms,
                             .serve = serve,
                         });
    }
}

void blmove_command(struct call *call) {
    enum list_end from, to;
    int64_t deadline_ms;
    if (call_list_end(call, 3, &from) && call_list_end(call, 4, &to) &&
        call_timeout(call, 5, &deadline_ms))
        blocking_move(call, from, to, deadline_ms, serve_blmove);
}

void brpoplpush_command(struct call *call) {
    int64_t deadline_ms;
    if (call_timeout(call, 3, &deadline_ms))
        blocking_move(call, LIST_TAIL, LIST_HEAD, deadline_ms, serve_brpoplpush);
}
