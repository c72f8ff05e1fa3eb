/* Client tracking: the table against a model, its memory; who is told what; the work in the
 * background. */
#include "tracking/tracking.h"
#include "unit/relocate_step.h"
#include "unit/seed.h"

#include "base/clock.h"
#include "base/hash/random.h"
#include "base/memory/alloc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

enum { KEYS = 300, NUMBERS = 300, STEPS = 40000, NAME_MAX_LENGTH = 300 };

/* --- The table --- */

struct model {
    struct tracking_table table;
    struct tracking_numbers numbers;
    bool has[KEYS][NUMBERS];
    bool is_gone[NUMBERS];
    struct random random;
    struct relocate_step step;
};

static struct slice key_name(size_t key) {
    static char name[NAME_MAX_LENGTH];
    int length = snprintf(name, sizeof(name), "key:%zu", key);
    if (key % 10 == 9) { /* a length of two bytes */
        memset(name + length, 'x', 200);
        length += 200;
    }
    return key == 0 ? SLICE("") : slice_make(name, (size_t)length);
}

static size_t model_key(struct slice name) {
    for (size_t key = 0; key < KEYS; key++)
        if (slice_equal(key_name(key), name)) return key;
    fail();
    return 0;
}

static void check_counts(const struct model *model) {
    size_t keys = 0, pairs = 0;
    for (size_t key = 0; key < KEYS; key++) {
        size_t count = 0;
        for (size_t number = 0; number < NUMBERS; number++) count += model->has[key][number];
        keys += count > 0;
        pairs += count;
    }
    assert_int_equal(model->table.keys, keys);
    assert_int_equal(model->table.pairs, pairs);
    assert_true(tracking_table_check(&model->table));
}

static void check_taken(struct model *model, size_t key, bool all) {
    const struct tracking_numbers *numbers = &model->numbers;
    size_t next = 0;
    for (size_t number = 0; number < NUMBERS; number++) {
        if (!model->has[key][number]) continue;
        if (next == numbers->count && !all) return;
        assert_true(next < numbers->count);
        assert_int_equal(numbers->numbers[next++], number);
        model->has[key][number] = false;
    }
    assert_int_equal(next, numbers->count);
}

static bool is_gone(uint32_t number, void *arg) {
    const struct model *model = arg;
    return model->is_gone[number];
}

/* A whole sweep for some of the numbers, while other pairs are added. */
static void sweep(struct model *model) {
    for (size_t i = 0; i < NUMBERS; i++) model->is_gone[i] = random_below(&model->random, 3) == 0;
    do {
        tracking_table_sweep(&model->table, is_gone, model, &model->numbers);
        size_t key = random_below(&model->random, KEYS);
        size_t number = random_below(&model->random, NUMBERS);
        if (model->is_gone[number]) continue;
        assert_int_equal(tracking_table_add(&model->table, key_name(key), (uint32_t)number),
                         !model->has[key][number]);
        model->has[key][number] = true;
    } while (model->table.next_sweep);
    for (size_t key = 0; key < KEYS; key++)
        for (size_t i = 0; i < NUMBERS; i++) model->has[key][i] &= !model->is_gone[i];
    while (tracking_table_shrink(&model->table)) {
    }
}

static void change(struct model *model) {
    size_t key = random_below(&model->random, KEYS);
    size_t number = random_below(&model->random, random_below(&model->random, NUMBERS) + 1);
    uint64_t choice = random_below(&model->random, 1000);
    if (choice < 800) {
        assert_int_equal(tracking_table_add(&model->table, key_name(key), (uint32_t)number),
                         !model->has[key][number]);
        model->has[key][number] = true;
    } else if (choice < 900) {
        tracking_table_take(&model->table, key_name(key), &model->numbers);
        check_taken(model, key, true);
    } else if (choice < 999 && model->table.keys > 0) {
        size_t most = 1 + random_below(&model->random, 4);
        struct slice name;
        while (!tracking_table_evict(&model->table, &model->random, most, &name, &model->numbers)) {
        }
        assert_in_range(model->numbers.count, 1, most);
        check_taken(model, model_key(name), false);
        mem_free((void *)(uintptr_t)name.ptr);
    } else {
        sweep(model);
    }
    if (relocate_step_begins(&model->step, &model->random))
        tracking_table_relocate(&model->table, &model->step.relocator);
}

