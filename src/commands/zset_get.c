/* ZCARD ZSCORE ZMSCORE ZRANK ZREVRANK ZCOUNT ZLEXCOUNT: commands that look for members, or count
 * them. */
#include "commands/commands.h"
#include "commands/zset_common.h"

void zcard_command(struct call *call) {
    struct keyref ref;
    if (!call_find_typed_read(call, call->argv[1], VALUE_ZSET, &ref)) return;
    reply_integer(call->reply, ref.entry ? (int64_t)zset_length(ref.entry) : 0);
}

static void reply_score(struct reply *reply, const struct entry *entry, struct slice member) {
    struct zset_place place = {.found = false};
    if (entry) place = zset_find(entry, member);
    if (place.found)
        reply_double(reply, place.score);
    else
        reply_null(reply);
}

void zscore_command(struct call *call) {
    struct keyref ref;
    if (!call_find_typed_read(call, call->argv[1], VALUE_ZSET, &ref)) return;
    reply_score(call->reply, ref.entry, call->argv[2]);
}

void zmscore_command(struct call *call) {
    struct keyref ref;
    if (!call_find_typed_read(call, call->argv[1], VALUE_ZSET, &ref)) return;
    reply_array(call->reply, call->argc - 2);
    for (size_t i = 2; i < call->argc; i++) reply_score(call->reply, ref.entry, call->argv[i]);
}

/* --- Ranks --- */

static void reply_rank(struct call *call, const struct entry *entry, bool reverse,
                       bool with_score) {
    struct zset_place place = {.found = false};
    if (entry) place = zset_find(entry, call->argv[2]);
    if (!place.found) {
        if (with_score)
            reply_null_array(call->reply);
        else
            reply_null(call->reply);
        return;
    }
    uint64_t rank = zset_rank(entry, &place);
    if (reverse) rank = zset_length(entry) - 1 - rank;
    if (with_score) reply_array(call->reply, 2);
    reply_integer(call->reply, (int64_t)rank);
    if (with_score) reply_double(call->reply, place.score);
}

static void find_rank(struct call *call, bool reverse) {
    struct keyref ref;
    bool with_score = call->argc == 4;
    if (call->argc > 4) {
        call_wrong_arity(call);
    } else if (with_score && !slice_is(call->argv[3], "withscore")) {
        call_syntax_error(call);
    } else if (call_find_typed_read(call, call->argv[1], VALUE_ZSET, &ref)) {
        reply_rank(call, ref.entry, reverse, with_score);
    }
}

void zrank_command(struct call *call) {
    find_rank(call, false);
}

void zrevrank_command(struct call *call) {
    find_rank(call, true);
}

/* --- Counts --- */

static void count(struct call *call, enum zset_range_by by) {
    struct zset_range range;
    struct keyref ref;
    if (!zset_range_parse(call, by, 2, 3, &range)) return;
    if (!call_find_typed_read(call, call->argv[1], VALUE_ZSET, &ref)) return;
    uint64_t found = ref.entry ? zset_range_find(ref.entry, &range, true).count : 0;
    reply_integer(call->reply, (int64_t)found);
}

void zcount_command(struct call *call) {
    count(call, ZSET_BY_SCORE);
}

void zlexcount_command(struct call *call) {
    count(call, ZSET_BY_MEMBER);
}
