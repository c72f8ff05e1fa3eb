/* The table against a model: an array that says of every possible item whether it is in. */
#include "base/hash/hash.h"
#include "base/memory/alloc.h"
#include "ds/hashtable_internal.h"
#include "unit/in_range.h"
#include "unit/relocate_step.h"
#include "unit/seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#ifdef TINY_LIMITS
enum { MODEL_ITEMS = 1500 };
#else
enum { MODEL_ITEMS = 40000 }; /* more than a segment, and a window's worth of levels */
#endif

struct item {
    size_t len;
    char text[40];
};
_Static_assert(sizeof(struct item) % 16 == 0, "items are aligned");

static size_t key_calls;

static struct slice item_key(const void *pointer) {
    const struct item *item = pointer;
    key_calls++;
    return slice_make(item->text, item->len);
}

static const struct hashtable_type item_type = {item_key};

struct model {
    struct hashtable *table;
    struct item *items;
    bool *in;
    size_t capacity, count;
    struct random random;
    struct relocate_step relocation;
    size_t visited; /* items, by relocation */
};

/* Keys of 1 to 40 bytes, all different. */
static void item_name(struct item *item, size_t number) {
    int len = snprintf(item->text, sizeof(item->text), "%zu", number);
    size_t padding = number * 7 % (sizeof(item->text) - (size_t)len);
    memset(item->text + len, '.', padding);
    item->len = (size_t)len + padding;
}

static void model_start(struct model *model, size_t capacity) {
    model->random = random_of_this_run();
    hash_init_seed(random_next(&model->random));
    model->table = hashtable_new(&item_type);
    model->items = mem_alloc_zeroed(capacity * sizeof(struct item));
    model->in = mem_alloc_zeroed(capacity);
    model->capacity = capacity;
    model->count = 0;
    model->relocation = (struct relocate_step){0};
    model->visited = 0;
    for (size_t i = 0; i < capacity; i++) item_name(&model->items[i], i);
}

static void model_end(struct model *model) {
    hashtable_free(model->table);
    mem_free(model->items);
    mem_free(model->in);
}

static uint64_t hash_of(const struct model *model, size_t i) {
    return hashtable_hash(item_key(&model->items[i]));
}

static hashtable_slot *find(const struct model *model, size_t i) {
    return hashtable_find(model->table, item_key(&model->items[i]), hash_of(model, i));
}

static void insert(struct model *model, size_t i) {
    hashtable_slot *slot = hashtable_insert(model->table, &model->items[i], hash_of(model, i));
    assert_ptr_equal(hashtable_item(*slot), &model->items[i]);
    model->in[i] = true;
    model->count++;
}

static void delete (struct model *model, size_t i) {
    hashtable_delete(model->table, find(model, i), hash_of(model, i));
    model->in[i] = false;
    model->count--;
}

/* Items are in an array, so none of them moves. */
static void *stay(void *item, void *arg) {
    struct model *model = arg;
    model->visited++;
    return item;
}

static void relocate_some(struct model *model) {
    if (!relocate_step_begins(&model->relocation, &model->random)) return;
    uint64_t *cursor = &model->relocation.cursor.at;
    *cursor = hashtable_relocate(model->table, *cursor, &model->relocation.relocator, stay, model);
}

/* Inserts and deletes random items until `target` are in. */
static void drift_to(struct model *model, size_t target) {
    while (model->count != target) {
        bool grow = model->count < target;
        if (random_below(&model->random, 8) == 0) grow = !grow; /* a step back now and then */
        if (model->count == (grow ? model->capacity : 0)) continue;
        size_t i = random_below(&model->random, model->capacity);
        while (model->in[i] == grow) i = (i + 1) % model->capacity;
        grow ? insert(model, i) : delete (model, i);
        relocate_some(model);
    }
}

static void check_all(const struct model *model) {
    assert_true(hashtable_check(model->table));
    assert_int_equal(hashtable_count(model->table), model->count);
    for (size_t i = 0; i < model->capacity; i++) {
        hashtable_slot *slot = find(model, i);
        assert_int_equal(slot != NULL, model->in[i]);
        if (slot != NULL) assert_ptr_equal(hashtable_item(*slot), &model->items[i]);
    }
}

/* Bytes of buckets and overflow arrays, which the control of the load compares. */
static size_t bucket_bytes(const struct hashtable *table) {
    return table->buckets.count * sizeof(struct hashtable_bucket) + table->overflow_bytes;
}

/* --- Tests --- */

