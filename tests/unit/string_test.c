/* Strings: every text comes back as it was, in the layout that its length and form ask for, and in
 * whatever ways it is changed. */
#include "types/string.h"

#include "base/hash/hash.h"
#include "base/memory/alloc.h"
#include "ds/strings/shared_text.h"
#include "types/list.h"
#include "types/value.h"
#include "unit/in_range.h"
#include "unit/keyspace_fixture.h"
#include "unit/seed.h"
#include "unit/texts.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static struct entry *set(struct keyspace *keyspace, struct slice text) {
    struct keyref ref = keyspace_find(keyspace, SLICE("key"));
    string_set(&ref, SLICE("key"), text);
    assert_ptr_equal(keyspace_find(keyspace, SLICE("key")).entry, ref.entry);
    return ref.entry;
}

static size_t out_of_line_bytes(const struct entry *entry) {
    return value_allocated(entry) - entry_allocated(entry, value_size(entry));
}

static void verify(const struct entry *entry, struct slice text) {
    char buffer[INT64_TEXT_MAX];
    int64_t expected, integer;
    bool is_integer = number_parse_int64(text, &expected);
    const char *name = is_integer ? "int" : text.len <= 44 ? "embstr" : "raw";
    assert_true(value_check(entry));
    assert_true(slice_equal(string_text(entry, buffer), text));
    assert_int_equal(string_integer(entry, &integer), is_integer);
    if (is_integer) assert_true(integer == expected);
    assert_string_equal(value_encoding_name(entry), name);
    assert_string_equal(value_encoding_name(entry), name);
    assert_false(value_is_empty(entry));
}

static void every_text_comes_back(void **state) {
    static char buffer[TEXT_SIZE_MAX];
    struct keyspace *keyspace = *state;
    struct random random = random_of_this_run();
    for (int i = 0; i < 20000; i++) {
        struct slice text = text_random(&random, buffer, i % 100 == 0);
        struct entry *entry = set(keyspace, text);
        verify(entry, text);
        assert_int_equal(keyspace_count(keyspace), 1);
        if (random_below(&random, 50) == 0) keyspace_clear(keyspace);
    }
}

static void lengths_around_the_limits_have_their_names(void **state) {
    static char text[2 * STRING_EMBEDDED_MAX];
    memset(text, 'x', sizeof(text));
    for (size_t len = 0; len <= sizeof(text); len++) {
        struct entry *entry = set(*state, slice_make(text, len));
        verify(entry, slice_make(text, len));
        assert_int_equal(out_of_line_bytes(entry) == 0, len <= STRING_EMBEDDED_MAX);
    }
}

static void integers_take_as_few_bytes_as_they_need(void **state) {
    static const struct {
        int64_t value;
        size_t size;
    } rows[] = {{0, 1},         {127, 1},       {-128, 1},      {128, 2},
                {-129, 2},      {32767, 2},     {32768, 3},     {-8388608, 3},
                {8388608, 4},   {INT32_MAX, 4}, {INT32_MIN, 4}, {INT32_MAX + 1ll, 5},
                {INT64_MAX, 8}, {INT64_MIN, 8}, {1ll << 55, 8}, {(1ll << 55) - 1, 7}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char text[INT64_TEXT_MAX];
        size_t len = number_format_int64(text, rows[i].value);
        struct entry *entry = set(*state, slice_make(text, len));
        verify(entry, slice_make(text, len));
        assert_int_equal(value_size(entry), rows[i].size);
    }
}

static void setting_replaces_a_list_and_takes_the_expiry_away(void **state) {
    struct keyspace *keyspace = *state;
    struct quicklist_limits limits = {.fill = 1};
    struct slice texts[] = {SLICE("a"), SLICE("b"), SLICE("c")};
    for (size_t count = 1; count <= 3; count++) { /* embedded, then out-of-line */
        struct keyref ref = keyspace_find(keyspace, SLICE("key"));
        list_create(&ref, SLICE("key"), LIST_TAIL, texts, count, &limits);
        keyspace_set_expiry(&ref, 12345, value_size(ref.entry));
        struct entry *entry = set(keyspace, SLICE("text"));
        verify(entry, SLICE("text"));
        assert_int_equal(entry_expiry(entry), -1);
        assert_int_equal(keyspace_count_of(keyspace, EXPIRING_KEYS), 0);
        keyspace_clear(keyspace);
    }
}

