/* rdb_length: bytes of strings and lists in an RDB file. The sizes of whole lists are those
 * that redis-server shows as serializedlength; those of compressed lists are close to them. */
#include "persist/type_format.h"

#include "base/hash/hash.h"
#include "base/hash/random.h"
#include "base/lzf/lzf.h"
#include "base/memory/alloc.h"
#include "ds/lists/quicklist.h"
#include "store/keyspace.h"
#include "types/list.h"
#include "types/string.h"
#include "types/value.h"
#include "unit/in_range.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static size_t length_of_text(struct slice text) {
    struct entry *entry = string_new(SLICE("key"), text);
    size_t length = type_format_length(entry);
    value_free(entry);
    return length;
}

static size_t length_of(const char *text) {
    return length_of_text(slice_of_cstr(text));
}

static void short_texts_take_their_length_and_one_byte(void **state) {
    (void)state;
    assert_int_equal(length_of(""), 1);
    assert_int_equal(length_of("hello"), 6);
    assert_int_equal(length_of("abcdefghijklmnopqrst"), 21);
}

static void integers_of_32_bits_take_their_width(void **state) {
    (void)state;
    assert_int_equal(length_of("0"), 2);
    assert_int_equal(length_of("-128"), 2);
    assert_int_equal(length_of("127"), 2);
    assert_int_equal(length_of("128"), 3);
    assert_int_equal(length_of("-32768"), 3);
    assert_int_equal(length_of("32768"), 5);
    assert_int_equal(length_of("-2147483648"), 5);
    assert_int_equal(length_of("2147483648"), 11);
    assert_int_equal(length_of("-2147483649"), 12);
    assert_int_equal(length_of("+1"), 3);
    assert_int_equal(length_of("007"), 4);
}

static void length_fields_grow_with_the_text(void **state) {
    (void)state;
    struct random random;
    random_seed(&random, 1);
    static const struct {
        size_t text, field;
    } cases[] = {{63, 1}, {64, 2}, {16383, 2}, {16384, 5}, {100000, 5}};
    char *noise = mem_alloc(100000);
    for (size_t i = 0; i < 100000; i++) noise[i] = (char)random_next(&random);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(length_of_text(slice_make(noise, cases[i].text)),
                         cases[i].field + cases[i].text);
    mem_free(noise);
}

static void repetitive_texts_are_compressed_from_21_bytes_on(void **state) {
    (void)state;
    char text[100];
    memset(text, 'a', sizeof(text));
    assert_int_equal(length_of_text(slice_make(text, 20)), 21);
    assert_true(length_of_text(slice_make(text, 21)) < 21);
    uint8_t stream[100]; /* behind the mark of LZF and two lengths, of one byte and of two */
    assert_int_equal(length_of_text(slice_make(text, 100)),
                     4 + lzf_compress_text(slice_make(text, 100), stream, sizeof(stream)));
}

/* --- Lists --- */

struct list_case {
    struct keyspace *keyspace;
    struct keyref ref;
};

static struct list_case list_case_new(void) {
    struct list_case list = {.keyspace = keyspace_new(value_free, value_length)};
    list.ref = keyspace_find(list.keyspace, SLICE("key"));
    return list;
}

static void push(struct list_case *list, const char *text, struct quicklist_limits limits) {
    struct slice element = slice_of_cstr(text);
    if (list->ref.entry)
        list_push(&list->ref, LIST_TAIL, &element, 1, &limits);
    else
        list_create(&list->ref, SLICE("key"), LIST_TAIL, &element, 1, &limits);
}

/* The length of the list, which is freed. */
static size_t take_length(struct list_case *list) {
    size_t length = type_format_length(list->ref.entry);
    keyspace_free(list->keyspace);
    return length;
}

static void a_small_list_is_one_node(void **state) {
    (void)state;
    struct list_case list = list_case_new();
    static const char *const texts[] = {"a", "b", "c", "1", "2", "3"};
    for (size_t i = 0; i < 6; i++) push(&list, texts[i], (struct quicklist_limits){.fill = 128});
    assert_int_equal(take_length(&list), 25);
}

static void each_node_of_a_quicklist_is_counted(void **state) {
    (void)state;
    struct list_case list = list_case_new();
    char text[32];
    for (int i = 1; i <= 10; i++) {
        snprintf(text, sizeof(text), "elem%d", i);
        push(&list, text, (struct quicklist_limits){.fill = 3});
    }
    assert_int_equal(take_length(&list), 108);
}

/* Compressed in memory or not, the length is the same: that of the node compressed for the file. */
static void compressed_nodes_are_as_long_as_in_a_file(void **state) {
    (void)state;
    for (uint16_t depth = 0; depth < 3; depth++) {
        struct list_case list = list_case_new();
        char text[64];
        for (int i = 1; i <= 1000; i++) {
            snprintf(text, sizeof(text), "element-%d-%d", i, i * 7919);
            push(&list, text, (struct quicklist_limits){.fill = 100, .compress_depth = depth});
        }
        assert_uint_in_range(take_length(&list), 12389 - 60, 12389 + 60);
    }
}

static void a_large_element_is_a_plain_node(void **state) {
    (void)state;
    struct list_case list = list_case_new();
    const struct quicklist_limits limits = {.fill = 1, .plain_threshold = 30};
    push(&list, "a", limits);                                        /* node: 1 + 1 + 10 */
    push(&list, "abcdefghijklmnopqrstuvwxyz0123456789ABCD", limits); /* node: 1 + 1 + 40 */
    push(&list, "b", limits);                                        /* node: 1 + 1 + 10 */
    assert_int_equal(take_length(&list), 1 + 12 + 42 + 12);
}

/* --- Strings in the keyspace --- */

static void a_string_value_is_as_long_as_its_text(void **state) {
    (void)state;
    static const char *const texts[] = {"", "hello", "12345", "-1",
                                        ("a text that is longer than what is embedded in a key's "
                                         "entry, and that does not shrink: 0123456789")};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct keyspace *keyspace = keyspace_new(value_free, value_length);
        struct keyref ref = keyspace_find(keyspace, SLICE("key"));
        string_set(&ref, SLICE("key"), slice_of_cstr(texts[i]));
        assert_int_equal(type_format_length(ref.entry), length_of(texts[i]));
        keyspace_free(keyspace);
    }
}

int main(void) {
    hash_init_seed(1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_texts_take_their_length_and_one_byte),
        cmocka_unit_test(integers_of_32_bits_take_their_width),
        cmocka_unit_test(length_fields_grow_with_the_text),
        cmocka_unit_test(repetitive_texts_are_compressed_from_21_bytes_on),
        cmocka_unit_test(a_small_list_is_one_node),
        cmocka_unit_test(each_node_of_a_quicklist_is_counted),
        cmocka_unit_test(compressed_nodes_are_as_long_as_in_a_file),
        cmocka_unit_test(a_large_element_is_a_plain_node),
        cmocka_unit_test(a_string_value_is_as_long_as_its_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
