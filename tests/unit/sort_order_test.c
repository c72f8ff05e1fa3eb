/* SORT's order against a naive sort of the same items. */
#include "commands/sort_order.h"

#include "base/memory/alloc.h"
#include "unit/seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

enum { ITEMS_MAX = 3000, TEXT_ROOM = 12 };

static char texts[ITEMS_MAX][TEXT_ROOM];
static struct sort_item items[ITEMS_MAX], model[ITEMS_MAX];

/* Few different scores and texts, so that many are equal; some weights are missing. The position of
 * a text in `texts` distinguishes equal items. */
static void make_items(struct random *random, size_t count) {
    uint64_t kinds = 1 + random_below(random, random_below(random, 2) ? 10 : 5000);
    for (size_t i = 0; i < count; i++) {
        int len = snprintf(texts[i], TEXT_ROOM, "%d", (int)random_below(random, kinds));
        items[i].text = slice_make(texts[i], (size_t)len - (random_below(random, 10) == 0));
        items[i].score = (double)random_below(random, kinds) - 3;
        items[i].weight = items[i].text;
        if (random_below(random, 2)) items[i].weight.len = 1;
        if (random_below(random, 5) == 0) items[i].weight.ptr = NULL;
    }
    memcpy(model, items, count * sizeof(*items));
}

static int compare_texts(struct slice a, struct slice b) {
    for (size_t i = 0; i < a.len && i < b.len; i++)
        if (a.ptr[i] != b.ptr[i]) return (unsigned char)a.ptr[i] < (unsigned char)b.ptr[i] ? -1 : 1;
    return a.len < b.len ? -1 : a.len > b.len;
}

static int compare(const struct sort_item *a, const struct sort_item *b, enum sort_order order) {
    bool by_text = order == SORT_BY_SCORE_AND_TEXT || order == SORT_BY_WEIGHT_AND_TEXT;
    int result = 0;
    if (order == SORT_BY_SCORE || order == SORT_BY_SCORE_AND_TEXT)
        result = a->score < b->score ? -1 : a->score > b->score;
    else if (a->weight.ptr && b->weight.ptr)
        result = compare_texts(a->weight, b->weight);
    else
        result = (a->weight.ptr != NULL) - (b->weight.ptr != NULL);
    return result || !by_text ? result : compare_texts(a->text, b->text);
}

/* A binary insertion sort: stable and plain. */
static void sort_model(size_t count, enum sort_order order, bool descending) {
    for (size_t i = 1; i < count; i++) {
        struct sort_item item = model[i];
        size_t low = 0, high = i;
        while (low < high) {
            size_t middle = (low + high) / 2;
            int result = compare(&model[middle], &item, order);
            if (descending ? result >= 0 : result <= 0)
                low = middle + 1;
            else
                high = middle;
        }
        memmove(&model[low + 1], &model[low], (i - low) * sizeof(*model));
        model[low] = item;
    }
}

static void the_first_items_are_those_of_a_stable_sort(void **state) {
    (void)state;
    struct random random = random_of_this_run();
    for (int round = 0; round < 200; round++) {
        size_t limit = round % 3 == 0 ? 12 : round % 3 == 1 ? 300 : ITEMS_MAX;
        size_t count = random_below(&random, limit);
        size_t wanted = random_below(&random, 2) ? count : random_below(&random, count + 1);
        if (random_below(&random, 3) == 0 && wanted > 5) wanted = 5;
        enum sort_order order = (enum sort_order)random_below(&random, 4);
        bool descending = random_below(&random, 2);
        make_items(&random, count);
        sort_model(count, order, descending);
        size_t used = mem_used();
        sort_items(items, count, wanted, order, descending);
        assert_int_equal(mem_used(), used);
        for (size_t i = 0; i < wanted; i++) assert_ptr_equal(items[i].text.ptr, model[i].text.ptr);
    }
}

static void nothing_is_sorted_of_nothing(void **state) {
    (void)state;
    sort_items(NULL, 0, 0, SORT_BY_SCORE_AND_TEXT, false);
    items[0].text = SLICE("a");
    sort_items(items, 1, 0, SORT_BY_WEIGHT, true);
    sort_items(items, 1, 1, SORT_BY_WEIGHT, true);
    assert_true(slice_equal(items[0].text, SLICE("a")));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_items_are_those_of_a_stable_sort),
        cmocka_unit_test(nothing_is_sorted_of_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
