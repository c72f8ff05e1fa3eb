/* Skiplists against a naive model: an ordered array of scores and members. */
#include "ds/sorted_sets/skiplist.h"

#include "base/hash/hash.h"
#include "base/memory/alloc.h"
#include "ds/sorted_sets/skiplist_internal.h"
#include "unit/in_range.h"
#include "unit/relocate_step.h"
#include "unit/seed.h"
#include "unit/zset_model.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

struct fixture {
    struct random random;
    struct skiplist *list;
    struct model model;
    struct relocate_step relocation;
};

/* --- Comparing --- */

static void assert_same(const struct skiplist *list, const struct model *model) {
    assert_true(skiplist_check(list));
    assert_int_equal(skiplist_count(list), model->count);
    if (model->count == 0) return;
    struct skiplist_cursor cursor;
    skiplist_seek(list, 0, &cursor);
    for (size_t i = 0; i < model->count; i++) {
        assert_true(slice_equal(skiplist_cursor_member(&cursor), member_of(&model->pairs[i])));
        assert_true(same_score(skiplist_cursor_score(&cursor), model->pairs[i].score));
        assert_int_equal(skiplist_next(&cursor), i + 1 < model->count);
    }
    skiplist_seek(list, model->count - 1, &cursor);
    for (size_t i = model->count; i-- > 0;) {
        assert_true(slice_equal(skiplist_cursor_member(&cursor), member_of(&model->pairs[i])));
        assert_int_equal(skiplist_previous(&cursor), i > 0);
    }
}

/* --- Operations on both --- */

static void set(struct fixture *f, struct slice member, double score) {
    struct skiplist_place place = skiplist_find(f->list, member);
    size_t at = model_find(&f->model, member);
    assert_int_equal(place.node != NULL, at < f->model.count);
    if (place.node) {
        assert_true(same_score(skiplist_score(&place), f->model.pairs[at].score));
        assert_int_equal(skiplist_rank(f->list, &place), at);
        skiplist_update(f->list, &place, member, score);
        model_delete(&f->model, at, 1);
    } else {
        skiplist_insert(f->list, &place, member, score);
    }
    model_insert(&f->model, member, score);
}

static void drop(struct fixture *f, struct slice member) {
    struct skiplist_place place = skiplist_find(f->list, member);
    size_t at = model_find(&f->model, member);
    assert_int_equal(place.node != NULL, at < f->model.count);
    if (!place.node) return;
    skiplist_delete(f->list, &place);
    model_delete(&f->model, at, 1);
}

static void drop_range(struct fixture *f) {
    size_t count = f->model.count;
    if (count == 0) return;
    size_t from = (size_t)random_below(&f->random, count);
    size_t most = random_below(&f->random, 4) ? 3 : count;
    size_t n = (size_t)random_below(&f->random, most + 1);
    uint64_t where = random_below(&f->random, 3);
    if (n > count - from) n = count - from;
    if (where == 0) from = 0;
    if (where == 1) from = count - n;
    skiplist_delete_range(f->list, from, n);
    model_delete(&f->model, from, n);
}

/* What is loaded before a member is inserted leads to the last node whose link has a lesser key. */
static void assert_path(const struct skiplist *list, double score) {
    const void *at = NULL;
    int level;
    size_t steps = 0;
    while (skiplist_prefetch_path(list, score, &at, &level)) steps++;
    assert_true(steps <= list->node_count);
    const struct skiplist_link *links = at;
    uint64_t key = skiplist_key(score);
    assert_true(!links[0].next || links[0].key >= key);
    if (links == list->head) return;
    const struct skiplist_node *before = skiplist__node_of_links(links)->prev;
    assert_true((before ? before->links : list->head)[0].key < key);
}

/* The cursor is at the first member with a score that is at least this one, if there is one. */
static void assert_at_score(struct fixture *f, bool found, const struct skiplist_cursor *cursor,
                            double score) {
    size_t below = model_below(&f->model, score, false);
    assert_true(found == (below < f->model.count));
    if (found)
        assert_true(slice_equal(skiplist_cursor_member(cursor), member_of(&f->model.pairs[below])));
}

