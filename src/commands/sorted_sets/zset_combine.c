/* ZUNION ZINTER ZDIFF ZUNIONSTORE ZINTERSTORE ZDIFFSTORE ZINTERCARD:
 * [destination] numkeys key … [WEIGHTS weight …] [AGGREGATE SUM|MIN|MAX|COUNT] [WITHSCORES]
 * [LIMIT limit]
 *
 * Sums depend on the order in which they are made: as in Redis the smaller sources come first.
 *
 * Combining reads entries and nothing else of the server: commands that take long are works
 * (engine/work.h). */
#include "base/memory/alloc.h"
#include "base/text/number.h"
#include "commands/commands.h"
#include "commands/common.h"
#include "commands/sorted_sets/zset_common.h"
#include "engine/call.h"
#include "engine/claim.h"
#include "engine/work.h"
#include "types/set.h"
#include "types/value.h"
#include "types/zset.h"

#include <math.h>
#include <stdlib.h>

/* --- Sources ---
 *
 * The values whose members are combined: only these functions know which types they may have. */

struct zset_source {
    struct entry *entry; /* a sorted set or a set; NULL: there is no such key */
    double weight;
    size_t position;           /* among the sources of its command */
    struct zset_source *first; /* the first source with the same entry, perhaps this one */
    /* Of the first one: */
    double score;               /* in an intersection, of the member that is looked at */
    struct occurrence *members; /* in a union with repeated sources: all of them */
    struct frozen frozen;       /* in a work: the entry as it was, or nothing */
};

/* Lives on the caller's stack, needs no end. The value must not change during the iteration. */
struct zset_source_iter {
    enum value_type type;
    union {
        struct zset_iter zset; /* VALUE_ZSET, and without a key */
        struct set_iter set;   /* VALUE_SET */
    };
};

static const double score_in_a_set = 1;

static bool is_set(const struct entry *entry) {
    return entry_type(entry) == VALUE_SET;
}

/* Looks up a source. Replies WRONGTYPE and returns false when the value is of a type without
 * members. The entry stays until the command changes it. */
static bool zset_source_find(struct call *call, struct slice key, struct zset_source *source) {
    source->weight = 1;
    source->entry = call_find_read(call, key, NULL);
    return !source->entry || is_set(source->entry) ||
           call_check_type(call, source->entry, VALUE_ZSET);
}

/* Its members; 0 without a key. O(1). */
static uint64_t zset_source_length(const struct zset_source *source) {
    if (!source->entry) return 0;
    return is_set(source->entry) ? set_length(source->entry) : zset_length(source->entry);
}

/* Returns whether it has this member; if so, *score gets its score, which is not weighted; it is 1
 * in a set. Expected O(1); O(n) in a listpack. */
static bool zset_source_get(const struct zset_source *source, struct slice member, double *score) {
    if (!source->entry) return false;
    if (is_set(source->entry)) {
        *score = score_in_a_set;
        return set_contains(source->entry, member);
    }
    struct zset_place place = zset_find(source->entry, member);
    *score = place.score;
    return place.found;
}

/* Reads all members: of a sorted set in the order of their scores, of a set in no order, each with
 * the score 1. The text lives until the next call. Amortised O(1) a member. */
static void zset_source_start(const struct zset_source *source, struct zset_source_iter *iter) {
    *iter = (struct zset_source_iter){.type = VALUE_ZSET, .zset = {.left = 0}};
    if (!source->entry) return;
    iter->type = entry_type(source->entry);
    if (is_set(source->entry))
        set_iter_start(&iter->set, source->entry);
    else
        zset_iter_start(&iter->zset, source->entry, 0, true);
}

static bool zset_source_next(struct zset_source_iter *iter, struct zset_member *member) {
    if (iter->type == VALUE_ZSET) return zset_iter_next(&iter->zset, member);
    member->score = score_in_a_set;
    return set_iter_next(&iter->set, &member->text);
}

enum operation { UNION, INTERSECTION, DIFFERENCE };
enum aggregate { SUM, MIN, MAX, COUNT /* the sum of the weights: each score counts as 1 */ };

/* What a command is. */
struct form {
    enum operation operation;
    bool stores;
    bool only_counts; /* ZINTERCARD */
    const char *event;
};

struct combination {
    struct call *call; /* only while arguments are read, and when the result is replied */
    struct form form;
    const struct work *work; /* when that is cancelled, combining ends; or NULL */
    struct zset_source *sources;
    size_t count; /* sources */
    bool repeats; /* a source is named more than once */
    enum aggregate aggregate;
    bool with_scores;
    int64_t limit; /* ZINTERCARD stops there; 0: never */
};

