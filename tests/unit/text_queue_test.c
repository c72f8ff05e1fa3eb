/* A queue of texts beside a list of them. The text with the number n is made from n alone. */
#include "base/hash/random.h"
#include "base/memory/alloc.h"
#include "commands/text_queue.h"
#include "unit/in_range.h"
#include "unit/seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { LONGEST = 200000 };

static size_t length_of(uint64_t number) {
    static const size_t lengths[] = {0, 5, 17, 127, 128, 900, 70000, LONGEST};
    size_t rare = number % 97 == 0 ? 8 : 6;
    return lengths[number * 7919 % rare];
}

static void check_text(struct slice text, uint64_t number) {
    assert_int_equal(text.len, length_of(number));
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] != (char)(number % 251)) fail();
}

static void add(struct text_queue *queue, uint64_t number) {
    static char bytes[LONGEST];
    memset(bytes, (int)(number % 251), length_of(number));
    text_queue_add(queue, slice_make(bytes, length_of(number)));
}

static void texts_are_read_in_their_order(void **state) {
    enum { MOST = 20, ROUNDS = 2000 };
    (void)state;
    struct random random = random_of_this_run();
    struct text_queue queue = {0};
    struct slice texts[MOST];
    uint64_t added = 0, read = 0;
    size_t bytes = 0;
    for (int round = 0; round < ROUNDS; round++) {
        for (uint64_t more = random_below(&random, 16); more > 0; more--) {
            bytes += length_of(added);
            add(&queue, added++);
        }
        assert_int_equal(queue.count, added - read);
        assert_int_equal(queue.bytes, bytes);
        size_t most = 1 + random_below(&random, MOST);
        size_t count = text_queue_read(&queue, texts, most);
        assert_int_equal(count, most < added - read ? most : added - read);
        for (size_t i = 0; i < count; i++) check_text(texts[i], read++);
    }
    while (text_queue_read(&queue, texts, MOST) > 0) {
    }
    assert_int_equal(queue.allocated, 0);
    assert_null(queue.first);
}

static void a_queue_that_is_not_read_is_freed(void **state) {
    (void)state;
    struct text_queue queue = {0};
    text_queue_free(&queue);
    for (uint64_t number = 0; number < 500; number++) add(&queue, number);
    assert_true(queue.allocated >= queue.bytes);
    text_queue_free(&queue);
    assert_int_equal(queue.allocated, 0);
    assert_int_equal(queue.count, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_read_in_their_order),
        cmocka_unit_test(a_queue_that_is_not_read_is_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
