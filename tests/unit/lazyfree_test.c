/* Values and keyspaces that another thread frees; the tests run single iterations of the loop. */
#include "engine/lazyfree.h"

#include "base/hash/hash.h"
#include "base/memory/alloc.h"
#include "engine/engine.h"
#include "net/loop/pool.h"
#include "net/net.h"
#include "types/hash.h"
#include "types/list.h"
#include "types/set.h"
#include "types/stream.h"
#include "types/string.h"
#include "types/value.h"
#include "types/zset.h"
#include "unit/seed.h"
#include "unit/written.h"

#include <sched.h>
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

/* --- Captured values --- */

enum { MEMBERS = 8000 };

/* Member `i` of a large value; `key` makes it with its first one. */
static void add_member(struct keyref *ref, enum value_type type, struct slice key, size_t i) {
    static const struct quicklist_limits small_nodes = {.fill = 10};
    char buffer[64];
    int len = snprintf(buffer, sizeof(buffer), "%zu: a member, which is 40 bytes long or more", i);
    struct slice member = slice_make(buffer, (size_t)len), pair[] = {SLICE("field"), member};
    const struct value_limits *limits = &value_limits_default;
    bool is_first = i == 0;
    if (type == VALUE_STRING && is_first) {
        string_set(ref, key, member);
    } else if (type == VALUE_STRING) {
        assert_true(string_append(ref, member));
    } else if (type == VALUE_LIST && is_first) {
        list_create(ref, key, LIST_TAIL, &member, 1, &small_nodes);
    } else if (type == VALUE_LIST) {
        list_push(ref, LIST_TAIL, &member, 1, &small_nodes);
    } else if (type == VALUE_SET && is_first) {
        set_create(ref, key, member, 1, &limits->set);
    } else if (type == VALUE_SET) {
        set_add(ref, member, &limits->set);
    } else if (type == VALUE_HASH && is_first) {
        hash_create(ref, key, member, member, 1, &limits->hash);
    } else if (type == VALUE_HASH) {
        hash_set(ref, member, member, HASH_DROP_EXPIRY, HASH_ALL, &limits->hash);
    } else if (type == VALUE_ZSET && is_first) {
        zset_create(ref, key, member, 1, 1, sizeof(buffer), &limits->zset);
    } else if (type == VALUE_ZSET) {
        struct zset_place place = zset_find(ref->entry, member);
        zset_put(ref, &place, member, (double)i, &limits->zset);
    } else {
        if (is_first) stream_create(ref, key);
        stream_append(ref, (struct stream_id){i + 1, 0}, pair, 1, &limits->stream);
    }
}

struct captured {
    struct capture *capture; /* NULL: ended */
    enum value_type type;
    size_t number;
    sds written; /* of the value */
};

static sds commands_of(const struct captured *captured, struct entry *entry) {
    char text[8];
    struct slice key = slice_make(text, number_format_uint64(text, captured->number));
    return written(AS_COMMANDS, key, entry, captured->type, entry ? NULL : captured->capture);
}

/* Adds a large value, and captures it. */
static struct captured add_captured(struct keyspace *keyspace, enum value_type type, size_t number,
                                    size_t *left) {
    char text[8];
    struct slice key = slice_make(text, number_format_uint64(text, number));
    struct keyref ref = keyspace_find(keyspace, key);
    struct captured captured = {.type = type, .number = number};
    for (size_t i = 0; i < MEMBERS; i++) add_member(&ref, type, key, i);
    captured.written = commands_of(&captured, ref.entry);
    captured.capture = value_capture(ref.entry, left);
    assert_non_null(captured.capture);
    return captured;
}

static void end(struct captured *captured, bool in_pool) {
    sds now = commands_of(captured, NULL);
    assert_true(slice_equal(sds_slice(now), sds_slice(captured->written)));
    if (in_pool)
        lazyfree_capture(lazyfree, captured->capture);
    else
        capture_end(captured->capture);
    captured->capture = NULL;
    sds_free(now);
    sds_free(captured->written);
}

/* In each odd round the pool has left all captured values to the loop when captures are released:
 * some of these values are large, and go to the pool again. */
static void captured_values_of_a_keyspace_are_left_to_their_captures(void **state) {
    static const enum value_type types[] = {VALUE_STRING, VALUE_LIST, VALUE_SET,
                                            VALUE_HASH,   VALUE_ZSET, VALUE_STREAM};
    enum { TYPES = sizeof(types) / sizeof(*types), VALUES = 3 * TYPES };
    struct random *random = *state;
    for (int round = 0; round < 8; round++) {
        size_t used = mem_used(), left = 0, kept = 0;
        struct captured captured[VALUES];
        struct keyspace *keyspace = make_keyspace(1000);
        for (size_t i = 0; i < VALUES; i++)
            captured[i] = add_captured(keyspace, types[i % TYPES], 10000 + i, &left);
        freed_count = 0;
        lazyfree_keyspace(lazyfree, keyspace, 5);
        while (round % 2 && lazyfree_pending_objects(lazyfree) > VALUES) sched_yield();
        for (size_t i = 0; i < VALUES; i++)
            if (random_below(random, 2)) end(&captured[i], random_below(random, 2));
        assert_int_equal(lazyfree_pending_bytes(lazyfree), SIZE_MAX / 2);
        assert_int_equal(left, 0);
        run_until_free();
        assert_int_equal(freed_count, 1);
        for (size_t i = 0; i < VALUES; i++) kept += captured[i].capture != NULL;
        assert_true(left > kept * MEMBERS * 40 || kept == 0);
        uint64_t freed = lazyfree_freed_objects(lazyfree);
        for (size_t i = 0; i < VALUES; i++)
            if (captured[i].capture) end(&captured[i], true);
        assert_int_equal(left, 0);
        run_until_free();
        assert_int_equal(lazyfree_freed_objects(lazyfree), freed + kept);
        assert_int_equal(mem_used(), used);
    }
}

/* The last test: no other thread frees anything after it. */
static void what_is_left_when_it_stops_is_freed_at_the_end(void **state) {
    (void)state;
    size_t left = 0;
    struct keyspace *keyspace = make_keyspace(100000);
    struct captured captured = add_captured(keyspace, VALUE_LIST, 100000, &left);
    lazyfree_keyspace(lazyfree, keyspace, 7);
    for (int i = 0; i < 10; i++) lazyfree_entry(lazyfree, make_list(1000), true);
    lazyfree_stop(&engine);
    net_free(net);
    lazyfree_free(&engine);
    assert_true(left > 0);
    end(&captured, false);
}

int main(void) {
    struct random random = random_of_this_run();
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
        cmocka_unit_test_prestate(captured_values_of_a_keyspace_are_left_to_their_captures,
                                  &random),
        cmocka_unit_test(what_is_left_when_it_stops_is_freed_at_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