/* --- Arguments --- */

/* The number of keys at argv[at]. */
static bool parse_count(struct call *call, size_t at, size_t *count) {
    int64_t number;
    if (!call_integer(call, at, &number)) return false;
    if (number < 1) return call_too_few_keys(call);
    *count = (size_t)number;
    return (uint64_t)number <= call->argc - at - 1 || call_syntax_error(call);
}

/* The weights from argv[at] on. */
static bool parse_weights(struct combination *combination, size_t at) {
    struct call *call = combination->call;
    for (size_t i = 0; i < combination->count; i++) {
        if (number_parse_double(call->argv[at + i], &combination->sources[i].weight)) continue;
        return reply_error(call->reply, "ERR weight value is not a float");
    }
    return true;
}

static bool parse_aggregate(struct combination *combination, struct slice word) {
    static const char *const words[] = {
        [SUM] = "sum", [MIN] = "min", [MAX] = "max", [COUNT] = "count"};
    enum aggregate aggregate = SUM;
    while (aggregate <= COUNT && !slice_is(word, words[aggregate])) aggregate++;
    combination->aggregate = aggregate;
    return aggregate <= COUNT || call_syntax_error(combination->call);
}

/* Reads the option at *index and moves *index to its last argument. */
static bool parse_option(struct combination *combination, size_t *index) {
    struct call *call = combination->call;
    const struct form *form = &combination->form;
    struct slice word = call->argv[*index];
    size_t at = *index + 1, left = call->argc - at;
    bool has_scores = form->operation != DIFFERENCE && !form->only_counts;
    if (has_scores && left >= combination->count && slice_is(word, "weights")) {
        *index += combination->count;
        return parse_weights(combination, at);
    }
    if (has_scores && left >= 1 && slice_is(word, "aggregate")) {
        *index += 1;
        return parse_aggregate(combination, call->argv[at]);
    }
    if (form->only_counts && left >= 1 && slice_is(word, "limit")) {
        *index += 1;
        return call_integer_in(call, at, 0, INT64_MAX, &combination->limit,
                               "ERR LIMIT can't be negative");
    }
    combination->with_scores = slice_is(word, "withscores");
    return (combination->with_scores && !form->stores && !form->only_counts) ||
           call_syntax_error(call);
}

/* --- Scores --- */

static double product(const struct combination *combination, const struct zset_source *source,
                      double score) {
    return combination->aggregate == COUNT ? source->weight : source->weight * score;
}

static double weighted(const struct combination *combination, const struct zset_source *source,
                       double score) {
    double weighted_score = product(combination, source, score);
    return isnan(weighted_score) ? 0 : weighted_score;
}

/* `a` when both are equal, and when `b` is not a number in MIN or MAX. */
static double aggregated(enum aggregate aggregate, double a, double b) {
    if (aggregate == MIN) return b < a ? b : a;
    if (aggregate == MAX) return b > a ? b : a;
    double sum = a + b;
    return isnan(sum) ? 0 : sum;
}

/* --- Operations --- */

static bool is_cancelled(const struct combination *combination) {
    return combination->work && work_is_cancelled(combination->work);
}

/* Adds a member to the result, or aggregates its score with the one that it has there. */
static void merge(struct zset_result *result, struct slice member, double score,
                  enum aggregate aggregate) {
    struct skiplist_place place = skiplist_find(result->list, member);
    if (!place.node) {
        zset_result_insert(result, &place, member, score);
        return;
    }
    double old = skiplist_score(&place);
    score = aggregated(aggregate, old, score);
    if (score != old) skiplist_update(result->list, &place, member, score);
}

/* Sources of the same length stay in the order of the command, whatever qsort() would do. */
static int compare_lengths(const void *a, const void *b) {
    const struct zset_source *one = a, *two = b;
    uint64_t x = zset_source_length(one), y = zset_source_length(two);
    if (x == y) x = one->position, y = two->position;
    return (x > y) - (x < y);
}

/* Finds which sources are the same, which are in their final order. O(count · log count). */
static void find_repeated(struct combination *combination) {
    struct zset_source *sources = combination->sources;
    struct firsts firsts;
    firsts_find(&firsts, &sources->entry, sizeof(*sources), combination->count);
    for (size_t i = 0; i < combination->count; i++) {
        sources[i].first = &sources[firsts.at[i]];
        if (firsts.at[i] != i) combination->repeats = true;
    }
    firsts_end(&firsts);
}

/* --- Union --- */

