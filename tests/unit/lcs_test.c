/* The longest common subsequence, against the table that the definition gives. */
#include "types/lcs.h"

#include "base/memory/alloc.h"
#include "unit/seed.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { LENGTH_MAX = 300 };

static uint16_t table[LENGTH_MAX + 1][LENGTH_MAX + 1];

static void fill_table(struct slice a, struct slice b) {
    for (size_t i = 1; i <= a.len; i++) {
        for (size_t j = 1; j <= b.len; j++) {
            uint16_t up = table[i - 1][j], left = table[i][j - 1];
            bool same = a.ptr[i - 1] == b.ptr[j - 1];
            table[i][j] = same ? table[i - 1][j - 1] + 1 : up > left ? up : left;
        }
    }
}

/* Reads the next part of the path back through the table. */
static bool next_by_table(struct slice a, struct slice b, size_t *i, size_t *j,
                          struct lcs_match *match) {
    while (*i && *j && a.ptr[*i - 1] != b.ptr[*j - 1]) {
        if (table[*i - 1][*j] > table[*i][*j - 1])
            --*i;
        else
            --*j;
    }
    match->length = 0;
    for (; *i && *j && a.ptr[*i - 1] == b.ptr[*j - 1]; --*i, --*j) match->length++;
    match->a = *i;
    match->b = *j;
    return match->length > 0;
}

static struct slice random_text(struct random *random, char buffer[LENGTH_MAX]) {
    size_t len = random_below(random, random_below(random, 4) ? 100 : LENGTH_MAX);
    uint64_t letters = 1 + random_below(random, 5);
    for (size_t i = 0; i < len; i++) buffer[i] = (char)(0x7E + random_below(random, letters));
    return slice_make(buffer, len);
}

static void length_and_stretches_agree_with_the_table(void **state) {
    (void)state;
    static char buffers[2][LENGTH_MAX];
    struct random random = random_of_this_run();
    size_t before = mem_used();
    for (int round = 0; round < 500; round++) {
        struct slice a = random_text(&random, buffers[0]), b = random_text(&random, buffers[1]);
        struct lcs lcs;
        struct lcs_match match, expected;
        size_t i = a.len, j = b.len, total = 0;
        fill_table(a, b);
        assert_int_equal(lcs_length(a, b), table[a.len][b.len]);
        assert_true(lcs_begin(&lcs, a, b));
        assert_int_equal(lcs.length, table[a.len][b.len]);
        while (next_by_table(a, b, &i, &j, &expected)) {
            assert_true(lcs_next(&lcs, &match));
            assert_int_equal(match.a, expected.a);
            assert_int_equal(match.b, expected.b);
            assert_int_equal(match.length, expected.length);
            total += match.length;
        }
        assert_false(lcs_next(&lcs, &match));
        assert_int_equal(total, lcs.length);
        lcs_end(&lcs);
    }
    assert_int_equal(mem_used(), before);
}

static void memory_that_cannot_be_had_is_reported(void **state) {
    (void)state;
    struct lcs lcs; /* the texts are not read before there is memory */
    struct slice huge = slice_make("a", SIZE_MAX / 4);
    assert_false(lcs_begin(&lcs, huge, huge));
    lcs_end(&lcs);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(length_and_stretches_agree_with_the_table),
        cmocka_unit_test(memory_that_cannot_be_had_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
