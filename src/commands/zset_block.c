/* BZPOPMIN BZPOPMAX BZMPOP: reply at once when they can, else wait. What was checked when the
 * command came is not checked again when a key becomes ready. */
#include "commands/commands.h"
#include "commands/pop_options.h"
#include "commands/zset_common.h"

/* Finds the sorted set under a key that became ready; false when it is gone, or is none: the client
 * goes on waiting. */
static bool find_ready(struct call *call, struct slice key, struct keyref *ref) {
    *ref = call_find_write(call, key);
    return ref->entry && entry_type(ref->entry) == VALUE_ZSET;
}

/* --- BZPOPMIN BZPOPMAX --- */

static void pop_key(struct call *call, struct keyref *ref, struct slice key, bool from_last) {
    zset_pop_one(call, ref, key, from_last, true);
    CALL_PROPAGATE(call, zset_pop_command(from_last), key);
}

static bool serve_pop(struct call *call, struct slice key, bool from_last) {
    struct keyref ref;
    if (!find_ready(call, key, &ref)) return false;
    pop_key(call, &ref, key, from_last);
    return true;
}

static bool serve_bzpopmin(struct call *call, struct slice key) {
    return serve_pop(call, key, false);
}

static bool serve_bzpopmax(struct call *call, struct slice key) {
    return serve_pop(call, key, true);
}

static void blocking_pop(struct call *call, bool from_last) {
    int64_t deadline_ms;
    if (!call_timeout(call, call->argc - 1, &deadline_ms)) return;
    const struct slice *keys = call->argv + 1;
    size_t key_count = call->argc - 2;
    for (size_t i = 0; i < key_count; i++) {
        struct keyref ref;
        if (!call_find_typed_write(call, keys[i], VALUE_ZSET, &ref)) return;
        if (ref.entry == NULL) continue;
        pop_key(call, &ref, keys[i], from_last);
        return;
    }
    call_block(call, &(struct block_request){
                         .keys = keys,
                         .key_count = key_count,
                         .deadline_ms = deadline_ms,
                         .serve = from_last ? serve_bzpopmax : serve_bzpopmin,
                     });
}

void bzpopmin_command(struct call *call) {
    blocking_pop(call, false);
}

void bzpopmax_command(struct call *call) {
    blocking_pop(call, true);
}

/* --- BZMPOP timeout numkeys key … MIN|MAX [COUNT count] --- */

static bool serve_bzmpop(struct call *call, struct slice key) {
    struct keyref ref;
    struct pop_options options;
    if (!find_ready(call, key, &ref) || !zset_mpop_parse(call, 2, &options)) return false;
    options.keys = &key;
    options.key_count = 1;
    return zset_mpop_serve(call, &options);
}

void bzmpop_command(struct call *call) {
    int64_t deadline_ms;
    struct pop_options options;
    if (!zset_mpop_parse(call, 2, &options) || !call_timeout(call, 1, &deadline_ms)) return;
    if (zset_mpop_serve(call, &options)) return;
    call_block(call, &(struct block_request){
                         .keys = options.keys,
                         .key_count = options.key_count,
                         .deadline_ms = deadline_ms,
                         .serve = serve_bzmpop,
                     });
}
