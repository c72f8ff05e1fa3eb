/* What holds for values of every type. */
#include "types/value.h"
#include "types/zset.h"

#include "base/hash/hash.h"
#include "base/memory/alloc.h"
#include "types/list.h"
#include "types/string.h"
#include "unit/in_range.h"
#include "unit/keyspace_fixture.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char text[600];

/* Adds a string or a list of one text of `len` bytes. */
static struct entry *add(struct keyspace *keyspace, enum value_type type, struct slice key,
                         size_t len) {
    struct quicklist_limits limits = {.fill = -2};
    struct slice value = slice_make(text, len);
    struct keyref ref = keyspace_find(keyspace, key);
    if (type == VALUE_STRING)
        string_set(&ref, key, value);
    else
        list_create(&ref, key, LIST_TAIL, &value, 1, &limits);
    return ref.entry;
}

static void every_type_has_its_name(void **state) {
    (void)state;
    assert_string_equal(value_type_name(VALUE_STRING), "string");
    assert_string_equal(value_type_name(VALUE_LIST), "list");
    assert_string_equal(value_type_name(VALUE_SET), "set");
    assert_string_equal(value_type_name(VALUE_ZSET), "zset");
    assert_string_equal(value_type_name(VALUE_HASH), "hash");
    assert_string_equal(value_type_name(VALUE_MODULE), "module");
    assert_string_equal(value_type_name(VALUE_STREAM), "stream");
}

static void every_type_but_modules_has_values(void **state) {
    (void)state;
    for (int type = 0; type < VALUE_TYPE_NUMBERS; type++)
        assert_int_equal(value_type_exists((enum value_type)type),
                         type < VALUE_TYPES && type != VALUE_MODULE);
}

