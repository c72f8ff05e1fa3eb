#include "base/memory/alloc.h"
#include "base/text/sds.h"
#include "unit/seed.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define assert_text(s, literal)                                                                    \
    do {                                                                                           \
        assert_true(sds_check(s));                                                                 \
        assert_true(slice_equal(sds_slice(s), SLICE(literal)));                                    \
    } while (0)

/* The longest text of each class, and its neighbours. */
static const size_t edge_lengths[] = {0,
                                      1,
                                      SDS_5_MAX,
                                      SDS_5_MAX + 1,
                                      SDS_8_MAX - 1,
                                      SDS_8_MAX,
                                      SDS_8_MAX + 1,
                                      SDS_16_MAX - 1,
                                      SDS_16_MAX,
                                      SDS_16_MAX + 1,
                                      SDS_16_MAX * 11};
enum { EDGES = sizeof(edge_lengths) / sizeof(edge_lengths[0]) };

static char *pattern_bytes(size_t len) {
    char *bytes = mem_alloc(len);
    for (size_t i = 0; i < len; i++) bytes[i] = (char)(i * 31 >> 3);
    return bytes;
}

static void header_sizes_are_those_of_the_layout(void **state) {
    (void)state;
    assert_int_equal(sds_header_size(SDS_5), 1);
    assert_int_equal(sds_header_size(SDS_8), 3);
    assert_int_equal(sds_header_size(SDS_16), 5);
    assert_int_equal(sds_header_size(SDS_32), 9);
    assert_int_equal(sds_header_size(SDS_64), 17);
    assert_int_equal(sds_embedded_class(31), SDS_5);
    assert_int_equal(sds_embedded_class(32), SDS_8);
    assert_int_equal(sds_embedded_size(31), 32);
    assert_int_equal(sds_embedded_class(SDS_8_MAX + 1), SDS_16);
    assert_int_equal(sds_embedded_class(SDS_16_MAX + 1), SDS_32);
    assert_int_equal(sds_embedded_class((size_t)SDS_32_MAX), SDS_32);
    assert_int_equal(sds_embedded_class((size_t)SDS_32_MAX + 1), SDS_64);
}

static void embedded_string_is_exactly_as_long_as_its_size(void **state) {
    (void)state;
    for (int i = 0; i < EDGES; i++) {
        size_t len = edge_lengths[i], size = sds_embedded_size(len);
        char *text = pattern_bytes(len), *memory = mem_alloc(size + 2);
        memory[0] = memory[size + 1] = 'x';
        sds s = sds_write_embedded(memory + 1, slice_make(text, len));
        assert_int_equal(sds_class_of(s), sds_embedded_class(len));
        assert_ptr_equal(s + len, memory + 1 + size);
        assert_true(slice_equal(sds_slice(s), slice_make(text, len)));
        assert_int_equal(memory[0], 'x');
        assert_int_equal(memory[size + 1], 'x');
        mem_free(text);
        mem_free(memory);
    }
}

static void new_string_holds_its_text_in_the_smallest_class(void **state) {
    (void)state;
    for (int i = 0; i < EDGES; i++) {
        size_t len = edge_lengths[i], before = mem_used();
        char *text = pattern_bytes(len);
        size_t text_size = mem_used() - before;
        sds s = sds_new(slice_make(text, len));
        assert_true(sds_check(s));
        assert_true(slice_equal(sds_slice(s), slice_make(text, len)));
        assert_int_equal(sds_class_of(s), len == 0 ? SDS_8 : sds_embedded_class(len));
        assert_int_equal(sds_allocated(s), mem_used() - before - text_size);
        mem_free(text);
        sds_free(s);
        assert_int_equal(mem_used(), before);
    }
    sds_free(NULL);
}