static void the_table_does_what_the_model_does(void **state) {
    (void)state;
    size_t used = mem_used();
    struct model *model = mem_alloc_zeroed(sizeof(*model));
    model->random = random_of_this_run();
    for (int i = 0; i < STEPS; i++) {
        change(model);
        if (i % 100 == 0) check_counts(model);
    }
    for (size_t key = 0; key < KEYS; key++) {
        tracking_table_take(&model->table, key_name(key), &model->numbers);
        check_taken(model, key, true);
    }
    check_counts(model);
    while (tracking_table_free_some(&model->table)) {
    }
    mem_free(model->numbers.numbers);
    mem_free(model);
    assert_int_equal(mem_used(), used);
}

/* Returns after how many calls the table's only key is found. */
static int calls_to_evict(struct tracking_table *table, struct random *random) {
    struct tracking_numbers numbers = {0};
    struct slice key;
    int calls = 1;
    tracking_table_add(table, SLICE("last"), 7);
    while (!tracking_table_evict(table, random, 1, &key, &numbers)) calls++;
    assert_true(slice_is(key, "last"));
    assert_int_equal(numbers.count, 1);
    assert_int_equal(numbers.numbers[0], 7);
    mem_free((void *)(uintptr_t)key.ptr);
    mem_free(numbers.numbers);
    return calls;
}

static bool is_not_seven(uint32_t number, void *arg) {
    (void)arg;
    return number != 7;
}

static void each_bucket_is_moved(void **state) {
    (void)state;
    struct tracking_table table = {0};
    struct relocator relocator;
    size_t steps = 1;
    for (uint32_t key = 0; key < KEYS; key++) tracking_table_add(&table, key_name(key), key);
    relocator_init_for_tests(&relocator, 2);
    for (; !tracking_table_relocate(&table, &relocator); steps++) {
        assert_true(steps < KEYS);
        relocator_begin(&relocator, 0);
    }
    assert_true(tracking_table_check(&table));
    assert_int_equal(steps, table.buckets.count / 2 + 1);
    while (tracking_table_free_some(&table)) {
    }
    assert_in_range(relocator.moved, 1, 2 * steps);
}

static void the_array_of_buckets_is_moved(void **state) {
    (void)state;
    struct tracking_table table = {0};
    struct relocator relocator;
    tracking_table_add(&table, SLICE("key"), 7);
    relocator_init_for_tests(&relocator, 100);
    assert_true(tracking_table_relocate(&table, &relocator));
    assert_int_equal(relocator.moved, 2); /* the bucket, and the segment of its array */
    assert_true(tracking_table_check(&table));
    while (tracking_table_free_some(&table)) {
    }
}

static void a_search_of_many_empty_buckets_takes_several_calls(void **state) {
    (void)state;
    enum { MANY = 100000, ROUNDS = 20 };
    struct random random = random_of_this_run();
    struct tracking_table table = {0};
    struct tracking_numbers scratch = {0};
    char name[32];
    int calls = 0;
    for (int i = 0; i < MANY; i++) {
        int length = snprintf(name, sizeof(name), "key:%d", i);
        tracking_table_add(&table, slice_make(name, (size_t)length), 1);
    }
    while (table.keys > 0) tracking_table_sweep(&table, is_not_seven, NULL, &scratch);
    if (table.next_sweep == 0) tracking_table_sweep(&table, is_not_seven, NULL, &scratch);
    for (int i = 0; i < ROUNDS; i++) calls += calls_to_evict(&table, &random);
    assert_true(calls > ROUNDS);
    table.next_sweep = 0;
    while (tracking_table_shrink(&table)) {
    }
    assert_int_equal(table.buckets.count, 0);
    mem_free(scratch.numbers);
}