static void finds_what_the_model_has_while_growing_and_shrinking(void **state) {
    (void)state;
    struct model model;
    model_start(&model, MODEL_ITEMS);
    check_all(&model);
    for (int round = 0; round < 12; round++) {
        drift_to(&model, random_below(&model.random, MODEL_ITEMS * 9 / 10));
        check_all(&model);
    }
    drift_to(&model, 0);
    check_all(&model);
    drift_to(&model, 100);
    check_all(&model);
    assert_true(model.visited > MODEL_ITEMS);
    model_end(&model);
}

static void holds_its_invariants_after_every_step_while_small(void **state) {
    (void)state;
    struct model model;
    model_start(&model, 300);
    for (int round = 0; round < 6; round++) {
        for (size_t target = random_below(&model.random, 280), step = model.count; step != target;
             step = model.count) {
            drift_to(&model, step < target ? step + 1 : step - 1);
            assert_true(hashtable_check(model.table));
        }
    }
    model_end(&model);
}

static void an_item_costs_at_most_12_bytes_at_any_size(void **state) {
    (void)state;
    struct model model;
    model_start(&model, MODEL_ITEMS);
    for (size_t i = 0; i < MODEL_ITEMS; i++) {
        insert(&model, i);
        if (i >= 50) assert_uint_in_range(bucket_bytes(model.table), 1, (i + 1) * 12);
    }
    for (size_t i = MODEL_ITEMS; i-- > 50;) {
        delete (&model, i);
        assert_uint_in_range(bucket_bytes(model.table), 1, i * 27 / 2 + 64);
    }
    model_end(&model);
}

static void deleting_everything_returns_the_memory(void **state) {
    (void)state;
    struct model model;
    model_start(&model, MODEL_ITEMS);
    insert(&model, 0);
    size_t at_first = hashtable_allocated(model.table), used_at_first = mem_used();
    drift_to(&model, MODEL_ITEMS - 1);
    assert_uint_in_range(hashtable_allocated(model.table), MODEL_ITEMS * 8,
                         MODEL_ITEMS * 14 + 40000);
    assert_uint_in_range(mem_used(), used_at_first + MODEL_ITEMS * 8, SIZE_MAX);
    drift_to(&model, 0);
    assert_int_equal(model.table->buckets.count, 1);
    assert_int_equal(hashtable_allocated(model.table), at_first);
    assert_int_equal(mem_used(), used_at_first);
    model_end(&model);
}

static void growing_reads_keys_only_where_a_window_ends(void **state) {
    (void)state;
    struct model model;
    model_start(&model, MODEL_ITEMS);
    size_t reads_at_window_ends = 0;
    for (size_t i = 0; i < MODEL_ITEMS; i++) {
        uint64_t hash = hash_of(&model, i);
        bool window_ends = (model.table->linear.level + 1) % HASHTABLE_WINDOW_BITS == 0;
        key_calls = 0;
        hashtable_insert(model.table, &model.items[i], hash);
        if (!window_ends) assert_int_equal(key_calls, 0);
        reads_at_window_ends += key_calls;
    }
    assert_uint_in_range(reads_at_window_ends, 1, MODEL_ITEMS * 2);
    model_end(&model);
}

/* Keys whose hashes have all zeros in the low ten and in the top `top` bits. */
static void collect_colliding(struct model *model, unsigned top) {
    size_t number = 0;
    for (size_t i = 0; i < model->capacity; number++) {
        item_name(&model->items[i], number);
        uint64_t hash = hash_of(model, i);
        if ((hash & 1023) == 0 && hash >> (64 - top) == 0) i++;
    }
}

static void keys_that_collide_are_told_apart(void **state) {
    (void)state;
    for (unsigned top = 1; top <= 8; top += 7) { /* with 8 all tags are 0, as empty slots are */
        struct model model;
        model_start(&model, top == 8 ? 24 : 150);
        collect_colliding(&model, top);
        for (int round = 0; round < 20; round++) {
            drift_to(&model, random_below(&model.random, model.capacity));
            check_all(&model);
        }
        model_end(&model);
    }
}

static void replaced_items_are_found_and_keep_their_tags(void **state) {
    (void)state;
    struct model model;
    model_start(&model, 1000);
    drift_to(&model, 700);
    struct item *moved = mem_alloc(model.capacity * sizeof(*moved));
    memcpy(moved, model.items, model.capacity * sizeof(*moved));
    for (size_t i = 0; i < model.capacity; i++) {
        if (model.in[i]) hashtable_replace(find(&model, i), &moved[i]);
    }
    mem_free(model.items);
    model.items = moved;
    check_all(&model);
    model_end(&model);
}

struct visits {
    struct model *model;
    unsigned *times;
};

static void count_visit(void *item, void *arg) {
    struct visits *visits = arg;
    visits->times[(struct item *)item - visits->model->items]++;
}