/* Runs `use` in a child process: the signal that ends it, or 0. */
static int signal_of(void (*use)(struct entry *entry), struct entry *entry) {
    int status;
    pid_t child = fork();
    if (child == 0) {
        setrlimit(RLIMIT_CORE, &(struct rlimit){0});
        use(entry);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

#define USE(function)                                                                              \
    static void use_##function(struct entry *entry) {                                              \
        (void)function(entry);                                                                     \
    }
USE(value_encoding_name)
USE(value_length)
USE(value_size)
USE(value_free_effort)
USE(value_allocated)
static void use_value_copy(struct entry *entry) {
    value_copy(entry, SLICE("copy"));
}

/* No function takes such a value for one of another type. */
static void an_entry_of_a_type_without_values_ends_the_process(void **state) {
    (void)state;
    static void (*const uses[])(struct entry *) = {
        use_value_encoding_name, use_value_length,   use_value_size,
        value_free_out_of_line,  value_free,         use_value_copy,
        use_value_free_effort,   use_value_allocated};
    for (int type = 0; type < VALUE_TYPE_NUMBERS; type++) {
        if (value_type_exists((enum value_type)type)) continue;
        struct entry *entry = entry_new(SLICE("key"), (enum value_type)type, 0, 8);
        assert_false(value_check(entry) || value_is_empty(entry) || value_wakes_clients(entry));
        for (size_t i = 0; i < sizeof(uses) / sizeof(uses[0]); i++)
            assert_int_equal(signal_of(uses[i], entry), SIGABRT);
        entry_free(entry, 8);
    }
}

static void clients_wait_for_lists_but_not_for_strings(void **state) {
    struct keyspace *keyspace = *state;
    assert_false(value_wakes_clients(add(keyspace, VALUE_STRING, SLICE("s"), 1)));
    assert_true(value_wakes_clients(add(keyspace, VALUE_LIST, SLICE("l"), 1)));
}

static void a_list_is_empty_without_elements_and_a_string_never(void **state) {
    struct keyspace *keyspace = *state;
    struct quicklist_limits limits = {.fill = -2};
    assert_false(value_is_empty(add(keyspace, VALUE_STRING, SLICE("s"), 0)));
    for (size_t len = 1; len <= sizeof(text); len += sizeof(text) - 1) {
        assert_false(value_is_empty(add(keyspace, VALUE_LIST, SLICE("l"), len)));
        struct keyref ref = keyspace_find(keyspace, SLICE("l"));
        list_drop(&ref, LIST_HEAD, 1, &limits);
        assert_true(value_is_empty(ref.entry));
        keyspace_delete(&ref);
    }
}

static void the_length_is_that_of_the_text_or_the_number_of_elements(void **state) {
    static const int64_t integers[] = {0, -1, 9, 10, 12345678, INT64_MIN};
    struct keyspace *keyspace = *state;
    char buffer[INT64_TEXT_MAX];
    for (size_t i = 0; i < sizeof(integers) / sizeof(integers[0]); i++) {
        struct slice number = number_text(buffer, integers[i]);
        struct keyref ref = keyspace_find(keyspace, SLICE("n"));
        string_set(&ref, SLICE("n"), number);
        assert_int_equal(value_length(ref.entry), number.len);
    }
    for (size_t len = 0; len <= sizeof(text); len += 100)
        assert_int_equal(value_length(add(keyspace, VALUE_STRING, SLICE("s"), len)), len);
    struct quicklist_limits limits = {.fill = -2};
    struct slice element = slice_make(text, 100);
    add(keyspace, VALUE_LIST, SLICE("l"), 100);
    struct keyref ref = keyspace_find(keyspace, SLICE("l"));
    for (uint64_t count = 1; count < 300; count++) {
        assert_int_equal(value_length(ref.entry), count);
        list_push(&ref, LIST_HEAD, &element, 1, &limits);
    }
}

/* With every length, of both types: what is said to be allocated is what the allocator gave. */
static void the_bytes_allocated_are_those_the_allocator_counts(void **state) {
    struct keyspace *keyspace = *state;
    /* The table and the histogram own memory from now on. */
    add(keyspace, VALUE_STRING, SLICE("other"), 1);
    add(keyspace, VALUE_LIST, SLICE("another"), 1);
    for (int type = VALUE_STRING; type <= VALUE_LIST; type++) {
        for (size_t len = 1; len <= sizeof(text); len++) {
            size_t before = mem_used();
            struct entry *entry = add(keyspace, (enum value_type)type, SLICE("key"), len);
            assert_true(value_check(entry));
            assert_int_equal(entry_type(entry), type);
            assert_int_equal(value_allocated(entry), mem_used() - before);
            struct keyref ref = keyspace_find(keyspace, SLICE("key"));
            keyspace_delete(&ref);
            assert_int_equal(mem_used(), before);
        }
    }
}

static void freeing_what_is_out_of_line_leaves_an_entry_that_takes_another_value(void **state) {
    struct keyspace *keyspace = *state;
    add(keyspace, VALUE_LIST, SLICE("key"), sizeof(text));
    for (size_t len = 0; len <= sizeof(text); len += 50) {
        struct entry *entry = add(keyspace, VALUE_STRING, SLICE("key"), len);
        assert_true(value_check(entry));
    }
    assert_true(keyspace_check(keyspace));
}

/* Calls `check` with an entry of each type, length and layout, with an expiry and without. */
static void with_each_value(struct keyspace *keyspace, void (*check)(struct keyref *ref)) {
    static const struct quicklist_limits one_each = {.fill = 1, .compress_depth = 1};
    for (int round = 0; round < 4; round++) {
        for (size_t len = 0; len <= sizeof(text) + 20; len++) {
            enum value_type type = round % 2 ? VALUE_LIST : VALUE_STRING;
            bool many = len > sizeof(text);
            add(keyspace, type, SLICE("key"), many ? 80 : len);
            struct keyref ref = keyspace_find(keyspace, SLICE("key"));
            struct slice element = slice_make(text, 80);
            for (size_t i = sizeof(text); type == VALUE_LIST && i < len; i++)
                list_push(&ref, LIST_TAIL, &element, 1, &one_each);
            if (round >= 2) keyspace_set_expiry(&ref, 4102444800123, value_size(ref.entry));
            entry_set_clock(ref.entry, 777);
            check(&ref);
            ref = keyspace_find(keyspace, SLICE("key"));
            keyspace_delete(&ref);
        }
    }
}

/* Do both have the same value in the same encoding? */
static void assert_same_value(const struct entry *a, const struct entry *b) {
    assert_true(value_check(a) && value_check(b));
    assert_int_equal(entry_type(a), entry_type(b));
    assert_string_equal(value_encoding_name(a), value_encoding_name(b));
    assert_true(entry_expiry(a) == entry_expiry(b));
    if (entry_type(a) == VALUE_STRING) {
        char buffers[2][INT64_TEXT_MAX];
        assert_true(slice_equal(string_text(a, buffers[0]), string_text(b, buffers[1])));
        return;
    }
    struct quicklist_iter iters[2];
    assert_int_equal(list_length(a), list_length(b));
    list_iter_start(&iters[0], a, 0, LIST_FORWARD);
    list_iter_start(&iters[1], b, 0, LIST_FORWARD);
    const uint8_t *element;
    while ((element = quicklist_iter_next(&iters[0])) != NULL) {
        const uint8_t *other = quicklist_iter_next(&iters[1]);
        assert_memory_equal(element, other, listpack_size(element));
    }
    quicklist_iter_end(&iters[0]);
    quicklist_iter_end(&iters[1]);
}

static const char *const names[] = {
    "", "k", "another key", "a key so long that its length takes another header than \"key\""};

static void check_copy(struct keyref *ref) {
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        size_t before = mem_used();
        struct entry *copy = value_copy(ref->entry, slice_of_cstr(names[i]));
        assert_true(slice_equal(entry_key(copy), slice_of_cstr(names[i])));
        assert_same_value(copy, ref->entry);
        assert_int_equal(entry_clock(copy), 0);
        assert_int_equal(mem_used() - before, value_allocated(copy));
        value_free(copy);
        assert_int_equal(mem_used(), before);
        assert_true(value_check(ref->entry));
    }
}