static void a_short_string_under_a_short_key_fits_32_bytes(void **state) {
    struct keyref ref = keyspace_find(*state, SLICE("key:9999999"));
    string_set(&ref, SLICE("key:9999999"), SLICE("value:9999999"));
    assert_int_equal(value_allocated(ref.entry), 32);
}

/* --- Every way to change a string, against a buffer and the name that its layout must have --- */

enum { MODEL_MAX = 6 * STRING_EMBEDDED_MAX };

struct model {
    char text[MODEL_MAX];
    size_t len;
    const char *name;
    int64_t expiry_ms;
};

static const char *name_of_stored(struct slice text, bool may_be_integer) {
    int64_t integer;
    if (may_be_integer && number_parse_int64(text, &integer)) return "int";
    return text.len <= STRING_EMBSTR_MAX ? "embstr" : "raw";
}

static void model_store(struct model *model, struct slice text, const char *name) {
    memcpy(model->text, text.ptr, text.len);
    model->len = text.len;
    model->name = name;
}

static struct slice text_of_model_size(struct random *random, char buffer[TEXT_SIZE_MAX]) {
    struct slice text = text_random(random, buffer, false);
    if (text.len > MODEL_MAX / 2) text.len = random_below(random, MODEL_MAX / 2);
    return text;
}

static void change_whole(struct random *random, struct keyref *ref, struct slice key,
                         struct model *model, struct slice text) {
    int64_t integer = (int64_t)random_next(random) >> random_below(random, 64);
    char digits[INT64_TEXT_MAX];
    switch (random_below(random, 5)) {
    case 0:
        string_set(ref, key, text);
        model_store(model, text, name_of_stored(text, true));
        model->expiry_ms = -1;
        break;
    case 1:
        string_set_keep_expiry(ref, key, text);
        model_store(model, text, name_of_stored(text, true));
        break;
    case 2:
        string_set_text(ref, key, text);
        model_store(model, text, name_of_stored(text, false));
        break;
    case 3:
        string_set_raw(ref, key, sds_new(text));
        model_store(model, text, "raw");
        model->expiry_ms = -1;
        break;
    case 4:
        string_set_integer(ref, key, integer);
        model_store(model, slice_make(digits, number_format_int64(digits, integer)), "int");
        break;
    }
}

static void change_part(struct random *random, struct keyref *ref, struct slice key,
                        struct model *model, struct slice text) {
    if (ref->entry && model->len + text.len <= MODEL_MAX && random_below(random, 2)) {
        assert_true(string_append(ref, text));
        memcpy(model->text + model->len, text.ptr, text.len);
        model->len += text.len;
    } else {
        size_t at = random_below(random, MODEL_MAX - (uint32_t)text.len), end = at + text.len;
        uint8_t *bytes = string_open(ref, key, at, end);
        assert_non_null(bytes);
        memcpy(bytes + at, text.ptr, text.len);
        if (end > model->len) memset(model->text + model->len, 0, end - model->len);
        memcpy(model->text + at, text.ptr, text.len);
        if (end > model->len) model->len = end;
    }
    model->name = "raw";
}

static void verify_model(const struct keyref *ref, const struct model *model) {
    char buffer[INT64_TEXT_MAX];
    struct slice expected = slice_make(model->text, model->len);
    int64_t integer, parsed;
    assert_true(value_check(ref->entry));
    assert_true(slice_equal(string_text(ref->entry, buffer), expected));
    assert_int_equal(string_length(ref->entry), model->len);
    assert_string_equal(value_encoding_name(ref->entry), model->name);
    assert_int_equal(string_integer(ref->entry, &integer), strcmp(model->name, "int") == 0);
    bool reads_as_integer = number_parse_int64(expected, &integer);
    assert_int_equal(string_parse_integer(ref->entry, &parsed), reads_as_integer);
    if (reads_as_integer) assert_true(integer == parsed);
    assert_true(entry_expiry(ref->entry) == model->expiry_ms);
}