static void unite_each(const struct combination *combination, struct zset_result *result) {
    for (size_t i = 0; i < combination->count; i++) {
        const struct zset_source *source = &combination->sources[i];
        struct zset_source_iter iter;
        struct zset_member member;
        zset_source_start(source, &iter);
        while (zset_source_next(&iter, &member) && !is_cancelled(combination))
            merge(result, member.text, weighted(combination, source, member.score),
                  combination->aggregate);
    }
}

/* A member of a source. */
struct occurrence {
    size_t number; /* of the member in the union */
    double score;
};

/* Lists the members of a source. `numbers` has the number of each member of the union as its score;
 * members that are not there get the next ones. */
static struct occurrence *number_members(const struct zset_source *source,
                                         struct skiplist *numbers) {
    struct zset_source_iter iter;
    struct zset_member member;
    struct occurrence *members = mem_alloc(zset_source_length(source) * sizeof(*members));
    size_t count = 0;
    zset_source_start(source, &iter);
    while (zset_source_next(&iter, &member)) {
        struct skiplist_place place = skiplist_find(numbers, member.text);
        size_t number =
            place.node ? (size_t)skiplist_score(&place) : (size_t)skiplist_count(numbers);
        if (!place.node) skiplist_insert(numbers, &place, member.text, (double)number);
        members[count++] = (struct occurrence){number, member.score};
    }
    return members;
}

/* Aggregates the scores of a source, by the numbers of its members. NAN: there is none yet. */
static void add_scores(const struct combination *combination, const struct zset_source *source,
                       double *scores) {
    const struct occurrence *members = source->first->members;
    uint64_t count = zset_source_length(source);
    for (uint64_t i = 0; i < count; i++) {
        double *total = &scores[members[i].number];
        double score = weighted(combination, source, members[i].score);
        *total = isnan(*total) ? score : aggregated(combination->aggregate, *total, score);
    }
}

/* Looks the members of each value up once, however often it is named. The scores are aggregated in
 * the same order as in unite_each(), because sums depend on it. */
static void unite_repeated(const struct combination *combination, struct zset_result *result) {
    struct zset_source *sources = combination->sources;
    struct skiplist *numbers = skiplist_new();
    struct skiplist_cursor cursor;
    for (size_t i = 0; i < combination->count; i++)
        if (sources[i].first == &sources[i])
            sources[i].members = number_members(&sources[i], numbers);
    uint64_t count = skiplist_count(numbers);
    double *scores = mem_alloc(count * sizeof(*scores));
    for (uint64_t i = 0; i < count; i++) scores[i] = NAN;
    for (size_t i = 0; i < combination->count && !is_cancelled(combination); i++)
        add_scores(combination, &sources[i], scores);
    if (count > 0) skiplist_seek(numbers, 0, &cursor);
    for (uint64_t i = 0; i < count && !is_cancelled(combination); i++, skiplist_next(&cursor))
        zset_result_add(result, skiplist_cursor_member(&cursor), scores[i]);
    for (size_t i = 0; i < combination->count; i++)
        if (sources[i].first == &sources[i]) mem_free(sources[i].members);
    mem_free(scores);
    skiplist_free(numbers);
}

/* --- Intersection, difference --- */

/* Returns whether the member is in all sources but the first; if so, aggregates its score. */
static bool is_in_others(const struct combination *combination, struct slice member,
                         double *score) {
    for (size_t i = 1; i < combination->count; i++) {
        struct zset_source *source = &combination->sources[i];
        if (source->first == source && !zset_source_get(source, member, &source->score))
            return false;
        /* Not weighted(): as in Redis, only here a product that is not a number makes the sum 0. */
        *score = aggregated(combination->aggregate, *score,
                            product(combination, source, source->first->score));
    }
    return true;
}

static bool is_in_any_other(const struct combination *combination, struct slice member) {
    double score;
    for (size_t i = 1; i < combination->count; i++)
        if (zset_source_get(&combination->sources[i], member, &score)) return true;
    return false;
}

/* Visits the members of the first source that belong to an intersection or a difference, up to the
 * limit; they are added to `result`, if there is one. Returns how many there are. */
static int64_t filter(const struct combination *combination, struct zset_result *result) {
    struct zset_source *first = &combination->sources[0];
    struct zset_source_iter iter;
    struct zset_member member;
    int64_t found = 0;
    zset_source_start(first, &iter);
    while (zset_source_next(&iter, &member) && !is_cancelled(combination)) {
        double score = weighted(combination, first, member.score);
        first->score = member.score;
        if (combination->form.operation == INTERSECTION
                ? !is_in_others(combination, member.text, &score)
                : is_in_any_other(combination, member.text))
            continue;
        if (result) zset_result_add(result, member.text, score);
        if (++found == combination->limit) break;
    }
    return found;
}