static void uninitialised_string_can_be_written_into(void **state) {
    (void)state;
    for (int i = 0; i < EDGES; i++) {
        size_t len = edge_lengths[i], before = mem_used();
        sds s = sds_try_new_uninit(len);
        memset(s, 'r', len);
        assert_true(sds_check(s));
        assert_int_equal(sds_len(s), len);
        assert_int_equal(sds_allocated(s), mem_used() - before);
        assert_int_not_equal(sds_class_of(s), SDS_5);
        sds_free(s);
        assert_int_equal(mem_used(), before);
    }
    assert_null(sds_try_new_uninit(SIZE_MAX));
    assert_null(sds_try_new_uninit(PTRDIFF_MAX / 2));
}

static void appending_byte_by_byte_passes_through_all_classes(void **state) {
    (void)state;
    size_t before = mem_used(), end = SDS_16_MAX * 11, growths = 0;
    sds s = sds_new(slice_make(NULL, 0));
    for (size_t i = 0; i < end; i++) {
        growths += sds_available(s) == 0;
        char byte = (char)(i * 7);
        s = sds_append(s, slice_make(&byte, 1));
        assert_true(sds_check(s));
        assert_int_equal(sds_len(s), i + 1);
        assert_int_equal(sds_allocated(s), mem_used() - before);
    }
    for (size_t i = 0; i < end; i++) assert_int_equal(s[i], (char)(i * 7));
    assert_true(growths < 40); /* geometric */
    sds_free(s);
    assert_int_equal(mem_used(), before);
}

static void growth_that_may_fail_leaves_the_string_when_it_does(void **state) {
    (void)state;
    size_t before = mem_used();
    sds s = sds_new(SLICE("text"));
    assert_null(sds_try_grow(s, SIZE_MAX - 2)); /* wraps around */
    assert_null(sds_try_grow(s, PTRDIFF_MAX / 2));
    assert_text(s, "text");
    static const size_t sizes[] = {100, 5000, 70000, 1 << 20, 3 << 20, 9 << 20};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        s = sds_try_grow(s, sizes[i]);
        assert_non_null(s);
        assert_true(sds_check(s) && sds_available(s) >= sizes[i]);
        assert_text(s, "text");
        assert_int_equal(sds_allocated(s), mem_used() - before);
    }
    sds_free(s);
    assert_int_equal(mem_used(), before);
}

static void class_five_grows_into_another_and_can_be_cut(void **state) {
    (void)state;
    size_t before = mem_used();
    sds s = sds_new(SLICE("five"));
    assert_int_equal(sds_class_of(s), SDS_5);
    assert_int_equal(sds_available(s), 0);
    s = sds_append(s, slice_make(NULL, 0));
    assert_int_equal(sds_class_of(s), SDS_5);
    s = sds_append_cstr(s, "!");
    assert_int_equal(sds_class_of(s), SDS_8);
    assert_text(s, "five!");
    sds_free(s);
    s = sds_new(SLICE("a text of twenty-odd bytes"));
    sds_set_len(s, 6);
    assert_text(s, "a text");
    sds_free(s);
    assert_int_equal(mem_used(), before);
}

static void reserve_gives_room_and_trim_takes_it_back(void **state) {
    (void)state;
    for (int i = 0; i < EDGES; i++) {
        size_t more = edge_lengths[i], before = mem_used();
        sds s = sds_reserve(sds_new(SLICE("head")), more);
        assert_true(sds_available(s) >= more);
        memset(s + 4, '+', more);
        sds_set_len(s, 4 + more);
        assert_true(sds_check(s));
        sds_set_len(s, 4);
        assert_text(s, "head");
        assert_int_equal(sds_allocated(s), mem_used() - before);
        sds_free(s);
        assert_int_equal(mem_used(), before);
    }
}

