/* The tables against a model: which of a few names are in which database. */
#include "server/keytable.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "unit/seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include <cmocka.h>

enum { DATABASES = 3, NAMES = 40, STEPS = 20000 };

struct item {
    struct keytable_key key;
    unsigned mark;
};

/* Names of 0 to NAMES - 1 bytes, zeros among them. */
static const char bytes[NAMES];

static void items_are_found_by_database_and_name(void **state) {
    (void)state;
    struct random random = random_of_this_run();
    unsigned marks[DATABASES][NAMES] = {0}; /* 0: not there */
    size_t used = mem_used(), count = 0;
    struct keytable table;
    keytable_init(&table, DATABASES);
    for (unsigned step = 1; step <= STEPS; step++) {
        int database = (int)random_below(&random, DATABASES);
        size_t len = random_below(&random, NAMES);
        struct slice name = slice_make(bytes, len);
        unsigned *mark = &marks[database][len];
        struct item *item = keytable_find(&table, database, name);
        assert_int_equal(item != NULL, *mark != 0);
        if (item) {
            assert_int_equal(item->mark, *mark);
            assert_ptr_equal(keytable_find_or_add(&table, database, name, sizeof(*item)), item);
            keytable_delete(&table, item);
            *mark = 0;
            count--;
        } else {
            item = keytable_find_or_add(&table, database, name, sizeof(*item));
            assert_int_equal(item->mark, 0);
            assert_int_equal(item->key.database, database);
            assert_true(slice_equal(item->key.name, name));
            assert_ptr_not_equal(item->key.name.ptr, name.ptr);
            item->mark = *mark = step;
            count++;
        }
        assert_int_equal(table.count, count);
    }
    for (int database = 0; database < DATABASES; database++)
        for (size_t len = 0; len < NAMES; len++)
            if (marks[database][len])
                keytable_delete(&table, keytable_find(&table, database, slice_make(bytes, len)));
    keytable_free(&table);
    assert_int_equal(mem_used(), used);
}

int main(void) {
    hash_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_are_found_by_database_and_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
