/* Values and keyspaces that another thread frees; the tests run single iterations of the loop. */
#include "engine/lazyfree.h"

#include "base/hash/hash.h"
#include "base/memory/alloc.h"
#include "engine/engine.h"
#include "net/loop/pool.h"
#include "net/net.h"
#include "types/list.h"
#include "types/string.h"
#include "types/value.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static struct engine engine;
static struct net *net;
static struct lazyfree *lazyfree;

static bool is_settling;

/* The numbers of the keyspaces that `freed` was called with, in that order. */
static uint64_t freed_numbers[8];
static size_t freed_count;

static void note_freed(struct engine *of, uint64_t number) {
    assert_ptr_equal(of, &engine);
    assert_true(freed_count < sizeof(freed_numbers) / sizeof(freed_numbers[0]));
    freed_numbers[freed_count++] = number;
}

static void do_nothing(void *arg) {
    (void)arg;
}

static void stop_loop(void *arg) {
    (void)arg;
    is_settling = false;
    net_stop(net);
}

/* Stops the loop when nothing is pending any more and the one thread of the pool has finished. */
static bool look(void *arg) {
    (void)arg;
    if (is_settling || lazyfree_pending_objects(lazyfree) > 0) return false;
    is_settling = true;
    net_pool_run(net, do_nothing, stop_loop, NULL);
    return false;
}

static void run_until_free(void) {
    net_run(net);
    assert_int_equal(lazyfree_pending_objects(lazyfree), 0);
    assert_int_equal(lazyfree_pending_bytes(lazyfree), 0);
}

/* Returns a list of `nodes` nodes that is in no keyspace. */
static struct entry *make_list(size_t nodes) {
    static const struct quicklist_limits one_each = {.fill = 1};
    struct keyspace *keyspace = keyspace_new(value_free, value_length);
    struct keyref ref = keyspace_find(keyspace, SLICE("list"));
    struct slice element = SLICE("some element");
    list_create(&ref, SLICE("list"), LIST_TAIL, &element, 1, &one_each);
    for (size_t i = 1; i < nodes; i++) list_push(&ref, LIST_TAIL, &element, 1, &one_each);
    struct entry *entry = keyspace_take(&ref);
    keyspace_free(keyspace);
    return entry;
}

static struct keyspace *make_keyspace(size_t keys) {
    struct keyspace *keyspace = keyspace_new(value_free, value_length);
    for (size_t i = 0; i < keys; i++) {
        char text[24];
        struct slice key = slice_make(text, number_format_uint64(text, i));
        struct keyref ref = keyspace_find(keyspace, key);
        string_set(&ref, key, key);
        if (i % 3 == 0) keyspace_set_expiry(&ref, 1000, value_size(ref.entry));
    }
    return keyspace;
}

static void a_small_value_is_freed_at_once_and_a_large_one_if_it_is_to_be(void **state) {
    (void)state;
    size_t used = mem_used();
    uint64_t freed = lazyfree_freed_objects(lazyfree);
    lazyfree_entry(lazyfree, make_list(1), true);
    lazyfree_entry(lazyfree, make_list(4), true);
    lazyfree_entry(lazyfree, make_list(10000), false);
    assert_int_equal(lazyfree_pending_objects(lazyfree), 0);
    assert_int_equal(lazyfree_freed_objects(lazyfree), freed);
    assert_int_equal(mem_used(), used);
}

static void large_values_are_freed_by_another_thread(void **state) {
    (void)state;
    enum { LISTS = 100 };
    size_t used = mem_used(), bytes = 0;
    uint64_t freed = lazyfree_freed_objects(lazyfree);
    struct entry *lists[LISTS];
    for (size_t i = 0; i < LISTS; i++) {
        lists[i] = make_list(100 + i * 10);
        bytes += value_allocated(lists[i]);
    }
    for (size_t i = 0; i < LISTS; i++) lazyfree_entry(lazyfree, lists[i], true);
    assert_true(lazyfree_pending_objects(lazyfree) <= LISTS);
    assert_true(lazyfree_pending_bytes(lazyfree) <= bytes);
    run_until_free();
    assert_int_equal(lazyfree_freed_objects(lazyfree), freed + LISTS);
    assert_int_equal(mem_used(), used);
}