static void look_by_score(struct fixture *f, enum taste taste) {
    double score = random_score(&f->random, taste), further = random_score(&f->random, taste);
    struct skiplist_cursor cursor;
    bool found = skiplist_seek_score(f->list, score, &cursor);
    assert_at_score(f, found, &cursor, score);
    if (!found || further <= skiplist_cursor_score(&cursor)) return;
    struct skiplist_cursor first = cursor;
    if (skiplist_skip_in_node(further, &cursor)) {
        assert_at_score(f, true, &cursor, further);
        return;
    }
    assert_int_equal(cursor.slot, first.slot);
    assert_true(!skiplist_seek_score(f->list, further, &cursor) || cursor.node != first.node);
}

static void look(struct fixture *f, enum taste taste) {
    double score = random_score(&f->random, taste);
    bool inclusive = random_below(&f->random, 2);
    assert_int_equal(skiplist_count_below(f->list, score, inclusive),
                     model_below(&f->model, score, inclusive));
    assert_path(f->list, score);
    look_by_score(f, taste);
    if (f->model.count == 0) return;
    size_t rank = (size_t)random_below(&f->random, f->model.count);
    struct skiplist_cursor cursor;
    skiplist_seek(f->list, rank, &cursor);
    assert_true(slice_equal(skiplist_cursor_member(&cursor), member_of(&f->model.pairs[rank])));
    if (taste != ONE_SCORE) return;
    char buffer[LONG_TEXT];
    struct slice member = random_member(&f->random, buffer, 1000);
    size_t below = 0;
    while (below < f->model.count) {
        int order = compare_texts(member_of(&f->model.pairs[below]), member);
        if (order > 0 || (order == 0 && !inclusive)) break;
        below++;
    }
    assert_int_equal(skiplist_count_below_member(f->list, member, inclusive), below);
}

static void step(struct fixture *f, enum taste taste, uint64_t members, bool growing) {
    char buffer[LONG_TEXT];
    struct slice member = random_member(&f->random, buffer, members);
    uint64_t dice = random_below(&f->random, 20);
    if (dice < (growing ? 14 : 5))
        set(f, member, random_score(&f->random, taste));
    else if (dice < 17)
        drop(f, member);
    else if (dice == 17 && !growing)
        drop_range(f);
    if (relocate_step_begins(&f->relocation, &f->random) && !skiplist_is_captured(f->list))
        f->list = skiplist_relocate(f->list, &f->relocation.relocator, &f->relocation.cursor);
    look(f, taste);
}

/* --- Tests --- */

/* A check visits and looks up every member; what a step did wrong is still wrong some steps later. */
enum { STEPS = 6000, CHECK_EACH = 60 };

static void any_operations_do_what_they_do_to_the_model(void **state) {
    struct fixture *f = *state;
    for (int taste = 0; taste < TASTES; taste++) {
        uint64_t members = taste % 2 ? 500 : 2500;
        for (int i = 0; i < STEPS; i++) {
            step(f, (enum taste)taste, members, i % 3000 < 2000);
            if (i % CHECK_EACH == 0) assert_same(f->list, &f->model);
        }
        skiplist_delete_range(f->list, 0, f->model.count);
        model_delete(&f->model, 0, f->model.count);
        assert_same(f->list, &f->model);
    }
}

static void an_empty_list_has_no_more_than_its_struct(void **state) {
    struct fixture *f = *state;
    size_t used = mem_used() - skiplist_allocated(f->list);
    char buffer[LONG_TEXT];
    for (int i = 0; i < 2000; i++)
        set(f, random_member(&f->random, buffer, 3000), random_score(&f->random, WIDE));
    assert_same(f->list, &f->model);
    while (f->model.count)
        drop(f, member_of(&f->model.pairs[random_below(&f->random, f->model.count)]));
    assert_same(f->list, &f->model);
    assert_true(skiplist_allocated(f->list) <= mem_good_size(sizeof(*f->list)) + 64);
    assert_true(mem_used() - used >= skiplist_allocated(f->list));
}

static void the_bytes_allocated_are_those_that_the_allocator_counts(void **state) {
    struct fixture *f = *state;
    size_t others = mem_used() - skiplist_allocated(f->list);
    char buffer[LONG_TEXT];
    for (int i = 0; i < 4000; i++) {
        struct slice member = random_member(&f->random, buffer, 3000);
        struct skiplist_place place = skiplist_find(f->list, member);
        double score = random_score(&f->random, FRACTIONS);
        if (i > 2500 && place.node)
            skiplist_delete(f->list, &place);
        else if (place.node)
            skiplist_update(f->list, &place, member, score);
        else
            skiplist_insert(f->list, &place, member, score);
        assert_int_equal(mem_used() - others, skiplist_allocated(f->list));
    }
    assert_true(skiplist_check(f->list));
}

