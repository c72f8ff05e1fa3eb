/* Lists against a naive model: an array of texts. Both layouts, both encodings, and the points
 * where they change. */
#include "types/list.h"

#include "base/hash/hash.h"
#include "types/value.h"
#include "unit/seed.h"
#include "unit/texts.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { MODEL_MAX = 1000 };

struct model {
    struct slice texts[MODEL_MAX];
    size_t count;
    bool is_quicklist;
};

struct fixture {
    struct random random;
    struct keyspace *keyspace;
    struct quicklist_limits limits;
    struct model model;
};

static const struct slice the_key = {"a list", 6};

/* --- The model --- */

static struct slice text_copy(struct slice text) {
    char *copy = malloc(text.len + 1);
    if (text.len) memcpy(copy, text.ptr, text.len);
    return slice_make(copy, text.len);
}

static void model_insert(struct model *model, size_t index, struct slice text) {
    assert_true(model->count < MODEL_MAX);
    memmove(model->texts + index + 1, model->texts + index,
            (model->count - index) * sizeof(struct slice));
    model->texts[index] = text_copy(text);
    model->count++;
}

static void model_delete(struct model *model, size_t index) {
    free((void *)(uintptr_t)model->texts[index].ptr);
    model->count--;
    memmove(model->texts + index, model->texts + index + 1,
            (model->count - index) * sizeof(struct slice));
}

static void model_clear(struct model *model) {
    while (model->count) model_delete(model, model->count - 1);
    model->is_quicklist = false;
}

/* Bytes of the listpack that would hold the model. */
static size_t model_size(const struct model *model) {
    size_t size = LISTPACK_OVERHEAD;
    for (size_t i = 0; i < model->count; i++) {
        struct listpack_element element;
        listpack_prepare(&element, model->texts[i]);
        size += element.size;
    }
    return size;
}

/* What a command that adds `more` elements of `bytes` of text in all does to the encoding. */
static void model_grow(struct fixture *f, size_t bytes, size_t more) {
    if (quicklist_exceeds_fill(f->limits.fill, model_size(&f->model) + bytes,
                               f->model.count + more))
        f->model.is_quicklist = true;
}

static struct keyref find(struct fixture *f) {
    return keyspace_find(f->keyspace, the_key);
}

/* What a removal does to it: Redis's rule, for a list that now looks as `entry` does. */
static void model_shrink(struct fixture *f, const struct entry *entry) {
    const uint8_t *first, *end;
    if (!f->model.is_quicklist || f->model.count == 0) return;
    if (!list_single_body(entry, &first, &end)) return;
    size_t size = model_size(&f->model);
    bool small = f->limits.fill > 0
                     ? f->model.count <= (size_t)f->limits.fill / 2
                     : !quicklist_exceeds_fill(f->limits.fill, size * 2, f->model.count);
    if (small) f->model.is_quicklist = false;
}

/* --- Comparing --- */

static struct slice element_text(const uint8_t *element, char *buffer) {
    struct listpack_value value;
    listpack_get(element, &value);
    return listpack_value_text(&value, buffer);
}

static void expect_text(const uint8_t *element, struct slice expected) {
    char buffer[INT64_TEXT_MAX];
    assert_non_null(element);
    assert_true(slice_equal(element_text(element, buffer), expected));
}

static void compare_iterating(struct fixture *f, const struct entry *entry) {
    struct model *model = &f->model;
    struct quicklist_iter iter;
    size_t start = random_below(&f->random, model->count);
    list_iter_start(&iter, entry, start, LIST_FORWARD);
    for (size_t i = start; i < model->count; i++)
        expect_text(quicklist_iter_next(&iter), model->texts[i]);
    assert_null(quicklist_iter_next(&iter));
    quicklist_iter_end(&iter);
    list_iter_start(&iter, entry, start, LIST_BACKWARD);
    for (size_t i = start + 1; i-- > 0;) expect_text(quicklist_iter_next(&iter), model->texts[i]);
    assert_null(quicklist_iter_next(&iter));
    quicklist_iter_end(&iter);
}

