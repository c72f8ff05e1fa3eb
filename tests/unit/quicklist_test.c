/* quicklist: long random runs against an array of texts, over every class of limits; the choice of
 * nodes; memory. */
#include "ds/lists/quicklist.h"

#include "base/memory/alloc.h"
#include "base/text/number.h"
#include "ds/lists/quicklist_build.h"
#include "ds/lists/quicklist_place.h"
#include "unit/in_range.h"
#include "unit/relocate_step.h"
#include "unit/seed.h"
#include "unit/texts.h"

#include <liblzf/lzf.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* --- A palette of texts, and the naive model: an array of indexes into it --- */

enum { PALETTE_SIZE = 96, MODEL_MAX = 4096 };

struct palette {
    struct slice texts[PALETTE_SIZE];
    struct listpack_element elements[PALETTE_SIZE];
};

/* Texts of up to `size_max` bytes, all different; every third compresses well. */
static void palette_fill(struct palette *palette, struct random *random, size_t size_max) {
    for (size_t i = 0; i < PALETTE_SIZE; i++) {
        char *text = mem_alloc(size_max + 32);
        int64_t number = i % 3 == 1 ? (1ll << (i / 2)) * -3 : (int64_t)i * 131;
        size_t len = number_format_int64(text, number);
        if (i % 3 == 0) {
            size_t padding = random_below(random, size_max - 8);
            for (size_t k = 0; k < padding; k++) {
                text[len + k] = i % 2 ? '-' : (char)random_below(random, 256);
            }
            len += padding;
        }
        palette->texts[i] = slice_make(text, len);
        listpack_prepare(&palette->elements[i], palette->texts[i]);
    }
}

static void palette_free(struct palette *palette) {
    for (size_t i = 0; i < PALETTE_SIZE; i++) mem_free((void *)palette->texts[i].ptr);
}

struct model {
    uint8_t items[MODEL_MAX];
    size_t count;
};

static void model_insert(struct model *model, size_t index, uint8_t item) {
    memmove(model->items + index + 1, model->items + index, model->count++ - index);
    model->items[index] = item;
}

static void model_delete(struct model *model, size_t index, size_t n) {
    model->count -= n;
    memmove(model->items + index, model->items + index + n, model->count - index);
}

static size_t model_remove_matching(struct model *model, uint8_t item, size_t max, bool backward) {
    size_t removed = 0;
    for (size_t seen = 0, count = model->count; seen < count && removed < max; seen++) {
        size_t index = backward ? count - 1 - seen : seen - removed;
        if (model->items[index] != item) continue;
        model_delete(model, index, 1);
        removed++;
    }
    return removed;
}

/* --- Comparing --- */

struct run {
    struct random *random;
    struct palette palette;
    struct model model;
    struct quicklist *list;
    struct relocate_step relocation;
};

static void assert_is(const struct run *run, const uint8_t *element, size_t index) {
    assert_non_null(element);
    assert_true(listpack_equal(element, &run->palette.elements[run->model.items[index]]));
}

static void compare_by_element(struct run *run, size_t index, enum list_direction direction) {
    struct quicklist_iter iter;
    quicklist_iter_start(&iter, run->list, index, direction);
    size_t n = direction == LIST_FORWARD ? run->model.count - index : index + 1;
    for (size_t i = 0; i < n; i++) {
        assert_is(run, quicklist_iter_next(&iter),
                  direction == LIST_FORWARD ? index + i : index - i);
    }
    assert_null(quicklist_iter_next(&iter));
    assert_null(quicklist_iter_next(&iter));
    quicklist_iter_end(&iter);
}

static void compare_by_run(struct run *run, size_t index, enum list_direction direction) {
    struct quicklist_iter iter;
    struct quicklist_run part;
    bool forward = direction == LIST_FORWARD;
    quicklist_iter_start(&iter, run->list, index, direction);
    size_t left = forward ? run->model.count - index : index + 1;
    while (quicklist_iter_run(&iter, &part)) {
        assert_uint_in_range(part.count, 1, left);
        size_t at = forward ? index : index + 1 - part.count;
        const uint8_t *p = part.first;
        for (size_t i = 0; i < part.count; i++, p += listpack_size(p)) assert_is(run, p, at + i);
        assert_ptr_equal(p, part.end);
        assert_true(part.readable_end >= part.end);
        index = forward ? index + part.count : index - part.count;
        left -= part.count;
    }
    assert_int_equal(left, 0);
    quicklist_iter_end(&iter);
}