/* Returns the bytes that a key of 16 bytes takes with so many clients. */
static size_t bytes_per_key(uint32_t clients) {
    enum { MANY = 20000 };
    struct tracking_table table = {0};
    size_t before = mem_used();
    char name[32];
    for (uint32_t client = 0; client < clients; client++)
        for (int key = 0; key < MANY; key++) {
            snprintf(name, sizeof(name), "key:%012d", key);
            tracking_table_add(&table, slice_make(name, 16), client);
        }
    size_t bytes = mem_used() - before;
    printf("%zu bytes a key with %u clients\n", bytes / MANY, clients);
    while (tracking_table_free_some(&table)) {
    }
    assert_int_equal(mem_used(), before);
    return bytes / MANY;
}

static void a_key_takes_few_bytes(void **state) {
    (void)state;
    assert_in_range(bytes_per_key(1), 16, 40);
    assert_in_range(bytes_per_key(16), 32, 80);
}

static void numbers_may_be_large_and_far_apart(void **state) {
    (void)state;
    static const uint32_t numbers[] = {5000000, 0, UINT32_MAX - 1, 127, 128, 70000};
    static const uint32_t sorted[] = {0, 127, 128, 70000, 5000000, UINT32_MAX - 1};
    struct tracking_table table = {0};
    struct tracking_numbers taken = {0};
    for (size_t i = 0; i < 6; i++) assert_true(tracking_table_add(&table, SLICE("k"), numbers[i]));
    for (size_t i = 0; i < 6; i++) assert_false(tracking_table_add(&table, SLICE("k"), numbers[i]));
    assert_true(tracking_table_check(&table));
    tracking_table_take(&table, SLICE("k"), &taken);
    assert_int_equal(taken.count, 6);
    assert_memory_equal(taken.numbers, sorted, sizeof(sorted));
    assert_int_equal(table.buckets.count, 0);
    mem_free(taken.numbers);
}

/* --- Telling --- */

enum { OWNERS = 6 };

/* What an owner was told since the last look, as a text. */
struct owner {
    struct tracker *tracker;
    char told[512];
    struct owner *ends_with; /* this one's tracker ends when something is told */
};

static struct tracking tracking;
static struct owner owners[OWNERS];
static uint64_t telling_us; /* what telling a key takes */

static void note(struct tracker *tracker, const char *text, struct slice key) {
    struct owner *owner = tracker->owner;
    size_t length = strlen(owner->told);
    snprintf(owner->told + length, sizeof(owner->told) - length, "%s%.*s ", text, (int)key.len,
             key.ptr);
    struct owner *other = owner->ends_with;
    if (!other || !other->tracker) return;
    tracker_end(&tracking, other->tracker);
    other->tracker = NULL;
}

static void tell(struct tracker *tracker, const struct slice *key) {
    note(tracker, key ? "" : "all", key ? *key : SLICE(""));
    if (!key) return;
    uint64_t end = clock_ticks() + clock_us_to_ticks(telling_us);
    while (clock_ticks() < end) {
    }
}

static void tell_keys(struct tracker *tracker, struct tracking_change *const *changes,
                      size_t count) {
    for (size_t i = 0; i < count && tracker->owner; i++)
        note(tracker, i ? "+" : "*", changes[i]->key);
}

static int setup(void **state) {
    (void)state;
    struct random random = random_of_this_run();
    memset(owners, 0, sizeof(owners));
    tracking_init(&tracking, (struct tracking_callbacks){tell, tell_keys}, random_next(&random));
    return 0;
}

static void begin(int owner, uint32_t flags) {
    owners[owner].tracker = tracker_begin(&tracking, &owners[owner], flags);
}

static void end(int owner) {
    if (owners[owner].tracker) tracker_end(&tracking, owners[owner].tracker);
    owners[owner].tracker = NULL;
}

static int teardown(void **state) {
    (void)state;
    for (int i = 0; i < OWNERS; i++) end(i);
    assert_true(tracking_check(&tracking));
    tracking_free(&tracking);
    return 0;
}

