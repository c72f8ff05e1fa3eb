#include "base/memory/alloc.h"
#include "store/entry.h"
#include "unit/seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static void a_small_string_takes_32_bytes_and_a_small_list_80(void **state) {
    (void)state;
    struct entry *string = entry_new(SLICE("key:1234567"), VALUE_STRING, 1, 1 + 13);
    assert_int_equal(entry_allocated(string, 1 + 13), 32);
    entry_free(string, 1 + 13);
    /* Five elements of 10 bytes, each with two of encoding and length. */
    size_t list_size = 3 + 5 * 12;
    struct entry *list = entry_new(SLICE("key:123456"), VALUE_LIST, 0, list_size);
    assert_int_equal(entry_allocated(list, list_size), 80);
    entry_free(list, list_size);
}

/* Bytes that the value may take in the memory of the entry. */
static size_t room_of(const struct entry *entry, size_t value_size) {
    return entry_allocated(entry, value_size) -
           (size_t)(entry_value(entry) - (const uint8_t *)entry);
}

static void a_new_entry_has_its_key_and_type_and_nothing_else(void **state) {
    (void)state;
    static const size_t lengths[] = {0, 1, 31, 32, 255, 256, 65535, 65536, 1000000};
    char *text = mem_alloc(1000000);
    for (size_t i = 0; i < 1000000; i++) text[i] = (char)(i * 31);
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        struct slice key = slice_make(text, lengths[i]);
        struct entry *entry = entry_new(key, VALUE_ZSET, 11, 5);
        assert_true(entry_check(entry));
        assert_int_equal((uintptr_t)entry % 16, 0);
        assert_true(slice_equal(entry_key(entry), key));
        assert_int_equal(entry_type(entry), VALUE_ZSET);
        assert_int_equal(entry_encoding(entry), 11);
        assert_int_equal(entry_byte(entry), 0);
        assert_int_equal(entry_clock(entry), 0);
        assert_int_equal(entry_expiry(entry), -1);
        assert_ptr_equal(entry_value(entry), entry_key(entry).ptr + key.len);
        memset(entry_value(entry), 0xFF, room_of(entry, 5)); /* all of it may be written */
        assert_true(slice_equal(entry_key(entry), key));
        entry_free(entry, 5);
    }
    mem_free(text);
}

static void fields_do_not_disturb_each_other(void **state) {
    (void)state;
    struct entry *entry = entry_new(SLICE("key"), VALUE_LIST, 0, sizeof(void *));
    int target;
    entry_set_pointer(entry, &target);
    entry_set_clock(entry, 0xFEDCBA98);
    entry_set_byte(entry, 0xA5);
    entry_set_type(entry, VALUE_HASH, 15);
    entry = entry_set_expiry(entry, INT64_MAX, sizeof(void *));
    assert_int_equal(entry_clock(entry), 0xDCBA98);
    entry_set_clock(entry, 0x01DCBA98);
    assert_int_equal(entry_clock(entry), 0x01DCBA98);
    assert_int_equal(entry_byte(entry), 0xA5);
    assert_int_equal(entry_type(entry), VALUE_HASH);
    assert_int_equal(entry_encoding(entry), 15);
    assert_true(entry_expiry(entry) == INT64_MAX);
    assert_ptr_equal(entry_pointer(entry), &target);
    assert_true(slice_equal(entry_key(entry), SLICE("key")));
    entry = entry_set_expiry(entry, 0, sizeof(void *));
    assert_int_equal(entry_expiry(entry), 0);
    entry = entry_set_expiry(entry, -1, sizeof(void *));
    assert_int_equal(entry_expiry(entry), -1);
    assert_ptr_equal(entry_pointer(entry), &target);
    assert_true(entry_check(entry));
    entry_free(entry, sizeof(void *));
}

static void resizing_within_a_class_leaves_the_entry_where_it_is(void **state) {
    (void)state;
    struct entry *entry = entry_new(SLICE("key"), VALUE_STRING, 0, 1);
    size_t room = room_of(entry, 1);
    assert_int_equal(room, 16 - 6 - 4);
    for (size_t size = 1; size < room; size++) {
        assert_ptr_equal(entry_resize(entry, size, size + 1), entry);
        entry_value(entry)[size] = 'x';
    }
    size_t used = mem_used();
    entry = entry_resize(entry, room, room + 1);
    assert_int_equal(entry_allocated(entry, room + 1), 32);
    assert_int_equal(mem_used(), used + 16);
    entry_value(entry)[room] = 'x';
    entry = entry_resize(entry, room + 1, room);
    assert_int_equal(mem_used(), used);
    entry_free(entry, room);
}

/* What an entry should hold. */
struct model {
    char key[400];
    size_t key_len;
    uint8_t value[600];
    size_t value_size;
    int64_t expiry_ms;
};

static void assert_like_model(const struct entry *entry, const struct model *model) {
    assert_true(entry_check(entry));
    assert_true(slice_equal(entry_key(entry), slice_make(model->key, model->key_len)));
    assert_memory_equal(entry_value(entry), model->value, model->value_size);
    assert_true(entry_expiry(entry) == model->expiry_ms);
    assert_int_equal(entry_clock(entry), 12345);
    size_t size = (size_t)(entry_value(entry) - (const uint8_t *)entry) + model->value_size;
    assert_int_equal(entry_allocated(entry, model->value_size), mem_good_size(size < 9 ? 9 : size));
}

static struct entry *random_step(struct entry *entry, struct model *model, struct random *random) {
    if (random_below(random, 3) == 0) {
        model->expiry_ms = random_below(random, 2) ? -1 : (int64_t)(random_next(random) >> 1);
        return entry_set_expiry(entry, model->expiry_ms, model->value_size);
    }
    size_t old_size = model->value_size;
    model->value_size = random_below(random, random_below(random, 4) ? 30 : sizeof(model->value));
    entry = entry_resize(entry, old_size, model->value_size);
    for (size_t i = old_size; i < model->value_size; i++) {
        model->value[i] = entry_value(entry)[i] = (uint8_t)random_next(random);
    }
    return entry;
}

static void random_resizes_and_expiries_keep_key_and_value(void **state) {
    (void)state;
    struct random random = random_of_this_run();
    for (int round = 0; round < 300; round++) {
        struct model model = {.expiry_ms = -1};
        model.key_len = random_below(&random, round % 3 == 0 ? 4 : round % 3 == 1 ? 40 : 400);
        for (size_t i = 0; i < model.key_len; i++) model.key[i] = (char)random_next(&random);
        size_t used = mem_used();
        struct slice key = slice_make(model.key, model.key_len);
        struct entry *entry = entry_new(key, VALUE_STRING, 3, 0);
        entry_set_clock(entry, 12345);
        for (int step = 0; step < 60; step++) {
            entry = random_step(entry, &model, &random);
            assert_like_model(entry, &model);
        }
        assert_int_equal(mem_used() - used, entry_allocated(entry, model.value_size));
        entry_free(entry, model.value_size);
        assert_int_equal(mem_used(), used);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_small_string_takes_32_bytes_and_a_small_list_80),
        cmocka_unit_test(a_new_entry_has_its_key_and_type_and_nothing_else),
        cmocka_unit_test(fields_do_not_disturb_each_other),
        cmocka_unit_test(resizing_within_a_class_leaves_the_entry_where_it_is),
        cmocka_unit_test(random_resizes_and_expiries_keep_key_and_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
