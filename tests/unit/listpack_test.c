/* listpack: golden bytes, a naive model, and untrusted bytes. */
#include "ds/lists/listpack.h"

#include "base/memory/alloc.h"
#include "base/text/number.h"
#include "unit/guard.h"
#include "unit/seed.h"
#include "unit/texts.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* --- A naive model: an array of texts, and the body that should hold them --- */

enum { MODEL_MAX = 64 };

struct model {
    char *texts[MODEL_MAX];
    size_t lengths[MODEL_MAX];
    size_t count;
    uint8_t *body; /* room for everything */
    uint8_t *end;
};

static struct slice model_text(const struct model *model, size_t i) {
    return slice_make(model->texts[i], model->lengths[i]);
}

static void model_add(struct model *model, struct slice text) {
    model->texts[model->count] = mem_alloc(text.len + 1);
    memcpy(model->texts[model->count], text.ptr, text.len);
    model->lengths[model->count++] = text.len;
    struct listpack_element element;
    listpack_prepare(&element, text);
    listpack_write(model->end, &element);
    model->end += element.size;
}

static struct model model_random(struct random *random, size_t count, bool long_ones) {
    struct model model = {.body = mem_alloc(count * (TEXT_SIZE_MAX + 16))};
    model.end = model.body;
    char buffer[TEXT_SIZE_MAX];
    while (model.count < count) model_add(&model, text_random(random, buffer, long_ones));
    return model;
}

static void model_free(struct model *model) {
    for (size_t i = 0; i < model->count; i++) mem_free(model->texts[i]);
    mem_free(model->body);
}

static void model_remove(struct model *model, size_t i) {
    mem_free(model->texts[i]);
    model->count--;
    memmove(model->texts + i, model->texts + i + 1, (model->count - i) * sizeof(*model->texts));
    memmove(model->lengths + i, model->lengths + i + 1, (model->count - i) * sizeof(size_t));
}

/* A text for searches: mostly one that is there. */
static struct slice pick_needle(const struct model *model, struct random *random, char *buffer) {
    if (model->count == 0 || random_below(random, 4) == 0)
        return text_random(random, buffer, false);
    return model_text(model, random_below(random, model->count));
}

static void assert_text(const uint8_t *p, struct slice expected) {
    struct listpack_value value;
    char buffer[INT64_TEXT_MAX];
    size_t size = listpack_get(p, &value);
    assert_int_equal(size, listpack_size(p));
    assert_int_equal(size, listpack_size_before(p + size));
    assert_true(slice_equal(listpack_value_text(&value, buffer), expected));
}

static void assert_holds(const struct model *model, const uint8_t *first, const uint8_t *end) {
    assert_true(listpack_body_check(first, end, model->count));
    const uint8_t *p = first;
    for (size_t i = 0; i < model->count; i++, p += listpack_size(p)) {
        assert_text(p, model_text(model, i));
        assert_ptr_equal(listpack_seek(first, i), p);
        assert_ptr_equal(listpack_seek_back(end, model->count - 1 - i), p);
    }
    assert_ptr_equal(p, end);
}

/* --- Golden bytes --- */

struct golden {
    struct slice text;
    struct slice bytes;
};