/* What a string was at some moment, as another thread might read it later. */
struct moment {
    struct capture *capture; /* NULL: none */
    char text[MODEL_MAX];
    size_t len;
    size_t left;
};

static void begin_moment(struct moment *moment, struct entry *entry, const struct model *model) {
    if (model->len <= STRING_EMBEDDED_MAX || value_is_captured(entry)) return;
    moment->capture = text_capture_begin(string_share(entry), &moment->left);
    memcpy(moment->text, model->text, model->len);
    moment->len = model->len;
    assert_true(value_is_captured(entry));
}

static void end_moment(struct moment *moment) {
    char text[MODEL_MAX];
    if (!moment->capture) return;
    assert_int_equal(text_capture_len(moment->capture), moment->len);
    text_capture_read(moment->capture, 0, text, moment->len);
    assert_memory_equal(text, moment->text, moment->len);
    capture_release(moment->capture);
    capture_free(moment->capture);
    assert_int_equal(moment->left, 0);
    moment->capture = NULL;
}

static void changes_in_any_order_agree_with_a_model(void **state) {
    static char buffer[TEXT_SIZE_MAX];
    static struct model model;
    static struct moment moment;
    struct keyspace *keyspace = *state;
    struct random random = random_of_this_run();
    struct slice key = SLICE("some:key");
    model = (struct model){.expiry_ms = -1};
    for (int i = 0; i < 30000; i++) {
        struct keyref ref = keyspace_find(keyspace, key);
        struct slice text = text_of_model_size(&random, buffer);
        if (random_below(&random, 2))
            change_whole(&random, &ref, key, &model, text);
        else
            change_part(&random, &ref, key, &model, text);
        if (random_below(&random, 4) == 0) {
            model.expiry_ms = (int64_t)random_below(&random, 3) - 1;
            keyspace_set_expiry(&ref, model.expiry_ms, value_size(ref.entry));
        }
        verify_model(&ref, &model);
        assert_ptr_equal(keyspace_find(keyspace, key).entry, ref.entry);
        if (random_below(&random, 3) == 0) end_moment(&moment);
        if (!moment.capture) begin_moment(&moment, ref.entry, &model);
        verify_model(&ref, &model);
        if (i % 64 == 0) assert_true(keyspace_check(keyspace));
        if (random_below(&random, 40) == 0) {
            keyspace_delete(&ref);
            model = (struct model){.expiry_ms = -1};
        }
    }
    end_moment(&moment);
}

enum { LARGE = 300000 };

/* A large string, and a capture of it. */
static struct capture *capture_large(struct keyref *ref, size_t *left) {
    static char text[LARGE];
    memset(text, 'x', sizeof(text));
    string_set(ref, SLICE("key"), slice_make(text, sizeof(text)));
    return text_capture_begin(string_share(ref->entry), left);
}

static void end_large(struct capture *capture) {
    char first;
    text_capture_read(capture, 0, &first, 1);
    assert_int_equal(first, 'x');
    capture_release(capture);
    capture_free(capture);
}

static void a_captured_string_is_replaced_without_copying_it(void **state) {
    static char other[LARGE];
    size_t left = 0;
    struct keyref ref = keyspace_find(*state, SLICE("key"));
    struct capture *capture = capture_large(&ref, &left);
    assert_null(string_overwrite(&ref, LARGE));
    string_set(&ref, SLICE("key"), slice_make(other, LARGE));
    assert_uint_in_range(left, LARGE, LARGE + LARGE / 4); /* the buffer, and no copies */
    assert_false(value_is_captured(ref.entry));
    end_large(capture);
    assert_non_null(string_overwrite(&ref, LARGE));
    capture = capture_large(&ref, &left);
    keyspace_delete(&ref);
    assert_uint_in_range(left, LARGE, LARGE + LARGE / 4);
    end_large(capture);
}

