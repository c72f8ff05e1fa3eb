/* ZRANGE and the commands that are forms of it; ZRANGESTORE. */
#include "commands/commands.h"
#include "commands/zset_common.h"

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
    zset_reply_span(call->reply, ref.entry, find_span(&query, ref.entry), !query.reverse,
                    zset_reply_form(call, query.with_scores));
}

void zrange_command(struct call *call) {
    reply_query(call, &(struct form){.is_free = true});
}

void zrevrange_command(struct call *call) {
    reply_query(call, &(struct form){.reverse = true});
}

void zrangebyscore_command(struct call *call) {
    reply_query(call, &(struct form){.by = ZSET_BY_SCORE});
}

void zrevrangebyscore_command(struct call *call) {
    reply_query(call, &(struct form){.by = ZSET_BY_SCORE, .reverse = true});
}

void zrangebylex_command(struct call *call) {
    reply_query(call, &(struct form){.by = ZSET_BY_MEMBER});
}

void zrevrangebylex_command(struct call *call) {
    reply_query(call, &(struct form){.by = ZSET_BY_MEMBER, .reverse = true});
}

/* --- ZRANGESTORE destination key … --- */

static struct zset_result copy_span(const struct query *query, const struct entry *entry,
                                    struct zset_span span) {
    struct zset_result result = {.list = skiplist_new()};
    struct zset_iter iter;
    struct zset_member member;
    bool forward = !query->reverse;
    if (span.count == 0) return result;
    zset_iter_start(&iter, entry, forward ? span.from : span.from + span.count - 1, forward);
    while (span.count-- > 0 && zset_iter_next(&iter, &member))
        zset_result_add(&result, member.text, member.score);
    return result;
}

void zrangestore_command(struct call *call) {
    struct query query = {.call = call};
    struct keyref ref;
    if (!parse_query(&query, &(struct form){.is_free = true, .stores = true})) return;
    if (!call_find_typed_read(call, call->argv[2], VALUE_ZSET, &ref)) return;
    struct zset_result result = copy_span(&query, ref.entry, find_span(&query, ref.entry));
    zset_result_store(call, call->argv[1], &result, "zrangestore");
}