static void compare_by_find(struct run *run, size_t index, enum list_direction direction) {
    uint8_t item = run->model.items[random_below(run->random, run->model.count)];
    bool forward = direction == LIST_FORWARD;
    size_t left = forward ? run->model.count - index : index + 1;
    struct quicklist_iter iter;
    quicklist_iter_start(&iter, run->list, index, direction);
    while (left > 0) {
        size_t max = random_below(run->random, left + 2), looked = 0;
        uint64_t found = UINT64_MAX;
        while (looked < max && looked < left) {
            if (run->model.items[forward ? index + looked : index - looked] == item) break;
            looked++;
        }
        bool expected = looked < max && looked < left;
        assert_int_equal(quicklist_iter_find(&iter, &run->palette.elements[item], max, &found),
                         expected);
        assert_int_equal(found,
                         expected ? (forward ? index + looked : index - looked) : UINT64_MAX);
        size_t passed = looked + expected;
        index = forward ? index + passed : index - passed;
        left -= passed;
        if (left > 0 && random_below(run->random, 3) == 0) {
            assert_is(run, quicklist_iter_next(&iter), index);
            index = forward ? index + 1 : index - 1;
            left--;
        }
    }
    quicklist_iter_end(&iter);
}

static void compare(struct run *run) {
    assert_true(quicklist_check(run->list));
    assert_int_equal(quicklist_count(run->list), run->model.count);
    if (run->model.count == 0) {
        assert_int_equal(quicklist_node_count(run->list), 0);
        return;
    }
    assert_is(run, quicklist_peek(run->list, LIST_HEAD), 0);
    assert_is(run, quicklist_peek(run->list, LIST_TAIL), run->model.count - 1);
    size_t index = random_below(run->random, run->model.count);
    enum list_direction direction = random_below(run->random, 2) ? LIST_FORWARD : LIST_BACKWARD;
    switch (random_below(run->random, 4)) {
    case 0: compare_by_element(run, index, direction); break;
    case 1: compare_by_run(run, index, direction); break;
    case 2: compare_by_find(run, index, direction); break;
    default: compare_by_run(run, 0, LIST_FORWARD);
    }
}

/* --- Random operations --- */

static uint8_t any_item(struct run *run) {
    /* Few texts much of the time, so that there is something to be found. */
    return (uint8_t)random_below(run->random, random_below(run->random, 2) ? 4 : PALETTE_SIZE);
}

static void add_something(struct run *run) {
    struct model *model = &run->model;
    uint8_t item = any_item(run);
    const struct listpack_element *element = &run->palette.elements[item];
    size_t index = random_below(run->random, model->count + 1);
    switch (random_below(run->random, 5)) {
    case 0:
        model_insert(model, 0, item);
        quicklist_push(run->list, LIST_HEAD, element);
        break;
    case 1:
        model_insert(model, model->count, item);
        quicklist_push(run->list, LIST_TAIL, element);
        break;
    case 2:
        if (index == model->count) return;
        model_insert(model, index, item);
        quicklist_insert(run->list, index, false, element);
        break;
    case 3:
        if (index == model->count) return;
        model_insert(model, index + 1, item);
        quicklist_insert(run->list, index, true, element);
        break;
    default:
        if (index == model->count) return;
        model->items[index] = item;
        quicklist_replace(run->list, index, element);
    }
}

