/* rdb_body: the limit of a body that is made anew. */
#include "persist/rdb_body.h"

#include "base/memory/alloc.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* Most of the buffer is not touched, so it takes no memory. */
static void a_body_is_no_longer_than_a_listpack_can_say(void **state) {
    const struct slice text = SLICE("abc"); /* five bytes as an element */
    struct rdb_scratch scratch = {.size = (size_t)1 << 33};
    (void)state;
    scratch.bytes = mem_alloc(scratch.size);
    size_t used = RDB_BODY_MAX - 5;
    assert_true(rdb_body_append(&scratch, &used, text));
    assert_int_equal(used, RDB_BODY_MAX);
    assert_false(rdb_body_append(&scratch, &used, text));
    assert_false(rdb_body_append_integer(&scratch, &used, 1));
    used = RDB_BODY_MAX - 4;
    assert_false(rdb_body_append(&scratch, &used, text));
    assert_int_equal(used, RDB_BODY_MAX - 4);
    mem_free(scratch.bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_body_is_no_longer_than_a_listpack_can_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
