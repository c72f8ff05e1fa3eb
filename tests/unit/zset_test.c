/* Sorted sets in both encodings against a naive model. */
#include "types/zset.h"

#include "base/hash/hash.h"
#include "ds/capture.h"
#include "types/value.h"
#include "unit/in_range.h"
#include "unit/seed.h"
#include "unit/zset_model.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define KEY SLICE("a sorted set")

struct fixture {
    struct random random;
    struct keyspace *keyspace;
    struct listpack_limits limits;
    struct model model;
    bool is_skiplist;
};

static struct keyref find_key(struct fixture *f) {
    return keyspace_find(f->keyspace, KEY);
}

static void assert_same_batches(struct fixture *f, const struct entry *entry, bool forward) {
    struct zset_iter iter;
    struct text_batch batch;
    size_t from = (size_t)random_below(&f->random, f->model.count), at = from;
    size_t left = forward ? f->model.count - from : from + 1;
    if (random_below(&f->random, 2)) left = (size_t)random_below(&f->random, left + 1);
    zset_iter_start(&iter, entry, from, forward);
    for (; zset_iter_next_batch(&iter, &batch, left); left -= batch.count) {
        assert_true(batch.count > 0 && batch.count <= left && batch.count <= TEXT_BATCH);
        for (size_t i = 0; i < batch.count; i++) {
            assert_true(slice_equal(batch.texts[i], member_of(&f->model.pairs[at])));
            at += forward ? 1 : (size_t)-1;
        }
    }
    assert_int_equal(left, 0);
}

static void assert_same(struct fixture *f) {
    struct keyref ref = find_key(f);
    assert_int_equal(ref.entry != NULL, f->model.count > 0);
    assert_true(keyspace_check(f->keyspace));
    if (!ref.entry) return;
    assert_true(value_check(ref.entry));
    assert_int_equal(zset_length(ref.entry), f->model.count);
    assert_string_equal(value_encoding_name(ref.entry), f->is_skiplist ? "skiplist" : "listpack");
    for (int forward = 0; forward < 2; forward++) {
        struct zset_iter iter;
        struct zset_member member;
        size_t from = (size_t)random_below(&f->random, f->model.count), at = from;
        zset_iter_start(&iter, ref.entry, from, forward);
        while (zset_iter_next(&iter, &member)) {
            assert_true(at < f->model.count);
            assert_true(slice_equal(member.text, member_of(&f->model.pairs[at])));
            assert_true(same_score(member.score, f->model.pairs[at].score));
            at += forward ? 1 : (size_t)-1;
        }
        assert_int_equal(at, forward ? f->model.count : (size_t)-1);
        assert_same_batches(f, ref.entry, forward);
    }
}

/* --- Operations on both --- */

static void put(struct fixture *f, struct slice member, double score) {
    struct keyref ref = find_key(f);
    bool exceeds = member.len > f->limits.listpack_value;
    if (!ref.entry) {
        f->is_skiplist = exceeds || f->limits.listpack_entries == 0;
        zset_create(&ref, KEY, member, score, 1, member.len, &f->limits);
        model_insert(&f->model, member, score);
        return;
    }
    struct zset_place place = zset_find(ref.entry, member);
    size_t at = model_find(&f->model, member);
    assert_int_equal(place.found, at < f->model.count);
    if (place.found) {
        assert_true(same_score(place.score, f->model.pairs[at].score));
        assert_int_equal(zset_rank(ref.entry, &place), at);
        model_delete(&f->model, at, 1);
    } else if (exceeds || f->model.count >= f->limits.listpack_entries) {
        f->is_skiplist = true;
    }
    zset_put(&ref, &place, member, score, &f->limits);
    model_insert(&f->model, member, score);
}

static void delete_if_empty(struct keyref *ref) {
    if (zset_length(ref->entry) == 0) keyspace_delete(ref);
}

static void drop(struct fixture *f, struct slice member) {
    struct keyref ref = find_key(f);
    if (!ref.entry) return;
    struct zset_place place = zset_find(ref.entry, member);
    size_t at = model_find(&f->model, member);
    assert_int_equal(place.found, at < f->model.count);
    if (!place.found) return;
    zset_remove(&ref, &place);
    model_delete(&f->model, at, 1);
    delete_if_empty(&ref);
}

static void drop_range(struct fixture *f) {
    struct keyref ref = find_key(f);
    if (!ref.entry) return;
    size_t from = (size_t)random_below(&f->random, f->model.count);
    size_t n = (size_t)random_below(&f->random, f->model.count - from + 1);
    zset_remove_range(&ref, from, n);
    model_delete(&f->model, from, n);
    delete_if_empty(&ref);
}

/* The seeker is at the member of this rank, if there is one. */
static void assert_seeker(struct fixture *f, bool found, const struct zset_seeker *seeker,
                          size_t rank) {
    char digits[INT64_TEXT_MAX];
    assert_true(found == (rank < f->model.count));
    if (!found) return;
    assert_true(seeker->score == f->model.pairs[rank].score);
    assert_true(slice_equal(zset_seek_text(seeker, digits), member_of(&f->model.pairs[rank])));
}

