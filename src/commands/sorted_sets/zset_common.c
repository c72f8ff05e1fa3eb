#include "commands/sorted_sets/zset_common.h"

#include "commands/common.h"

/* --- Ranges --- */

/* "(1.5", "1.5", "+inf". An empty number is 0. */
static bool parse_score_bound(struct slice text, struct zset_bound *bound) {
    bound->inclusive = text.len == 0 || text.ptr[0] != '(';
    if (!bound->inclusive) text = slice_make(text.ptr + 1, text.len - 1);
    bound->score = 0;
    return text.len == 0 || number_parse_decimal(text, &bound->score);
}

/* "-", "+", "[member", "(member". */
static bool parse_member_bound(struct slice text, struct zset_bound *bound) {
    char first = text.len ? text.ptr[0] : 0;
    bound->unbounded = text.len == 1 ? (first == '+') - (first == '-') : 0;
    if (bound->unbounded) return true;
    if (first != '[' && first != '(') return false;
    bound->inclusive = first == '[';
    bound->member = slice_make(text.ptr + 1, text.len - 1);
    return true;
}

bool zset_range_parse(struct call *call, enum zset_range_by by, size_t low, size_t high,
                      struct zset_range *range) {
    struct slice low_text = call->argv[low], high_text = call->argv[high];
    *range = (struct zset_range){.by = by};
    if (by == ZSET_BY_RANK)
        return call_integer(call, low, &range->low.rank) &&
               call_integer(call, high, &range->high.rank);
    bool (*parse)(struct slice, struct zset_bound *) =
        by == ZSET_BY_SCORE ? parse_score_bound : parse_member_bound;
    if (parse(low_text, &range->low) && parse(high_text, &range->high)) return true;
    return reply_error(call->reply, by == ZSET_BY_SCORE
                                        ? "ERR min or max is not a float"
                                        : "ERR min or max not valid string range item");
}

/* How many members are before the bound; one that equals it is, when `inclusive`. */
static uint64_t count_below(const struct entry *entry, enum zset_range_by by,
                            const struct zset_bound *bound, bool inclusive) {
    if (by == ZSET_BY_SCORE) return zset_count_below(entry, bound->score, inclusive);
    if (bound->unbounded) return bound->unbounded > 0 ? zset_length(entry) : 0;
    return zset_count_below_member(entry, bound->member, inclusive);
}

struct zset_span zset_range_find(const struct entry *entry, const struct zset_range *range,
                                 bool forward) {
    struct zset_span span;
    if (range->by == ZSET_BY_RANK) {
        uint64_t length = zset_length(entry);
        range_clamp(range->low.rank, range->high.rank, length, &span.from, &span.count);
        if (!forward) span.from = length - span.from - span.count;
        return span;
    }
    span.from = count_below(entry, range->by, &range->low, !range->low.inclusive);
    uint64_t to = count_below(entry, range->by, &range->high, range->high.inclusive);
    span.count = to > span.from ? to - span.from : 0;
    return span;
}

/* --- Replies --- */

enum zset_reply_form zset_reply_form(const struct call *call, bool with_scores) {
    if (!with_scores) return ZSET_MEMBERS;
    return call->reply->protocol == 3 ? ZSET_PAIRS : ZSET_FLAT;
}

void zset_reply_header(struct reply *reply, uint64_t count, enum zset_reply_form form) {
    reply_array(reply, form == ZSET_FLAT ? 2 * count : count);
}

void zset_reply_member(struct reply *reply, const struct zset_member *member,
                       enum zset_reply_form form) {
    if (form == ZSET_PAIRS) reply_array(reply, 2);
    reply_bulk(reply, member->text);
    if (form != ZSET_MEMBERS) reply_double(reply, member->score);
}

/* One member is cheaper without a batch. */
static void reply_texts(struct reply *reply, struct zset_iter *iter, uint64_t count) {
    struct text_batch batch;
    struct zset_member member;
    if (count == 1 && zset_iter_next_text(iter, &member)) {
        reply_bulk(reply, member.text);
        return;
    }
    for (; zset_iter_next_batch(iter, &batch, count); count -= batch.count)
        reply_bulks(reply, batch.texts, batch.count);
}

/* So few members are written at once, however long they are: they are not worth a look at the
 * sorted set. */
#ifdef TINY_LIMITS
enum { FEW = 1 };
#else
enum { FEW = 12 };
#endif

/* Neither this nor the next function is inlined: then a small reply needs few registers. */
static __attribute__((noinline)) void reply_at_once(struct reply *reply, const struct entry *entry,
                                                    struct zset_span span, bool forward,
                                                    enum zset_reply_form form) {
    struct zset_iter iter;
    struct zset_member member;
    zset_reply_header(reply, span.count, form);
    if (span.count == 0) return;
    zset_iter_start(&iter, entry, forward ? span.from : span.from + span.count - 1, forward);
    if (form == ZSET_MEMBERS)
        reply_texts(reply, &iter, span.count);
    else
        while (span.count-- && zset_iter_next(&iter, &member))
            zset_reply_member(reply, &member, form);
}

static __attribute__((noinline)) void reply_large(struct call *call, struct entry *entry,
                                                  struct zset_span span, bool forward,
                                                  enum zset_reply_form form) {
    if (!zset_defer_span(call, entry, span, forward, form))
        reply_at_once(call->reply, entry, span, forward, form);
}

void zset_reply_span(struct call *call, struct entry *entry, struct zset_span span, bool forward,
                     enum zset_reply_form form) {
    if (span.count > FEW)
        reply_large(call, entry, span, forward, form);
    else
        reply_at_once(call->reply, entry, span, forward, form);
}

/* --- Removing --- */

void zset_remove_span(struct call *call, struct keyref *ref, struct slice key,
                      struct zset_span span, const char *event) {
    bool all = zset_skiplist(ref->entry) && span.count == zset_length(ref->entry);
    if (!all) zset_remove_range(ref, span.from, span.count);
    CALL_CHANGED(call, ref, key, EVENT_SORTED_SET, event, span.count - all);
    if (all) call_remove(call, ref, key, REMOVAL_UNLINKED);
}

/* --- Results --- */

void zset_result_insert(struct zset_result *result, const struct skiplist_place *place,
                        struct slice member, double score) {
    skiplist_insert(result->list, place, member, score);
    if (member.len > result->longest) result->longest = member.len;
}

void zset_result_add(struct zset_result *result, struct slice member, double score) {
    struct skiplist_place place = skiplist_find(result->list, member);
    zset_result_insert(result, &place, member, score);
}

struct entry *zset_result_entry(struct zset_result *result, struct slice key,
                                const struct listpack_limits *limits) {
    if (skiplist_count(result->list) > 0)
        return zset_from_skiplist(key, result->list, result->longest, limits);
    skiplist_free(result->list);
    return NULL;
}

void zset_result_put(struct call *call, struct slice key, struct entry *entry, const char *event) {
    call_put_result(call, key, entry,
                    &(struct change){.class = EVENT_SORTED_SET, .event = event, .count = 1});
}

void zset_result_store(struct call *call, struct slice key, struct zset_result *result,
                       const char *event) {
    zset_result_put(call, key, zset_result_entry(result, key, &call->limits->zset), event);
}