static void a_scan_visits_each_item_once_in_one_call_a_bucket(void **state) {
    (void)state;
    struct model model;
    model_start(&model, MODEL_ITEMS);
    for (int round = 0; round < 8; round++) {
        drift_to(&model, random_below(&model.random, MODEL_ITEMS / 2));
        struct visits visits = {&model, mem_alloc_zeroed(model.capacity * sizeof(unsigned))};
        size_t calls = 0;
        uint64_t cursor = 0;
        do {
            cursor = hashtable_scan(model.table, cursor, count_visit, &visits);
            calls++;
        } while (cursor != 0);
        for (size_t i = 0; i < model.capacity; i++) {
            assert_int_equal(visits.times[i], model.in[i]);
        }
        if (model.count > 0) assert_int_equal(calls, model.table->buckets.count);
        mem_free(visits.times);
    }
    model_end(&model);
}

static void a_scan_misses_nothing_however_the_table_changes(void **state) {
    (void)state;
    enum { ITEMS = 1200 };
    struct model model;
    model_start(&model, ITEMS);
    for (int round = 0; round < 40; round++) {
        drift_to(&model, random_below(&model.random, ITEMS / 2));
        bool *throughout = mem_alloc(ITEMS);
        memcpy(throughout, model.in, ITEMS);
        struct visits visits = {&model, mem_alloc_zeroed(ITEMS * sizeof(unsigned))};
        size_t calls = 0;
        uint64_t cursor = 0;
        do {
            cursor = hashtable_scan(model.table, cursor, count_visit, &visits);
            if (random_below(&model.random, 4) == 0) {
                drift_to(&model, random_below(&model.random, ITEMS - 10));
            }
            for (size_t i = 0; i < ITEMS; i++) throughout[i] &= model.in[i];
            assert_true(++calls < 100000);
        } while (cursor != 0);
        for (size_t i = 0; i < ITEMS; i++) {
            if (throughout[i]) assert_uint_in_range(visits.times[i], 1, UINT32_MAX);
        }
        mem_free(visits.times);
        mem_free(throughout);
    }
    model_end(&model);
}

static bool count_visit_of_walk(void *item, void *arg) {
    struct visits *visits = arg;
    count_visit(item, arg);
    return random_below(&visits->model->random, 8) > 0;
}

/* Its calls so far have visited what their cursors say, and nothing else; what has come and gone,
 * too, at most once. */
static void check_walk(const struct visits *visits, const bool *throughout, uint64_t cursor) {
    for (size_t i = 0; i < visits->model->capacity; i++) {
        bool is_passed = hashtable_walk_passes(hash_of(visits->model, i), 0, cursor);
        assert_uint_in_range(visits->times[i], 0, is_passed);
        if (throughout[i]) assert_int_equal(visits->times[i], is_passed);
    }
}

static void a_walk_visits_each_item_once_however_the_table_changes(void **state) {
    (void)state;
    enum { ITEMS = 3000 };
    struct model model;
    model_start(&model, ITEMS);
    for (int round = 0; round < 40; round++) {
        drift_to(&model, random_below(&model.random, ITEMS - 10));
        bool *throughout = mem_alloc(ITEMS);
        memcpy(throughout, model.in, ITEMS);
        struct visits visits = {&model, mem_alloc_zeroed(ITEMS * sizeof(unsigned))};
        uint64_t cursor = 0;
        do {
            cursor = hashtable_walk(model.table, cursor, count_visit_of_walk, &visits);
            check_walk(&visits, throughout, cursor);
            if (random_below(&model.random, 4) == 0)
                drift_to(&model, random_below(&model.random, ITEMS - 10));
            for (size_t i = 0; i < ITEMS; i++) throughout[i] &= model.in[i];
        } while (cursor != 0);
        mem_free(visits.times);
        mem_free(throughout);
    }
    model_end(&model);
}

static void an_iterator_visits_each_item_once(void **state) {
    (void)state;
    struct model model;
    model_start(&model, MODEL_ITEMS);
    for (int round = 0; round < 8; round++) {
        struct visits visits = {&model, mem_alloc_zeroed(model.capacity * sizeof(unsigned))};
        struct hashtable_iter iter;
        hashtable_iter_start(&iter, model.table);
        for (void *item; (item = hashtable_iter_next(&iter)) != NULL;) count_visit(item, &visits);
        for (size_t i = 0; i < model.capacity; i++) {
            assert_int_equal(visits.times[i], model.in[i]);
        }
        mem_free(visits.times);
        drift_to(&model, random_below(&model.random, MODEL_ITEMS / 2));
    }
    model_end(&model);
}

/* Returns in how many of `draws` an item should come: as often as any other, but less often from a
 * large bucket. */