static void compare_runs(struct fixture *f, const struct entry *entry) {
    struct model *model = &f->model;
    struct quicklist_iter iter;
    struct quicklist_run run;
    size_t at = random_below(&f->random, model->count), start = at;
    list_iter_start(&iter, entry, at, LIST_FORWARD);
    while (quicklist_iter_run(&iter, &run)) {
        const uint8_t *p = run.first;
        for (size_t i = 0; i < run.count; i++, p += listpack_size(p))
            expect_text(p, model->texts[at++]);
        assert_ptr_equal(p, run.end);
        assert_true(run.readable_end >= run.end);
    }
    quicklist_iter_end(&iter);
    assert_int_equal(at, model->count);
    at = start + 1;
    list_iter_start(&iter, entry, start, LIST_BACKWARD);
    while (quicklist_iter_run(&iter, &run)) {
        const uint8_t *p = run.end;
        for (size_t i = 0; i < run.count; i++) {
            p -= listpack_size_before(p);
            expect_text(p, model->texts[--at]);
        }
        assert_ptr_equal(p, run.first);
    }
    quicklist_iter_end(&iter);
    assert_int_equal(at, 0);
}

/* All positions of one text, in one direction, with a limit on how many elements are looked at. */
static void compare_finding(struct fixture *f, const struct entry *entry) {
    struct model *model = &f->model;
    bool forward = random_below(&f->random, 2);
    struct slice text = model->texts[random_below(&f->random, model->count)];
    size_t limit = 1 + random_below(&f->random, model->count);
    struct listpack_element needle;
    struct quicklist_iter iter;
    uint64_t index;
    size_t looked_at = 0;
    listpack_prepare(&needle, text);
    list_iter_start(&iter, entry, forward ? 0 : model->count - 1,
                    forward ? LIST_FORWARD : LIST_BACKWARD);
    for (size_t i = 0; i < limit; i++) {
        size_t position = forward ? i : model->count - 1 - i;
        if (!slice_equal(model->texts[position], text)) continue;
        assert_true(quicklist_iter_find(&iter, &needle, limit - looked_at, &index));
        assert_int_equal(index, position);
        looked_at = i + 1;
    }
    if (looked_at < limit)
        assert_false(quicklist_iter_find(&iter, &needle, limit - looked_at, &index));
    quicklist_iter_end(&iter);
}

static void compare_encoding(struct fixture *f, const struct entry *entry) {
    const uint8_t *first, *end;
    bool is_quicklist = strcmp(value_encoding_name(entry), "quicklist") == 0;
    if (is_quicklist != f->model.is_quicklist) {
        /* Only a list that one node could not hold, though the limits did, may differ. */
        assert_true(is_quicklist);
        assert_false(list_single_body(entry, &first, &end));
        f->model.is_quicklist = true;
    }
    if (!is_quicklist) {
        assert_true(list_single_body(entry, &first, &end));
        assert_int_equal(end - first + LISTPACK_OVERHEAD, model_size(&f->model));
    }
}

static void compare(struct fixture *f) {
    struct keyref ref = find(f);
    struct model *model = &f->model;
    if (model->count == 0) {
        assert_null(ref.entry);
        return;
    }
    assert_true(value_check(ref.entry));
    assert_int_equal(list_length(ref.entry), model->count);
    expect_text(list_peek(ref.entry, LIST_HEAD), model->texts[0]);
    expect_text(list_peek(ref.entry, LIST_TAIL), model->texts[model->count - 1]);
    const struct quicklist *list = list_quicklist(ref.entry);
    assert_int_equal(value_allocated(ref.entry) - entry_allocated(ref.entry, value_size(ref.entry)),
                     list ? quicklist_allocated(list) : 0);
    compare_encoding(f, ref.entry);
    compare_iterating(f, ref.entry);
    compare_runs(f, ref.entry);
    compare_finding(f, ref.entry);
}

/* --- Operations, on both --- */

static void delete_if_empty(struct fixture *f, struct keyref *ref) {
    assert_int_equal(value_is_empty(ref->entry), f->model.count == 0);
    if (f->model.count == 0) {
        keyspace_delete(ref);
        f->model.is_quicklist = false;
    }
}

