/* Captured lists: long random runs of edits, and what a second thread reads meanwhile. */
#include "ds/lists/quicklist.h"

#include "ds/lists/quicklist_place.h"
#include "unit/quicklist_edits.h"
#include "unit/seed.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { LISTS = 3 };

static struct quicklist_edit random_edit(struct random *random) {
    uint64_t bits = random_next(random);
    return edit_of_bytes((const uint8_t *)&bits);
}

/* An edit that neither captures nor releases. */
static struct quicklist_edit plain_edit(struct random *random) {
    struct quicklist_edit edit = random_edit(random);
    edit.kind %= EDIT_CAPTURE;
    return edit;
}

static struct quicklist_edit push_edit(uint8_t text) {
    return (struct quicklist_edit){.kind = 3, .text = text};
}

static void push_many(struct list_pair *pair, struct random *random, size_t n) {
    for (size_t i = 0; i < n; i++) {
        struct quicklist_edit edit = push_edit((uint8_t)random_next(random));
        pair_edit(pair, &edit);
    }
}

/* --- At random --- */

/* Edits of several lists, each captured and released again at random: one edit in `rare`. */
static void random_run(struct random *random, struct quicklist_limits limits, size_t steps,
                       size_t rare) {
    size_t used = mem_used(), captures = 0, captured_edits = 0;
    struct list_pair pairs[LISTS];
    for (int i = 0; i < LISTS; i++) pair_begin(&pairs[i], limits);
    for (size_t step = 0; step < steps; step++) {
        struct list_pair *pair = &pairs[random_below(random, LISTS)];
        struct quicklist_edit edit = plain_edit(random);
        if (random_below(random, rare) == 0)
            edit.kind = pair->captured ? EDIT_RELEASE : EDIT_CAPTURE;
        bool was_captured = pair->captured;
        pair_edit(pair, &edit);
        captured_edits += was_captured;
        captures += pair->captured && !was_captured;
        pair_check(pair);
    }
    assert_true(captures > 0 && captured_edits > captures);
    for (int i = 0; i < LISTS; i++) pair_end(&pairs[i], i % 2);
    assert_int_equal(mem_used(), used);
}

/* Edits change limits, too. */
static void a_captured_list_keeps_its_moment_through_any_edits(void **state) {
    static const int16_t fills[] = {1, 2, 4, 128, -1, -2};
    for (size_t i = 0; i < sizeof(fills) / sizeof(*fills); i++) {
        for (uint16_t depth = 0; depth <= 3; depth++) {
            struct quicklist_limits limits = {.fill = fills[i], .compress_depth = depth};
            random_run(*state, limits, 2500, 5 + i * 5);
        }
    }
}

static void plain_nodes_keep_their_moment(void **state) {
    for (uint16_t depth = 0; depth <= 2; depth++) {
        struct quicklist_limits limits = {
            .fill = 4, .compress_depth = depth, .plain_threshold = depth == 1 ? 6 : 70};
        random_run(*state, limits, 6000, 15);
    }
}

/* Whole lists of many nodes, leaves of the tree splitting and merging; every edit beyond the first
 * leaves something. */
static void long_lists_keep_their_moment(void **state) {
    struct random *random = *state;
    size_t used = mem_used();
    for (uint16_t depth = 0; depth <= 1; depth++) {
        struct list_pair pair;
        pair_begin(&pair, (struct quicklist_limits){.fill = 1, .compress_depth = depth});
        for (int round = 0; round < 5; round++) {
            push_many(&pair, random, 800);
            pair_capture(&pair);
            assert_non_null(pair.captured);
            for (int i = 0; i < 100; i++) {
                struct quicklist_edit edit = plain_edit(random);
                if (edit.kind == 22) edit.size |= 1; /* not all elements at once */
                if (edit.kind == 21 || edit.kind >= 25) edit.kind = 12; /* and limits stay */
                pair_edit(&pair, &edit);
                if (i % 10 == 0) pair_check(&pair);
            }
            pair_check(&pair);
            assert_true(pair.left > 0);
            pair_release(&pair);
            pair_check(&pair);
        }
        pair_end(&pair, true);
    }
    assert_int_equal(mem_used(), used);
}

/* --- Cases --- */

static void pair_begins_with(struct list_pair *pair, struct quicklist_limits limits, size_t n) {
    pair_begin(pair, limits);
    for (size_t i = 0; i < n; i++) {
        struct quicklist_edit edit = push_edit((uint8_t)(16 + i % 16));
        pair_edit(pair, &edit);
    }
}

