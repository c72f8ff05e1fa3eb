/* ZPOPMIN ZPOPMAX ZMPOP, and BZPOPMIN BZPOPMAX BZMPOP, which wait if they must. */
#include "commands/commands.h"
#include "commands/common.h"
#include "commands/sorted_sets/zset_common.h"

/* Removes members, which were replied, from one end. */
static void drop(struct call *call, struct keyref *ref, struct slice key, bool from_last,
                 struct zset_span span) {
    zset_remove_span(call, ref, key, span, from_last ? "zpopmax" : "zpopmin");
}

/* Replies up to `count` members from one end with the header of an array, and removes them. Returns
 * their number. */
static uint64_t pop_many(struct call *call, struct keyref *ref, struct slice key, bool from_last,
                         uint64_t count, enum zset_reply_form form) {
    uint64_t length = zset_length(ref->entry);
    if (count > length) count = length;
    struct zset_span span = {from_last ? length - count : 0, count};
    zset_reply_span(call, ref->entry, span, !from_last, form);
    if (count) drop(call, ref, key, from_last, span);
    return count;
}

/* Replies [member, score], or, when `with_key`, [key, member, score], and removes the member. */
static void pop_one(struct call *call, struct keyref *ref, struct slice key, bool from_last,
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
        pop_many(call, &ref, key, from_last, (uint64_t)count, zset_reply_form(call, true));
    else
        pop_one(call, &ref, key, from_last, false);
}

COMMAND_FORM(zpopmin_command, pop, false)
COMMAND_FORM(zpopmax_command, pop, true)

/* --- Several keys --- */

static void pop_key(struct call *call, struct keyref *ref, struct slice key, bool from_last) {
    pop_one(call, ref, key, from_last, true);
}

static uint64_t pop_pairs(struct call *call, struct keyref *ref, struct slice key, bool from_last,
                          uint64_t count) {
    return pop_many(call, ref, key, from_last, count, ZSET_PAIRS);
}

static const struct pop_type zsets = {
    .type = VALUE_ZSET,
    .ends = {"min", "max"},
    .commands = {SLICE("ZPOPMIN"), SLICE("ZPOPMAX")},
    .pop_one = pop_key,
    .pop_many = pop_pairs,
};

COMMAND_FORM(zmpop_command, pop_from_any, &zsets)
COMMAND_FORM(bzpopmin_command, block_pop, &zsets, false)
COMMAND_FORM(bzpopmax_command, block_pop, &zsets, true)
COMMAND_FORM(bzmpop_command, block_mpop, &zsets)