static void format_writes_into_room_or_makes_it(void **state) {
    (void)state;
    sds s = sds_append_format(sds_new(slice_make(NULL, 0)), "%d", 7);
    assert_text(s, "7");
    s = sds_append_format(s, "%s|%*d", "some text", 60, 12);
    assert_int_equal(sds_len(s), 1 + 10 + 60);
    s = sds_append_format(s, "%s", "");
    assert_int_equal(sds_len(s), 71);
    assert_true(sds_check(s));
    assert_string_equal(s + 69, "12");
    sds_free(s);
    s = sds_append_format(sds_new(SLICE("class 5")), "%c", '!');
    assert_text(s, "class 5!");
    sds_free(s);
    /* Every length around every capacity. */
    s = sds_new(slice_make(NULL, 0));
    for (size_t len = 0; len < 3000; len++) {
        assert_int_equal(sds_len(s), len);
        s = sds_append_format(s, "%c", (int)('a' + len % 26));
        assert_int_equal(s[len], 'a' + len % 26);
        assert_true(sds_check(s));
    }
    sds_free(s);
}

static void quoting_escapes_what_is_not_printable(void **state) {
    (void)state;
    sds s = sds_append_quoted(sds_new(SLICE(">")), SLICE("a \"b\"\\\n\r\t\a\b\0\x01\x7f\xff~z"));
    assert_text(s, ">\"a \\\"b\\\"\\\\\\n\\r\\t\\a\\b\\x00\\x01\\x7f\\xff~z\"");
    sds_free(s);
    s = sds_append_quoted(sds_new(slice_make(NULL, 0)), slice_make(NULL, 0));
    assert_text(s, "\"\"");
    sds_free(s);
}

/* A plain buffer does the same; each step of the string is compared with it. */
static void random_steps_agree_with_a_plain_buffer(void **state) {
    (void)state;
    enum { MODEL_MAX = 300000, STEPS = 20000 };
    struct random random = random_of_this_run();
    size_t before = mem_used();
    char *model = mem_alloc(MODEL_MAX), *text = pattern_bytes(MODEL_MAX);
    size_t fixed = mem_used() - before, len = 0;
    sds s = sds_new(slice_make(NULL, 0));
    for (int step = 0; step < STEPS; step++) {
        size_t n = random_below(&random, 1UL << random_below(&random, 17));
        switch (random_below(&random, 8)) {
        case 0:
            n = n > len ? len : n;
            sds_set_len(s, len -= n);
            break;
        case 1: s = sds_reserve(s, n); break;
        case 2:
            sds_free(s);
            n = n > 300 ? 300 : n;
            s = sds_new(slice_make(text, len = n));
            memcpy(model, text, n);
            break;
        default:
            if (len + n > MODEL_MAX) break;
            s = sds_append(s, slice_make(text + step, n > 200000 ? n = 0 : n));
            memcpy(model + len, text + step, n);
            len += n;
        }
        assert_true(sds_check(s));
        assert_true(slice_equal(sds_slice(s), slice_make(model, len)));
        if (sds_class_of(s) != SDS_5) {
            assert_int_equal(mem_used() - before - fixed, sds_allocated(s));
        }
    }
    sds_free(s);
    mem_free(model);
    mem_free(text);
    assert_int_equal(mem_used(), before);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(header_sizes_are_those_of_the_layout),
        cmocka_unit_test(embedded_string_is_exactly_as_long_as_its_size),
        cmocka_unit_test(new_string_holds_its_text_in_the_smallest_class),
        cmocka_unit_test(uninitialised_string_can_be_written_into),
        cmocka_unit_test(appending_byte_by_byte_passes_through_all_classes),
        cmocka_unit_test(growth_that_may_fail_leaves_the_string_when_it_does),
        cmocka_unit_test(class_five_grows_into_another_and_can_be_cut),
        cmocka_unit_test(reserve_gives_room_and_trim_takes_it_back),
        cmocka_unit_test(format_writes_into_room_or_makes_it),
        cmocka_unit_test(quoting_escapes_what_is_not_printable),
        cmocka_unit_test(random_steps_agree_with_a_plain_buffer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