static double expected_draws(const struct model *model, size_t i, double draws) {
    double share = 0, shares = 0;
    for (size_t b = 0; b < model->table->buckets.count; b++) {
        struct hashtable_bucket *bucket = hashtable__bucket(model->table, b);
        size_t count = hashtable__bucket_count(bucket);
        bool large = count > HASHTABLE_RANDOM_DRAWS;
        double each = 1.0 / (double)(large ? count : HASHTABLE_RANDOM_DRAWS);
        shares += each * (double)count;
        for (size_t j = 0; j < count; j++) {
            if (hashtable_item(*hashtable__bucket_slot(bucket, j)) == &model->items[i])
                share = each;
        }
    }
    return draws * share / shares;
}

static void random_items_come_about_equally_often(void **state) {
    (void)state;
    enum { ITEMS = 800, DRAWS_EACH = 200 };
    struct model model;
    model_start(&model, 1000);
    assert_null(hashtable_random(model.table, &model.random));
    drift_to(&model, ITEMS);
    struct visits visits = {&model, mem_alloc_zeroed(model.capacity * sizeof(unsigned))};
    for (int i = 0; i < ITEMS * DRAWS_EACH; i++) {
        count_visit(hashtable_random(model.table, &model.random), &visits);
    }
    for (size_t i = 0; i < model.capacity; i++) {
        double expected = expected_draws(&model, i, ITEMS * DRAWS_EACH);
        double off = visits.times[i] - expected; /* within eight times its deviation */
        assert_true(off * off <= 64 * expected);
    }
    mem_free(visits.times);
    model_end(&model);
}

static void prefetching_is_harmless(void **state) {
    (void)state;
    struct model model;
    model_start(&model, 500);
    for (size_t i = 0; i < model.capacity; i++) {
        uint64_t hash = hash_of(&model, i);
        struct hashtable_lookup lookup = hashtable_prefetch(model.table, hash);
        hashtable_prefetch_item(&lookup);
        insert(&model, i);
        lookup = hashtable_prefetch(model.table, hash);
        hashtable_prefetch_item(&lookup);
    }
    check_all(&model);
    model_end(&model);
}

static void the_description_tells_the_shape(void **state) {
    (void)state;
    struct model model;
    model_start(&model, 1000);
    sds text = hashtable_describe(model.table, sds_new(SLICE("")), true);
    assert_non_null(strstr(text, "items: 0\n"));
    sds_free(text);
    drift_to(&model, 900);
    text = hashtable_describe(model.table, sds_new(SLICE("> ")), false);
    assert_int_equal(strncmp(text, ">  items: 900\n", 14), 0);
    assert_null(strstr(text, "items per bucket:"));
    text = hashtable_describe(model.table, text, true);
    size_t total = 0;
    for (char *line = strstr(text, "items per bucket:\n"); (line = strchr(line, '\n')) != NULL;) {
        size_t items, buckets;
        if (sscanf(++line, " %zu: %zu", &items, &buckets) == 2) total += items * buckets;
    }
    assert_int_equal(total, 900);
    sds_free(text);
    model_end(&model);
}

static void the_check_sees_what_is_wrong(void **state) {
    (void)state;
    struct model model;
    model_start(&model, 1000);
    drift_to(&model, 900);
    size_t i = 0;
    while (!model.in[i]) i++;
    hashtable_slot *slot = find(&model, i), right = *slot;
    *slot ^= 1ull << 60;
    assert_false(hashtable_check(model.table)); /* a wrong tag */
    *slot = right;
    model.table->count++;
    assert_false(hashtable_check(model.table)); /* a wrong count */
    model.table->count--;
    model.items[i].text[0] ^= 1;
    assert_false(hashtable_check(model.table)); /* a key that changed */
    model.items[i].text[0] ^= 1;
    assert_true(hashtable_check(model.table));
    model_end(&model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_the_model_has_while_growing_and_shrinking),
        cmocka_unit_test(holds_its_invariants_after_every_step_while_small),
        cmocka_unit_test(an_item_costs_at_most_12_bytes_at_any_size),
        cmocka_unit_test(deleting_everything_returns_the_memory),
        cmocka_unit_test(growing_reads_keys_only_where_a_window_ends),
        cmocka_unit_test(keys_that_collide_are_told_apart),
        cmocka_unit_test(replaced_items_are_found_and_keep_their_tags),
        cmocka_unit_test(a_scan_visits_each_item_once_in_one_call_a_bucket),
        cmocka_unit_test(a_scan_misses_nothing_however_the_table_changes),
        cmocka_unit_test(a_walk_visits_each_item_once_however_the_table_changes),
        cmocka_unit_test(an_iterator_visits_each_item_once),
        cmocka_unit_test(random_items_come_about_equally_often),
        cmocka_unit_test(prefetching_is_harmless),
        cmocka_unit_test(the_description_tells_the_shape),
        cmocka_unit_test(the_check_sees_what_is_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