static void record(int owner, const char *key) {
    tracking_record(&tracking, owners[owner].tracker, slice_of_cstr(key));
}

static void change_key(const char *key, const void *source) {
    tracking_invalidate(&tracking, slice_of_cstr(key), 0, source);
}

static void assert_told(int owner, const char *text) {
    assert_string_equal(owners[owner].told, text);
    owners[owner].told[0] = 0;
}

static void do_all_work(void) {
    do tracking_tick(&tracking);
    while (tracking_step(&tracking) || tracking.first_ended);
}

static void each_reader_hears_of_the_next_change_once(void **state) {
    (void)state;
    begin(0, 0), begin(1, 0), begin(2, 0);
    record(0, "a"), record(1, "a"), record(1, "b");
    record(0, "a");
    change_key("a", NULL);
    assert_told(0, "a "), assert_told(1, "a "), assert_told(2, "");
    change_key("a", NULL), change_key("b", NULL);
    assert_told(0, ""), assert_told(1, "b ");
}

static void a_very_long_name_is_told_at_once(void **state) {
    (void)state;
    static char name[TRACKING_NAME_MAX + 1];
    memset(name, 'x', sizeof(name));
    begin(0, 0);
    tracking_record(&tracking, owners[0].tracker, slice_make(name, TRACKING_NAME_MAX));
    assert_told(0, "");
    tracking_record(&tracking, owners[0].tracker, slice_make(name, sizeof(name)));
    assert_int_equal(strlen(owners[0].told), sizeof(owners[0].told) - 1);
    assert_int_equal(tracking.table.keys, 1);
}

static void noloop_is_silent_about_own_changes_but_forgets_the_pair(void **state) {
    (void)state;
    begin(0, TRACKER_NOLOOP), begin(1, 0);
    record(0, "a"), record(1, "a");
    change_key("a", &owners[0]);
    assert_told(0, ""), assert_told(1, "a ");
    change_key("a", &owners[1]);
    assert_told(0, "");
}

static void changes_of_prefixes_are_told_once_an_iteration(void **state) {
    (void)state;
    begin(0, TRACKER_BCAST), begin(1, TRACKER_BCAST);
    tracker_add_prefix(&tracking, owners[0].tracker, SLICE("u:"));
    tracker_add_prefix(&tracking, owners[0].tracker, SLICE("v:"));
    tracker_add_prefix(&tracking, owners[1].tracker, SLICE(""));
    change_key("u:1", NULL), change_key("v:1", NULL), change_key("u:1", NULL);
    change_key("w", NULL);
    assert_told(0, "");
    tracking_tell_changes(&tracking);
    assert_true(strcmp(owners[0].told, "*u:1 *v:1 ") == 0 ||
                strcmp(owners[0].told, "*v:1 *u:1 ") == 0);
    assert_told(1, "*u:1 +v:1 +w ");
    assert_false(tracking_has_changes(&tracking));
}

static void a_change_by_several_clients_has_no_source(void **state) {
    (void)state;
    begin(0, TRACKER_BCAST);
    tracker_add_prefix(&tracking, owners[0].tracker, SLICE(""));
    change_key("a", &owners[1]), change_key("a", &owners[0]);
    change_key("b", &owners[0]), change_key("b", &owners[0]);
    const struct tracking_change *a = tracking.first_changed;
    assert_null(a->source);
    assert_ptr_equal(a->next->source, &owners[0]);
}

