#include "commands/block_pop.h"

bool block_find_ready(struct call *call, struct slice key, enum value_type type,
                      struct keyref *ref) {
    call_find_write(call, key, ref);
    return ref->entry && entry_type(ref->entry) == type;
}

bool block_pop_serve(struct call *call, struct slice key, const struct block_pop_kind *kind,
                     bool from_last) {
    struct keyref ref;
    if (!block_find_ready(call, key, kind->type, &ref)) return false;
    kind->pop(call, &ref, key, from_last);
    return true;
}

void block_pop(struct call *call, const struct block_pop_kind *kind, bool from_last) {
    int64_t deadline_ms;
    if (!call_timeout(call, call->argc - 1, &deadline_ms)) return;
    const struct slice *keys = call->argv + 1;
    size_t key_count = call->argc - 2;
    for (size_t i = 0; i < key_count; i++) {
        struct keyref ref;
        if (!call_find_typed_write(call, keys[i], kind->type, &ref)) return;
        if (ref.entry == NULL) continue;
        kind->pop(call, &ref, keys[i], from_last);
        return;
    }
    call_block(call, &(struct block_request){
                         .keys = keys,
                         .key_count = key_count,
                         .deadline_ms = deadline_ms,
                         .serve = from_last ? kind->serve_last : kind->serve_first,
                     });
}

bool block_mpop_serve(struct call *call, struct slice key, const struct block_pop_kind *kind) {
    struct keyref ref;
    struct pop_options options;
    if (!block_find_ready(call, key, kind->type, &ref) || !kind->mpop_parse(call, 2, &options))
        return false;
    options.keys = &key;
    options.key_count = 1;
    return kind->mpop_serve(call, &options);
}

void block_mpop(struct call *call, const struct block_pop_kind *kind) {
    int64_t deadline_ms;
    struct pop_options options;
    if (!kind->mpop_parse(call, 2, &options) || !call_timeout(call, 1, &deadline_ms)) return;
    if (kind->mpop_serve(call, &options)) return;
    call_block(call, &(struct block_request){
                         .keys = options.keys,
                         .key_count = options.key_count,
                         .deadline_ms = deadline_ms,
                         .serve = kind->serve_mpop,
                     });
}
