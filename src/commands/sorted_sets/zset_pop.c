/* ZPOPMIN ZPOPMAX ZMPOP, and BZPOPMIN BZPOPMAX BZMPOP, which wait if they must. */
#include "commands/commands.h"
#include "commands/common.h"
#include "commands/sorted_sets/zset_common.h"

static const char *event_of(bool from_last) {
    return from_last ? "zpopmax" : "zpopmin";
}

/* The members that a pop takes of an entry. */
static struct zset_span span_of(const struct entry *entry, bool from_last, uint64_t count) {
    uint64_t length = zset_length(entry);
    if (count > length) count = length;
    return (struct zset_span){from_last ? length - count : 0, count};
}

/* Replies up to `count` members from one end with the header of an array, and removes them. Returns
 * their number. */
static uint64_t pop_many(struct call *call, struct keyref *ref, struct slice key, bool from_last,
                         uint64_t count, enum zset_reply_form form) {
    struct zset_span span = span_of(ref->entry, from_last, count);
    zset_reply_span(call, ref->entry, span, !from_last, form);
    if (span.count) zset_remove_span(call, ref, key, span, event_of(from_last));
    return span.count;
}

/* Replies [member, score], or, when `with_key`, [key, member, score], and removes the member. */
static void pop_one(struct call *call, struct keyref *ref, struct slice key, bool from_last,
                    bool with_key) {
    struct zset_span span = span_of(ref->entry, from_last, 1);
    struct zset_iter iter;
    struct zset_member member;
    zset_iter_start(&iter, ref->entry, span.from, !from_last);
    zset_iter_next(&iter, &member);
    reply_array(call->reply, with_key ? 3 : 2);
    if (with_key) reply_bulk(call->reply, key);
    zset_reply_member(call->reply, &member, ZSET_FLAT);
    zset_remove_span(call, ref, key, span, event_of(from_last));
}

static struct zset_removal removal_of(const struct entry *entry, bool from_last, uint64_t count,
                                      enum zset_reply_form form) {
    return (struct zset_removal){.span = span_of(entry, from_last, count),
                                 .event = event_of(from_last),
                                 .pops = true,
                                 .forward = !from_last,
                                 .form = form};
}

/* Returns whether the members of the sorted set under argv[1] are popped in another thread. */
static bool pop_later(struct call *call, const struct entry *entry, bool from_last,
                      uint64_t count) {
    struct zset_removal removal = removal_of(entry, from_last, count, zset_reply_form(call, true));
    return zset_remove_later(call, entry, call->argv[1], &removal);
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
    else if (has_count && pop_later(call, ref.entry, from_last, (uint64_t)count))
        return;
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

static const struct pop_type zsets;

static bool pop_pairs_later(struct call *call, const struct entry *entry, struct slice key,
                            bool from_last, uint64_t count) {
    struct zset_removal removal = removal_of(entry, from_last, count, ZSET_PAIRS);
    removal.with_key = true;
    removal.command = zsets.commands[from_last];
    return zset_remove_later(call, entry, key, &removal);
}

static const struct pop_type zsets = {
    .type = VALUE_ZSET,
    .ends = {"min", "max"},
    .commands = {SLICE("ZPOPMIN"), SLICE("ZPOPMAX")},
    .pop_one = pop_key,
    .pop_many = pop_pairs,
    .pop_later = pop_pairs_later,
};

COMMAND_FORM(zmpop_command, pop_from_any, &zsets)
COMMAND_FORM(bzpopmin_command, block_pop, &zsets, false)
COMMAND_FORM(bzpopmax_command, block_pop, &zsets, true)
COMMAND_FORM(bzmpop_command, block_mpop, &zsets)