static void a_copy_is_equal_and_shares_nothing(void **state) {
    struct fixture *f = *state;
    char buffer[LONG_TEXT];
    for (int i = 0; i < 1500; i++) {
        set(f, random_member(&f->random, buffer, 3000), random_score(&f->random, WIDE));
        if (i % 300) continue;
        size_t used = mem_used();
        struct skiplist *copy = skiplist_copy(f->list);
        assert_int_equal(mem_used() - used, skiplist_allocated(copy));
        struct skiplist *original = f->list;
        f->list = copy;
        assert_same(copy, &f->model);
        drop_range(f);
        set(f, random_member(&f->random, buffer, 3000), 7);
        assert_same(copy, &f->model);
        skiplist_free(original);
    }
}

/* --- Scanning --- */

struct seen {
    const struct model *model;
    unsigned char *times;
};

static void note(struct slice member, double score, void *arg) {
    struct seen *seen = arg;
    size_t at = model_find(seen->model, member);
    assert_true(at < seen->model->count);
    assert_true(same_score(score, seen->model->pairs[at].score));
    if (seen->times[at] < 255) seen->times[at]++;
}

static void a_scan_of_a_list_that_rests_visits_each_member_once(void **state) {
    struct fixture *f = *state;
    char buffer[LONG_TEXT];
    for (int i = 0; i < 2500; i++)
        set(f, random_member(&f->random, buffer, 5000), random_score(&f->random, WIDE));
    unsigned char *times = calloc(f->model.count, 1);
    struct seen seen = {&f->model, times};
    uint64_t cursor = 0;
    do cursor = skiplist_scan(f->list, cursor, note, &seen);
    while (cursor);
    for (size_t i = 0; i < f->model.count; i++) assert_int_equal(times[i], 1);
    free(times);
}

static void mark_lasting(struct slice member, double score, void *arg) {
    (void)score;
    unsigned char *found = arg;
    if (member.len > 5 && memcmp(member.ptr, "stay:", 5) == 0)
        found[strtol(member.ptr + 5, NULL, 10)] = 1;
}

static void a_scan_visits_what_was_there_throughout_while_the_list_changes(void **state) {
    struct fixture *f = *state;
    enum { LASTING = 100 };
    for (int round = 0; round < 30; round++) {
        struct skiplist *list = skiplist_new();
        unsigned char found[LASTING] = {0};
        char buffer[LONG_TEXT];
        int others = round % 2 ? 2000 : 0;
        for (int i = 0; i < LASTING + others; i++) {
            int len = snprintf(buffer, sizeof(buffer), i < LASTING ? "stay:%d " : "go:%d", i);
            struct slice member = slice_make(buffer, (size_t)len);
            struct skiplist_place place = skiplist_find(list, member);
            skiplist_insert(list, &place, member, i);
        }
        uint64_t cursor = 0;
        int next = LASTING + others, batches = 0;
        do {
            cursor = skiplist_scan(list, cursor, mark_lasting, found);
            for (int i = 0; i < 40; i++) {
                int n = round % 2 ? LASTING + (int)random_below(&f->random, 2000) : next++;
                int len = snprintf(buffer, sizeof(buffer), "go:%d", n);
                struct slice member = slice_make(buffer, (size_t)len);
                struct skiplist_place place = skiplist_find(list, member);
                if (place.node)
                    skiplist_delete(list, &place);
                else if (round % 2 == 0 && next < 5000)
                    skiplist_insert(list, &place, member, n);
            }
            if (batches++ % 16 == 0 || !cursor) assert_true(skiplist_check(list));
        } while (cursor);
        for (int i = 0; i < LASTING; i++) assert_int_equal(found[i], 1);
        skiplist_free(list);
    }
}

/* --- Captures --- */

struct reading {
    const struct model *model;
    size_t left;
};

static void read_captured(struct slice member, double score, void *arg) {
    struct reading *reading = arg;
    assert_true(reading->left > 0);
    const struct pair *pair = &reading->model->pairs[--reading->left];
    assert_true(slice_equal(member, member_of(pair)));
    assert_true(same_score(score, pair->score));
}