/* Puts the sources in the order in which they are combined, and finds those that are the same.
 * Returns whether the result is empty whatever their members. */
static bool arrange(struct combination *combination) {
    const struct form *form = &combination->form;
    bool repeats_first = false;
    if (form->operation != DIFFERENCE)
        qsort(combination->sources, combination->count, sizeof(*combination->sources),
              compare_lengths);
    if (form->operation == DIFFERENCE ||
        form->only_counts) /* what is named again changes nothing */
        combination->count =
            repeats_drop(combination->sources, sizeof(*combination->sources),
                         offsetof(struct zset_source, entry), combination->count, &repeats_first);
    find_repeated(combination);
    return repeats_first && form->operation == DIFFERENCE;
}

/* Combines the sources, which are arranged: into `result`, unless the command only counts. Returns
 * how many members an intersection or a difference has. */
static int64_t make_result(const struct combination *combination, struct zset_result *result) {
    if (combination->form.only_counts) return filter(combination, NULL);
    result->list = skiplist_new();
    if (combination->form.operation != UNION) return filter(combination, result);
    if (combination->repeats)
        unite_repeated(combination, result);
    else
        unite_each(combination, result);
    return 0;
}

/* --- Results --- */

static void reply_list(struct call *call, const struct skiplist *list, bool with_scores) {
    uint64_t count = skiplist_count(list);
    enum zset_reply_form form = zset_reply_form(call, with_scores);
    struct skiplist_cursor cursor;
    zset_reply_header(call->reply, count, form);
    if (count > 0) skiplist_seek(list, 0, &cursor);
    while (count-- > 0) {
        struct zset_member member = {.text = skiplist_cursor_member(&cursor),
                                     .score = skiplist_cursor_score(&cursor)};
        zset_reply_member(call->reply, &member, form);
        skiplist_next(&cursor);
    }
}

/* Much of it is written while the reply is sent. */
static void reply_entry(struct call *call, struct entry *entry, bool with_scores) {
    enum zset_reply_form form = zset_reply_form(call, with_scores);
    if (entry)
        zset_reply_span(call, entry, (struct zset_span){0, zset_length(entry)}, true, form);
    else
        zset_reply_header(call->reply, 0, form);
}

/* --- In another thread --- */

struct combining {
    struct work work;
    struct combination combination; /* of frozen sources */
    struct listpack_limits limits;
    struct entry *result; /* NULL: it is empty, or only counted */
    int64_t count;
};

/* Only an intersection or a difference looks for members, in all sources but the first. */
static bool is_searched(const struct combination *combination, size_t source) {
    return combination->form.operation != UNION && source > 0;
}

static void thaw_sources(struct combination *combination) {
    for (size_t i = 0; i < combination->count; i++) {
        struct zset_source *source = &combination->sources[i];
        source->entry = source->frozen.entry;
        if (source->first != source)
            source->entry = source->first->entry;
        else if (source->entry && !is_set(source->entry))
            source->entry = zset_thaw(&source->frozen, is_searched(combination, i));
    }
}

static void end_thaw(struct combination *combination) {
    for (size_t i = 0; i < combination->count; i++) {
        struct zset_source *source = &combination->sources[i];
        if (source->first == source && source->entry && !is_set(source->entry))
            zset_thaw_end(&source->frozen, source->entry);
    }
}

static void run_combining(struct work *work) {
    struct combining *combining = (struct combining *)work;
    struct zset_result result = {0};
    thaw_sources(&combining->combination);
    combining->count = make_result(&combining->combination, &result);
    end_thaw(&combining->combination);
    struct slice key = work->claim ? work->claim->key.name : SLICE("");
    if (result.list) combining->result = zset_result_entry(&result, key, &combining->limits);
    if (!work_is_cancelled(work) || !combining->result) return;
    value_free(combining->result);
    combining->result = NULL;
}

static void answer_combining(struct call *call, struct work *work) {
    struct combining *combining = (struct combining *)work;
    const struct form *form = &combining->combination.form;
    if (form->only_counts) {
        reply_integer(call->reply, combining->count);
    } else if (form->stores) {
        zset_result_put(call, call->argv[1], combining->result, form->event);
        combining->result = NULL;
    } else {
        reply_entry(call, combining->result, combining->combination.with_scores);
    }
}

static void free_combining(struct work *work) {
    struct combining *combining = (struct combining *)work;
    struct combination *combination = &combining->combination;
    for (size_t i = 0; i < combination->count; i++)
        work_unfreeze(work, &combination->sources[i].frozen);
    if (combining->result) work_free_value(work, combining->result);
    mem_free(combination->sources);
}