static void do_push(struct fixture *f) {
    static char buffers[40][TEXT_SIZE_MAX];
    struct slice texts[40];
    bool many = random_below(&f->random, 8) == 0;
    bool long_ones = random_below(&f->random, 16) == 0;
    size_t count = many ? 1 + random_below(&f->random, 40) : 1, bytes = 0;
    if (f->model.count + count > MODEL_MAX) return;
    enum list_end end = random_below(&f->random, 2) ? LIST_HEAD : LIST_TAIL;
    for (size_t i = 0; i < count; i++) {
        texts[i] = text_random(&f->random, buffers[i], long_ones);
        bytes += texts[i].len;
    }
    model_grow(f, bytes, count);
    for (size_t i = 0; i < count; i++)
        model_insert(&f->model, end == LIST_HEAD ? 0 : f->model.count, texts[i]);
    struct keyref ref = find(f);
    if (ref.entry)
        list_push(&ref, end, texts, count, &f->limits);
    else
        list_create(&ref, the_key, end, texts, count, &f->limits);
    assert_ptr_equal(find(f).entry, ref.entry);
}

static void do_insert(struct fixture *f) {
    static char buffer[TEXT_SIZE_MAX];
    if (f->model.count == 0 || f->model.count == MODEL_MAX) return;
    struct slice text = text_random(&f->random, buffer, random_below(&f->random, 16) == 0);
    size_t index = random_below(&f->random, f->model.count);
    bool after = random_below(&f->random, 2);
    model_grow(f, text.len, 1);
    model_insert(&f->model, index + after, text);
    struct keyref ref = find(f);
    list_insert(&ref, index, after, text, &f->limits);
}

static void do_set(struct fixture *f) {
    static char buffer[TEXT_SIZE_MAX];
    if (f->model.count == 0) return;
    struct slice text = text_random(&f->random, buffer, random_below(&f->random, 16) == 0);
    size_t index = random_below(&f->random, f->model.count);
    model_delete(&f->model, index);
    model_insert(&f->model, index, text);
    model_grow(f, 0, 0);
    struct keyref ref = find(f);
    list_set(&ref, index, text, &f->limits);
    model_shrink(f, ref.entry);
}

static void do_drop(struct fixture *f) {
    if (f->model.count == 0) return;
    enum list_end end = random_below(&f->random, 2) ? LIST_HEAD : LIST_TAIL;
    size_t count = random_below(&f->random, 4) ? 1 : 1 + random_below(&f->random, f->model.count);
    for (size_t i = 0; i < count; i++)
        model_delete(&f->model, end == LIST_HEAD ? 0 : f->model.count - 1);
    struct keyref ref = find(f);
    list_drop(&ref, end, count, &f->limits);
    model_shrink(f, ref.entry);
    delete_if_empty(f, &ref);
}

static void do_trim(struct fixture *f) {
    if (f->model.count == 0) return;
    size_t from = random_below(&f->random, f->model.count);
    size_t count = random_below(&f->random, f->model.count - from + 1);
    while (f->model.count > from + count) model_delete(&f->model, f->model.count - 1);
    for (size_t i = 0; i < from; i++) model_delete(&f->model, 0);
    struct keyref ref = find(f);
    list_trim(&ref, from, count, &f->limits);
    model_shrink(f, ref.entry);
    delete_if_empty(f, &ref);
}

static void do_remove(struct fixture *f) {
    struct model *model = &f->model;
    if (model->count == 0) return;
    bool forward = random_below(&f->random, 2);
    struct slice text = text_copy(model->texts[random_below(&f->random, model->count)]);
    uint64_t max = random_below(&f->random, 2) ? UINT64_MAX : 1 + random_below(&f->random, 3);
    uint64_t removed = 0;
    for (size_t i = 0; i < model->count && removed < max;) {
        size_t index = forward ? i : model->count - 1 - i;
        if (slice_equal(model->texts[index], text)) {
            model_delete(model, index);
            removed++;
        } else {
            i++;
        }
    }
    struct keyref ref = find(f);
    assert_int_equal(
        list_remove(&ref, text, max, forward ? LIST_FORWARD : LIST_BACKWARD, &f->limits), removed);
    model_shrink(f, ref.entry);
    delete_if_empty(f, &ref);
    free((void *)(uintptr_t)text.ptr);
}

