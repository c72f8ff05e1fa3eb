/* segmented: items stay, and memory follows the items in both directions. */
#include "base/memory/alloc.h"
#include "ds/segmented.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include <cmocka.h>

/* An entry with knowledge of its owner. */
struct entry {
    uint64_t *words;
    uint64_t note;
};

enum { MANY = 20 * SEGMENTED_ITEMS };

static void push_words(struct segmented *array, size_t from, size_t to) {
    for (size_t i = from; i < to; i++) {
        *(uint64_t *)segmented_push(array) = i * 3;
        assert_true(segmented_check(array));
    }
}

static void pop_to(struct segmented *array, size_t count) {
    while (array->count > count) {
        segmented_pop(array);
        assert_true(segmented_check(array));
    }
}

static void assert_words(const struct segmented *array) {
    for (size_t i = 0; i < array->count; i++) assert_int_equal(*segmented_word(array, i), i * 3);
}

static void items_are_as_they_were_pushed(void **state) {
    (void)state;
    struct segmented array;
    segmented_init(&array, sizeof(uint64_t), sizeof(uint64_t *));
    push_words(&array, 0, MANY + 1);
    assert_words(&array);
    pop_to(&array, MANY / 3);
    assert_words(&array);
    push_words(&array, MANY / 3, MANY);
    assert_words(&array);
    static uint64_t read[MANY];
    segmented_read(&array, read);
    for (size_t i = 0; i < MANY; i++) assert_int_equal(read[i], i * 3);
    segmented_free(&array);
    assert_int_equal(array.count, 0);
    assert_true(segmented_check(&array));
}

static void allocated_is_what_the_allocator_counts(void **state) {
    (void)state;
    struct segmented array;
    segmented_init(&array, sizeof(uint64_t), sizeof(uint64_t *));
    size_t before = mem_used();
    for (size_t i = 0; i < MANY; i++) {
        push_words(&array, i, i + 1);
        assert_int_equal(mem_used() - before, segmented_allocated(&array));
    }
    while (array.count > 0) {
        segmented_pop(&array);
        assert_int_equal(mem_used() - before, segmented_allocated(&array));
    }
    assert_int_equal(segmented_allocated(&array), 0);
}

static void memory_follows_the_items(void **state) {
    (void)state;
    struct segmented array;
    segmented_init(&array, sizeof(uint64_t), sizeof(uint64_t *));
    push_words(&array, 0, MANY);
    size_t at_most = segmented_allocated(&array);
    pop_to(&array, MANY / 10);
    assert_true(segmented_allocated(&array) <= at_most / 10 + 8 * sizeof(uint64_t *));
    pop_to(&array, 1);
    assert_true(segmented_allocated(&array) <= 16 + 2 * 16);
    segmented_free(&array);
}

static void a_step_to_and_fro_moves_nothing_between_segments(void **state) {
    (void)state;
    struct segmented array;
    segmented_init(&array, sizeof(uint64_t), sizeof(uint64_t *));
    for (size_t segments = 2; segments < 20; segments++) {
        push_words(&array, array.count, segments * SEGMENTED_ITEMS + 1);
        const void *directory = array.directory, *first = segmented_word(&array, 0);
        pop_to(&array, segments * SEGMENTED_ITEMS);
        push_words(&array, array.count, segments * SEGMENTED_ITEMS + 1);
        assert_ptr_equal(array.directory, directory);
        assert_ptr_equal(segmented_word(&array, 0), first);
    }
    segmented_free(&array);
}

static void items_are_aligned_to_their_size(void **state) {
    (void)state;
    struct segmented array;
    segmented_init(&array, 64, sizeof(char *));
    for (size_t i = 0; i < 3 * SEGMENTED_ITEMS; i++) {
        char *item = segmented_push(&array);
        assert_int_equal((uintptr_t)item % 64, 0);
        memset(item, (int)(i & 0x7F), 64);
    }
    char *const *directory = array.directory;
    for (size_t i = 0; i < array.count; i++)
        assert_int_equal(directory[i / SEGMENTED_ITEMS][i % SEGMENTED_ITEMS * 64], i & 0x7F);
    segmented_free(&array);
}

static void entries_keep_what_their_owner_notes(void **state) {
    (void)state;
    struct segmented array;
    segmented_init(&array, sizeof(uint64_t), sizeof(struct entry));
    for (size_t i = 0; i < MANY; i++) {
        *(uint64_t *)segmented_push(&array) = i;
        struct entry *entry = &((struct entry *)array.directory)[i / SEGMENTED_ITEMS];
        assert_int_equal(entry->note, i % SEGMENTED_ITEMS ? i / SEGMENTED_ITEMS + 1 : 0);
        entry->note = i / SEGMENTED_ITEMS + 1;
    }
    pop_to(&array, MANY / 2);
    const struct entry *entries = array.directory;
    for (size_t s = 0; s < segmented_segments(&array); s++) {
        assert_int_equal(entries[s].note, s + 1);
        assert_int_equal(entries[s].words[1], s * SEGMENTED_ITEMS + 1);
    }
    segmented_free(&array);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_are_as_they_were_pushed),
        cmocka_unit_test(allocated_is_what_the_allocator_counts),
        cmocka_unit_test(memory_follows_the_items),
        cmocka_unit_test(a_step_to_and_fro_moves_nothing_between_segments),
        cmocka_unit_test(items_are_aligned_to_their_size),
        cmocka_unit_test(entries_keep_what_their_owner_notes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