/* Takes ownership of the sources. */
static void work_on(struct combination *combination) {
    static const struct work_kind kind = {run_combining, answer_combining, free_combining};
    struct call *call = combination->call;
    struct combining *combining = work_new(&kind, sizeof(*combining));
    combining->limits = call->limits->zset;
    for (size_t i = 0; i < combination->count; i++) {
        struct zset_source *source = &combination->sources[i];
        source->frozen = (struct frozen){0};
        if (source->first == source && source->entry)
            work_freeze(call, source->entry, &source->frozen);
    }
    combining->combination = *combination;
    combining->combination.call = NULL;
    combining->combination.work = &combining->work;
    combination->sources = NULL;
    if (combination->form.stores)
        work_begin_storing(call, &combining->work, call->argv[1]);
    else
        work_begin(call, &combining->work);
}

/* --- Commands --- */

/* Returns about how many members are looked at. O(sources). */
static uint64_t steps_of(const struct combination *combination) {
    uint64_t all = 0, first = zset_source_length(&combination->sources[0]);
    for (size_t i = 0; i < combination->count; i++)
        all += zset_source_length(&combination->sources[i]);
    if (combination->form.operation == UNION) return all;
    return first * combination->count;
}

/* A frozen sorted set is not searched before an index of its members is made: looking for few
 * members in a very large one is done at once. O(sources). */
static bool should_work(const struct combination *combination) {
    enum { INDEXED_PER_STEP = 8 };
    uint64_t steps = steps_of(combination), indexed = 0;
    if (combination->form.stores ? !work_pays_writing(combination->call, steps)
                                 : !work_pays(combination->call, steps))
        return false;
    for (size_t i = 0; i < combination->count; i++) {
        const struct zset_source *source = &combination->sources[i];
        if (source->first == source && source->entry && !is_set(source->entry) &&
            is_searched(combination, i))
            indexed += zset_source_length(source);
    }
    return indexed / INDEXED_PER_STEP <= steps;
}

static void run_here(struct combination *combination, bool is_empty) {
    const struct form *form = &combination->form;
    struct call *call = combination->call;
    struct zset_result result = {0};
    int64_t count = 0;
    if (is_empty)
        result.list = skiplist_new();
    else
        count = make_result(combination, &result);
    if (form->only_counts) {
        reply_integer(call->reply, count);
    } else if (form->stores) {
        zset_result_store(call, call->argv[1], &result, form->event);
    } else {
        reply_list(call, result.list, combination->with_scores);
        skiplist_free(result.list);
    }
}

static void run(struct combination *combination) {
    bool is_empty = arrange(combination);
    if (!is_empty && should_work(combination))
        work_on(combination);
    else
        run_here(combination, is_empty);
}

/* Finds the sources, whose number stands at argv[at], and reads the options. */
static bool prepare(struct combination *combination, size_t at) {
    struct call *call = combination->call;
    for (size_t i = 0; i < combination->count; i++) {
        if (!zset_source_find(call, call->argv[at + 1 + i], &combination->sources[i])) return false;
        combination->sources[i].position = i;
    }
    for (size_t i = at + 1 + combination->count; i < call->argc; i++)
        if (!parse_option(combination, &i)) return false;
    return true;
}

static void combine(struct call *call, const struct form *form) {
    struct combination combination = {.call = call, .form = *form};
    size_t at = form->stores ? 2 : 1;
    if (!parse_count(call, at, &combination.count)) return;
    combination.sources = mem_alloc(combination.count * sizeof(*combination.sources));
    if (prepare(&combination, at)) run(&combination);
    mem_free(combination.sources);
}

COMMAND_FORM(zunion_command, combine, &(struct form){.operation = UNION})
COMMAND_FORM(zinter_command, combine, &(struct form){.operation = INTERSECTION})
COMMAND_FORM(zdiff_command, combine, &(struct form){.operation = DIFFERENCE})
COMMAND_FORM(zunionstore_command, combine,
             &(struct form){.operation = UNION, .stores = true, .event = "zunionstore"})
COMMAND_FORM(zinterstore_command, combine,
             &(struct form){.operation = INTERSECTION, .stores = true, .event = "zinterstore"})
COMMAND_FORM(zdiffstore_command, combine,
             &(struct form){.operation = DIFFERENCE, .stores = true, .event = "zdiffstore"})
COMMAND_FORM(zintercard_command, combine,
             &(struct form){.operation = INTERSECTION, .only_counts = true})
