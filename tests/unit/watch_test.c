/* Watched keys against a model: a table of the watched keys of each watcher. */
#include "engine/watch.h"
#include "unit/seed.h"

#include "base/text/number.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

enum { DATABASES = 3, KEYS = 12, WATCHERS = 8, VALUE_SIZE = 8, NOW_MS = 1000 };

enum state { MISSING, PRESENT, EXPIRED };

struct model_watch {
    bool is_watched;
    bool was_expired;
};

struct model {
    struct watches watches;
    struct watcher watchers[WATCHERS];
    struct keyspace *keyspaces[DATABASES];
    struct random random;

    /* The expected contents of the structures above. */
    struct model_watch watching[WATCHERS][DATABASES][KEYS];
    bool is_touched[WATCHERS];
};

static struct slice key_name(int key) {
    static char name[] = {'k', '?'};
    name[1] = (char)('a' + key);
    return slice_make(name, sizeof(name));
}

static void free_entry(struct entry *entry) {
    entry_free(entry, VALUE_SIZE);
}

static uint64_t value_length(const struct entry *entry) {
    (void)entry;
    return VALUE_SIZE;
}

static void model_start(struct model *model) {
    memset(model, 0, sizeof(*model));
    model->random = random_of_this_run();
    watch_init(&model->watches, DATABASES);
    for (int i = 0; i < DATABASES; i++)
        model->keyspaces[i] = keyspace_new(free_entry, value_length);
}

static void model_end(struct model *model) {
    for (int i = 0; i < WATCHERS; i++) watch_clear(&model->watches, &model->watchers[i]);
    while (watch_step(&model->watches)) {
    }
    assert_int_equal(model->watches.keys.count, 0);
    assert_int_equal(model->watches.watcher_count, 0);
    watch_free(&model->watches);
    for (int i = 0; i < DATABASES; i++) keyspace_free(model->keyspaces[i]);
}

static int below(struct model *model, int limit) {
    return (int)random_below(&model->random, (uint64_t)limit);
}

static enum state state_of(struct model *model, int database, int key) {
    struct keyref ref = keyspace_find(model->keyspaces[database], key_name(key));
    if (!ref.entry) return MISSING;
    int64_t expiry_ms = entry_expiry(ref.entry);
    return expiry_ms >= 0 && expiry_ms < NOW_MS ? EXPIRED : PRESENT;
}

static void put_in_state(struct model *model, int database, int key, enum state state) {
    struct keyref ref = keyspace_find(model->keyspaces[database], key_name(key));
    if (ref.entry) keyspace_delete(&ref);
    if (state == MISSING) return;
    ref = keyspace_find(model->keyspaces[database], key_name(key));
    keyspace_add(&ref, entry_new(key_name(key), VALUE_STRING, 0, VALUE_SIZE));
    if (state == EXPIRED)
        keyspace_set_expiry(&ref, NOW_MS - 1, VALUE_SIZE);
    else if (below(model, 2))
        keyspace_set_expiry(&ref, NOW_MS, VALUE_SIZE); /* in its last millisecond */
}

/* --- Each operation, on the structures and on the model --- */

static void touch_in_model(struct model *model, int watcher) {
    memset(model->watching[watcher], 0, sizeof(model->watching[watcher]));
    model->is_touched[watcher] = true;
}

static void do_watch(struct model *model) {
    int watcher = below(model, WATCHERS), database = below(model, DATABASES);
    int key = below(model, KEYS);
    bool is_expired = state_of(model, database, key) == EXPIRED;
    watch_add(&model->watches, &model->watchers[watcher], database, key_name(key), is_expired);
    struct model_watch *watch = &model->watching[watcher][database][key];
    if (model->is_touched[watcher] || watch->is_watched) return;
    *watch = (struct model_watch){.is_watched = true, .was_expired = is_expired};
}

static void do_clear(struct model *model) {
    int watcher = below(model, WATCHERS);
    watch_clear(&model->watches, &model->watchers[watcher]);
    memset(model->watching[watcher], 0, sizeof(model->watching[watcher]));
    model->is_touched[watcher] = false;
}

static void do_write(struct model *model) {
    int database = below(model, DATABASES), key = below(model, KEYS);
    enum state state = (enum state)below(model, 3);
    put_in_state(model, database, key, state);
    watch_touch(&model->watches, database, model->keyspaces[database], key_name(key));
    for (int i = 0; i < WATCHERS; i++) {
        struct model_watch *watch = &model->watching[i][database][key];
        if (watch->is_watched && watch->was_expired && state == MISSING)
            watch->was_expired = false;
        else if (watch->is_watched)
            touch_in_model(model, i);
    }
}

/* A key expires, and nothing touches it. */
static void do_expire(struct model *model) {
    int database = below(model, DATABASES), key = below(model, KEYS);
    if (state_of(model, database, key) == PRESENT) put_in_state(model, database, key, EXPIRED);
}