static void trackers_may_end_while_they_are_told(void **state) {
    (void)state;
    for (int i = 0; i < 3; i++) begin(i, 0), record(i, "a");
    for (int i = 3; i < 6; i++) {
        begin(i, TRACKER_BCAST);
        tracker_add_prefix(&tracking, owners[i].tracker, SLICE("a"));
    }
    owners[0].ends_with = &owners[1];
    owners[3].ends_with = &owners[3];
    change_key("a", NULL);
    tracking_tell_changes(&tracking);
    assert_told(0, "a "), assert_told(1, ""), assert_told(2, "a ");
    assert_told(3, "*a "), assert_told(4, "*a "), assert_told(5, "*a ");
    owners[0].ends_with = &owners[2];
    tracking_invalidate_all(&tracking);
    assert_told(0, "all "), assert_told(2, ""), assert_told(3, ""), assert_told(5, "all ");
    do_all_work();
    assert_int_equal(tracking.tracker_count, 3);
}

static void all_is_told_to_all_and_empties_the_table(void **state) {
    (void)state;
    begin(0, 0), begin(1, TRACKER_BCAST);
    record(0, "a");
    tracking_invalidate_all(&tracking);
    tracking_invalidate_all(&tracking);
    assert_told(0, "all all "), assert_told(1, "all all ");
    assert_int_equal(tracking.table.keys, 0);
    change_key("a", NULL);
    assert_told(0, "");
}

/* --- Work in the background --- */

static void what_an_ended_tracker_had_is_removed(void **state) {
    (void)state;
    enum { MANY = 500 };
    char key[32];
    begin(0, 0), begin(1, 0), begin(2, TRACKER_BCAST);
    for (int i = 0; i < MANY; i++) {
        snprintf(key, sizeof(key), "key:%d", i);
        record(0, key);
        if (i % 2) record(1, key);
        tracker_add_prefix(&tracking, owners[2].tracker, slice_of_cstr(key));
    }
    uint32_t number = owners[0].tracker->number;
    end(0), end(2);
    do_all_work();
    assert_int_equal(tracking.table.keys, MANY / 2);
    assert_int_equal(tracking.table.pairs, MANY / 2);
    assert_int_equal(tracking.prefixes.count, 0);
    assert_ptr_equal(tracking.first, owners[1].tracker);
    begin(0, 0);
    assert_int_equal(owners[0].tracker->number, number);
    change_key("key:1", NULL);
    assert_told(0, ""), assert_told(1, "key:1 ");
}

static void the_table_of_ended_trackers_is_freed(void **state) {
    (void)state;
    enum { MANY = 300000 }; /* which take longer to free than one step may */
    char key[32];
    begin(0, 0), begin(1, 0);
    for (int i = 0; i < MANY; i++) {
        snprintf(key, sizeof(key), "key:%d", i);
        record(0, key);
    }
    end(0);
    do_all_work();
    assert_int_equal(tracking.table.buckets.count, 0);
    assert_false(tracking_is_idle(&tracking));
    record(1, "a");
    tracking_invalidate_all(&tracking);
    record(1, "a");
    end(1);
    do_all_work();
    assert_int_equal(tracking.table.buckets.count, 0);
    assert_int_equal(tracking.left_count, 0);
    assert_true(tracking_is_idle(&tracking));
}

static void memory_does_not_grow_with_clients_that_come_and_go(void **state) {
    (void)state;
    enum { ROUNDS = 50, MANY = 200 };
    char key[32];
    size_t after_first = 0;
    for (int round = 0; round < ROUNDS; round++) {
        begin(0, 0);
        for (int i = 0; i < MANY; i++) {
            snprintf(key, sizeof(key), "key:%d", i);
            record(0, key);
        }
        end(0);
        do_all_work();
        assert_int_equal(tracking.table.pairs, 0);
        if (round == 0) after_first = mem_used();
    }
    assert_in_range(mem_used(), 0, after_first + 4096);
    assert_int_equal(tracking.number_count, 1);
}

static void the_table_stays_below_its_limit(void **state) {
    (void)state;
    enum { MANY = 1000, LIMIT = 100 };
    char key[32];
    begin(0, 0), begin(1, 0);
    tracking.max_keys = LIMIT;
    for (int i = 0; i < MANY; i++) {
        snprintf(key, sizeof(key), "key:%d", i);
        record(0, key), record(1, key);
        assert_in_range(tracking.table.keys, 0, LIMIT);
        owners[0].told[0] = owners[1].told[0] = 0;
    }
    tracking.max_keys = 3;
    while (tracking_step(&tracking)) {
    }
    assert_int_equal(tracking.table.keys, 3);
}