static void remove_something(struct run *run, size_t size) {
    struct model *model = &run->model;
    if (model->count == 0) return;
    size_t n = random_below(run->random, size < model->count ? size + 1 : model->count + 1);
    uint8_t item = any_item(run);
    switch (random_below(run->random, 4)) {
    case 0:
        model_delete(model, 0, n);
        quicklist_drop(run->list, LIST_HEAD, n);
        break;
    case 1:
        model_delete(model, model->count - n, n);
        quicklist_drop(run->list, LIST_TAIL, n);
        break;
    default: {
        size_t max = random_below(run->random, 3) ? 1 + random_below(run->random, 3) : SIZE_MAX;
        bool backward = random_below(run->random, 2);
        size_t expected = model_remove_matching(model, item, max, backward);
        assert_int_equal(quicklist_remove_matching(run->list, &run->palette.elements[item], max,
                                                   backward ? LIST_BACKWARD : LIST_FORWARD),
                         expected);
    }
    }
}

static void replace_by_copy(struct run *run) {
    struct quicklist *copy = quicklist_copy(run->list);
    assert_int_equal(quicklist_serialized_size(copy), quicklist_serialized_size(run->list));
    assert_int_equal(quicklist_node_count(copy), quicklist_node_count(run->list));
    quicklist_free(run->list);
    run->list = copy;
}

/* A list that grows to about `size` elements, shrinks and grows again. */
static void random_run(struct random *random, struct quicklist_limits limits, size_t text_max,
                       size_t size, int steps) {
    struct run run = {.random = random};
    palette_fill(&run.palette, random, text_max);
    size_t used = mem_used();
    run.list = quicklist_new(limits);
    bool growing = true;
    for (int step = 0; step < steps; step++) {
        if (run.model.count > size) growing = false;
        if (run.model.count == 0) growing = true;
        bool adds = random_below(random, 100) < (growing ? 90 : 30);
        if (adds) {
            add_something(&run);
        } else {
            remove_something(&run, growing ? 4 : 1 + size / 8);
        }
        if (random_below(random, 200) == 0) replace_by_copy(&run);
        if (relocate_step_begins(&run.relocation, random))
            run.list =
                quicklist_relocate(run.list, &run.relocation.relocator, &run.relocation.cursor);
        compare(&run);
        assert_int_equal(mem_used() - used, quicklist_allocated(run.list));
    }
    quicklist_free(run.list);
    assert_int_equal(mem_used(), used);
    palette_free(&run.palette);
}

static void every_element_count_and_depth_agrees_with_the_model(void **state) {
    struct random *random = *state;
    for (int16_t fill = 0; fill <= 5; fill++) {
        for (uint16_t depth = 0; depth <= 3; depth++) {
            struct quicklist_limits limits = {.fill = fill, .compress_depth = depth};
            random_run(random, limits, 120, 60, 2000);
        }
    }
}

static void plain_nodes_agree_with_the_model(void **state) {
    struct random *random = *state;
    for (int i = 0; i < 8; i++) {
        struct quicklist_limits limits = {.fill = (int16_t)(i % 2 ? 4 : -1),
                                          .compress_depth = (uint16_t)(i % 4),
                                          .plain_threshold = i < 4 ? 6 : 70};
        random_run(random, limits, 200, 60, 2000);
    }
}

/* The threshold is far above the size of a node: large elements are in nodes like any other. */
static void large_elements_that_are_not_plain_agree_with_the_model(void **state) {
    struct random *random = *state;
    for (int i = 0; i < 4; i++) {
        struct quicklist_limits limits = {.fill = (int16_t)(i % 2 ? 5 : -1),
                                          .compress_depth = (uint16_t)(i / 2),
                                          .plain_threshold = 1 << 20};
        random_run(random, limits, 80000, 30, 400);
    }
}

static void every_node_size_agrees_with_the_model(void **state) {
    struct random *random = *state;
    for (int16_t fill = -5; fill <= -1; fill++) {
        struct quicklist_limits limits = {.fill = fill, .compress_depth = (uint16_t)(-fill % 3)};
        random_run(random, limits, (size_t)1000 << -fill, 60, 300);
    }
    random_run(random, (struct quicklist_limits){.fill = 128}, 6000, 60, 300);
}

/* Hundreds of nodes: leaves split and merge in a build with normal limits too. */
static void deep_trees_agree_with_the_model(void **state) {
    struct random *random = *state;
    struct quicklist_limits limits = {.fill = 1, .compress_depth = 1};
    random_run(random, limits, 60, 1200, 4000);
    limits.fill = 2;
    random_run(random, limits, 60, 1500, 4000);
}