static void a_string_that_was_captured_is_again_as_any_other(void **state) {
    static char other[LARGE];
    size_t left = 0;
    struct keyref ref = keyspace_find(*state, SLICE("key"));
    struct capture *capture = capture_large(&ref, &left);
    size_t shared = out_of_line_bytes(ref.entry);
    end_large(capture);
    string_set(&ref, SLICE("key"), slice_make(other, LARGE)); /* where the old one is */
    assert_uint_in_range(shared - out_of_line_bytes(ref.entry), 1,
                         mem_good_size(sizeof(struct shared_text)));
    assert_int_equal(left, 0);
}

static void a_copy_of_a_captured_string_is_its_own(void **state) {
    size_t left = 0;
    struct keyref ref = keyspace_find(*state, SLICE("key"));
    struct capture *capture = capture_large(&ref, &left);
    struct entry *copy = value_copy(ref.entry, SLICE("copy"));
    assert_false(value_is_captured(copy));
    assert_true(value_check(copy));
    assert_int_equal(string_length(copy), LARGE);
    value_free(copy);
    ref.entry = NULL;
    struct keyref again = keyspace_find(*state, SLICE("key"));
    struct entry *renamed = value_rename(keyspace_take(&again), SLICE("renamed"));
    assert_true(value_is_captured(renamed));
    assert_int_equal(left, 0);
    value_free(renamed);
    assert_true(left >= LARGE);
    end_large(capture);
}

static void appending_moves_a_long_string_seldom(void **state) {
    struct slice key = SLICE("key");
    struct keyref ref = keyspace_find(*state, key);
    string_set(&ref, key, SLICE(""));
    size_t moves = 0, before = 0;
    for (int i = 0; i < 100000; i++) {
        assert_true(string_append(&ref, SLICE("abc")));
        size_t allocated = value_allocated(ref.entry);
        moves += allocated != before;
        before = allocated;
    }
    assert_int_equal(string_length(ref.entry), 300000);
    assert_true(moves < 100);
}

static void a_value_of_the_same_size_is_overwritten_where_it_is(void **state) {
    static char text[1000];
    struct slice key = SLICE("key");
    struct keyref ref = keyspace_find(*state, key);
    memset(text, 'a', sizeof(text));
    string_set(&ref, key, slice_make(text, sizeof(text)));
    const char *bytes = string_text(ref.entry, NULL).ptr;
    memset(text, 'b', sizeof(text));
    string_set(&ref, key, slice_make(text, sizeof(text)));
    assert_ptr_equal(string_text(ref.entry, NULL).ptr, bytes);
    verify(ref.entry, slice_make(text, sizeof(text)));
    string_set(&ref, key, slice_make(text, 300)); /* not in memory meant for 1000 */
    assert_true(out_of_line_bytes(ref.entry) < 400);
    verify(ref.entry, slice_make(text, 300));
}

int main(void) {
    hash_init();
#define STRING_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        STRING_TEST(every_text_comes_back),
        STRING_TEST(lengths_around_the_limits_have_their_names),
        STRING_TEST(integers_take_as_few_bytes_as_they_need),
        STRING_TEST(setting_replaces_a_list_and_takes_the_expiry_away),
        STRING_TEST(changes_in_any_order_agree_with_a_model),
        STRING_TEST(a_captured_string_is_replaced_without_copying_it),
        STRING_TEST(a_string_that_was_captured_is_again_as_any_other),
        STRING_TEST(a_copy_of_a_captured_string_is_its_own),
        STRING_TEST(appending_moves_a_long_string_seldom),
        STRING_TEST(a_value_of_the_same_size_is_overwritten_where_it_is),
        STRING_TEST(a_short_string_under_a_short_key_fits_32_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