/* `other` < 0: the database is emptied. */
static void replace_in_model(struct model *model, int database, int other) {
    for (int i = 0; i < WATCHERS; i++) {
        bool sees = false;
        for (int key = 0; key < KEYS; key++) {
            struct model_watch *watch = &model->watching[i][database][key];
            enum state before = state_of(model, database, key);
            enum state after = other < 0 ? MISSING : state_of(model, other, key);
            if (!watch->is_watched || (before == MISSING && after == MISSING)) continue;
            bool is_blind = watch->was_expired || before == MISSING;
            if (after == EXPIRED && is_blind)
                watch->was_expired = true;
            else if (after == MISSING && watch->was_expired)
                watch->was_expired = false;
            else
                sees = true;
        }
        if (sees) touch_in_model(model, i);
    }
}

static void do_flush(struct model *model) {
    int database = below(model, DATABASES);
    struct keyspace *keyspace = model->keyspaces[database];
    watch_touch_database(&model->watches, database, keyspace, NULL, NOW_MS);
    replace_in_model(model, database, -1);
    keyspace_clear(keyspace);
}

static void do_swap(struct model *model) {
    int a = below(model, DATABASES), b = (a + 1) % DATABASES;
    struct keyspace *first = model->keyspaces[a], *second = model->keyspaces[b];
    watch_touch_database(&model->watches, a, first, second, NOW_MS);
    watch_touch_database(&model->watches, b, second, first, NOW_MS);
    replace_in_model(model, a, b);
    replace_in_model(model, b, a);
    model->keyspaces[a] = second;
    model->keyspaces[b] = first;
}

/* --- Comparing --- */

static void assert_watcher(struct model *model, int i, bool keys[DATABASES][KEYS]) {
    size_t count = 0;
    bool has_expired = false;
    for (int database = 0; database < DATABASES; database++)
        for (int key = 0; key < KEYS; key++) {
            const struct model_watch *watch = &model->watching[i][database][key];
            if (!watch->is_watched) continue;
            count++;
            keys[database][key] = true;
            has_expired |= !watch->was_expired && state_of(model, database, key) == EXPIRED;
        }
    const struct watcher *watcher = &model->watchers[i];
    assert_int_equal(watcher->is_touched, model->is_touched[i]);
    assert_int_equal(watcher->count, count);
    assert_int_equal(watcher->allocated > 0, count > 0);
    assert_int_equal(watch_has_expired(watcher, model->keyspaces, NOW_MS), has_expired);
}

static void assert_as_model(struct model *model) {
    bool keys[DATABASES][KEYS] = {0};
    size_t watching = 0, key_count = 0;
    for (int i = 0; i < WATCHERS; i++) {
        assert_watcher(model, i, keys);
        watching += model->watchers[i].count > 0;
    }
    for (int i = 0; i < DATABASES * KEYS; i++) key_count += ((bool *)keys)[i];
    assert_int_equal(model->watches.watcher_count, watching);
    if (model->watches.left)
        assert_true(model->watches.keys.count >= key_count);
    else
        assert_int_equal(model->watches.keys.count, key_count);
    assert_true(watch_check(&model->watches));
}

static void watchers_are_touched_as_the_model_says(void **state) {
    (void)state;
    enum { ROUNDS = 20000 };
    struct model model;
    model_start(&model);
    for (int i = 0; i < ROUNDS; i++) {
        int dice = below(&model, 100);
        if (dice < 60)
            do_watch(&model);
        else if (dice < 75)
            do_write(&model);
        else if (dice < 85)
            do_clear(&model);
        else if (dice < 96)
            do_expire(&model);
        else if (dice < 98)
            do_flush(&model);
        else
            do_swap(&model);
        if (below(&model, 4) == 0) watch_step(&model.watches);
        assert_as_model(&model);
    }
    model_end(&model);
}

static void a_write_where_nobody_watches_is_nothing(void **state) {
    (void)state;
    struct watches watches;
    struct watcher watcher = {0};
    struct keyspace *keyspace = keyspace_new(free_entry, value_length);
    watch_init(&watches, 2);
    watch_touch(&watches, 0, keyspace, SLICE("k"));
    watch_touch_database(&watches, 0, keyspace, NULL, NOW_MS);
    watch_add(&watches, &watcher, 1, SLICE("k"), false);
    watch_touch(&watches, 0, keyspace, SLICE("k")); /* the same name in another database */
    watch_touch(&watches, 1, keyspace, SLICE("kk"));
    assert_false(watcher.is_touched);
    watch_touch(&watches, 1, keyspace, SLICE("k"));
    assert_true(watcher.is_touched);
    assert_int_equal(watches.keys.count, 0);
    watch_clear(&watches, &watcher);
    watch_free(&watches);
    keyspace_free(keyspace);
}

