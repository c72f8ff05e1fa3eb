/* ZRANDMEMBER ZSCAN: members at random, or a few at a time. */
#include "base/hash/random.h"
#include "base/memory/alloc.h"
#include "commands/commands.h"
#include "commands/common.h"
#include "commands/sorted_sets/zset_common.h"
#include "types/zset.h"

#include <stdio.h>
#include <stdlib.h>

/* --- ZRANDMEMBER key [count [WITHSCORES]] --- */

/* Any member may come more than once. */
static void reply_repeated(struct call *call, const struct entry *entry, uint64_t count,
                           enum zset_reply_form form) {
    struct zset_draws draws;
    struct zset_member member;
    struct random_repeat repeat;
    if (!random_repeat_begin(&repeat, call, count)) return;
    zset_reply_header(call->reply, count, form);
    zset_draws_begin(&draws, entry);
    while (random_repeat_next(&repeat)) {
        zset_draws_next(&draws, call_random(call), &member);
        zset_reply_member(call->reply, &member, form);
    }
    zset_draws_end(&draws);
}

/* Visits all members in order and takes each with the probability that leaves `count` in the end
 * (Knuth's selection sampling). */
static void reply_selected(struct call *call, const struct entry *entry, uint64_t count,
                           enum zset_reply_form form) {
    struct zset_iter iter;
    struct zset_member member;
    uint64_t left = zset_length(entry);
    zset_iter_start(&iter, entry, 0, true);
    for (; count > 0 && zset_iter_next(&iter, &member); left--) {
        if (random_below(call_random(call), left) >= count) continue;
        zset_reply_member(call->reply, &member, form);
        count--;
    }
}

static int compare_ranks(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Sorts the ranks and removes duplicates; returns how many remain. */
static size_t sort_distinct(uint64_t *ranks, size_t count) {
    size_t kept = 0;
    qsort(ranks, count, sizeof(*ranks), compare_ranks);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || ranks[kept - 1] != ranks[i]) ranks[kept++] = ranks[i];
    return kept;
}

/* Draws ranks until `count` of them are different: few draws repeat if `count` is much smaller than
 * the length. */
static void reply_drawn(struct call *call, const struct entry *entry, size_t count,
                        enum zset_reply_form form) {
    uint64_t length = zset_length(entry);
    uint64_t *ranks = mem_alloc(count * sizeof(*ranks));
    for (size_t drawn = 0; drawn < count; drawn = sort_distinct(ranks, count))
        for (size_t i = drawn; i < count; i++) ranks[i] = random_below(call_random(call), length);
    for (size_t i = 0; i < count; i++) {
        struct zset_iter iter;
        struct zset_member member;
        zset_iter_start(&iter, entry, ranks[i], true);
        zset_iter_next(&iter, &member);
        zset_reply_member(call->reply, &member, form);
    }
    mem_free(ranks);
}

static void reply_distinct(struct call *call, const struct entry *entry, uint64_t count,
                           enum zset_reply_form form) {
    enum { DRAWN_SHARE = 20 }; /* drawing more takes longer than to visit all, as measured */
    uint64_t length = zset_length(entry);
    if (count > length) count = length;
    zset_reply_header(call->reply, count, form);
    if (count == 0) return;
    if (zset_skiplist(entry) && count <= length / DRAWN_SHARE)
        reply_drawn(call, entry, (size_t)count, form);
    else
        reply_selected(call, entry, count, form);
}

static void reply_one(struct call *call, const struct entry *entry) {
    struct zset_draws draws;
    struct zset_member member;
    zset_draws_begin(&draws, entry);
    zset_draws_next(&draws, call_random(call), &member);
    reply_bulk(call->reply, member.text);
    zset_draws_end(&draws);
}

void zrandmember_command(struct call *call) {
    int64_t count = 0;
    bool has_count = call->argc > 2;
    struct keyref ref;
    if (has_count && !random_count_parse(call, "withscores", &count)) return;
    if (!call_find_typed_read(call, call->argv[1], VALUE_ZSET, &ref)) return;
    enum zset_reply_form form = zset_reply_form(call, call->argc == 4);
    if (!has_count && !ref.entry)
        reply_null(call->reply);
    else if (!has_count)
        reply_one(call, ref.entry);
    else if (ref.entry == NULL || count == 0)
        reply_array(call->reply, 0);
    else if (count < 0)
        reply_repeated(call, ref.entry, (uint64_t)-count, form);
    else
        reply_distinct(call, ref.entry, (uint64_t)count, form);
}

/* --- ZSCAN key cursor [MATCH pattern] [COUNT count] [NOSCORES] --- */

/* Scores are written as Redis does here: in a listpack as they are stored, else with 17 digits. */
static void visit(struct slice member, double score, void *arg) {
    char text[DOUBLE_TEXT_MAX];
    struct scan *scan = arg;
    scan->visited++;
    if (!scan_matches(scan, member)) return;
    scan_reply(scan, member);
    if (scan->only_names) return;
    int len = zset_skiplist(scan->entry) ? snprintf(text, sizeof(text), "%.17g", score)
                                         : (int)number_format_double(text, score);
    scan_reply(scan, slice_make(text, (size_t)len));
}

static uint64_t step(struct scan *scan) {
    return zset_scan(scan->entry, scan->cursor, visit, scan);
}

COMMAND_FORM(zscan_command, scan_value, VALUE_ZSET, "noscores", step)
