/* ZADD ZINCRBY, ZREM ZREMRANGEBYRANK ZREMRANGEBYSCORE ZREMRANGEBYLEX */
#include "base/memory/alloc.h"
#include "base/text/number.h"
#include "commands/commands.h"
#include "commands/sorted_sets/zset_common.h"

#include <math.h>

/* --- Options --- */

static bool parse_option(struct zset_addition *addition, bool all, struct slice word) {
    if (slice_is(word, "nx"))
        addition->only_new = true;
    else if (slice_is(word, "xx"))
        addition->only_existing = true;
    else if (slice_is(word, "ch"))
        addition->counts_changes = true;
    else if (all && slice_is(word, "gt"))
        addition->only_greater = true;
    else if (all && slice_is(word, "lt"))
        addition->only_less = true;
    else if (all && slice_is(word, "incr"))
        addition->increments = true;
    else
        return false;
    return true;
}

static bool check_options(struct zset_addition *addition) {
    struct call *call = addition->call;
    bool compares = addition->only_greater || addition->only_less;
    const char *error = NULL;
    if (addition->only_new && addition->only_existing)
        error = "ERR XX and NX options at the same time are not compatible";
    else if ((addition->only_new && compares) || (addition->only_greater && addition->only_less))
        error = "ERR GT, LT, and/or NX options at the same time are not compatible";
    else if (addition->increments && addition->count > 1)
        error = "ERR INCR option supports a single increment-element pair";
    if (error) reply_error(call->reply, error);
    return !error;
}

void zset_addition_options(struct zset_addition *addition, bool all, size_t *index) {
    const struct call *call = addition->call;
    while (*index < call->argc && parse_option(addition, all, call->argv[*index])) ++*index;
}

static bool parse_options(struct zset_addition *addition) {
    struct call *call = addition->call;
    size_t score = 2;
    zset_addition_options(addition, true, &score);
    size_t left = call->argc - score;
    addition->first = score + 1;
    addition->stride = 2;
    addition->count = left / 2;
    if (left == 0 || left % 2) return call_syntax_error(call);
    return check_options(addition);
}

static bool parse_scores(const struct zset_addition *addition, double *scores) {
    for (size_t i = 0; i < addition->count; i++) {
        if (number_parse_double(addition->call->argv[addition->first - 1 + 2 * i], &scores[i]))
            continue;
        return reply_error(addition->call->reply, "ERR value is not a valid float");
    }
    return true;
}

/* --- Members --- */

/* Gives a member that is there another score, if the options allow it. */
static void update(struct zset_addition *addition, const struct zset_place *place,
                   struct slice member, double score) {
    if (addition->only_new) return;
    if (addition->increments) score += place->score;
    addition->is_nan = isnan(score);
    if (addition->is_nan || (addition->only_greater && score <= place->score) ||
        (addition->only_less && score >= place->score))
        return;
    addition->has_score = true;
    addition->score = score;
    if (score == place->score) return;
    zset_put(&addition->ref, place, member, score, &addition->call->limits->zset);
    addition->changed++;
}

static void add_member(struct zset_addition *addition, struct slice member, double score) {
    const struct listpack_limits *limits = &addition->call->limits->zset;
    struct zset_place place;
    addition->has_score = false;
    if (addition->ref.entry) {
        place = zset_find(addition->ref.entry, member);
        if (place.found) {
            update(addition, &place, member, score);
            return;
        }
    }
    if (addition->only_existing) return;
    if (addition->ref.entry)
        zset_put(&addition->ref, &place, member, score, limits);
    else
        zset_create(&addition->ref, addition->call->argv[1], member, score, addition->count,
                    member.len, limits);
    addition->added++;
    addition->has_score = true;
    addition->score = score;
}

static void reply_result(const struct zset_addition *addition) {
    struct reply *reply = addition->call->reply;
    uint64_t count = addition->added + (addition->counts_changes ? addition->changed : 0);
    if (!addition->increments)
        reply_integer(reply, (int64_t)count);
    else if (addition->is_nan)
        reply_error(reply, "ERR resulting score is not a number (NaN)");
    else if (addition->has_score)
        reply_double(reply, zset_score(addition->score));
    else
        reply_null(reply);
}

void zset_add(struct zset_addition *addition, const double *scores) {
    struct call *call = addition->call;
    struct slice key = call->argv[1];
    if (!call_find_typed_write(call, key, VALUE_ZSET, &addition->ref)) return;
    if (addition->ref.entry) zset_expect(&addition->ref, addition->count, &call->limits->zset);
    for (size_t i = 0; i < addition->count; i++)
        add_member(addition, call->argv[addition->first + addition->stride * i], scores[i]);
    reply_result(addition);
    uint64_t changes = addition->added + addition->changed;
    if (changes > 0)
        CALL_CHANGED(call, &addition->ref, key, EVENT_SORTED_SET,
                     addition->increments ? "zincr" : "zadd", changes);
}

static void add(struct zset_addition *addition) {
    enum { SCORES_ON_STACK = 16 };
    double few[SCORES_ON_STACK], *scores = few;
    if (addition->count > SCORES_ON_STACK) scores = mem_alloc(addition->count * sizeof(*scores));
    if (parse_scores(addition, scores)) zset_add(addition, scores);
    if (scores != few) mem_free(scores);
}

void zadd_command(struct call *call) {
    struct zset_addition addition = {.call = call};
    if (parse_options(&addition)) add(&addition);
}

void zincrby_command(struct call *call) {
    struct zset_addition addition = {
        .call = call, .increments = true, .first = 3, .stride = 2, .count = 1};
    add(&addition);
}

/* --- ZREM ZREMRANGEBY… --- */

void zrem_command(struct call *call) {
    struct keyref ref;
    uint64_t removed = 0;
    if (!call_find_typed_write(call, call->argv[1], VALUE_ZSET, &ref)) return;
    for (size_t i = 2; ref.entry && i < call->argc; i++) {
        struct zset_place place = zset_find(ref.entry, call->argv[i]);
        if (!place.found) continue;
        zset_remove(&ref, &place);
        removed++;
        if (zset_length(ref.entry) == 0) break;
    }
    reply_integer(call->reply, (int64_t)removed);
    if (removed) CALL_CHANGED(call, &ref, call->argv[1], EVENT_SORTED_SET, "zrem", removed);
}

static void remove_range(struct call *call, enum zset_range_by by, const char *event) {
    struct zset_range range;
    struct zset_span span = {0};
    struct keyref ref;
    if (!zset_range_parse(call, by, 2, 3, &range)) return;
    if (!call_find_typed_write(call, call->argv[1], VALUE_ZSET, &ref)) return;
    if (ref.entry) span = zset_range_find(ref.entry, &range, true);
    struct zset_removal removal = {.span = span, .event = event};
    if (span.count && zset_remove_later(call, ref.entry, call->argv[1], &removal)) return;
    reply_integer(call->reply, (int64_t)span.count);
    if (span.count == 0) return;
    zset_remove_span(call, &ref, call->argv[1], span, event);
}

COMMAND_FORM(zremrangebyrank_command, remove_range, ZSET_BY_RANK, "zremrangebyrank")
COMMAND_FORM(zremrangebyscore_command, remove_range, ZSET_BY_SCORE, "zremrangebyscore")
COMMAND_FORM(zremrangebylex_command, remove_range, ZSET_BY_MEMBER, "zremrangebylex")