static void limits_may_change_at_any_time(void **state) {
    struct random *random = *state;
    struct run run = {.random = random};
    palette_fill(&run.palette, random, 300);
    run.list = quicklist_new((struct quicklist_limits){.fill = 2});
    for (int step = 0; step < 4000; step++) {
        if (random_below(random, 50) == 0) {
            struct quicklist_limits limits = {.fill = (int16_t)((int)random_below(random, 8) - 2),
                                              .compress_depth = (uint16_t)random_below(random, 4),
                                              .plain_threshold = random_below(random, 2) * 100};
            quicklist_set_limits(run.list, limits);
            assert_int_equal(quicklist_limits_of(run.list).fill, limits.fill);
        }
        if (run.model.count < 100 && random_below(random, 3)) {
            add_something(&run);
        } else {
            remove_something(&run, 10);
        }
        compare(&run);
    }
    quicklist_free(run.list);
    palette_free(&run.palette);
}

/* --- Which node takes an element: as Redis 8 has it --- */

static struct listpack_element text_of(size_t len) {
    static char text[70000];
    struct listpack_element element;
    memset(text, 'x', sizeof(text));
    listpack_prepare(&element, slice_make(text, len));
    return element;
}

/* Pushes texts of these lengths at the tail. */
static struct quicklist *list_of(int16_t fill, size_t threshold, size_t n, const size_t *lengths) {
    struct quicklist *list =
        quicklist_new((struct quicklist_limits){.fill = fill, .plain_threshold = threshold});
    for (size_t i = 0; i < n; i++) {
        struct listpack_element element = text_of(lengths[i]);
        quicklist_push(list, LIST_TAIL, &element);
    }
    assert_true(quicklist_check(list));
    return list;
}

#define LENGTHS(...)                                                                               \
    sizeof((size_t[]){__VA_ARGS__}) / sizeof(size_t), (size_t[]) {                                 \
        __VA_ARGS__                                                                                \
    }

static void assert_nodes(struct quicklist *list, size_t nodes, size_t serialized) {
    assert_int_equal(quicklist_node_count(list), nodes);
    assert_int_equal(quicklist_serialized_size(list), serialized);
    quicklist_free(list);
}

static void pushes_choose_nodes_as_redis_does(void **state) {
    (void)state;
    assert_nodes(list_of(0, 0, LENGTHS(1, 1, 1)), 3, 30);
    assert_nodes(list_of(1, 0, LENGTHS(1, 1, 1, 1, 1, 1, 1)), 7, 70);
    assert_nodes(list_of(2, 0, LENGTHS(1, 1, 1, 1, 1, 1, 1)), 4, 49);
    assert_nodes(list_of(3, 0, LENGTHS(1, 1, 1, 1, 1, 1, 1)), 3, 42);
    assert_nodes(list_of(128, 0, LENGTHS(1, 9000, 1, 1)), 3, 9023);
    assert_nodes(list_of(128, 0, LENGTHS(1, 8192, 1, 1)), 3, 8229);
    assert_nodes(list_of(128, 0, LENGTHS(1, 8193, 1, 1)), 3, 8216);
    assert_nodes(list_of(128, 0, LENGTHS(8193)), 1, 8193);
    assert_nodes(list_of(128, 0, LENGTHS(8160, 5, 5, 5, 5)), 2, 8209);
    assert_nodes(list_of(-2, 0, LENGTHS(1, 8192, 1)), 3, 8226);
    assert_nodes(list_of(-2, 0, LENGTHS(1, 8193, 1)), 3, 8213);
    assert_nodes(list_of(-5, 0, LENGTHS(1, 65536, 1)), 3, 65571);
    assert_nodes(list_of(-5, 0, LENGTHS(1, 65537, 1)), 3, 65557);
    assert_nodes(list_of(-2, 100, LENGTHS(1, 8193, 1)), 3, 8213);
}