static void each_encoding_has_the_bytes_of_the_format(void **state) {
    (void)state;
    static const struct golden golden[] = {
        {SLICE("0"), SLICE("\x00\x01")},
        {SLICE("127"), SLICE("\x7f\x01")},
        {SLICE("128"), SLICE("\xc0\x80\x02")},
        {SLICE("-1"), SLICE("\xdf\xff\x02")},
        {SLICE("-4096"), SLICE("\xd0\x00\x02")},
        {SLICE("4095"), SLICE("\xcf\xff\x02")},
        {SLICE("-4097"), SLICE("\xf1\xff\xef\x03")},
        {SLICE("4096"), SLICE("\xf1\x00\x10\x03")},
        {SLICE("32767"), SLICE("\xf1\xff\x7f\x03")},
        {SLICE("32768"), SLICE("\xf2\x00\x80\x00\x04")},
        {SLICE("-32769"), SLICE("\xf2\xff\x7f\xff\x04")},
        {SLICE("8388607"), SLICE("\xf2\xff\xff\x7f\x04")},
        {SLICE("8388608"), SLICE("\xf3\x00\x00\x80\x00\x05")},
        {SLICE("-8388609"), SLICE("\xf3\xff\xff\x7f\xff\x05")},
        {SLICE("2147483648"), SLICE("\xf4\x00\x00\x00\x80\x00\x00\x00\x00\x09")},
        {SLICE("9223372036854775807"), SLICE("\xf4\xff\xff\xff\xff\xff\xff\xff\x7f\x09")},
        {SLICE("-9223372036854775808"), SLICE("\xf4\x00\x00\x00\x00\x00\x00\x00\x80\x09")},
        {SLICE("9223372036854775808"), SLICE("\x93"
                                             "9223372036854775808"
                                             "\x14")},
        {SLICE(""), SLICE("\x80\x01")},
        {SLICE("-0"), SLICE("\x82-0\x03")},
        {SLICE("01"), SLICE("\x82"
                            "01\x03")},
        {SLICE("+1"), SLICE("\x82+1\x03")},
        {SLICE("abc"), SLICE("\x83"
                             "abc\x04")},
    };
    for (size_t i = 0; i < sizeof(golden) / sizeof(*golden); i++) {
        uint8_t bytes[32];
        struct listpack_element element;
        listpack_prepare(&element, golden[i].text);
        assert_int_equal(element.size, golden[i].bytes.len);
        listpack_write(bytes, &element);
        assert_memory_equal(bytes, golden[i].bytes.ptr, golden[i].bytes.len);
        assert_text(bytes, golden[i].text);
    }
}

/* A text of `len` bytes begins with `header` and ends with `back`. */
static void assert_frame(size_t len, struct slice header, struct slice back) {
    char *text = mem_alloc(len + 1);
    memset(text, 'x', len);
    struct listpack_element element;
    listpack_prepare(&element, slice_make(text, len));
    assert_int_equal(element.size, header.len + len + back.len);
    uint8_t *bytes = mem_alloc(element.size);
    listpack_write(bytes, &element);
    assert_memory_equal(bytes, header.ptr, header.len);
    assert_memory_equal(bytes + header.len + len, back.ptr, back.len);
    assert_text(bytes, slice_make(text, len));
    mem_free(bytes);
    mem_free(text);
}

static void string_headers_and_back_lengths_change_where_the_format_says(void **state) {
    (void)state;
    assert_frame(63, SLICE("\xbf"), SLICE("\x40"));
    assert_frame(64, SLICE("\xe0\x40"), SLICE("\x42"));
    assert_frame(125, SLICE("\xe0\x7d"), SLICE("\x7f"));
    assert_frame(126, SLICE("\xe0\x7e"), SLICE("\x01\x80"));
    assert_frame(4095, SLICE("\xef\xff"), SLICE("\x20\x81"));
    assert_frame(4096, SLICE("\xf0\x00\x10\x00\x00"), SLICE("\x20\x85"));
    assert_frame(16377, SLICE("\xf0\xf9\x3f\x00\x00"), SLICE("\x7f\xfe"));
    assert_frame(16378, SLICE("\xf0\xfa\x3f\x00\x00"), SLICE("\x00\xff\xff"));
    assert_frame(16379, SLICE("\xf0\xfb\x3f\x00\x00"), SLICE("\x01\x80\x80"));
    assert_frame(2097145, SLICE("\xf0\xf9\xff\x1f\x00"), SLICE("\x7f\xff\xfe"));
    assert_frame(2097146, SLICE("\xf0\xfa\xff\x1f\x00"), SLICE("\x00\xff\xff\xff"));
    assert_frame(2097147, SLICE("\xf0\xfb\xff\x1f\x00"), SLICE("\x01\x80\x80\x80"));
}

/* --- Against the model --- */

static void a_body_reads_back_forwards_backwards_and_by_position(void **state) {
    struct random *random = *state;
    for (size_t round = 0; round < 150; round++) {
        struct model model = model_random(random, random_below(random, MODEL_MAX), true);
        struct guard guard = guard_new((size_t)(model.end - model.body));
        const uint8_t *first = guard_place(&guard, model.body, (size_t)(model.end - model.body));
        assert_holds(&model, first, guard.end);
        guard_free(&guard);
        model_free(&model);
    }
}