static void do_rotate(struct fixture *f) {
    struct model *model = &f->model;
    if (model->count == 0) return;
    enum list_end from = random_below(&f->random, 2) ? LIST_HEAD : LIST_TAIL;
    size_t at = from == LIST_HEAD ? 0 : model->count - 1;
    struct slice text = text_copy(model->texts[at]);
    model_delete(model, at);
    if (model->count) model_grow(f, text.len, 1);
    model_insert(model, from == LIST_HEAD ? model->count : 0, text);
    struct keyref ref = find(f);
    list_rotate(&ref, from, &f->limits);
    if (model->count > 1) model_shrink(f, ref.entry);
    free((void *)(uintptr_t)text.ptr);
}

static void do_delete_key(struct fixture *f) {
    if (f->model.count == 0) return;
    struct keyref ref = find(f);
    keyspace_delete(&ref);
    model_clear(&f->model);
}

/* --- Tests --- */

static int set_up(void **state) {
    struct fixture *f = calloc(1, sizeof(*f));
    f->random = random_of_this_run();
    f->keyspace = keyspace_new(value_free, value_length);
    f->limits = (struct quicklist_limits){.fill = -2};
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *f = *state;
    model_clear(&f->model);
    keyspace_free(f->keyspace);
    free(f);
    return 0;
}

static void choose_limits(struct fixture *f) {
    static const int16_t fills[] = {-1, -2, -3, -4, -5, 1, 2, 3, 4, 16, 128, 1000};
    f->limits.fill = fills[random_below(&f->random, sizeof(fills) / sizeof(fills[0]))];
    f->limits.compress_depth = (uint16_t)random_below(&f->random, 3);
    f->limits.plain_threshold = random_below(&f->random, 4) ? 0 : 1 + random_below(&f->random, 200);
}

static void any_sequence_gives_what_the_model_gives(void **state) {
    static void (*const operations[])(struct fixture *) = {
        do_push, do_push, do_push, do_push, do_push,   do_insert, do_insert,
        do_set,  do_set,  do_drop, do_drop, do_rotate, do_rotate, do_remove,
    };
    struct fixture *f = *state;
    for (int round = 0; round < 300; round++) {
        choose_limits(f);
        for (int i = 0; i < 150; i++) {
            if (random_below(&f->random, 50) == 0) choose_limits(f);
            size_t choice = random_below(&f->random, sizeof(operations) / sizeof(operations[0]));
            operations[choice](f);
            if (random_below(&f->random, 40) == 0) do_trim(f);
            compare(f);
        }
        do_delete_key(f);
        compare(f);
    }
    assert_true(keyspace_check(f->keyspace));
}

static void push_repeated(struct fixture *f, struct slice text, size_t count) {
    for (size_t i = 0; i < count; i++) {
        struct keyref ref = find(f);
        if (ref.entry)
            list_push(&ref, LIST_TAIL, &text, 1, &f->limits);
        else
            list_create(&ref, the_key, LIST_TAIL, &text, 1, &f->limits);
    }
}

static const char *encoding(struct fixture *f) {
    return value_encoding_name(find(f).entry);
}

/* From the tail: the first node stays full. */
static void drop(struct fixture *f, size_t count) {
    struct keyref ref = find(f);
    list_drop(&ref, LIST_TAIL, count, &f->limits);
}

static void
a_list_of_too_many_elements_becomes_quicklist_and_at_half_of_them_listpack(void **state) {
    struct fixture *f = *state;
    f->limits.fill = 20;
    push_repeated(f, SLICE("x"), 20);
    assert_string_equal(encoding(f), "listpack");
    push_repeated(f, SLICE("x"), 1);
    assert_string_equal(encoding(f), "quicklist");
    drop(f, 10);
    assert_string_equal(encoding(f), "quicklist");
    drop(f, 1);
    assert_string_equal(encoding(f), "listpack");
    push_repeated(f, SLICE("x"), 10);
    assert_string_equal(encoding(f), "listpack");
}