static void a_copy_is_equal_and_shares_nothing(void **state) {
    with_each_value(*state, check_copy);
}

static void check_rename(struct keyref *ref) {
    struct entry *copy = value_copy(ref->entry, SLICE("copy"));
    struct entry *entry = keyspace_take(ref);
    size_t others = mem_used() - value_allocated(entry);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        entry = value_rename(entry, slice_of_cstr(names[i]));
        assert_true(slice_equal(entry_key(entry), slice_of_cstr(names[i])));
        assert_same_value(entry, copy);
        assert_int_equal(entry_clock(entry), 777);
        assert_int_equal(mem_used() - others, value_allocated(entry));
    }
    value_free(copy);
    keyspace_add(ref, value_rename(entry, SLICE("key")));
}

static void a_renamed_value_is_the_same_under_another_key(void **state) {
    with_each_value(*state, check_rename);
}

/* Runs all steps of the prefetching for a request with `argc` arguments behind the key, the last of
 * which is `member`; returns how many there were. */
static unsigned prefetch_steps(const struct entry *entry, size_t argc, struct slice member) {
    struct value_lookup lookup = {.entry = entry, .argc = argc};
    unsigned step = 0;
    if (argc > 0) lookup.argv[argc - 1] = member;
    while (value_prefetch(&lookup, step)) assert_true(++step < 8);
    return step + 1;
}

static void check_prefetch(struct keyref *ref) {
    bool is_apart =
        value_allocated(ref->entry) > entry_allocated(ref->entry, value_size(ref->entry));
    assert_true(entry_is_out_of_line(ref->entry) == is_apart);
    if (is_apart) assert_int_equal(prefetch_steps(ref->entry, 0, SLICE("")), 1);
    assert_false(value_has_members_to_prefetch(ref->entry));
    assert_true(value_check(ref->entry));
}

