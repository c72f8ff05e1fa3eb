/* The tree of prefixes against a model: an array of strings that is searched from end to end. */
#include "ds/prefix_tree.h"
#include "unit/seed.h"

#include "base/hash/random.h"
#include "base/memory/alloc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

enum { STRINGS = 40, LENGTH_MAX = 6, STEPS = 20000 };

struct string {
    char bytes[LENGTH_MAX];
    size_t length;
    bool is_in;
};

static struct slice slice_of(const struct string *string) {
    return slice_make(string->bytes, string->length);
}

/* Strings of few letters, one of them negative as a char, so that many share a beginning. */
static struct slice random_text(struct random *random, char *to) {
    static const char letters[] = {'a', 'b', '\xff'};
    size_t length = random_below(random, LENGTH_MAX + 1);
    for (size_t i = 0; i < length; i++) to[i] = letters[random_below(random, sizeof(letters))];
    return slice_make(to, length);
}

static struct string *model_find(struct string *model, struct slice text) {
    for (struct string *at = model; at < model + STRINGS; at++)
        if (at->is_in && slice_equal(slice_of(at), text)) return at;
    return NULL;
}

static void check_walk(const struct prefix_tree *tree, struct string *model, struct slice text) {
    struct prefix_walk walk = prefix_walk_begin(tree, text);
    for (size_t length = 0; length <= text.len; length++) {
        struct string *expected = model_find(model, slice_make(text.ptr, length));
        if (expected) assert_ptr_equal(prefix_walk_next(&walk), expected);
    }
    assert_null(prefix_walk_next(&walk));
}

static void check_below(const struct prefix_tree *tree, struct string *model, struct slice text) {
    struct string *first = NULL;
    for (struct string *at = model; at < model + STRINGS; at++) {
        if (!at->is_in || !slice_begins(slice_of(at), text)) continue;
        if (!first || slice_compare(slice_of(at), slice_of(first)) < 0) first = at;
    }
    assert_ptr_equal(prefix_tree_first_below(tree, text), first);
}

struct order {
    const struct string *last;
    size_t count;
};

static void check_next(void *item, void *arg) {
    const struct string *string = item;
    struct order *order = arg;
    assert_true(string->is_in);
    if (order->last) assert_true(slice_compare(slice_of(order->last), slice_of(string)) < 0);
    order->last = string;
    order->count++;
}

static void change(struct prefix_tree *tree, struct string *model, struct random *random) {
    char bytes[LENGTH_MAX];
    struct slice text = random_text(random, bytes);
    struct string *there = model_find(model, text);
    if (random_below(random, 2)) {
        assert_ptr_equal(prefix_tree_remove(tree, text), there);
        if (there) there->is_in = false;
        return;
    }
    struct string *free_one = model;
    while (free_one < model + STRINGS && free_one->is_in) free_one++;
    if (free_one == model + STRINGS) {
        struct string *first = prefix_tree_remove_first(tree);
        for (struct string *at = model; at < model + STRINGS; at++)
            if (at != first) assert_true(slice_compare(slice_of(first), slice_of(at)) < 0);
        first->is_in = false;
        return;
    }
    memcpy(free_one->bytes, text.ptr, text.len);
    free_one->length = text.len;
    assert_ptr_equal(prefix_tree_put(tree, text, free_one), there);
    free_one->is_in = true;
    if (there) there->is_in = false;
}

static void it_does_what_the_model_does(void **state) {
    (void)state;
    struct random random = random_of_this_run();
    struct string model[STRINGS] = {0};
    struct prefix_tree tree = {0};
    char bytes[LENGTH_MAX];
    for (int i = 0; i < STEPS; i++) {
        change(&tree, model, &random);
        assert_true(prefix_tree_check(&tree));
        struct slice text = random_text(&random, bytes);
        assert_ptr_equal(prefix_tree_find(&tree, text), model_find(model, text));
        check_walk(&tree, model, text);
        check_below(&tree, model, text);
        struct order order = {0};
        prefix_tree_each(&tree, check_next, &order);
        assert_int_equal(order.count, tree.count);
    }
    while (prefix_tree_remove_first(&tree)) {
    }
    assert_null(tree.root);
    assert_int_equal(tree.allocated, 0);
}

static void strings_that_contain_each_other_are_removed_in_any_order(void **state) {
    (void)state;
    enum { DEPTH = 2000 };
    static char text[DEPTH];
    struct prefix_tree tree = {0};
    memset(text, 'x', sizeof(text));
    for (size_t i = 0; i < DEPTH; i++) prefix_tree_put(&tree, slice_make(text, i), text + i);
    struct prefix_walk walk = prefix_walk_begin(&tree, slice_make(text, DEPTH));
    for (size_t i = 0; i < DEPTH; i++) assert_ptr_equal(prefix_walk_next(&walk), text + i);
    for (size_t i = 0; i < DEPTH; i += 2)
        assert_ptr_equal(prefix_tree_remove(&tree, slice_make(text, i)), text + i);
    assert_true(prefix_tree_check(&tree));
    for (size_t i = 1; i < DEPTH; i += 2)
        assert_ptr_equal(prefix_tree_remove_first(&tree), text + i);
    assert_null(tree.root);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_does_what_the_model_does),
        cmocka_unit_test(strings_that_contain_each_other_are_removed_in_any_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