static void the_limits_of_fill_are_those_of_redis(void **state) {
    (void)state;
    static const size_t sizes[] = {4096, 8192, 16384, 32768, 65536};
    for (int i = 0; i < 5; i++) {
        assert_false(quicklist_exceeds_fill(-1 - i, sizes[i], 10000));
        assert_true(quicklist_exceeds_fill(-1 - i, sizes[i] + 1, 1));
    }
    assert_false(quicklist_exceeds_fill(0, 100, 1));
    assert_true(quicklist_exceeds_fill(0, 100, 2));
    assert_false(quicklist_exceeds_fill(7, 8192, 7));
    assert_true(quicklist_exceeds_fill(7, 8193, 7));
    assert_true(quicklist_exceeds_fill(7, 100, 8));
}

static size_t nodes_of(const struct quicklist *list, size_t *counts) {
    size_t n = 0;
    struct quicklist_place place;
    quicklist_place_at(list, 0, &place);
    do {
        counts[n++] = place.node->count;
    } while (quicklist_place_step(list, &place, LIST_FORWARD));
    return n;
}

static void assert_counts(const struct quicklist *list, size_t n, const size_t *expected) {
    size_t counts[16];
    assert_true(quicklist_check(list));
    assert_int_equal(quicklist_node_count(list), n);
    assert_int_equal(nodes_of(list, counts), n);
    for (size_t i = 0; i < n; i++) assert_int_equal(counts[i], expected[i]);
}

static void inserts_try_the_node_then_its_neighbour_then_a_new_one(void **state) {
    (void)state;
    struct listpack_element element = text_of(3);
    struct quicklist *list = list_of(3, 0, LENGTHS(1, 1, 1, 1, 1, 1, 1, 1));
    assert_counts(list, LENGTHS(3, 3, 2));
    quicklist_insert(list, 5, true, &element); /* node 1 is full, node 2 takes it */
    assert_counts(list, LENGTHS(3, 3, 3));
    quicklist_insert(list, 5, true, &element);
    assert_counts(list, LENGTHS(3, 3, 1, 3));
    quicklist_insert(list, 7, false, &element); /* node 3 is full, node 2 takes it */
    assert_counts(list, LENGTHS(3, 3, 2, 3));
    quicklist_insert(list, 0, false, &element);
    assert_counts(list, LENGTHS(1, 3, 3, 2, 3));
    /* Splits node 1 in 1+1 and 2, and the 2 fits node 0. */
    quicklist_insert(list, 2, false, &element);
    assert_counts(list, LENGTHS(3, 2, 3, 2, 3));
    /* Splits node 2 in 2+1 and 1, and the 1 fits node 3. */
    quicklist_insert(list, 7, false, &element);
    assert_counts(list, LENGTHS(3, 2, 3, 3, 3));
    quicklist_free(list);
}

static void a_plain_element_splits_the_node_it_goes_into(void **state) {
    (void)state;
    struct listpack_element large = text_of(50), small = text_of(2);
    struct quicklist *list = list_of(4, 50, LENGTHS(1, 1, 1, 1));
    quicklist_insert(list, 2, false, &large);
    assert_counts(list, LENGTHS(2, 1, 2));
    quicklist_replace(list, 2, &small); /* the next node takes it */
    assert_counts(list, LENGTHS(2, 3));
    quicklist_replace(list, 3, &large); /* what is left of the node merges with the one before */
    assert_counts(list, LENGTHS(3, 1, 1));
    quicklist_replace(list, 0, &large);
    assert_counts(list, LENGTHS(1, 2, 1, 1));
    quicklist_free(list);
}

/* The size limit is 8192 bytes, and a replacement keeps its node up to four times as large. */
static void inserts_add_to_a_node_that_replacements_stretched(void **state) {
    (void)state;
    struct listpack_element large = text_of(8192);
    struct quicklist *list = list_of(16, 0, LENGTHS(1, 1, 1, 1, 1, 1));
    for (uint64_t index = 1; index <= 3; index++) quicklist_replace(list, index, &large);
    assert_counts(list, LENGTHS(6));
    quicklist_insert(list, 5, false, &large);
    quicklist_insert(list, 0, true, &large);
    assert_counts(list, LENGTHS(1, 6, 1));
    assert_true(quicklist_check(list));
    quicklist_free(list);
}