static struct model *model_copy(const struct model *model) {
    struct model *copy = malloc(sizeof(*copy));
    copy->count = 0;
    for (size_t i = 0; i < model->count; i++) {
        const struct pair *pair = &model->pairs[i];
        char *member = malloc(pair->len + 1);
        memcpy(member, pair->member, pair->len);
        copy->pairs[copy->count++] = (struct pair){pair->score, pair->len, member};
    }
    return copy;
}

static void a_capture_stays_what_the_list_was(void **state) {
    struct fixture *f = *state;
    for (int round = 0; round < 40; round++) {
        for (int i = 0; i < 150; i++) step(f, WIDE, 2500, round % 10 < 7);
        set(f, SLICE("one at least"), 1);
        struct model *before = model_copy(&f->model);
        size_t left = 0;
        struct capture *capture = skiplist_capture_begin(f->list, &left);
        assert_true(skiplist_is_captured(f->list));
        for (int i = 0; i < 300; i++) step(f, WIDE, 2500, round % 2);
        assert_same(f->list, &f->model);
        assert_int_equal(skiplist_capture_count(capture), before->count);
        for (int twice = 0; twice < 2; twice++) {
            struct reading reading = {before, before->count};
            skiplist_capture_visit(capture, read_captured, &reading);
            assert_int_equal(reading.left, 0);
        }
        if (round % 4 == 3) {
            skiplist_free(f->list);
            f->list = skiplist_new();
            model_delete(&f->model, 0, f->model.count);
            struct reading reading = {before, before->count};
            skiplist_capture_visit(capture, read_captured, &reading);
        }
        size_t reported = left;
        assert_int_equal(capture_release(capture), reported);
        assert_int_equal(left, 0);
        capture_free(capture);
        assert_false(skiplist_is_captured(f->list));
        assert_same(f->list, &f->model);
        model_delete(before, 0, before->count);
        free(before);
    }
}

/* Returns whether a copy of what was captured has these members, in both directions. */
static void assert_copied(struct capture *capture, struct model *before) {
    for (int with_index = 0; with_index < 2; with_index++) {
        struct skiplist *copy = skiplist_capture_copy(capture, with_index);
        struct skiplist_cursor cursor;
        assert_int_equal(skiplist_count(copy), before->count);
        if (with_index) assert_same(copy, before);
        for (size_t i = 0; i < before->count; i += 7) {
            skiplist_seek(copy, i, &cursor);
            struct slice member = skiplist_cursor_member(&cursor);
            assert_true(slice_equal(member, member_of(&before->pairs[i])));
            if (!with_index) assert_null(skiplist_find(copy, member).node);
        }
        skiplist_free(copy);
    }
}

static void a_capture_is_copied_to_a_list_of_its_own(void **state) {
    struct fixture *f = *state;
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 150; i++) step(f, WIDE, 2500, round % 10 < 7);
        set(f, SLICE("one at least"), 1);
        struct model *before = model_copy(&f->model);
        size_t left = 0;
        struct capture *capture = skiplist_capture_begin(f->list, &left);
        assert_copied(capture, before);
        for (int i = 0; i < 300; i++) step(f, WIDE, 2500, round % 2);
        assert_copied(capture, before);
        capture_end(capture);
        assert_same(f->list, &f->model);
        model_delete(before, 0, before->count);
        free(before);
    }
}

/* --- A capture read in no order --- */

/* Each number leads to a member of its own, with its score. */
static void assert_numbered(struct capture *capture, const struct model *before) {
    bool *is_found = calloc(before->count, sizeof(*is_found));
    for (size_t number = before->count; number-- > 0;) {
        struct skiplist_cursor cursor;
        skiplist_capture_seek(capture, number, &cursor);
        size_t at = model_find(before, skiplist_cursor_member(&cursor));
        assert_true(at < before->count && !is_found[at]);
        assert_true(same_score(skiplist_cursor_score(&cursor), before->pairs[at].score));
        is_found[at] = true;
    }
    free(is_found);
}

static void a_capture_has_each_member_under_one_number(void **state) {
    struct fixture *f = *state;
    for (int round = 0; round < 40; round++) {
        for (int i = 0; i < 150; i++) step(f, WIDE, 2500, round % 10 < 7);
        set(f, SLICE("one at least"), 1);
        struct model *before = model_copy(&f->model);
        size_t left = 0;
        struct capture *capture = skiplist_capture_begin(f->list, &left);
        if (round % 2) assert_numbered(capture, before);
        for (int i = 0; i < 300; i++) step(f, WIDE, 2500, round % 3);
        assert_numbered(capture, before);
        capture_end(capture);
        assert_int_equal(left, 0);
        model_delete(before, 0, before->count);
        free(before);
    }
}