static void names_may_be_empty_and_of_any_bytes(void **state) {
    (void)state;
    struct watches watches;
    struct watcher watcher = {0};
    struct keyspace *keyspace = keyspace_new(free_entry, value_length);
    watch_init(&watches, 1);
    watch_add(&watches, &watcher, 0, SLICE(""), false);
    watch_add(&watches, &watcher, 0, SLICE("\0"), false);
    watch_add(&watches, &watcher, 0, SLICE("\0"), false);
    assert_int_equal(watcher.count, 2);
    watch_touch(&watches, 0, keyspace, SLICE(""));
    assert_true(watcher.is_touched);
    watch_clear(&watches, &watcher);
    assert_false(watcher.is_touched);
    watch_free(&watches);
    keyspace_free(keyspace);
}

/* --- Many watched keys --- */

enum { MANY = 200000 };

static int64_t cpu_us(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (int64_t)time.tv_sec * 1000000 + time.tv_nsec / 1000;
}

static struct slice name_of(char text[24], size_t i) {
    return slice_make(text, number_format_uint64(text, i));
}

static void add_key(struct keyspace *keyspace, struct slice key) {
    struct keyref ref = keyspace_find(keyspace, key);
    keyspace_add(&ref, entry_new(key, VALUE_STRING, 0, VALUE_SIZE));
}

/* Returns the CPU time that watching them takes. */
static int64_t watch_many(struct watches *watches, struct watcher *watcher) {
    char text[24];
    int64_t begin = cpu_us();
    for (size_t i = 0; i < MANY; i++) watch_add(watches, watcher, 0, name_of(text, i), false);
    return cpu_us() - begin;
}

static void many_watches_are_freed_in_steps_and_touch_nobody_meanwhile(void **state) {
    (void)state;
    struct watches watches;
    struct watcher many = {0}, other = {0};
    struct keyspace *keyspace = keyspace_new(free_entry, value_length);
    watch_init(&watches, 1);
    int64_t us = watch_many(&watches, &many);
    watch_add(&watches, &other, 0, SLICE("5"), false);
    int64_t begin = cpu_us();
    watch_touch(&watches, 0, keyspace, SLICE("7"));
    assert_true((cpu_us() - begin) * 20 < us);
    assert_true(many.is_touched && many.count == 0 && many.allocated == 0);
    assert_int_equal(watches.watcher_count, 1);
    watch_clear(&watches, &many); /* the watcher may be gone from now on */
    watch_add(&watches, &many, 0, SLICE("8"), false);
    watch_touch(&watches, 0, keyspace, SLICE("5"));
    assert_true(other.is_touched);
    watch_touch(&watches, 0, keyspace, SLICE("9"));
    assert_false(many.is_touched);
    watch_touch(&watches, 0, keyspace, SLICE("8"));
    assert_true(many.is_touched);
    size_t steps = 0;
    while (watch_step(&watches)) steps++;
    assert_true(steps > MANY / 2000);
    assert_int_equal(watches.keys.count, 0);
    watch_free(&watches);
    keyspace_free(keyspace);
}

static void a_database_that_is_replaced_costs_what_is_touched(void **state) {
    (void)state;
    struct watches watches;
    struct watcher watcher = {0};
    struct keyspace *keyspace = keyspace_new(free_entry, value_length),
                    *other = keyspace_new(free_entry, value_length);
    watch_init(&watches, 1);
    int64_t us = watch_many(&watches, &watcher), begin = cpu_us();
    add_key(other, SLICE("not watched"));
    watch_touch_database(&watches, 0, keyspace, other, NOW_MS);
    watch_touch_database(&watches, 0, keyspace, NULL, NOW_MS);
    assert_false(watcher.is_touched);
    add_key(other, SLICE("199999"));
    watch_touch_database(&watches, 0, keyspace, other, NOW_MS);
    assert_true(watcher.is_touched);
    assert_true((cpu_us() - begin) * 20 < us);
    watch_clear(&watches, &watcher);
    while (watch_step(&watches)) {
    }
    us = watch_many(&watches, &watcher);
    char text[24];
    for (size_t i = 0; i < MANY; i++) add_key(keyspace, name_of(text, i));
    begin = cpu_us();
    watch_touch_database(&watches, 0, keyspace, NULL, NOW_MS);
    assert_true(watcher.is_touched);
    assert_true((cpu_us() - begin) * 20 < us);
    watch_clear(&watches, &watcher);
    watch_free(&watches);
    keyspace_free(keyspace);
    keyspace_free(other);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(watchers_are_touched_as_the_model_says),
        cmocka_unit_test(a_write_where_nobody_watches_is_nothing),
        cmocka_unit_test(names_may_be_empty_and_of_any_bytes),
        cmocka_unit_test(many_watches_are_freed_in_steps_and_touch_nobody_meanwhile),
        cmocka_unit_test(a_database_that_is_replaced_costs_what_is_touched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