static void seek(struct fixture *f, const struct entry *entry, enum taste taste) {
    double score = random_score(&f->random, taste), further = random_score(&f->random, taste);
    struct zset_seeker seeker;
    size_t rank = model_below(&f->model, score, false);
    bool found = zset_seek(&seeker, entry, score);
    assert_seeker(f, found, &seeker, rank);
    for (int i = 0; found && i < 3; i++) {
        found = zset_seek_next(&seeker);
        assert_seeker(f, found, &seeker, ++rank);
    }
    if (!found || further <= seeker.score) return;
    found = zset_seek_forward(&seeker, further);
    assert_seeker(f, found, &seeker, model_below(&f->model, further, false));
}

/* Each draw is a member with its score: of the value, or as it is frozen. */
static void draw(struct fixture *f, struct zset_draws *draws) {
    struct zset_member member;
    for (int i = 0; i < 5; i++) {
        zset_draws_next(draws, &f->random, &member);
        size_t at = model_find(&f->model, member.text);
        assert_true(at < f->model.count && member.score == f->model.pairs[at].score);
    }
    zset_draws_end(draws);
}

static void draw_frozen(struct fixture *f, struct entry *entry) {
    struct frozen frozen;
    struct zset_draws draws;
    size_t left = 0;
    value_freeze(entry, &left, &frozen);
    zset_draws_begin_frozen(&draws, &frozen);
    draw(f, &draws);
    struct capture *capture = value_unfreeze(&frozen);
    if (capture) capture_end(capture);
    assert_int_equal(left, 0);
}

static void look(struct fixture *f, enum taste taste) {
    struct keyref ref = find_key(f);
    if (!ref.entry) return;
    double score = random_score(&f->random, taste);
    bool inclusive = random_below(&f->random, 2);
    assert_int_equal(zset_count_below(ref.entry, score, inclusive),
                     model_below(&f->model, score, inclusive));
    struct zset_member member;
    struct zset_draws draws;
    seek(f, ref.entry, taste);
    zset_draws_begin(&draws, ref.entry);
    draw(f, &draws);
    draw_frozen(f, ref.entry);
    if (taste != ONE_SCORE) return;
    zset_draws_begin(&draws, ref.entry);
    zset_draws_next(&draws, &f->random, &member);
    zset_draws_end(&draws);
    size_t below = model_find(&f->model, member.text);
    assert_int_equal(zset_count_below_member(ref.entry, member.text, false), below);
    assert_int_equal(zset_count_below_member(ref.entry, member.text, true), below + 1);
}

static void clear(struct fixture *f) {
    struct keyref ref = find_key(f);
    if (ref.entry) keyspace_delete(&ref);
    model_delete(&f->model, 0, f->model.count);
}

/* --- Tests --- */

static void both_encodings_do_what_the_model_does(void **state) {
    static const struct listpack_limits limits[] = {{128, 64}, {10, 20}, {0, 64}, {400, 5000}};
    struct fixture *f = *state;
    char buffer[LONG_TEXT];
    for (int round = 0; round < 4 * TASTES; round++) {
        enum taste taste = (enum taste)(round / 4);
        f->limits = limits[round % 4];
        for (int i = 0; i < 1000; i++) {
            struct slice member = random_member(&f->random, buffer, round % 3 ? 90 : 400);
            uint64_t dice = random_below(&f->random, 40);
            if (dice < 25)
                put(f, member, random_score(&f->random, taste));
            else if (dice < 39)
                drop(f, member);
            else if (random_below(&f->random, 5) == 0)
                drop_range(f);
            look(f, taste);
            if (i % 20 == 0) assert_same(f);
        }
        clear(f);
    }
}

static void encodings_change_where_redis_changes_them(void **state) {
    struct fixture *f = *state;
    f->limits = value_limits_default.zset;
    char text[65];
    memset(text, 'x', sizeof(text));
    struct keyref ref = find_key(f);
    zset_create(&ref, KEY, slice_make(text, 64), 1, 128, 64, &f->limits);
    assert_string_equal(value_encoding_name(ref.entry), "listpack");
    struct zset_place place = zset_find(ref.entry, slice_make(text, 65));
    zset_put(&ref, &place, slice_make(text, 65), 1, &f->limits);
    assert_string_equal(value_encoding_name(ref.entry), "skiplist");
    place = zset_find(ref.entry, slice_make(text, 65));
    zset_remove(&ref, &place);
    assert_string_equal(value_encoding_name(ref.entry), "skiplist");
    keyspace_delete(&ref);
    ref = find_key(f);
    zset_create(&ref, KEY, SLICE("m"), 1, 129, 1, &f->limits);
    assert_string_equal(value_encoding_name(ref.entry), "skiplist");
    keyspace_delete(&ref);
    ref = find_key(f);
    zset_create(&ref, KEY, SLICE("m"), 1, 1, 1, &f->limits);
    zset_expect(&ref, 128, &f->limits);
    assert_string_equal(value_encoding_name(ref.entry), "listpack");
    zset_expect(&ref, 129, &f->limits);
    assert_string_equal(value_encoding_name(ref.entry), "skiplist");
    assert_true(value_check(ref.entry));
    keyspace_delete(&ref);
}

