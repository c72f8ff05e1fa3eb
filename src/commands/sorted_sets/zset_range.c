/* ZRANGE and the commands that are forms of it, ZRANGESTORE; ZCARD ZSCORE ZMSCORE ZRANK ZREVRANK
 * ZCOUNT ZLEXCOUNT: members by their places, and places by members. A ZRANGESTORE of many members
 * is a work (engine/work.h). */
#include "commands/commands.h"
#include "commands/common.h"
#include "commands/sorted_sets/zset_common.h"
#include "engine/claim.h"
#include "engine/work.h"
#include "types/value.h"

COMMAND_FORM(zcard_command, reply_length, VALUE_ZSET, zset_length)

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
    for (size_t i = 2; i < call->argc; i++) {
        if ((i - 2) % ZSET_PREFETCHED_MAX == 0)
            zset_prefetch_members(ref.entry, &call->argv[i], call->argc - i);
        reply_score(call->reply, ref.entry, call->argv[i]);
    }
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

COMMAND_FORM(zrank_command, find_rank, false)
COMMAND_FORM(zrevrank_command, find_rank, true)

/* --- Counts --- */

static void count(struct call *call, enum zset_range_by by) {
    struct zset_range range;
    struct keyref ref;
    if (!zset_range_parse(call, by, 2, 3, &range)) return;
    if (!call_find_typed_read(call, call->argv[1], VALUE_ZSET, &ref)) return;
    uint64_t found = ref.entry ? zset_range_find(ref.entry, &range, true).count : 0;
    reply_integer(call->reply, (int64_t)found);
}

COMMAND_FORM(zcount_command, count, ZSET_BY_SCORE)
COMMAND_FORM(zlexcount_command, count, ZSET_BY_MEMBER)

/* --- ZRANGE and its forms --- */

/* What a command fixes of its form; ZRANGE and ZRANGESTORE leave it to their arguments. */
struct form {
    bool is_free; /* BYSCORE, BYLEX and REV may be given */
    bool stores;  /* the key to store to precedes the key, and there is no WITHSCORES */
    enum zset_range_by by;
    bool reverse;
};

struct query {
    struct call *call;
    enum zset_range_by by;
    bool reverse;
    bool with_scores;
    bool tells_missing; /* XX: a key that does not exist is null, not empty */
    int64_t offset;
    int64_t limit; /* negative: none; a range by rank allows only -1 */
    struct zset_range range;
};

/* Reads the option at *index and moves *index to its last argument. */
static bool parse_option(struct query *query, const struct form *form, size_t *index) {
    struct call *call = query->call;
    struct slice word = call->argv[*index];
    if (!form->stores && slice_is(word, "withscores")) {
        query->with_scores = true;
    } else if (form->is_free && !form->stores && slice_is(word, "xx")) {
        query->tells_missing = true;
    } else if (slice_is(word, "limit") && *index + 2 < call->argc) {
        *index += 2;
        return call_integer(call, *index - 1, &query->offset) &&
               call_integer(call, *index, &query->limit);
    } else if (form->is_free && !query->reverse && slice_is(word, "rev")) {
        query->reverse = true;
    } else if (form->is_free && query->by == ZSET_BY_RANK && slice_is(word, "byscore")) {
        query->by = ZSET_BY_SCORE;
    } else if (form->is_free && query->by == ZSET_BY_RANK && slice_is(word, "bylex")) {
        query->by = ZSET_BY_MEMBER;
    } else {
        return call_syntax_error(call);
    }
    return true;
}

static bool check_options(const struct query *query) {
    const char *error = NULL;
    if (query->by == ZSET_BY_RANK && query->limit != -1)
        error = "ERR syntax error, LIMIT is only supported in combination with either BYSCORE or "
                "BYLEX";
    else if (query->with_scores && query->by == ZSET_BY_MEMBER)
        error = "ERR syntax error, WITHSCORES not supported in combination with BYLEX";
    if (error) call_fail(query->call, CALL_ERROR_SYNTAX, error);
    return !error;
}

static bool parse_query(struct query *query, const struct form *form) {
    size_t key = form->stores ? 2 : 1;
    *query =
        (struct query){.call = query->call, .by = form->by, .reverse = form->reverse, .limit = -1};
    for (size_t i = key + 3; i < query->call->argc; i++)
        if (!parse_option(query, form, &i)) return false;
    if (!check_options(query)) return false;
    /* Ranges by score and member are given from the high end to the low one when reversed. */
    bool high_first = query->reverse && query->by != ZSET_BY_RANK;
    return zset_range_parse(query->call, query->by, key + 1 + high_first, key + 2 - high_first,
                            &query->range);
}

/* The part of the span that LIMIT leaves, counted in the direction of the query. */
static struct zset_span limited(const struct query *query, struct zset_span span) {
    if (query->by == ZSET_BY_RANK) return span;
    if (query->offset < 0 || (uint64_t)query->offset >= span.count) return (struct zset_span){0};
    span.count -= (uint64_t)query->offset;
    if (!query->reverse) span.from += (uint64_t)query->offset;
    if (query->limit < 0 || (uint64_t)query->limit >= span.count) return span;
    if (query->reverse) span.from += span.count - (uint64_t)query->limit;
    span.count = (uint64_t)query->limit;
    return span;
}

