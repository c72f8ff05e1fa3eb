/* ZPOPMIN ZPOPMAX ZMPOP */
#include "base/number.h"
#include "commands/commands.h"
#include "commands/pop_options.h"
#include "commands/zset_common.h"

struct slice zset_pop_command(bool from_last) {
    return from_last ? SLICE("ZPOPMAX") : SLICE("ZPOPMIN");
}

/* Removes members, which were replied, from one end. */
static void drop(struct call *call, struct keyref *ref, struct slice key, bool from_last,
                 struct zset_span span) {
    zset_remove_span(call, ref, key, span, from_last ? "zpopmax" : "zpopmin");
}

uint64_t zset_pop(struct call *call, struct keyref *ref, struct slice key, bool from_last,
                  uint64_t count, enum zset_reply_form form) {
    uint64_t length = zset_length(ref->entry);
    if (count > length) count = length;
    struct zset_span span = {from_last ? length - count : 0, count};
    zset_reply_span(call->reply, ref->entry, span, !from_last, form);
    if (count) drop(call, ref, key, from_last, span);
    return count;
}

void zset_pop_one(struct call *call, struct keyref *ref, struct slice key, bool from_last,
                  bool with_key) {
    struct zset_span span = {from_last ? zset_length(ref->entry) - 1 : 0, 1};
    struct zset_iter iter;
    struct zset_member member;
    zset_iter_start(&iter, ref->entry, span.from, !from_last);
    zset_iter_next(&iter, &member);
    reply_array(call->reply, with_key ? 3 : 2);
    if (with_key) reply_bulk(call->reply, key);
    zset_reply_member(call->reply, &member, ZSET_FLAT);
    drop(call, ref, key, from_last, span);
}

static void pop(struct call *call, bool from_last) {
    int64_t count = 1;
    bool has_count = call->argc == 3;
    struct slice key = call->argv[1];
    struct keyref ref;
    if (!pop_count_parse(call, &count)) return;
    if (!call_find_typed_write(call, key, VALUE_ZSET, &ref)) return;
    if (ref.entry == NULL)
        reply_array(call->reply, 0);
    else if (has_count)
        zset_pop(call, &ref, key, from_last, (uint64_t)count, zset_reply_form(call, true));
    else
        zset_pop_one(call, &ref, key, from_last, false);
}

void zpopmin_command(struct call *call) {
    pop(call, false);
}

void zpopmax_command(struct call *call) {
    pop(call, true);
}

/* --- Several keys --- */

bool zset_mpop_parse(struct call *call, size_t index, struct pop_options *options) {
    return pop_options_parse(call, index, "min", "max", options);
}

bool zset_mpop_serve(struct call *call, const struct pop_options *options) {
    for (size_t i = 0; i < options->key_count; i++) {
        char buffer[INT64_TEXT_MAX];
        struct slice key = options->keys[i];
        struct keyref ref;
        if (!call_find_typed_write(call, key, VALUE_ZSET, &ref)) return true;
        if (ref.entry == NULL) continue;
        reply_array(call->reply, 2);
        reply_bulk(call->reply, key);
        uint64_t count = zset_pop(call, &ref, key, options->from_last, options->count, ZSET_PAIRS);
        CALL_PROPAGATE(call, zset_pop_command(options->from_last), key,
                       number_text(buffer, (int64_t)count));
        return true;
    }
    return false;
}

void zmpop_command(struct call *call) {
    struct pop_options options;
    if (!zset_mpop_parse(call, 1, &options)) return;
    if (!zset_mpop_serve(call, &options)) reply_null_array(call->reply);
}