static void prefetching_a_value_ends_and_changes_nothing(void **state) {
    with_each_value(*state, check_prefetch);
}

static struct slice numbered_member(char text[32], size_t number) {
    return slice_make(text, (size_t)snprintf(text, 32, "member:%zu", number));
}

static void prefetching_follows_the_member_that_a_request_names(void **state) {
    struct keyref ref = keyspace_find(*state, SLICE("z"));
    const struct listpack_limits limits = {.listpack_entries = 1, .listpack_value = 64};
    char text[32];
    zset_create(&ref, SLICE("z"), numbered_member(text, 0), 0, 1, 8, &limits);
    assert_false(entry_is_out_of_line(ref.entry));
    for (size_t i = 1; i <= VALUE_CACHED_MEMBERS; i++) {
        struct slice member = numbered_member(text, i);
        struct zset_place place = zset_find(ref.entry, member);
        assert_false(value_has_members_to_prefetch(ref.entry));
        zset_put(&ref, &place, member, (double)i, &limits);
    }
    assert_true(value_has_members_to_prefetch(ref.entry));
    for (size_t i = 0; i <= VALUE_CACHED_MEMBERS; i++) {
        assert_int_equal(prefetch_steps(ref.entry, 1, numbered_member(text, i)), 5);
        assert_int_equal(prefetch_steps(ref.entry, 2, numbered_member(text, i)), 5);
    }
    for (size_t i = 0; i < 100; i++)
        assert_true(prefetch_steps(ref.entry, i % 3, numbered_member(text, 1000000 + i)) >= 4);
    assert_true(value_check(ref.entry));
}

static void freeing_is_as_much_work_as_there_are_nodes_and_memory(void **state) {
    struct keyspace *keyspace = *state;
    static const struct quicklist_limits one_each = {.fill = 1};
    assert_int_equal(value_free_effort(add(keyspace, VALUE_STRING, SLICE("s"), sizeof(text))), 1);
    assert_int_equal(value_free_effort(add(keyspace, VALUE_LIST, SLICE("l"), 3)), 1);
    struct keyref ref = keyspace_find(keyspace, SLICE("l"));
    struct slice element = SLICE("element");
    for (int i = 1; i < 100; i++) list_push(&ref, LIST_TAIL, &element, 1, &one_each);
    assert_int_equal(value_free_effort(ref.entry), 100);

    enum { LARGE = 1000000 };
    char *bytes = mem_alloc(LARGE);
    memset(bytes, 'x', LARGE);
    struct slice large = slice_make(bytes, LARGE);
    list_push(&ref, LIST_TAIL, &large, 1, &one_each);
    assert_uint_in_range(value_free_effort(ref.entry), 200, 300);
    ref = keyspace_find(keyspace, SLICE("s"));
    string_set(&ref, SLICE("s"), large);
    assert_uint_in_range(value_free_effort(ref.entry), 100, 200);
    mem_free(bytes);
}

int main(void) {
    hash_init();
    memset(text, 'v', sizeof(text));
#define VALUE_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_has_its_name),
        cmocka_unit_test(every_type_but_modules_has_values),
        cmocka_unit_test(an_entry_of_a_type_without_values_ends_the_process),
        VALUE_TEST(clients_wait_for_lists_but_not_for_strings),
        VALUE_TEST(a_list_is_empty_without_elements_and_a_string_never),
        VALUE_TEST(the_length_is_that_of_the_text_or_the_number_of_elements),
        VALUE_TEST(the_bytes_allocated_are_those_the_allocator_counts),
        VALUE_TEST(freeing_what_is_out_of_line_leaves_an_entry_that_takes_another_value),
        VALUE_TEST(a_copy_is_equal_and_shares_nothing),
        VALUE_TEST(a_renamed_value_is_the_same_under_another_key),
        VALUE_TEST(prefetching_a_value_ends_and_changes_nothing),
        VALUE_TEST(prefetching_follows_the_member_that_a_request_names),
        VALUE_TEST(freeing_is_as_much_work_as_there_are_nodes_and_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
