/* The tables against a model: which of a few names are in which space. */
#include "engine/keytable.h"

#include "base/hash/hash.h"
#include "base/memory/alloc.h"
#include "unit/seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include <cmocka.h>

enum { SPACES = 3, NAMES = 40, STEPS = 20000 };

struct item {
    struct keytable_key key;
    unsigned mark;
};

/* Names of 0 to NAMES - 1 bytes, zeros among them. */
static const char bytes[NAMES];

static void items_are_found_by_space_and_name(void **state) {
    (void)state;
    struct random random = random_of_this_run();
    unsigned marks[SPACES][NAMES] = {0}; /* 0: not there */
    size_t used = mem_used(), count = 0;
    struct keytable table;
    keytable_init(&table, SPACES);
    for (unsigned step = 1; step <= STEPS; step++) {
        int space = (int)random_below(&random, SPACES);
        size_t len = random_below(&random, NAMES);
        struct slice name = slice_make(bytes, len);
        unsigned *mark = &marks[space][len];
        struct item *item = keytable_find(&table, space, name);
        assert_int_equal(item != NULL, *mark != 0);
        if (item) {
            assert_int_equal(item->mark, *mark);
            assert_ptr_equal(keytable_find_or_add(&table, space, name, sizeof(*item)), item);
            keytable_delete(&table, item);
            *mark = 0;
            count--;
        } else {
            item = keytable_find_or_add(&table, space, name, sizeof(*item));
            assert_int_equal(item->mark, 0);
            assert_int_equal(item->key.space, space);
            assert_true(slice_equal(item->key.name, name));
            assert_ptr_not_equal(item->key.name.ptr, name.ptr);
            item->mark = *mark = step;
            count++;
        }
        assert_int_equal(table.count, count);
    }
    for (int space = 0; space < SPACES; space++)
        for (size_t len = 0; len < NAMES; len++)
            if (marks[space][len])
                keytable_delete(&table, keytable_find(&table, space, slice_make(bytes, len)));
    keytable_free(&table);
    assert_int_equal(mem_used(), used);
}

int main(void) {
    hash_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_are_found_by_space_and_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