static void work_ends_soon_even_if_telling_takes_long(void **state) {
    (void)state;
    enum { KEYS_READ = 10 };
    char key[32];
    begin(0, 0);
    for (int i = 0; i < KEYS_READ; i++) {
        snprintf(key, sizeof(key), "key:%d", i);
        record(0, key);
    }
    tracking.max_keys = 1;
    telling_us = 1000;
    assert_true(tracking_step(&tracking));
    telling_us = 0;
    assert_int_equal(tracking.table.keys, KEYS_READ - 1);
}

/* --- Prefixes --- */

static void check_overlap(const char *const *texts, size_t count, int index, const char *with,
                          bool with_own) {
    struct slice prefixes[8], other;
    size_t found;
    bool is_own;
    for (size_t i = 0; i < count; i++) prefixes[i] = slice_of_cstr(texts[i]);
    bool overlaps =
        tracker_find_overlap(owners[0].tracker, prefixes, count, &found, &other, &is_own);
    assert_int_equal(overlaps, index >= 0);
    if (!overlaps) return;
    assert_int_equal(found, index);
    assert_true(slice_equal(other, slice_of_cstr(with)));
    assert_int_equal(is_own, with_own);
}

static void overlapping_prefixes_are_found(void **state) {
    (void)state;
#define PREFIXES(...) (const char *const[]){__VA_ARGS__}
    check_overlap(PREFIXES("a", "foo", "foobar"), 3, 1, "foobar", false);
    check_overlap(PREFIXES("foobar", "foo"), 2, 0, "foo", false);
    check_overlap(PREFIXES("a", "b", "a"), 3, 0, "a", false);
    check_overlap(PREFIXES("", "b"), 2, 0, "b", false);
    check_overlap(PREFIXES("ab", "ac", "b"), 3, -1, NULL, false);
    begin(0, TRACKER_BCAST);
    tracker_add_prefix(&tracking, owners[0].tracker, SLICE("own"));
    check_overlap(PREFIXES("x", "owner"), 2, 1, "own", true);
    check_overlap(PREFIXES("x", "o"), 2, 1, "own", true);
    check_overlap(PREFIXES("own"), 1, 0, "own", true);
    check_overlap(PREFIXES("x", "o", "xx"), 3, 0, "xx", false);
    check_overlap(PREFIXES("x", "y"), 2, -1, NULL, false);
}

int main(void) {
#define WITH_TRACKING(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_does_what_the_model_does),
        cmocka_unit_test(each_bucket_is_moved),
        cmocka_unit_test(the_array_of_buckets_is_moved),
        cmocka_unit_test(a_search_of_many_empty_buckets_takes_several_calls),
        cmocka_unit_test(a_key_takes_few_bytes),
        cmocka_unit_test(numbers_may_be_large_and_far_apart),
        WITH_TRACKING(each_reader_hears_of_the_next_change_once),
        WITH_TRACKING(a_very_long_name_is_told_at_once),
        WITH_TRACKING(noloop_is_silent_about_own_changes_but_forgets_the_pair),
        WITH_TRACKING(changes_of_prefixes_are_told_once_an_iteration),
        WITH_TRACKING(a_change_by_several_clients_has_no_source),
        WITH_TRACKING(trackers_may_end_while_they_are_told),
        WITH_TRACKING(all_is_told_to_all_and_empties_the_table),
        WITH_TRACKING(what_an_ended_tracker_had_is_removed),
        WITH_TRACKING(the_table_of_ended_trackers_is_freed),
        WITH_TRACKING(memory_does_not_grow_with_clients_that_come_and_go),
        WITH_TRACKING(the_table_stays_below_its_limit),
        WITH_TRACKING(work_ends_soon_even_if_telling_takes_long),
        WITH_TRACKING(overlapping_prefixes_are_found),
    };
    clock_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