struct buffers {
    const uint8_t *data[64];
    size_t n;
};

static void note_buffer(const struct quicklist_node_info *info, void *arg) {
    struct buffers *buffers = arg;
    buffers->data[buffers->n++] = info->data;
}

static void a_capture_copies_nothing_but_the_nodes_at_the_ends(void **state) {
    (void)state;
    for (size_t nodes = 1; nodes <= 6; nodes++) {
        struct list_pair pair;
        pair_begins_with(&pair, (struct quicklist_limits){.fill = 1, .compress_depth = 2}, nodes);
        pair_capture(&pair);
        struct buffers list = {.n = 0}, captured = {.n = 0};
        quicklist_visit_nodes(pair.list, note_buffer, &list);
        quicklist_visit_nodes(quicklist_captured(pair.captured), note_buffer, &captured);
        assert_int_equal(list.n, nodes);
        assert_int_equal(captured.n, nodes);
        for (size_t i = 0; i < nodes; i++) {
            bool is_end = i == 0 || i == nodes - 1;
            assert_int_equal(list.data[i] == captured.data[i], !is_end);
        }
        pair_release(&pair);
        assert_int_equal(pair.left, 0);
        pair_check(&pair);
        pair_end(&pair, true);
    }
}

static void a_capture_costs_the_same_however_long_the_list_is(void **state) {
    (void)state;
    size_t own = 0, left = 0;
    for (size_t nodes = 4; nodes <= 40000; nodes *= 10) {
        struct quicklist *list = quicklist_new((struct quicklist_limits){.fill = 1});
        for (size_t i = 0; i < nodes; i++) edit_push(list, LIST_TAIL, 20);
        size_t used = mem_used();
        struct capture *captured = quicklist_capture_begin(list, &left);
        if (own == 0) own = mem_used() - used;
        assert_int_equal(mem_used() - used, own);
        struct quicklist_edit edit = {.text = 21, .at = (uint16_t)(nodes / 2)};
        edit_at(list, &edit, 2); /* leaves a buffer, and an array of each level */
        assert_true(left > 0 && left < 8192);
        capture_release(captured);
        capture_free(captured);
        quicklist_free(list);
    }
}

static void push_plain(struct quicklist *list, enum list_end end, size_t size) {
    struct listpack_element element;
    char *text = mem_alloc(size);
    memset(text, 'x', size);
    listpack_prepare(&element, slice_make(text, size));
    quicklist_push(list, end, &element);
    mem_free(text);
}

/* Large elements at the ends, which then become inner ones and the ends again. */
static void plain_nodes_at_the_ends_are_never_copied(void **state) {
    (void)state;
    enum { SIZE = 1 << 20 };
    for (int nodes = 1; nodes <= 4; nodes++) {
        size_t used = mem_used(), left = 0;
        struct quicklist *list = quicklist_new((struct quicklist_limits){.fill = -2});
        for (int i = 0; i < nodes; i++) push_plain(list, i % 2 ? LIST_TAIL : LIST_HEAD, SIZE);
        size_t whole = mem_used();
        struct capture *captured = quicklist_capture_begin(list, &left);
        edit_push(list, LIST_HEAD, 3);
        edit_push(list, LIST_TAIL, 3);
        quicklist_drop(list, LIST_HEAD, 1);
        quicklist_drop(list, LIST_TAIL, 1);
        assert_true(mem_used() - whole < SIZE / 2);
        assert_true(left < SIZE / 2 && quicklist_check(list) &&
                    quicklist_capture_check(captured, list));
        quicklist_drop(list, LIST_HEAD, 1);
        assert_true(left >= SIZE && quicklist_check(list) &&
                    quicklist_capture_check(captured, list));
        capture_release(captured);
        captured =
            nodes > 1 ? (capture_free(captured), quicklist_capture_begin(list, &left)) : captured;
        quicklist_free(list);
        if (nodes > 1) capture_release(captured);
        capture_free(captured);
        assert_int_equal(mem_used(), used);
    }
}

/* Everything between the ends. */
static size_t shared_size(const struct quicklist *list) {
    struct picture picture = {.of_buffers = true};
    picture_of_list(&picture, list);
    size_t sum = 0;
    for (size_t at = 0, i = 0; at < picture.used; i++) {
        size_t facts[6];
        memcpy(facts, picture.bytes + at, sizeof(facts));
        at += sizeof(facts) + (facts[2] ? facts[2] : facts[3]);
        if (i > 0 && at < picture.used) sum += facts[5];
    }
    mem_free(picture.bytes);
    return sum;
}

