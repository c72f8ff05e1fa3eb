/* Captures of ranges of a skiplist: each is read in steps while the list changes, and gives the members
 * of its moment in their order. */
#include "base/hash/hash.h"
#include "base/memory/alloc.h"
#include "ds/capture.h"
#include "ds/sorted_sets/skiplist_internal.h"
#include "unit/relocate_step.h"
#include "unit/seed.h"
#include "unit/zset_model.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* Lists grow to some dozens of nodes. */
enum { MEMBERS = 40 * SKIPLIST_NODE_MEMBERS, READERS = 5 };

struct reader {
    struct capture *capture; /* NULL: none */
    bool forward;
    uint64_t count;
    uint64_t read;
    struct pair *expected;
    struct slice *views; /* of what was read */
};

static struct random random_numbers;

static size_t below(size_t bound) {
    return (size_t)random_below(&random_numbers, bound);
}

static bool one_in(size_t n) {
    return below(n) == 0;
}

/* --- Changes --- */

static void put(struct skiplist *list, struct slice member, double score) {
    struct skiplist_place place = skiplist_find(list, member);
    if (place.node)
        skiplist_update(list, &place, member, score);
    else
        skiplist_insert(list, &place, member, score);
}

static void drop(struct skiplist *list, struct slice member) {
    struct skiplist_place place = skiplist_find(list, member);
    if (place.node) skiplist_delete(list, &place);
}

static void drop_range(struct skiplist *list) {
    uint64_t count = skiplist_count(list);
    if (count == 0) return;
    uint64_t from = one_in(3) ? 0 : below(count), n = 1 + below(one_in(8) ? count : 20);
    if (n > count - from) n = count - from;
    skiplist_delete_range(list, one_in(3) ? count - n : from, n);
}

/* Members of scores that follow each other, so that many new nodes stand between old ones, or at an
 * end. */
static void put_run(struct skiplist *list, enum taste taste) {
    char buffer[LONG_TEXT];
    double score = random_score(&random_numbers, taste);
    for (size_t i = 0, count = below(3 * SKIPLIST_NODE_MEMBERS); i < count; i++)
        put(list, random_member(&random_numbers, buffer, MEMBERS), score);
}

static void change(struct skiplist *list, enum taste taste, bool grows) {
    char buffer[LONG_TEXT];
    struct slice member = random_member(&random_numbers, buffer, MEMBERS);
    if (one_in(50))
        put_run(list, taste);
    else if (one_in(grows ? 60 : 8))
        drop_range(list);
    else if (one_in(grows ? 5 : 2))
        drop(list, member);
    else
        put(list, member, random_score(&random_numbers, taste));
}

/* --- Readers --- */

static void keep_expected(struct reader *reader, const struct skiplist *list, uint64_t rank) {
    struct skiplist_cursor cursor;
    reader->expected = mem_alloc(reader->count * sizeof(*reader->expected));
    reader->views = mem_alloc(reader->count * sizeof(*reader->views));
    skiplist_seek(list, rank, &cursor);
    for (uint64_t i = 0; i < reader->count; i++) {
        struct slice member = skiplist_cursor_member(&cursor);
        struct pair *pair = &reader->expected[i];
        *pair = (struct pair){skiplist_cursor_score(&cursor), member.len, mem_alloc(member.len)};
        if (member.len > 0) memcpy(pair->member, member.ptr, member.len);
        (void)(reader->forward ? skiplist_next(&cursor) : skiplist_previous(&cursor));
    }
}

static void begin(struct reader *reader, struct skiplist *list, size_t *left) {
    uint64_t members = skiplist_count(list), rank = below(members);
    bool forward = one_in(2);
    uint64_t most = forward ? members - rank : rank + 1;
    uint64_t count = one_in(2) ? most : 1 + below(most);
    struct capture *capture = skiplist_range_capture_begin(list, rank, count, forward, left);
    *reader = (struct reader){.capture = capture, .forward = forward, .count = count};
    if (capture) keep_expected(reader, list, rank);
}

static void assert_is(struct slice member, const struct pair *pair) {
    assert_true(slice_equal(member, member_of(pair)));
}

/* Returns whether there was more. */
static bool read_some(struct reader *reader, size_t most) {
    enum { BATCH = 50 };
    struct slice members[BATCH];
    double scores[BATCH];
    bool with_scores = one_in(2);
    if (most > BATCH) most = BATCH;
    size_t count =
        skiplist_range_capture_read(reader->capture, members, with_scores ? scores : NULL, most);
    assert_true(count <= most && count <= reader->count - reader->read);
    assert_true(count > 0 || reader->read == reader->count);
    for (size_t i = 0; i < count; i++) {
        const struct pair *pair = &reader->expected[reader->read];
        assert_is(members[i], pair);
        if (with_scores) assert_true(same_score(scores[i], pair->score));
        reader->views[reader->read++] = members[i];
    }
    return count > 0;
}

static void end(struct reader *reader, bool reads_all) {
    if (!reader->capture) return;
    while (reads_all && read_some(reader, 1 + below(50))) continue;
    for (uint64_t i = 0; i < reader->read; i++) assert_is(reader->views[i], &reader->expected[i]);
    capture_end(reader->capture);
    for (uint64_t i = 0; i < reader->count; i++) mem_free(reader->expected[i].member);
    mem_free(reader->expected);
    mem_free(reader->views);
    reader->capture = NULL;
}

/* --- Captures of all members, which end among the others --- */

static void count_member(struct slice member, double score, void *arg) {
    (void)member, (void)score;
    ++*(uint64_t *)arg;
}