static void a_large_element_below_the_threshold_is_in_a_node_like_others(void **state) {
    (void)state;
    struct listpack_element large = text_of(50000);
    struct quicklist *list = list_of(16, 1 << 20, LENGTHS(1, 50000, 1, 1, 1));
    assert_counts(list, LENGTHS(1, 1, 3));
    quicklist_insert(list, 4, false, &large);
    quicklist_insert(list, 2, true, &large);
    assert_true(quicklist_check(list));
    quicklist_replace(list, 5, &large);
    assert_true(quicklist_check(list));
    quicklist_free(list);
}

static void removing_merges_neighbours_that_fit_in_one_node(void **state) {
    (void)state;
    struct listpack_element needle = text_of(2);
    for (enum list_direction direction = LIST_FORWARD; direction <= LIST_BACKWARD; direction++) {
        struct quicklist *list = list_of(4, 0, LENGTHS(1, 2, 2, 1, 1, 2, 2, 1, 1, 1, 1, 1, 3));
        assert_counts(list, LENGTHS(4, 4, 4, 1));
        assert_int_equal(quicklist_remove_matching(list, &needle, SIZE_MAX, direction), 4);
        assert_counts(list, LENGTHS(4, 4, 1));
        quicklist_free(list);
        list = list_of(4, 0, LENGTHS(1, 2, 2, 2, 2, 1));
        quicklist_remove_matching(list, &needle, SIZE_MAX, direction);
        assert_counts(list, LENGTHS(1, 1)); /* two nodes stay two */
        quicklist_free(list);
    }
}

/* --- Memory and cost --- */

#ifdef TINY_LIMITS
enum { OVERHEAD_PART = 150 }; /* more inner arrays over narrow leaves */
#else
enum { OVERHEAD_PART = 193 };
#endif

static void long_lists_of_integers_cost_about_half_a_percent_over_their_encoding(void **state) {
    (void)state;
    for (enum list_end end = LIST_HEAD; end <= LIST_TAIL; end++) {
        struct quicklist *list = quicklist_new((struct quicklist_limits){.fill = -2});
        size_t encoded = 0;
        for (int i = 0; i < 1000000; i++) {
            char digits[INT64_TEXT_MAX];
            struct listpack_element element;
            listpack_prepare(&element, slice_make(digits, number_format_int64(digits, i)));
            quicklist_push(list, end, &element);
            encoded += element.size;
        }
        assert_uint_in_range(quicklist_allocated(list), encoded, encoded + encoded / OVERHEAD_PART);
        if (end == LIST_TAIL) assert_true(quicklist_check(list));
        quicklist_free(list);
    }
}

static void a_queue_within_one_node_keeps_its_buffer(void **state) {
    (void)state;
    struct listpack_element element = text_of(100);
    for (enum list_end end = LIST_HEAD; end <= LIST_TAIL; end++) {
        struct quicklist *list = quicklist_new((struct quicklist_limits){.fill = -2});
        for (int i = 0; i < 70; i++) quicklist_push(list, end, &element);
        size_t moves = 0, buffers = 0, pushes = 100000;
        for (size_t i = 0; i < pushes; i++) {
            const uint8_t *before = quicklist_open_first(&list->head);
            const uint8_t *buffer = list->head.node.buffer;
            quicklist_push(list, end, &element);
            if (list->head.node.buffer != buffer) buffers++;
            size_t step = end == LIST_HEAD ? element.size : 0;
            if (quicklist_open_first(&list->head) != before - step) moves++;
            quicklist_drop(list, end == LIST_HEAD ? LIST_TAIL : LIST_HEAD, 1);
        }
        assert_int_equal(quicklist_node_count(list), 1);
        assert_true(quicklist_check(list));
        assert_uint_in_range(quicklist_allocated(list), 7000, 13000);
        assert_uint_in_range(moves, 1, pushes / 5);
        assert_uint_in_range(buffers, 0, 3);
        quicklist_free(list);
    }
}

