/* ZRANDMEMBER ZSCAN: members at random, or a few at a time. */
#include "base/hash/random.h"
#include "base/memory/alloc.h"
#include "commands/choice.h"
#include "commands/commands.h"
#include "commands/common.h"
#include "commands/sorted_sets/zset_common.h"
#include "types/zset.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* --- ZRANDMEMBER key [count [WITHSCORES]] --- */

static void reply_repeated(struct choice *choice) {
    struct zset_draws draws;
    struct zset_member member;
    zset_reply_header(choice->reply, choice->count, choice->form);
    zset_draws_begin_frozen(&draws, &choice->value);
    for (uint64_t i = 0; i < choice->count && choice_goes_on(choice); i++) {
        zset_draws_next(&draws, choice->random, &member);
        zset_reply_member(choice->reply, &member, choice->form);
    }
    zset_draws_end(&draws);
}

/* Visits all members in order and takes each with the probability that leaves `count` in the end
 * (Knuth's selection sampling). */
static void reply_selected(struct choice *choice) {
    struct zset_seeker seeker;
    uint64_t left = choice->length, needed = choice->count;
    bool has_next = zset_seek_frozen(&seeker, &choice->value, -INFINITY);
    for (; has_next && needed > 0; has_next = zset_seek_next(&seeker)) {
        struct zset_member member = {.score = seeker.score};
        if (random_below(choice->random, left--) >= needed) continue;
        if (!choice_goes_on(choice)) return;
        member.text = zset_seek_text(&seeker, member.digits);
        zset_reply_member(choice->reply, &member, choice->form);
        needed--;
    }
}

static int compare_numbers(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Sorts the numbers and removes duplicates; returns how many remain. */
static size_t sort_distinct(uint64_t *numbers, size_t count) {
    size_t kept = 0;
    qsort(numbers, count, sizeof(*numbers), compare_numbers);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || numbers[kept - 1] != numbers[i]) numbers[kept++] = numbers[i];
    return kept;
}

/* Draws numbers of members until so many of them are different: few draws repeat if these are much
 * fewer than the members. */
static void reply_drawn(struct choice *choice) {
    size_t count = (size_t)choice->count;
    uint64_t *numbers = mem_alloc(count * sizeof(*numbers));
    struct zset_draws draws;
    struct zset_member member;
    for (size_t drawn = 0; drawn < count; drawn = sort_distinct(numbers, count))
        for (size_t i = drawn; i < count; i++)
            numbers[i] = random_below(choice->random, choice->length);
    zset_draws_begin_frozen(&draws, &choice->value);
    for (size_t i = 0; i < count && choice_goes_on(choice); i++) {
        zset_draws_at(&draws, numbers[i], &member);
        zset_reply_member(choice->reply, &member, choice->form);
    }
    zset_draws_end(&draws);
    mem_free(numbers);
}

static void reply_different(struct choice *choice) {
    enum { DRAWN_SHARE = 20 }; /* drawing more takes longer than to visit all, as measured */
    zset_reply_header(choice->reply, choice->count, choice->form);
    if (entry_is_out_of_line(choice->value.entry) && choice->count <= choice->length / DRAWN_SHARE)
        reply_drawn(choice);
    else
        reply_selected(choice);
}

static void reply_one(struct call *call, const struct entry *entry) {
    struct zset_draws draws;
    struct zset_member member;
    zset_draws_begin(&draws, entry);
    zset_draws_next(&draws, call_random(call), &member);
    reply_bulk(call->reply, member.text);
    zset_draws_end(&draws);
}

static void reply_some(struct call *call, struct entry *entry, int64_t count,
                       enum zset_reply_form form) {
    static const struct choice_type type = {reply_repeated, reply_different};
    struct choice choice = {
        .type = &type, .value = {.entry = entry}, .length = zset_length(entry), .form = (int)form};
    choice_reply(call, &choice, count);
}

void zrandmember_command(struct call *call) {
    int64_t count = 0;
    bool has_count = call->argc > 2;
    struct keyref ref;
    if (has_count && !choice_count_parse(call, "withscores", &count)) return;
    if (!call_find_typed_read(call, call->argv[1], VALUE_ZSET, &ref)) return;
    enum zset_reply_form form = zset_reply_form(call, call->argc == 4);
    if (!has_count && !ref.entry)
        reply_null(call->reply);
    else if (!has_count)
        reply_one(call, ref.entry);
    else if (ref.entry == NULL || count == 0)
        reply_array(call->reply, 0);
    else
        reply_some(call, ref.entry, count, form);
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