static void runs_of_equal_size_are_walked_right_where_they_begin_and_end(void **state) {
    (void)state;
    /* Every pattern of 10 elements out of two sizes. */
    for (unsigned pattern = 0; pattern < 1024; pattern++) {
        struct model model = {.body = mem_alloc(200)};
        model.end = model.body;
        for (unsigned i = 0; i < 10; i++) {
            model_add(&model, pattern >> i & 1 ? SLICE("abcdefg") : SLICE("hi"));
        }
        assert_holds(&model, model.body, model.end);
        model_free(&model);
    }
}

/* Position of the first (last) text equal to `needle`, looking at `max` texts; `*skipped` as
 * listpack_find. */
static size_t model_find(const struct model *model, struct slice needle, size_t max, bool back,
                         size_t *skipped) {
    for (*skipped = 0; *skipped < model->count && *skipped < max; ++*skipped) {
        size_t i = back ? model->count - 1 - *skipped : *skipped;
        if (slice_equal(model_text(model, i), needle)) return i;
    }
    return SIZE_MAX;
}

static void find_agrees_with_a_naive_search(void **state) {
    struct random *random = *state;
    char buffer[TEXT_SIZE_MAX];
    for (size_t round = 0; round < 300; round++) {
        struct model model = model_random(random, random_below(random, MODEL_MAX), false);
        size_t size = (size_t)(model.end - model.body);
        struct guard guard = guard_new(size);
        const uint8_t *first = guard_place(&guard, model.body, size);
        for (size_t i = 0; i < 20; i++) {
            struct slice text = pick_needle(&model, random, buffer);
            struct listpack_element needle;
            listpack_prepare(&needle, text);
            size_t max = random_below(random, 3) ? SIZE_MAX : random_below(random, MODEL_MAX);
            bool back = i & 1;
            size_t skipped, expected_skipped;
            size_t at = model_find(&model, text, max, back, &expected_skipped);
            const uint8_t *found =
                back ? listpack_find_back(first, guard.end, &needle, max, &skipped)
                     : listpack_find(first, guard.end, &needle, max, &skipped);
            assert_int_equal(skipped, expected_skipped);
            assert_ptr_equal(found, at == SIZE_MAX ? NULL : listpack_seek(first, at));
        }
        guard_free(&guard);
        model_free(&model);
    }
}

/* Searching compares the first and the last bytes before all: a difference anywhere must count. */
static void texts_that_differ_in_one_byte_are_told_apart(void **state) {
    (void)state;
    static const size_t lengths[] = {1,  6,  7,  8,  9,  14, 15, 16, 17,
                                     23, 24, 25, 40, 63, 64, 65, 300};
    char text[300], other[300];
    memset(text, 'x', sizeof(text));
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        size_t len = lengths[i];
        struct listpack_element needle;
        listpack_prepare(&needle, slice_make(text, len));
        for (size_t at = 0; at <= len; at++) { /* the last one is equal */
            struct model model = {.body = mem_alloc(sizeof(text) + 16)};
            model.end = model.body;
            memcpy(other, text, len);
            if (at < len) other[at] = 'y';
            model_add(&model, slice_make(other, len));
            struct guard guard = guard_new((size_t)(model.end - model.body));
            const uint8_t *first =
                guard_place(&guard, model.body, (size_t)(model.end - model.body));
            size_t skipped;
            const uint8_t *expected = at < len ? NULL : first;
            assert_ptr_equal(listpack_find(first, guard.end, &needle, 9, &skipped), expected);
            assert_ptr_equal(listpack_find_back(first, guard.end, &needle, 9, &skipped), expected);
            guard_free(&guard);
            model_free(&model);
        }
    }
}

