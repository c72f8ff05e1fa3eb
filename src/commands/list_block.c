/* BLPOP BRPOP BLMPOP BLMOVE BRPOPLPUSH: reply at once if they can, otherwise wait. Each has a
 * function that serves it when a key becomes ready; arguments that were checked when the command
 * came are not checked again. */
#include "commands/commands.h"
#include "commands/list_common.h"

/* Finds the list of a key that became ready. Returns false when it is gone or no list; the client
 * then goes on waiting. */
static bool find_ready(struct call *call, struct slice key, struct keyref *ref) {
    *ref = call_find_write(call, key);
    return ref->entry && entry_type(ref->entry) == VALUE_LIST;
}

/* --- BLPOP BRPOP --- */

static void pop_key(struct call *call, struct keyref *ref, struct slice key, enum list_end end) {
    reply_array(call->reply, 2);
    reply_bulk(call->reply, key);
    list_pop_one(call, ref, key, end);
    CALL_PROPAGATE(call, list_pop_command(end), key);
}

static bool serve_blpop(struct call *call, struct slice key) {
    struct keyref ref;
    if (!find_ready(call, key, &ref)) return false;
    pop_key(call, &ref, key, LIST_HEAD);
    return true;
}

static bool serve_brpop(struct call *call, struct slice key) {
    struct keyref ref;
    if (!find_ready(call, key, &ref)) return false;
    pop_key(call, &ref, key, LIST_TAIL);
    return true;
}

static void blocking_pop(struct call *call, enum list_end end) {
    int64_t deadline_ms;
    if (!call_timeout(call, call->argc - 1, &deadline_ms)) return;
    const struct slice *keys = call->argv + 1;
    size_t key_count = call->argc - 2;
    for (size_t i = 0; i < key_count; i++) {
        struct keyref ref;
        if (!call_find_typed_write(call, keys[i], VALUE_LIST, &ref)) return;
        if (ref.entry == NULL) continue;
        pop_key(call, &ref, keys[i], end);
        return;
    }
    call_block(call, &(struct block_request){
                         .keys = keys,
                         .key_count = key_count,
                         .deadline_ms = deadline_ms,
                         .serve = end == LIST_HEAD ? serve_blpop : serve_brpop,
                     });
}

void blpop_command(struct call *call) {
    blocking_pop(call, LIST_HEAD);
}

void brpop_command(struct call *call) {
    blocking_pop(call, LIST_TAIL);
}

/* --- BLMPOP timeout numkeys key … LEFT|RIGHT [COUNT count] --- */

static bool serve_blmpop(struct call *call, struct slice key) {
    struct keyref ref;
    struct pop_options options;
    if (!find_ready(call, key, &ref) || !list_mpop_parse(call, 2, &options)) return false;
    options.keys = &key;
    options.key_count = 1;
    return list_mpop_serve(call, &options);
}

void blmpop_command(struct call *call) {
    int64_t deadline_ms;
    struct pop_options options;
    if (!list_mpop_parse(call, 2, &options) || !call_timeout(call, 1, &deadline_ms)) return;
    if (list_mpop_serve(call, &options)) return;
    call_block(call, &(struct block_request){
                         .keys = options.keys,
                         .key_count = options.key_count,
                         .deadline_ms = deadline_ms,
                         .serve = serve_blmpop,
                     });
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
    if (!find_ready(call, key, &source)) return false;
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