/* --- A capture read by scores --- */

static size_t member_below(const struct model *model, double score) {
    size_t at = 0;
    while (at < model->count && model->pairs[at].score < score) at++;
    return at;
}

/* The members from this score on, which is at most `until`, up to there are those that were
 * captured. */
static void assert_captured_from(struct capture *capture, const struct model *before, double score,
                                 double until) {
    size_t at = member_below(before, score), place;
    struct skiplist_cursor cursor;
    bool found = skiplist_capture_seek_score(capture, score, &place, &cursor);
    for (; at < before->count && before->pairs[at].score <= until; at++) {
        assert_true(found);
        assert_true(slice_equal(skiplist_cursor_member(&cursor), member_of(&before->pairs[at])));
        assert_true(skiplist_cursor_score(&cursor) == before->pairs[at].score);
        found =
            skiplist_next_in_node(&cursor) || skiplist_capture_next_node(capture, &place, &cursor);
    }
    if (at == before->count) assert_false(found);
    assert_true(!found || skiplist_cursor_score(&cursor) > until);
}

struct wanted {
    double from;
    double to;
};

static bool is_wanted(double first, double last, const void *arg) {
    const struct wanted *wanted = arg;
    assert_true(first <= last);
    return last >= wanted->from && first <= wanted->to;
}

static void a_capture_is_read_by_scores(void **state) {
    struct fixture *f = *state;
    for (int round = 0; round < 60; round++) {
        enum taste taste = round % 3 ? WIDE : FEW_SCORES;
        for (int i = 0; i < 150; i++) step(f, taste, 2500, round % 10 < 7);
        set(f, SLICE("one at least"), 1);
        struct model *before = model_copy(&f->model);
        struct capture *capture = skiplist_capture_begin(f->list, NULL);
        for (int i = 0; i < 300; i++) step(f, taste, 2500, round % 2);
        double a = random_score(&f->random, taste), b = random_score(&f->random, taste);
        struct wanted wanted = {a < b ? a : b, a < b ? b : a};
        if (round % 2) {
            skiplist_capture_select(capture, is_wanted, &wanted);
            assert_captured_from(capture, before, wanted.from, wanted.to);
        } else {
            assert_captured_from(capture, before, a, INFINITY);
            assert_captured_from(capture, before, -INFINITY, b);
        }
        capture_end(capture);
        model_delete(before, 0, before->count);
        free(before);
    }
}

/* --- Shape --- */

static void fill(struct skiplist *list, int from, int to, int by) {
    char buffer[LONG_TEXT];
    for (int i = from; i != to; i += by) {
        int len = snprintf(buffer, sizeof(buffer), "%08d", i);
        struct slice member = slice_make(buffer, (size_t)len);
        struct skiplist_place place = skiplist_find(list, member);
        skiplist_insert(list, &place, member, i);
    }
}

static void members_in_order_fill_their_nodes(void **state) {
    (void)state;
    enum { MEMBERS = 20 * SKIPLIST_NODE_MEMBERS };
    for (int backwards = 0; backwards < 2; backwards++) {
        struct skiplist *list = skiplist_new();
        if (backwards)
            fill(list, MEMBERS, 0, -1);
        else
            fill(list, 0, MEMBERS, 1);
        assert_int_equal(list->node_count, 20);
        assert_true(skiplist_check(list));
        skiplist_free(list);
    }
}

static void nodes_merge_when_members_go(void **state) {
    struct fixture *f = *state;
    enum { MEMBERS = 30 * SKIPLIST_NODE_MEMBERS };
    char buffer[LONG_TEXT];
    struct skiplist *list = skiplist_new();
    fill(list, 0, MEMBERS, 1);
    for (int left = MEMBERS; left > SKIPLIST_NODE_MEMBERS;) {
        int len = snprintf(buffer, sizeof(buffer), "%08d", (int)random_below(&f->random, MEMBERS));
        struct skiplist_place place = skiplist_find(list, slice_make(buffer, (size_t)len));
        if (!place.node) continue;
        skiplist_delete(list, &place);
        left--;
    }
    assert_true(skiplist_check(list));
    assert_uint_in_range(list->node_count, 1, 8);
    skiplist_free(list);
}