static void remove_takes_out_the_matches_it_should_and_nothing_else(void **state) {
    struct random *random = *state;
    char buffer[TEXT_SIZE_MAX];
    for (size_t round = 0; round < 600; round++) {
        struct model model = model_random(random, random_below(random, MODEL_MAX), false);
        for (size_t i = 0; i < 4; i++) {
            struct slice text = pick_needle(&model, random, buffer);
            char copy[TEXT_SIZE_MAX];
            memcpy(copy, text.ptr, text.len);
            text.ptr = copy;
            struct listpack_element needle;
            listpack_prepare(&needle, text);
            size_t max = random_below(random, 2) ? SIZE_MAX : random_below(random, 4);
            bool back = random_below(random, 2);
            size_t removed, expected = 0, skipped, at;
            model.end =
                listpack_remove_matching(model.body, model.end, &needle, max, back, &removed);
            while (expected < max &&
                   (at = model_find(&model, text, SIZE_MAX, back, &skipped)) != SIZE_MAX) {
                model_remove(&model, at);
                expected++;
            }
            assert_int_equal(removed, expected);
            assert_holds(&model, model.body, model.end);
        }
        model_free(&model);
    }
}

static void equal_is_equality_of_texts(void **state) {
    struct random *random = *state;
    struct model model = model_random(random, MODEL_MAX, false);
    size_t equal = 0;
    for (size_t i = 0; i < model.count; i++) {
        struct listpack_element needle;
        listpack_prepare(&needle, model_text(&model, i));
        for (size_t j = 0; j < model.count; j++) {
            bool expected = slice_equal(model_text(&model, i), model_text(&model, j));
            assert_int_equal(listpack_equal(listpack_seek(model.body, j), &needle), expected);
            equal += expected;
        }
    }
    assert_true(equal >= model.count);
    model_free(&model);
}

/* --- Untrusted bytes --- */

/* The serialized form of a model, just before an unreadable page. */
static uint8_t *serialize(const struct model *model, struct guard *guard, size_t *size) {
    size_t body_size = (size_t)(model->end - model->body);
    *size = body_size + LISTPACK_OVERHEAD;
    *guard = guard_new(*size);
    uint8_t *bytes = guard->end - *size;
    listpack_write_header(bytes, body_size, model->count);
    memcpy(bytes + LISTPACK_HEADER_SIZE, model->body, body_size);
    bytes[*size - 1] = LISTPACK_END;
    return bytes;
}

/* Whatever listpack_validate accepts can be iterated both ways within its bounds. */
static void assert_walkable(const uint8_t *bytes, size_t size, size_t count) {
    const uint8_t *first = bytes + LISTPACK_HEADER_SIZE, *end = bytes + size - 1;
    const uint8_t *p = first, *q = end;
    for (size_t i = 0; i < count; i++) {
        struct listpack_value value;
        assert_int_equal(listpack_get(p, &value), listpack_size(p));
        p += listpack_size(p);
        q -= listpack_size_before(q);
        assert_true(p <= end && q >= first);
    }
    assert_ptr_equal(p, end);
    assert_ptr_equal(q, first);
}

static void what_was_written_is_valid_and_canonical_and_no_prefix_of_it_is(void **state) {
    struct random *random = *state;
    for (size_t round = 0; round < 30; round++) {
        struct model model = model_random(random, random_below(random, 40), false);
        struct guard guard, shorter;
        size_t size, count;
        bool canonical;
        uint8_t *bytes = serialize(&model, &guard, &size);
        assert_true(listpack_validate(bytes, size, &count, &canonical));
        assert_int_equal(count, model.count);
        assert_true(canonical);
        shorter = guard_new(size);
        for (size_t len = 0; len < size; len++) {
            uint8_t *prefix = guard_place(&shorter, bytes, len);
            assert_false(listpack_validate(prefix, len, &count, &canonical));
            if (len < LISTPACK_OVERHEAD) continue;
            /* The same with a header and an end that fit: now the elements must be found wrong,
             * unless the cut fell between two of them. */
            uint32_t total = (uint32_t)len;
            memcpy(prefix, &total, sizeof(total));
            memset(prefix + 4, 0xFF, 2);
            prefix[len - 1] = LISTPACK_END;
            if (listpack_validate(prefix, len, &count, &canonical)) {
                assert_walkable(prefix, len, count);
            }
        }
        guard_free(&shorter);
        guard_free(&guard);
        model_free(&model);
    }
}