static void a_keyspace_counts_as_its_keys(void **state) {
    (void)state;
    enum { KEYS = 5000 };
    size_t used = mem_used();
    uint64_t freed = lazyfree_freed_objects(lazyfree);
    lazyfree_keyspace(lazyfree, make_keyspace(KEYS), 0);
    lazyfree_keyspace(lazyfree, make_keyspace(0), 0);
    lazyfree_keyspace(lazyfree, make_keyspace(1), 0);
    lazyfree_entry(lazyfree, make_list(1000), true);
    run_until_free();
    assert_int_equal(lazyfree_freed_objects(lazyfree), freed + KEYS + 1 + 1);
    assert_int_equal(mem_used(), used);
    lazyfree_reset_freed(lazyfree);
    assert_int_equal(lazyfree_freed_objects(lazyfree), 0);
}

static void keyspaces_with_a_number_are_reported_free_in_order(void **state) {
    (void)state;
    size_t used = mem_used();
    freed_count = 0;
    lazyfree_keyspace(lazyfree, make_keyspace(2000), 3);
    lazyfree_keyspace(lazyfree, make_keyspace(10), 0);
    lazyfree_keyspace(lazyfree, make_keyspace(0), 9);
    lazyfree_keyspace(lazyfree, make_keyspace(1), 4);
    lazyfree_keyspace(lazyfree, make_keyspace(1), 4);
    assert_int_equal(freed_count, 0);
    run_until_free();
    assert_int_equal(freed_count, 3);
    assert_int_equal(freed_numbers[0], 3);
    assert_int_equal(freed_numbers[1], 4);
    assert_int_equal(freed_numbers[2], 4);
    assert_int_equal(mem_used(), used);
}

static void few_small_keys_are_little_work(void **state) {
    (void)state;
    struct keyspace *few = make_keyspace(4), *many = make_keyspace(65), *large = make_keyspace(1);
    struct keyref ref = keyspace_find(large, SLICE("list"));
    keyspace_add(&ref, make_list(200));
    assert_true(lazyfree_is_little(few));
    assert_false(lazyfree_is_little(many));
    assert_false(lazyfree_is_little(large));
    keyspace_free(few);
    keyspace_free(many);
    keyspace_free(large);
}

/* The last test: no other thread frees anything after it. */
static void what_is_left_when_it_stops_is_freed_at_the_end(void **state) {
    (void)state;
    struct keyspace *keyspace = make_keyspace(100000);
    lazyfree_keyspace(lazyfree, keyspace, 7);
    for (int i = 0; i < 10; i++) lazyfree_entry(lazyfree, make_list(1000), true);
    lazyfree_stop(&engine);
    net_free(net);
    lazyfree_free(&engine);
}

int main(void) {
    hash_init();
    setenv("UV_THREADPOOL_SIZE", "1", 1); /* work ends in the order of its start */
    static const struct net_upward LOOK = {.before_poll = look};
    const char *error;
    net = net_new(&error);
    net_set_upward(net, &LOOK, NULL);
    engine.net = net;
    engine.upward = &(const struct upward){.keyspace_freed = note_freed};
    lazyfree_start(&engine);
    lazyfree = engine.lazyfree;
    lazyfree_entry(lazyfree, make_list(1000),
                   true); /* the threads have started: they own some memory */
    run_until_free();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_small_value_is_freed_at_once_and_a_large_one_if_it_is_to_be),
        cmocka_unit_test(large_values_are_freed_by_another_thread),
        cmocka_unit_test(a_keyspace_counts_as_its_keys),
        cmocka_unit_test(keyspaces_with_a_number_are_reported_free_in_order),
        cmocka_unit_test(few_small_keys_are_little_work),
        cmocka_unit_test(what_is_left_when_it_stops_is_freed_at_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