static void a_list_that_shrinks_gives_its_buffer_back(void **state) {
    (void)state;
    struct listpack_element element = text_of(100);
    struct quicklist *list = quicklist_new((struct quicklist_limits){.fill = -5});
    for (int i = 0; i < 600; i++) quicklist_push(list, LIST_TAIL, &element);
    for (int i = 0; i < 595; i++) quicklist_drop(list, i % 2 ? LIST_HEAD : LIST_TAIL, 1);
    assert_true(quicklist_check(list));
    assert_uint_in_range(quicklist_allocated(list), 500, 3000);
    quicklist_free(list);
}

struct streams {
    size_t nodes;
    size_t compressed;
    size_t allocated;
};

/* The stream of a compressed node, wrapped as the header says, must be that of the serialized
 * listpack. */
static void visit_stream(const struct quicklist_node_info *info, void *arg) {
    struct streams *streams = arg;
    streams->nodes++;
    streams->allocated += info->allocated;
    if (info->compressed_size == 0) return;
    streams->compressed++;
    uint8_t stream[10000] = {LISTPACK_HEADER_SIZE - 1}, serialized[10000];
    listpack_write_header(stream + 1, info->body_size, info->count);
    memcpy(stream + 7, info->data, info->compressed_size);
    stream[7 + info->compressed_size] = 0;
    stream[8 + info->compressed_size] = LISTPACK_END;
    size_t size =
        lzf_decompress(stream, (unsigned)info->compressed_size + 9, serialized, sizeof(serialized));
    size_t count;
    bool canonical;
    assert_int_equal(size, info->size);
    assert_true(listpack_validate(serialized, size, &count, &canonical) && canonical);
    assert_int_equal(count, info->count);
}

static void compressed_nodes_are_streams_of_their_listpacks(void **state) {
    (void)state;
    struct quicklist *list =
        quicklist_new((struct quicklist_limits){.fill = -2, .compress_depth = 1});
    struct listpack_element element = text_of(39);
    size_t raw = 0;
    for (int i = 0; i < 2000; i++, raw += element.size) quicklist_push(list, LIST_HEAD, &element);
    struct streams streams = {0};
    quicklist_visit_nodes(list, visit_stream, &streams);
    assert_int_equal(streams.nodes, quicklist_node_count(list));
    assert_int_equal(streams.compressed, streams.nodes - 2);
    assert_true(quicklist_allocated(list) < raw / 3);
    assert_true(quicklist_allocated(list) > streams.allocated);
    quicklist_free(list);
}

static void elements_of_megabytes_are_plain_nodes(void **state) {
    (void)state;
    size_t len = 20 << 20;
    char *text = mem_alloc(len);
    memset(text, 'y', len);
    struct listpack_element element, small = text_of(1);
    listpack_prepare(&element, slice_make(text, len));
    struct quicklist *list =
        quicklist_new((struct quicklist_limits){.fill = -2, .compress_depth = 1});
    for (int i = 0; i < 4; i++) quicklist_push(list, i % 2 ? LIST_HEAD : LIST_TAIL, &element);
    quicklist_replace(list, 1, &small);
    quicklist_insert(list, 1, false, &element);
    assert_true(quicklist_check(list));
    assert_int_equal(quicklist_serialized_size(list), 4 * len + 7 + small.size);
    assert_uint_in_range(quicklist_allocated(list), 2 * len, 2 * len + len / 2);
    struct quicklist_iter iter;
    uint64_t index;
    quicklist_iter_start(&iter, list, 2, LIST_FORWARD);
    assert_true(quicklist_iter_find(&iter, &element, UINT64_MAX, &index));
    assert_int_equal(index, 3);
    quicklist_iter_end(&iter);
    quicklist_free(list);
    mem_free(text);
}