static void a_list_that_is_emptied_leaves_every_node(void **state) {
    (void)state;
    for (uint16_t depth = 0; depth <= 2; depth++) {
        struct list_pair pair;
        pair_begins_with(&pair, (struct quicklist_limits){.fill = 2, .compress_depth = depth}, 40);
        size_t shared = shared_size(pair.list);
        assert_true(shared > 0);
        pair_capture(&pair);
        struct quicklist_edit all = {.kind = 22};
        pair_edit(&pair, &all);
        assert_int_equal(quicklist_count(pair.list), 0);
        assert_true(pair.left >= shared); /* the buffers, and the tree with what notes it */
        assert_true(pair.left - shared <= 40 * sizeof(struct quicklist_node) + 2048);
        pair_check(&pair);
        struct quicklist_edit edit = push_edit(20); /* and is filled again */
        for (int i = 0; i < 50; i++) pair_edit(&pair, &edit);
        pair_check(&pair);
        pair_release(&pair);
        pair_check(&pair);
        pair_end(&pair, true);
    }
}

static void a_list_that_is_freed_leaves_every_node(void **state) {
    (void)state;
    for (size_t nodes = 1; nodes < 12; nodes++) {
        size_t used = mem_used();
        struct list_pair pair;
        pair_begins_with(&pair, (struct quicklist_limits){.fill = 1, .compress_depth = 1}, nodes);
        size_t shared = nodes > 2 ? shared_size(pair.list) : 0;
        pair_capture(&pair);
        struct quicklist_edit copied = {.kind =
                                            27}; /* the list goes, a copy of it takes its place */
        pair_edit(&pair, &copied);
        assert_true(pair.left >= shared);
        pair_check(&pair);
        pair_end(&pair, false);
        assert_int_equal(mem_used(), used);
    }
}

/* Limits change; then nodes are compressed and decompressed as they come and go beside them, or all at once. */
static void compressing_and_decompressing_leave_the_captured_bytes_alone(void **state) {
    (void)state;
    static const uint8_t kinds[] = {0, 3, 15, 17, 22, 12};
    for (uint16_t depths = 0; depths < 16; depths++) {
        struct list_pair pair;
        struct quicklist_limits limits = {.fill = 1, .compress_depth = depths / 4};
        pair_begins_with(&pair, limits, 20);
        pair_capture(&pair);
        struct quicklist_edit edit = {.kind = 25, .size = depths % 4};
        pair_edit(&pair, &edit);
        for (uint16_t i = 0; i < 24; i++) {
            edit = (struct quicklist_edit){.kind = kinds[i % 6], .text = 17, .at = i, .size = 1};
            pair_edit(&pair, &edit);
            pair_check(&pair);
        }
        for (uint16_t depth = 0; depth < 8; depth++) {
            edit = (struct quicklist_edit){.kind = 26, .size = (uint16_t)(depth * 3)};
            pair_edit(&pair, &edit);
            pair_check(&pair);
        }
        assert_true(pair.left > 0);
        pair_release(&pair);
        pair_check(&pair);
        pair_end(&pair, true);
    }
}

static void a_captured_list_is_copied_and_rebuilt_as_any_other(void **state) {
    (void)state;
    struct list_pair pair;
    pair_begins_with(&pair, (struct quicklist_limits){.fill = 3, .compress_depth = 1}, 60);
    pair_capture(&pair);
    struct quicklist *copy = quicklist_copy(pair.list), *rebuilt = edit_rebuilt(pair.list);
    struct picture picture = {.of_buffers = false};
    struct quicklist *const others[] = {copy, rebuilt};
    for (int i = 0; i < 2; i++) {
        picture_of_list(&picture, others[i]);
        assert_true(picture_equal(&picture, &pair.then));
        assert_true(quicklist_check(others[i]));
        size_t left = 0; /* is captured beside the other one */
        struct capture *captured = quicklist_capture_begin(others[i], &left);
        quicklist_drop(others[i], LIST_HEAD, 30);
        picture_of_capture(&picture, captured);
        assert_true(picture_equal(&picture, &pair.then));
        assert_true(left > 0);
        assert_true(capture_release(captured) > 0);
        assert_int_equal(left, 0);
        capture_free(captured);
        quicklist_free(others[i]);
    }
    mem_free(picture.bytes);
    pair_check(&pair);
    pair_end(&pair, true);
}