static void flipped_bits_are_found_or_harmless(void **state) {
    struct random *random = *state;
    size_t refused = 0;
    for (size_t round = 0; round < 30; round++) {
        struct model model = model_random(random, 1 + random_below(random, 12), false);
        struct guard guard;
        size_t size, count;
        bool canonical;
        uint8_t *bytes = serialize(&model, &guard, &size);
        for (size_t bit = 0; bit < 8 * size; bit++) {
            bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
            if (listpack_validate(bytes, size, &count, &canonical)) {
                assert_walkable(bytes, size, count);
                assert_int_equal(
                    listpack_body_check(bytes + LISTPACK_HEADER_SIZE, bytes + size - 1, count),
                    canonical);
            } else {
                refused++;
            }
            bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
        guard_free(&guard);
        model_free(&model);
    }
    assert_true(refused > 0);
}

static void assert_validates(struct slice bytes, bool valid, size_t count, bool canonical) {
    struct guard guard = guard_new(bytes.len);
    size_t found_count;
    bool found_canonical;
    const uint8_t *at = guard_place(&guard, bytes.ptr, bytes.len);
    assert_int_equal(listpack_validate(at, bytes.len, &found_count, &found_canonical), valid);
    if (valid) {
        assert_int_equal(found_count, count);
        assert_int_equal(found_canonical, canonical);
    }
    guard_free(&guard);
}

/* Only the header is made and read: the text is not there. */
static void texts_of_more_than_4_gb_have_a_length_of_64_bits(void **state) {
    static const struct {
        size_t len;
        uint8_t header_size, back_length_size;
    } cases[] = {
        {LISTPACK_TEXT_MAX, 5, 5},      {LISTPACK_TEXT_MAX + 1, 9, 5}, {5000000000, 9, 5},
        {((size_t)1 << 35) - 10, 9, 5}, {((size_t)1 << 35) - 9, 9, 6}, {TEXT_LENGTH_MAX, 9, 6}};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct listpack_element element;
        struct listpack_value value;
        size_t size = cases[i].header_size + cases[i].len + cases[i].back_length_size;
        listpack_prepare(&element, slice_make("x", cases[i].len));
        assert_int_equal(element.header_size, cases[i].header_size);
        assert_int_equal(element.size, size);
        assert_int_equal(listpack_size(element.header), size);
        assert_int_equal(listpack_get(element.header, &value), size);
        assert_int_equal(value.len, cases[i].len);
    }
}

static void a_length_of_64_bits_is_refused_from_outside(void **state) {
    const uint8_t bytes[] = {20, 0, 0,   0,   1,   0,  LISTPACK_STRING64, 3, 0, 0, 0, 0, 0,
                             0,  0, 'a', 'b', 'c', 12, LISTPACK_END};
    const uint8_t *end = bytes + sizeof(bytes) - 1;
    size_t count;
    bool canonical;
    (void)state;
    assert_false(listpack_validate(bytes, sizeof(bytes), &count, &canonical));
    assert_false(listpack_body_check(bytes + LISTPACK_HEADER_SIZE, end, 1));
}