/* Of each node one member stays: it must not keep a node to itself. */
static void assert_merged_after(void (*thin_out)(struct skiplist *list)) {
    enum { NODES = 30 };
    struct skiplist *list = skiplist_new();
    fill(list, 0, NODES * SKIPLIST_NODE_MEMBERS, 1);
    thin_out(list);
    assert_int_equal(skiplist_count(list), NODES);
    assert_true(skiplist_check(list));
    assert_uint_in_range(list->node_count, 1, NODES / 2);
    skiplist_free(list);
}

static void delete_in_order(struct skiplist *list) {
    char buffer[LONG_TEXT];
    for (int i = 0, end = (int)skiplist_count(list); i < end; i++) {
        if (i % SKIPLIST_NODE_MEMBERS == 0) continue;
        int len = snprintf(buffer, sizeof(buffer), "%08d", i);
        struct skiplist_place place = skiplist_find(list, slice_make(buffer, (size_t)len));
        skiplist_delete(list, &place);
    }
}

static void delete_ranges_in_order(struct skiplist *list) {
    for (uint64_t rank = 1; rank < skiplist_count(list); rank++)
        skiplist_delete_range(list, rank, SKIPLIST_NODE_MEMBERS - 1);
}

/* Ranges that end where a node ends: only the one that is cut first stays sparse. */
static void delete_ranges_backwards(struct skiplist *list) {
    for (uint64_t end = skiplist_count(list); end > 0; end -= SKIPLIST_NODE_MEMBERS)
        skiplist_delete_range(list, end - SKIPLIST_NODE_MEMBERS + 1, SKIPLIST_NODE_MEMBERS - 1);
}

static void nodes_merge_when_members_go_in_order(void **state) {
    (void)state;
    assert_merged_after(delete_in_order);
    assert_merged_after(delete_ranges_in_order);
    assert_merged_after(delete_ranges_backwards);
}

static void each_member_is_drawn_as_often_as_any_other(void **state) {
    struct fixture *f = *state;
    enum { MEMBERS = 200, DRAWS = 200 * MEMBERS };
    int drawn[MEMBERS] = {0};
    struct skiplist *list = skiplist_new();
    fill(list, 0, 3 * MEMBERS, 1);
    skiplist_delete_range(list, MEMBERS, 2 * MEMBERS);
    for (int i = 0; i < DRAWS; i++) {
        struct skiplist_cursor cursor;
        skiplist_seek(list, random_below(&f->random, skiplist_count(list)), &cursor);
        drawn[(int)skiplist_cursor_score(&cursor)]++;
    }
    double chi_square = 0;
    for (int i = 0; i < MEMBERS; i++) {
        double off = drawn[i] - DRAWS / MEMBERS;
        chi_square += off * off / (DRAWS / MEMBERS);
    }
    /* 199 degrees of freedom: mean 199, standard deviation 20; above 340 once in 10^9 runs. */
    assert_true(chi_square < 340);
    skiplist_free(list);
}

static int set_up(void **state) {
    struct fixture *f = *state;
    f->list = skiplist_new();
    f->model.count = 0;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *f = *state;
    skiplist_free(f->list);
    model_delete(&f->model, 0, f->model.count);
    return 0;
}

int main(void) {
    static struct fixture fixture;
    fixture.random = random_of_this_run();
    hash_init_seed(random_next(&fixture.random));
#define LIST_TEST(name)                                                                            \
    { #name, name, set_up, tear_down, &fixture }
    const struct CMUnitTest tests[] = {
        LIST_TEST(any_operations_do_what_they_do_to_the_model),
        LIST_TEST(an_empty_list_has_no_more_than_its_struct),
        LIST_TEST(the_bytes_allocated_are_those_that_the_allocator_counts),
        LIST_TEST(a_copy_is_equal_and_shares_nothing),
        LIST_TEST(a_scan_of_a_list_that_rests_visits_each_member_once),
        LIST_TEST(a_scan_visits_what_was_there_throughout_while_the_list_changes),
        LIST_TEST(a_capture_stays_what_the_list_was),
        LIST_TEST(a_capture_is_copied_to_a_list_of_its_own),
        LIST_TEST(a_capture_has_each_member_under_one_number),
        LIST_TEST(a_capture_is_read_by_scores),
        LIST_TEST(members_in_order_fill_their_nodes),
        LIST_TEST(nodes_merge_when_members_go),
        LIST_TEST(nodes_merge_when_members_go_in_order),
        LIST_TEST(each_member_is_drawn_as_often_as_any_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