static void bodies_become_nodes_as_they_are(void **state) {
    (void)state;
    size_t count = 40000;
    uint8_t *body = mem_alloc(count * 2), *end = body;
    struct listpack_element element;
    for (size_t i = 0; i < count; i++, end += element.size) {
        char digit = (char)('0' + i % 10);
        listpack_prepare(&element, slice_make(&digit, 1));
        listpack_write(end, &element);
    }
    struct quicklist *list =
        quicklist_from_body((struct quicklist_limits){.fill = 4}, body, end - 2 * 39990, 10);
    const uint8_t *first, *stop;
    assert_true(quicklist_single_body(list, &first, &stop));
    assert_int_equal(stop - first, 20);
    assert_memory_equal(first, body, 20);
    quicklist_free(list);
    struct quicklist_builder builder;
    quicklist_build_start(&builder, (struct quicklist_limits){.fill = 4}, 3);
    memcpy(quicklist_build_room(&builder, 20), body, 20);
    assert_true(quicklist_build_room_used(&builder, 10));
    quicklist_build_room(&builder, 30);
    assert_false(quicklist_build_room_used(&builder, 0)); /* what was made there is no body */
    quicklist_build_body(&builder, body, end, count);     /* more than one node can count */
    struct listpack_element plain = text_of(1);
    quicklist_build_plain(&builder, &plain);
    list = quicklist_build_finish(&builder);
    assert_true(quicklist_check(list));
    assert_counts(list, LENGTHS(10, 32768, 7232, 1));
    assert_false(quicklist_single_body(list, &first, &stop));
    assert_int_equal(quicklist_serialized_size(list), 20 + 80000 + 3 * 7 + 1);
    quicklist_free(list);
    mem_free(body);
}

/* Only files bring such a node. Its bytes are not touched here, so they take no memory. */
static void a_packed_node_of_nearly_4_gb_keeps_its_buffer(void **state) {
    const size_t size = UINT32_MAX - 1000; /* the allocator's next class is 4 GB */
    struct pieces pieces = pieces_begin();
    struct quicklist_node node;
    struct quicklist_open open;
    (void)state;
    quicklist_node_init(&node, size, 1, &pieces);
    assert_int_equal(quicklist_node_allocated(&node), pieces.bytes);
    quicklist_node_open(&open, &node, &pieces);
    assert_in_range(open.capacity, size, UINT32_MAX);
    assert_int_equal(quicklist_open_allocated(&open), pieces.bytes);
    node = quicklist_node_close(&open, &pieces);
    assert_int_equal(quicklist_node_allocated(&node), pieces.bytes);
    quicklist_node_open(&open, &node, &pieces);
    quicklist_open_free(&open, &pieces);
    assert_int_equal(pieces.bytes, 0);
}

int main(void) {
    struct random random = random_of_this_run();
#define RANDOM_TEST(test) cmocka_unit_test_prestate(test, &random)
    const struct CMUnitTest tests[] = {
        RANDOM_TEST(every_element_count_and_depth_agrees_with_the_model),
        RANDOM_TEST(plain_nodes_agree_with_the_model),
        RANDOM_TEST(large_elements_that_are_not_plain_agree_with_the_model),
        RANDOM_TEST(every_node_size_agrees_with_the_model),
        RANDOM_TEST(deep_trees_agree_with_the_model),
        RANDOM_TEST(limits_may_change_at_any_time),
        cmocka_unit_test(pushes_choose_nodes_as_redis_does),
        cmocka_unit_test(the_limits_of_fill_are_those_of_redis),
        cmocka_unit_test(inserts_try_the_node_then_its_neighbour_then_a_new_one),
        cmocka_unit_test(a_plain_element_splits_the_node_it_goes_into),
        cmocka_unit_test(inserts_add_to_a_node_that_replacements_stretched),
        cmocka_unit_test(a_large_element_below_the_threshold_is_in_a_node_like_others),
        cmocka_unit_test(removing_merges_neighbours_that_fit_in_one_node),
        cmocka_unit_test(long_lists_of_integers_cost_about_half_a_percent_over_their_encoding),
        cmocka_unit_test(a_queue_within_one_node_keeps_its_buffer),
        cmocka_unit_test(a_list_that_shrinks_gives_its_buffer_back),
        cmocka_unit_test(compressed_nodes_are_streams_of_their_listpacks),
        cmocka_unit_test(elements_of_megabytes_are_plain_nodes),
        cmocka_unit_test(bodies_become_nodes_as_they_are),
        cmocka_unit_test(a_packed_node_of_nearly_4_gb_keeps_its_buffer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