static void minus_zero_becomes_zero_in_either_encoding(void **state) {
    struct fixture *f = *state;
    for (size_t entries = 0; entries < 2; entries++) {
        f->limits = (struct listpack_limits){entries, 64};
        struct keyref ref = find_key(f);
        zset_create(&ref, KEY, SLICE("m"), -0.0, 1, 1, &f->limits);
        assert_true(same_score(zset_find(ref.entry, SLICE("m")).score, -0.0));
        for (double score = 1; score > -1; score -= 1) {
            struct zset_place place = zset_find(ref.entry, SLICE("m"));
            zset_put(&ref, &place, SLICE("m"), score * 0.0, &f->limits);
            assert_true(same_score(zset_find(ref.entry, SLICE("m")).score, 0));
        }
        keyspace_delete(&ref);
    }
}

/* A bisection by rank, written as a walk over what is left. */
static uint64_t bisected(struct fixture *f, struct slice bound, bool inclusive) {
    uint64_t low = 0, high = f->model.count;
    while (low < high) {
        uint64_t middle = (low + high) / 2;
        int order = slice_compare(member_of(&f->model.pairs[middle]), bound);
        if (order < 0 || (order == 0 && inclusive))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void bounds_of_members_are_the_same_in_either_encoding(void **state) {
    struct fixture *f = *state;
    for (int round = 0; round < 60; round++) {
        size_t entries = round % 2 ? 0 : 100;
        f->limits = (struct listpack_limits){entries, 64};
        f->is_skiplist = entries == 0;
        bool ordered = round % 3 == 0;
        for (int i = 0; i < 20 + round; i++) {
            char text[8];
            int len = snprintf(text, sizeof(text), "%03d", i);
            put(f, slice_make(text, (size_t)len),
                ordered ? i / 7 : (double)random_below(&f->random, 5));
        }
        struct keyref ref = find_key(f);
        for (int i = 0; i < 20 + round; i++) {
            char text[8];
            struct slice bound = slice_make(text, (size_t)snprintf(text, sizeof(text), "%03d", i));
            for (int inclusive = 0; inclusive < 2; inclusive++) {
                uint64_t below = zset_count_below_member(ref.entry, bound, inclusive);
                assert_int_equal(below, bisected(f, bound, inclusive));
                if (ordered) assert_int_equal(below, i + inclusive);
            }
        }
        model_delete(&f->model, 0, f->model.count);
        keyspace_delete(&ref);
    }
}

static void mark(struct slice member, double score, void *arg) {
    (void)score;
    if (member.len == 1) ((bool *)arg)[(unsigned char)member.ptr[0]] = true;
}

static void a_scan_visits_what_is_there_while_the_encoding_changes(void **state) {
    struct fixture *f = *state;
    f->limits = value_limits_default.zset;
    bool seen[256] = {false};
    for (int i = 0; i < 100; i++) {
        char c = (char)i;
        put(f, slice_make(&c, 1), i);
    }
    struct keyref ref = find_key(f);
    assert_int_equal(zset_scan(ref.entry, 0, mark, seen), 0);
    for (int i = 0; i < 100; i++) assert_true(seen[i]);
    memset(seen, 0, sizeof(seen));
    zset_expect(&ref, 1000, &f->limits);
    f->is_skiplist = true;
    uint64_t cursor = 0;
    int next = 0;
    do {
        cursor = zset_scan(ref.entry, cursor, mark, seen);
        char buffer[LONG_TEXT];
        for (int i = 0; i < 2; i++) {
            put(f, slice_make(buffer, (size_t)snprintf(buffer, 20, "go:%d", next)), next);
            next++;
        }
        ref = find_key(f);
    } while (cursor && next < 2000);
    assert_int_equal(cursor, 0);
    for (int i = 0; i < 100; i++) assert_true(seen[i]);
    clear(f);
}

static int set_up(void **state) {
    struct fixture *f = *state;
    f->keyspace = keyspace_new(value_free, value_length);
    return 0;
}

static int tear_down(void **state) {
    struct fixture *f = *state;
    clear(f);
    keyspace_free(f->keyspace);
    return 0;
}

int main(void) {
    static struct fixture fixture;
    fixture.random = random_of_this_run();
    hash_init_seed(random_next(&fixture.random));
#define ZSET_TEST(name)                                                                            \
    { #name, name, set_up, tear_down, &fixture }
    const struct CMUnitTest tests[] = {
        ZSET_TEST(both_encodings_do_what_the_model_does),
        ZSET_TEST(encodings_change_where_redis_changes_them),
        ZSET_TEST(minus_zero_becomes_zero_in_either_encoding),
        ZSET_TEST(bounds_of_members_are_the_same_in_either_encoding),
        ZSET_TEST(a_scan_visits_what_is_there_while_the_encoding_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
