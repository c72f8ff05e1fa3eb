#include "commands/block_pop.h"

/* What a client waits to do. */
struct pop_state {
    const struct block_pop_type *type;
    bool from_last;
    uint64_t count; /* of block_mpop */
};

bool block_find_ready(struct call *call, struct slice key, enum value_type type,
                      struct keyref *ref) {
    call_find_write(call, key, ref);
    return ref->entry && entry_type(ref->entry) == type;
}

static bool serve_pop(struct call *call, struct slice key, const void *arg) {
    const struct pop_state *state = arg;
    struct keyref ref;
    if (!block_find_ready(call, key, state->type->type, &ref)) return false;
    state->type->pop(call, &ref, key, state->from_last);
    return true;
}

static bool serve_mpop(struct call *call, struct slice key, const void *arg) {
    const struct pop_state *state = arg;
    struct keyref ref;
    if (!block_find_ready(call, key, state->type->type, &ref)) return false;
    return state->type->mpop_serve(call, &(struct pop_options){.keys = &key,
                                                               .key_count = 1,
                                                               .from_last = state->from_last,
                                                               .count = state->count});
}

static void wait_to_pop(struct call *call, const struct waiter_kind *kind, struct pop_state state,
                        const struct slice *keys, size_t key_count, int64_t deadline_ms) {
    call_block(call, &(struct block_request){
                         .kind = kind,
                         .state = &state,
                         .state_size = sizeof(state),
                         .keys = keys,
                         .key_count = key_count,
                         .deadline_ms = deadline_ms,
                     });
}

void block_pop(struct call *call, const struct block_pop_type *type, bool from_last) {
    static const struct waiter_kind kind = {.serve = serve_pop};
    int64_t deadline_ms;
    if (!call_timeout(call, call->argc - 1, &deadline_ms)) return;
    const struct slice *keys = call->argv + 1;
    size_t key_count = call->argc - 2;
    for (size_t i = 0; i < key_count; i++) {
        struct keyref ref;
        if (!call_find_typed_write(call, keys[i], type->type, &ref)) return;
        if (ref.entry == NULL) continue;
        type->pop(call, &ref, keys[i], from_last);
        return;
    }
    wait_to_pop(call, &kind, (struct pop_state){.type = type, .from_last = from_last}, keys,
                key_count, deadline_ms);
}

void block_mpop(struct call *call, const struct block_pop_type *type) {
    static const struct waiter_kind kind = {.serve = serve_mpop};
    int64_t deadline_ms;
    struct pop_options options;
    if (!type->mpop_parse(call, 2, &options) || !call_timeout(call, 1, &deadline_ms)) return;
    if (type->mpop_serve(call, &options)) return;
    wait_to_pop(call, &kind, (struct pop_state){type, options.from_last, options.count},
                options.keys, options.key_count, deadline_ms);
}