static struct zset_span find_span(const struct query *query, const struct entry *entry) {
    if (!entry) return (struct zset_span){0};
    return limited(query, zset_range_find(entry, &query->range, !query->reverse));
}

static void reply_query(struct call *call, const struct form *form) {
    struct query query = {.call = call};
    struct keyref ref;
    if (!parse_query(&query, form)) return;
    if (!call_find_typed_read(call, call->argv[1], VALUE_ZSET, &ref)) return;
    if (!ref.entry && query.tells_missing) {
        reply_null_array(call->reply);
        return;
    }
    zset_reply_span(call, ref.entry, find_span(&query, ref.entry), !query.reverse,
                    zset_reply_form(call, query.with_scores));
}

COMMAND_FORM(zrange_command, reply_query, &(struct form){.is_free = true})
COMMAND_FORM(zrevrange_command, reply_query, &(struct form){.reverse = true})
COMMAND_FORM(zrangebyscore_command, reply_query, &(struct form){.by = ZSET_BY_SCORE})
COMMAND_FORM(zrevrangebyscore_command, reply_query,
             &(struct form){.by = ZSET_BY_SCORE, .reverse = true})
COMMAND_FORM(zrangebylex_command, reply_query, &(struct form){.by = ZSET_BY_MEMBER})
COMMAND_FORM(zrevrangebylex_command, reply_query,
             &(struct form){.by = ZSET_BY_MEMBER, .reverse = true})

/* --- ZRANGESTORE destination key … --- */

static const char stored_event[] = "zrangestore";

/* In which direction the members are copied does not matter. */
static void store_here(struct call *call, const struct entry *entry, struct zset_span span) {
    struct zset_result result = {.list = skiplist_new()};
    struct zset_iter iter = {0};
    struct zset_member member;
    if (span.count > 0) zset_iter_start(&iter, entry, span.from, true);
    while (span.count-- > 0 && zset_iter_next(&iter, &member))
        zset_result_add(&result, member.text, member.score);
    zset_result_store(call, call->argv[1], &result, stored_event);
}

/* The same in another thread, which knows scores and no ranks. */
struct storing {
    struct work work;
    struct frozen frozen;
    double first, last; /* the scores with which the span begins and ends */
    uint64_t before;    /* members with the first score that are before the span */
    uint64_t count;     /* members of the span */
    struct listpack_limits limits;
    struct entry *result;
};

static bool is_in_span(double first, double last, const void *arg) {
    const struct storing *storing = arg;
    return last >= storing->first && first <= storing->last;
}

static void run_storing(struct work *work) {
    struct storing *storing = (struct storing *)work;
    struct zset_result result = {.list = skiplist_new()};
    struct zset_seeker at;
    char digits[INT64_TEXT_MAX];
    zset_frozen_select(&storing->frozen, is_in_span, storing);
    bool found = zset_seek_frozen(&at, &storing->frozen, storing->first);
    for (uint64_t i = 0; found && i < storing->before; i++) found = zset_seek_next(&at);
    for (uint64_t i = 0; found && i < storing->count; i++) {
        zset_result_add(&result, zset_seek_text(&at, digits), at.score);
        found = zset_seek_next(&at);
    }
    storing->result = zset_result_entry(&result, work->claim->key.name, &storing->limits);
}

static void answer_storing(struct call *call, struct work *work) {
    struct storing *storing = (struct storing *)work;
    zset_result_put(call, call->argv[1], storing->result, stored_event);
    storing->result = NULL;
}

static void free_storing(struct work *work) {
    struct storing *storing = (struct storing *)work;
    work_unfreeze(work, &storing->frozen);
    if (storing->result) work_free_value(work, storing->result);
}

static double score_at(const struct entry *entry, uint64_t rank) {
    struct zset_iter iter;
    struct zset_member member;
    zset_iter_start(&iter, entry, rank, true);
    zset_iter_next(&iter, &member);
    return member.score;
}

static void store_elsewhere(struct call *call, struct entry *entry, struct zset_span span) {
    static const struct work_kind kind = {run_storing, answer_storing, free_storing};
    struct storing *storing = work_new(&kind, sizeof(*storing));
    storing->first = score_at(entry, span.from);
    storing->last = score_at(entry, span.from + span.count - 1);
    storing->before = span.from - zset_count_below(entry, storing->first, false);
    storing->count = span.count;
    storing->limits = call->limits->zset;
    work_freeze(call, entry, &storing->frozen);
    work_begin_storing(call, &storing->work, call->argv[1]);
}

void zrangestore_command(struct call *call) {
    struct query query = {.call = call};
    struct keyref ref;
    if (!parse_query(&query, &(struct form){.is_free = true, .stores = true})) return;
    if (!call_find_typed_read(call, call->argv[2], VALUE_ZSET, &ref)) return;
    struct zset_span span = find_span(&query, ref.entry);
    if (work_pays_writing(call, span.count * ZSET_STEPS_TO_STORE))
        store_elsewhere(call, ref.entry, span);
    else
        store_here(call, ref.entry, span);
}