static void validate_knows_counts_ends_and_forms(void **state) {
    (void)state;
#define WHOLE(total, count, body) SLICE(total "\0\0\0" count "\0" body "\xff")
    assert_validates(WHOLE("\x07", "\0", ""), true, 0, true);
    assert_validates(WHOLE("\x09", "\1", "\x05\x01"), true, 1, true);
    assert_validates(WHOLE("\x09", "\2", "\x05\x01"), false, 0, false);
    assert_validates(WHOLE("\x0a", "\1", "\x05\x01"), false, 0, false);
    assert_validates(WHOLE("\x09", "\1", "\x05\x02"), false, 0, false);
    assert_validates(SLICE("\x09\0\0\0\xff\xff\x05\x01\xff"), true, 1, true);
    assert_validates(SLICE("\x09\0\0\0\1\0\x05\x01\xfe"), false, 0, false);
    /* 5 in 13, 16, 24, 32 and 64 bits, and as texts with each header; -1 in 64 bits. */
    assert_validates(WHOLE("\x0a", "\1", "\xc0\x05\x02"), true, 1, false);
    assert_validates(WHOLE("\x0b", "\1", "\xf1\x05\0\x03"), true, 1, false);
    assert_validates(WHOLE("\x0c", "\1", "\xf2\x05\0\0\x04"), true, 1, false);
    assert_validates(WHOLE("\x0d", "\1", "\xf3\x05\0\0\0\x05"), true, 1, false);
    assert_validates(WHOLE("\x11", "\1", "\xf4\x05\0\0\0\0\0\0\0\x09"), true, 1, false);
    assert_validates(WHOLE("\x11", "\1", "\xf4\xff\xff\xff\xff\xff\xff\xff\xff\x09"), true, 1,
                     false);
    assert_validates(WHOLE("\x0a", "\1",
                           "\x81"
                           "5\x02"),
                     true, 1, false);
    assert_validates(WHOLE("\x0b", "\1",
                           "\xe0\x01"
                           "x\x03"),
                     true, 1, false);
    assert_validates(WHOLE("\x0e", "\1", "\xf0\x01\0\0\0x\x06"), true, 1, false);
    /* A length that leads out, one that wraps, a back length in needless bytes, an unknown
     * encoding. */
    assert_validates(WHOLE("\x0e", "\1", "\xf0\x02\0\0\0x\x06"), false, 0, false);
    assert_validates(WHOLE("\x0e", "\1", "\xf0\xff\xff\xff\xffx\x06"), false, 0, false);
    assert_validates(WHOLE("\x0a", "\1", "\x05\x00\x81"), false, 0, false);
    assert_validates(WHOLE("\x09", "\1", "\xf5\x01"), false, 0, false);
    assert_validates(WHOLE("\x08", "\1", "\xf0"), false, 0, false);
    assert_validates(WHOLE("\x08", "\1", "\xe0"), false, 0, false);
    assert_validates(WHOLE("\x08", "\1", "\x05"), false, 0, false);
#undef WHOLE
}

static void a_count_of_65535_or_more_is_written_as_unknown(void **state) {
    (void)state;
    uint8_t header[LISTPACK_HEADER_SIZE];
    listpack_write_header(header, 0x01020304 - LISTPACK_OVERHEAD, 65534);
    assert_memory_equal(header, "\x04\x03\x02\x01\xfe\xff", 6);
    listpack_write_header(header, 200000, 65535);
    assert_memory_equal(header + 4, "\xff\xff", 2);
    listpack_write_header(header, 200000, 1000000);
    assert_memory_equal(header + 4, "\xff\xff", 2);
}

static void body_check_finds_a_wrong_count_and_a_form_that_is_not_canonical(void **state) {
    (void)state;
    const uint8_t body[] = {0x05, 0x01, 0x81, 'x', 0x02, 0xC0, 0x05, 0x02};
    assert_true(listpack_body_check(body, body + 5, 2));
    assert_false(listpack_body_check(body, body + 5, 3));
    assert_false(listpack_body_check(body, body + 5, 1));
    assert_false(listpack_body_check(body, body + 4, 2));
    assert_false(listpack_body_check(body, body + 8, 3));
    assert_true(listpack_body_check(body, body, 0));
}

int main(void) {
    struct random random = random_of_this_run();
#define RANDOM_TEST(test) cmocka_unit_test_prestate(test, &random)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_encoding_has_the_bytes_of_the_format),
        cmocka_unit_test(string_headers_and_back_lengths_change_where_the_format_says),
        RANDOM_TEST(a_body_reads_back_forwards_backwards_and_by_position),
        cmocka_unit_test(runs_of_equal_size_are_walked_right_where_they_begin_and_end),
        RANDOM_TEST(find_agrees_with_a_naive_search),
        cmocka_unit_test(texts_that_differ_in_one_byte_are_told_apart),
        RANDOM_TEST(remove_takes_out_the_matches_it_should_and_nothing_else),
        RANDOM_TEST(equal_is_equality_of_texts),
        RANDOM_TEST(what_was_written_is_valid_and_canonical_and_no_prefix_of_it_is),
        RANDOM_TEST(flipped_bits_are_found_or_harmless),
        cmocka_unit_test(texts_of_more_than_4_gb_have_a_length_of_64_bits),
        cmocka_unit_test(a_length_of_64_bits_is_refused_from_outside),
        cmocka_unit_test(validate_knows_counts_ends_and_forms),
        cmocka_unit_test(a_count_of_65535_or_more_is_written_as_unknown),
        cmocka_unit_test(body_check_finds_a_wrong_count_and_a_form_that_is_not_canonical),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