static void begin_or_end_whole(struct capture **whole, struct skiplist *list, size_t *left) {
    if (!*whole) {
        *whole = skiplist_capture_begin(list, left);
        return;
    }
    uint64_t count = 0;
    skiplist_capture_visit(*whole, count_member, &count);
    assert_int_equal(count, skiplist_capture_count(*whole));
    capture_end(*whole);
    *whole = NULL;
}

/* --- Tests --- */

static void use_readers(struct reader *readers, struct skiplist *list, size_t *left) {
    struct reader *reader = &readers[below(READERS)];
    if (!reader->capture && skiplist_count(list) > 0)
        begin(reader, list, left);
    else if (reader->capture && one_in(40))
        end(reader, one_in(2));
    else if (reader->capture)
        read_some(reader, 1 + below(50));
}

static void ranges_of_any_moments_are_read_while_the_list_changes(void **state) {
    enum { ROUNDS = 40, STEPS = 1500 };
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        size_t used = mem_used(), left = 0;
        struct skiplist *list = skiplist_new();
        struct reader readers[READERS] = {{0}};
        struct capture *whole = NULL;
        struct relocate_step relocation = {0};
        enum taste taste = (enum taste)(round % TASTES);
        for (int i = 0; i < MEMBERS / 2; i++) change(list, taste, true);
        size_t calm = 1 + below(30);
        for (int i = 0; i < STEPS; i++) {
            if (one_in(calm)) use_readers(readers, list, &left);
            change(list, taste, i % 500 < 300);
            if (one_in(100) && skiplist_count(list) > 0) begin_or_end_whole(&whole, list, &left);
            if (relocate_step_begins(&relocation, &random_numbers) && !skiplist_is_captured(list))
                list = skiplist_relocate(list, &relocation.relocator, &relocation.cursor);
            if (one_in(400)) assert_true(skiplist_check(list));
        }
        bool frees_first = one_in(2);
        if (frees_first) skiplist_free(list);
        for (size_t i = 0; i < READERS; i++) end(&readers[i], true);
        if (whole) capture_end(whole);
        assert_int_equal(left, 0);
        if (!frees_first) {
            assert_false(skiplist_is_captured(list));
            skiplist_free(list);
        }
        assert_int_equal(mem_used(), used);
    }
}

/* Every node is dropped, and new ones stand in its place; or they go with all their members. */
static void a_range_is_read_when_nothing_of_it_is_left(void **state) {
    char buffer[LONG_TEXT];
    (void)state;
    for (int way = 0; way < 8; way++) {
        struct skiplist *list = skiplist_new();
        struct reader reader = {.forward = way % 2, .count = MEMBERS};
        size_t left = 0;
        for (int i = 0; i < MEMBERS; i++)
            put(list, slice_make(buffer, (size_t)snprintf(buffer, 64, "m:%d", i)), i % 999);
        uint64_t first = reader.forward ? 0 : MEMBERS - 1;
        reader.capture = skiplist_range_capture_begin(list, first, MEMBERS, reader.forward, &left);
        keep_expected(&reader, list, first);
        read_some(&reader, 3);
        if (way / 2 == 0) skiplist_delete_range(list, 0, MEMBERS);
        if (way / 2 == 1) skiplist_delete_range(list, 1, MEMBERS - 2);
        for (int i = 0; way / 2 == 2 && i < MEMBERS; i++)
            put(list, slice_make(buffer, (size_t)snprintf(buffer, 64, "m:%d", i)), i % 7);
        for (int i = 0; way / 2 == 3 && i < MEMBERS; i++)
            drop(list, slice_make(buffer, (size_t)snprintf(buffer, 64, "m:%d", i)));
        assert_true(skiplist_check(list));
        end(&reader, true);
        assert_int_equal(left, 0);
        skiplist_free(list);
    }
}

static struct skiplist *list_in_order(void) {
    char buffer[LONG_TEXT];
    struct skiplist *list = skiplist_new();
    for (int i = 0; i < MEMBERS; i++)
        put(list, slice_make(buffer, (size_t)snprintf(buffer, 64, "m:%d", i)), i);
    return list;
}

/* Nodes behind the end of the range, and those that were read, are left to it as to any capture, and
 * take no other memory. */
static void nodes_that_a_range_need_not_read_are_not_kept_in_order(void **state) {
    struct slice views[3];
    (void)state;
    for (int way = 0; way < 4; way++) {
        size_t left = 0, whole_left = 0;
        struct skiplist *list = list_in_order(), *other = list_in_order();
        bool forward = way % 2, is_read = way / 2;
        uint64_t rank = forward ? 0 : MEMBERS - 1, count = is_read ? MEMBERS : 3;
        struct capture *range = skiplist_range_capture_begin(list, rank, count, forward, &left);
        struct capture *whole = skiplist_capture_begin(other, &whole_left);
        while (is_read && skiplist_range_capture_read(range, views, NULL, 3)) continue;
        skiplist_delete_range(list, 2 * SKIPLIST_NODE_MEMBERS, MEMBERS / 2);
        skiplist_delete_range(other, 2 * SKIPLIST_NODE_MEMBERS, MEMBERS / 2);
        assert_true(left > 0);
        assert_int_equal(left, whole_left);
        capture_end(range);
        capture_end(whole);
        skiplist_free(list);
        skiplist_free(other);
    }
}

int main(void) {
    hash_init();
    random_numbers = random_of_this_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_of_any_moments_are_read_while_the_list_changes),
        cmocka_unit_test(a_range_is_read_when_nothing_of_it_is_left),
        cmocka_unit_test(nodes_that_a_range_need_not_read_are_not_kept_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