/* With the limit at B bytes, an element of length L is refused when size + L > B, though it will
 * take L + 2. */
static void a_list_of_too_many_bytes_becomes_quicklist_by_the_length_of_the_texts(void **state) {
    struct fixture *f = *state;
    f->limits.fill = -1;
    size_t size = LISTPACK_OVERHEAD;
    while (!quicklist_exceeds_fill(-1, size + 10, 1)) {
        push_repeated(f, SLICE("hellohello"), 1);
        size += 12;
        assert_string_equal(encoding(f), "listpack");
    }
    push_repeated(f, SLICE("hellohello"), 1);
    assert_string_equal(encoding(f), "quicklist");
    uint64_t length = list_length(find(f).entry);
    while (quicklist_exceeds_fill(-1, 2 * (LISTPACK_OVERHEAD + 12 * length), 1)) {
        assert_string_equal(encoding(f), "quicklist");
        drop(f, 1);
        length--;
    }
    assert_string_equal(encoding(f), "listpack");
}

static void setting_keeps_a_list_that_still_fits_a_listpack(void **state) {
    struct fixture *f = *state;
    f->limits.fill = 3;
    push_repeated(f, SLICE("hellohello"), 3);
    struct keyref ref = find(f);
    list_set(&ref, 1, SLICE("hallohallo"), &f->limits);
    assert_string_equal(encoding(f), "listpack");
    f->limits.fill = -1;
    list_drop(&ref, LIST_HEAD, 2, &f->limits);
    static char large[70000];
    list_set(&ref, 0, slice_make(large, sizeof(large)), &f->limits);
    assert_string_equal(encoding(f), "quicklist");
    list_set(&ref, 0, SLICE("hellohello"), &f->limits);
    assert_string_equal(encoding(f), "listpack");
}

static void one_command_with_too_much_makes_a_quicklist_at_once(void **state) {
    struct fixture *f = *state;
    f->limits.fill = 2;
    struct slice texts[] = {SLICE("a"), SLICE("b"), SLICE("c")};
    struct keyref ref = find(f);
    list_create(&ref, the_key, LIST_HEAD, texts, 3, &f->limits);
    assert_string_equal(encoding(f), "quicklist");
    expect_text(list_peek(ref.entry, LIST_HEAD), SLICE("c"));
    expect_text(list_peek(ref.entry, LIST_TAIL), SLICE("a"));
}

static void five_short_strings_under_a_short_key_fit_80_bytes(void **state) {
    struct fixture *f = *state;
    struct slice element = SLICE("hellohello");
    struct slice texts[] = {element, element, element, element, element};
    struct slice key = SLICE("key:123456");
    struct keyref ref = keyspace_find(f->keyspace, key);
    list_create(&ref, key, LIST_TAIL, texts, LIST_EMBEDDED_MAX < 60 ? 4 : 5, &f->limits);
    assert_true(value_allocated(ref.entry) <= 80);
}

static void a_queue_that_ran_empty_returns_to_its_entry(void **state) {
    struct fixture *f = *state;
    push_repeated(f, SLICE("hellohello"), 100);
    assert_non_null(list_quicklist(find(f).entry));
    drop(f, 99);
    assert_null(list_quicklist(find(f).entry));
    expect_text(list_peek(find(f).entry, LIST_HEAD), SLICE("hellohello"));
}

int main(void) {
    hash_init();
#define LIST_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        LIST_TEST(any_sequence_gives_what_the_model_gives),
        LIST_TEST(a_list_of_too_many_elements_becomes_quicklist_and_at_half_of_them_listpack),
        LIST_TEST(a_list_of_too_many_bytes_becomes_quicklist_by_the_length_of_the_texts),
        LIST_TEST(setting_keeps_a_list_that_still_fits_a_listpack),
        LIST_TEST(one_command_with_too_much_makes_a_quicklist_at_once),
        LIST_TEST(five_short_strings_under_a_short_key_fit_80_bytes),
        LIST_TEST(a_queue_that_ran_empty_returns_to_its_entry),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