/* --- In two threads --- */

struct reader {
    struct capture *captured;
    uint64_t expected;
    bool stop; /* atomic */
    unsigned readings;
    bool agreed;
};

/* What the thread that writes a snapshot does with a node: compresses it, or takes it as it is. */
static void digest_node(const struct quicklist_node_info *info, void *arg) {
    uint64_t *digest = arg;
    uint8_t compressed[EDIT_TEXT_MAX * 2];
    const uint8_t *bytes = info->data;
    size_t size = info->compressed_size ? info->compressed_size : info->body_size;
    if (!info->compressed_size && size >= LZF_TEXT_MIN) {
        size_t gained = lzf_compress_text(slice_make(bytes, size), compressed, sizeof(compressed));
        if (gained) bytes = compressed, size = gained;
    }
    *digest = (*digest ^ info->count ^ info->size) * 0x9E3779B97F4A7C15u;
    for (size_t i = 0; i < size; i++) *digest = (*digest ^ bytes[i]) * 0x100000001B3u;
}

static void *read_on(void *arg) {
    struct reader *reader = arg;
    do {
        uint64_t digest = 0;
        quicklist_visit_nodes(quicklist_captured(reader->captured), digest_node, &digest);
        reader->agreed &= digest == reader->expected;
        reader->readings++;
    } while (!__atomic_load_n(&reader->stop, __ATOMIC_ACQUIRE));
    return NULL;
}

static void *free_capture(void *arg) {
    capture_free(arg);
    return NULL;
}

/* Without looking at memory, which the other thread may change just then. */
static void edit_on(struct list_pair *pair, struct random *random) {
    for (int i = 0; i < 50; i++) {
        struct quicklist_edit edit = plain_edit(random);
        edit_quicklist(&pair->list, &edit);
        edit_quicklist(&pair->twin, &edit);
    }
}

/* Edits while another thread reads, and while it frees: to be run under ThreadSanitizer, too. */
static void another_thread_may_read_and_free_while_this_one_edits(void **state) {
    struct random *random = *state;
    struct list_pair pair;
    pair_begin(&pair, (struct quicklist_limits){.fill = 4, .compress_depth = 1});
    for (int round = 0; round < 30; round++) {
        push_many(&pair, random, 100);
        pair_capture(&pair);
        struct reader reader = {.captured = pair.captured, .agreed = true};
        quicklist_visit_nodes(pair.list, digest_node, &reader.expected);
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, read_on, &reader), 0);
        for (int i = 0; i < 200; i++) {
            struct quicklist_edit edit = plain_edit(random);
            pair_edit(&pair, &edit);
        }
        pair_check(&pair);
        __atomic_store_n(&reader.stop, true, __ATOMIC_RELEASE);
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_true(reader.agreed && reader.readings > 0);
        assert_int_equal(capture_release(pair.captured), pair.left);
        assert_int_equal(pthread_create(&thread, NULL, free_capture, pair.captured), 0);
        edit_on(&pair, random);
        assert_int_equal(pthread_join(thread, NULL), 0);
        pair.captured = NULL;
        pair.left = 0;
        pair_check(&pair);
    }
    pair_end(&pair, true);
}

int main(void) {
    struct random random = random_of_this_run();
#define RANDOM_TEST(test) cmocka_unit_test_prestate(test, &random)
    const struct CMUnitTest tests[] = {
        RANDOM_TEST(a_captured_list_keeps_its_moment_through_any_edits),
        RANDOM_TEST(plain_nodes_keep_their_moment),
        RANDOM_TEST(long_lists_keep_their_moment),
        cmocka_unit_test(a_capture_copies_nothing_but_the_nodes_at_the_ends),
        cmocka_unit_test(a_capture_costs_the_same_however_long_the_list_is),
        cmocka_unit_test(plain_nodes_at_the_ends_are_never_copied),
        cmocka_unit_test(a_list_that_is_emptied_leaves_every_node),
        cmocka_unit_test(a_list_that_is_freed_leaves_every_node),
        cmocka_unit_test(compressing_and_decompressing_leave_the_captured_bytes_alone),
        cmocka_unit_test(a_captured_list_is_copied_and_rebuilt_as_any_other),
        RANDOM_TEST(another_thread_may_read_and_free_while_this_one_edits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
