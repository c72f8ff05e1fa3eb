/* Chains against arrays with the same items; each item is in two chains at once. */
#include "base/chain.h"
#include "unit/seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include <cmocka.h>

enum { ITEMS = 8, STEPS = 20000 };

struct item {
    struct item *prev;
    struct item *next;
    struct item *older;
    struct item *newer;
};

/* A chain, and the items that it must contain. */
struct model {
    struct item *first;
    struct item *last;
    struct item *want[ITEMS];
    size_t count;
};

static size_t place_of(const struct model *model, const struct item *item) {
    size_t at = 0;
    while (at < model->count && model->want[at] != item) at++;
    return at;
}

static void append(struct model *model, struct item *item) {
    model->want[model->count++] = item;
}

static void drop(struct model *model, size_t at) {
    model->count--;
    memmove(model->want + at, model->want + at + 1, (model->count - at) * sizeof(model->want[0]));
}

static void check_by_links(const struct model *model) {
    const struct item *prev = NULL, *at = model->first;
    for (size_t i = 0; i < model->count; prev = at, at = at->next, i++) {
        assert_ptr_equal(at, model->want[i]);
        assert_ptr_equal(at->prev, prev);
    }
    assert_null(at);
    assert_ptr_equal(model->last, prev);
}

static void check_by_age(const struct model *model) {
    const struct item *older = NULL, *at = model->first;
    for (size_t i = 0; i < model->count; older = at, at = at->newer, i++) {
        assert_ptr_equal(at, model->want[i]);
        assert_ptr_equal(at->older, older);
    }
    assert_null(at);
    assert_ptr_equal(model->last, older);
}

static void items_in_two_chains_stand_in_the_order_of_appending(void **state) {
    (void)state;
    struct random random = random_of_this_run();
    struct item items[ITEMS];
    memset(items, 0xAA, sizeof(items)); /* links need not be set */
    struct model links = {0}, ages = {0};
    for (int step = 0; step < STEPS; step++) {
        struct item *item = &items[random_below(&random, ITEMS)];
        bool by_age = random_below(&random, 2);
        struct model *model = by_age ? &ages : &links;
        size_t at = place_of(model, item);
        if (at == model->count) {
            if (by_age)
                CHAIN_APPEND(ages.first, ages.last, item, older, newer);
            else
                CHAIN_APPEND(links.first, links.last, item, prev, next);
            append(model, item);
        } else {
            if (by_age)
                CHAIN_REMOVE(ages.first, ages.last, item, older, newer);
            else
                CHAIN_REMOVE(links.first, links.last, item, prev, next);
            drop(model, at);
        }
        check_by_links(&links);
        check_by_age(&ages);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_in_two_chains_stand_in_the_order_of_appending),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
