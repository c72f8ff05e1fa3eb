/* Captures of values of every type: they are written as the values were. */
#include "ds/capture.h"

#include "base/hash/hash.h"
#include "base/memory/alloc.h"
#include "types/hash.h"
#include "types/list.h"
#include "types/set.h"
#include "types/stream.h"
#include "types/string.h"
#include "types/value.h"
#include "types/zset.h"
#include "unit/keyspace_fixture.h"
#include "unit/written.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define KEY SLICE("key")

static const struct quicklist_limits one_each = {.fill = 1, .compress_depth = 1};
static char text[600000];

/* --- What is done with values of each type. `amount` is what a large value has plenty of. --- */

static void add_string(struct keyref *ref, size_t amount) {
    string_set(ref, KEY, slice_make(text, amount));
}

static void change_string(struct keyref *ref) {
    size_t len = string_length(ref->entry);
    for (size_t at = 0; at < len; at += len / 7) string_open(ref, KEY, at, at + 1)[at] ^= 1;
    assert_true(string_append(ref, slice_make(text, len)));
}

static void add_list(struct keyref *ref, size_t amount) {
    struct slice element = slice_make(text, amount < 1000 ? amount : 1000);
    list_create(ref, KEY, LIST_TAIL, &element, 1, &one_each);
    for (size_t len = 1000; len < amount; len += 1000)
        list_push(ref, LIST_TAIL, &element, 1, &one_each);
}

static void change_list(struct keyref *ref) {
    uint64_t length = list_length(ref->entry);
    for (uint64_t i = 0; i < length; i += 7) list_set(ref, i, SLICE("changed"), &one_each);
    list_drop(ref, LIST_HEAD, length / 2, &one_each);
}

/* A member for each 100 bytes, which are digits, then zeros. */
static struct slice member_of(size_t i, char buffer[100]) {
    int len = snprintf(buffer, 100, "%zu.", i);
    memset(buffer + len, '0', 100 - (size_t)len);
    return slice_make(buffer, 100);
}

static void add_set(struct keyref *ref, size_t amount) {
    char buffer[100];
    const struct set_limits *limits = &value_limits_default.set;
    set_create(ref, KEY, member_of(0, buffer), 1, limits);
    for (size_t i = 1; i < amount / 100; i++) set_add(ref, member_of(i, buffer), limits);
}

static void change_set(struct keyref *ref) {
    char buffer[100];
    size_t count = set_length(ref->entry);
    for (size_t i = 0; i < count; i += 7) set_remove(ref, member_of(i, buffer));
    for (size_t i = 0; i < count; i++)
        set_add(ref, member_of(count + i, buffer), &value_limits_default.set);
}

/* Every tenth value is a large text. */
static void add_hash(struct keyref *ref, size_t amount) {
    char buffer[100];
    const struct listpack_limits *limits = &value_limits_default.hash;
    hash_create(ref, KEY, member_of(0, buffer), slice_make(text, amount / 10), 1, limits);
    for (size_t i = 1; i < amount / 100; i++)
        hash_set(ref, member_of(i, buffer), slice_make(text, i % 10 ? 5 : 900), HASH_DROP_EXPIRY,
                 HASH_ALL, limits);
    hash_set_expiry(ref, member_of(0, buffer), 1000, HASH_ALWAYS, HASH_ALL);
}

static void change_hash(struct keyref *ref) {
    char buffer[100];
    size_t count = hash_length(ref->entry);
    for (size_t i = 0; i < count; i += 7) hash_delete(ref, member_of(i, buffer));
    for (size_t i = 0; i < count; i++)
        hash_set_expiry(ref, member_of(i, buffer), (int64_t)i, HASH_ALWAYS, HASH_ALL);
    for (size_t i = 0; i < count; i++)
        hash_set(ref, member_of(count / 2 + i, buffer), SLICE("changed"), HASH_DROP_EXPIRY,
                 HASH_ALL, &value_limits_default.hash);
}

static void add_zset(struct keyref *ref, size_t amount) {
    const struct listpack_limits *limits = &value_limits_default.zset;
    zset_create(ref, KEY, SLICE("first"), 1, 1, 5, limits);
    for (size_t i = 0; i < amount / 20; i++) {
        char buffer[32];
        int len = snprintf(buffer, sizeof(buffer), "member:%zu", i);
        struct slice member = slice_make(buffer, (size_t)len);
        struct zset_place place = zset_find(ref->entry, member);
        zset_put(ref, &place, member, (double)(i % 1000), limits);
    }
}

static void change_zset(struct keyref *ref) {
    uint64_t length = zset_length(ref->entry);
    struct zset_place place = zset_find(ref->entry, SLICE("member:77"));
    zset_put(ref, &place, SLICE("member:77"), -1, &value_limits_default.zset);
    for (uint64_t i = 0; i < length / 2; i += 100) zset_remove_range(ref, i, 2);
    zset_remove_range(ref, 0, length / 2);
}

static void add_entry(struct keyref *ref, uint64_t ms) {
    struct slice pair[] = {SLICE("field"), slice_make(text, 1 + ms % 90)};
    stream_append(ref, (struct stream_id){ms, 0}, pair, 1, &value_limits_default.stream);
}

/* A group with two consumers, which have the entries from 1 to `pending`. */
static void add_group(struct keyref *ref, struct slice name, size_t pending) {
    struct pieces *pieces = stream_pieces(ref->entry);
    struct consumer_group *group = consumer_groups_add(stream_groups(ref->entry), pieces, name);
    consumer_group_add(group, pieces, SLICE("first consumer"), 1);
    consumer_group_add(group, pieces, SLICE("second consumer"), 2);
    for (size_t i = 1; i <= pending; i++) {
        const struct pending_entry entry = {{i, 0}, 1 + i / 10 % 2, (int64_t)i + 5, 1};
        consumer_group_assign(group, pieces, &entry);
    }
}

static void change_groups(struct keyref *ref) {
    struct consumer_groups *groups = stream_groups(ref->entry);
    struct pieces *pieces = stream_pieces(ref->entry);
    struct consumer_group *group = consumer_groups_find(groups, SLICE("group"));
    consumer_groups_remove(groups, pieces, consumer_groups_find(groups, SLICE("to be destroyed")));
    for (size_t i = 1; i < group->pending.length; i += 3)
        consumer_groups_acknowledge(groups, pieces, group, (struct stream_id){i, 0}, true);
    consumer_groups_remove_consumer(groups, pieces, group,
                                    consumer_group_find(group, SLICE("first consumer")));
    consumer_group_add(group, pieces, SLICE("another consumer"), 3);
}

static void add_stream(struct keyref *ref, size_t amount) {
    stream_create(ref, KEY);
    for (size_t i = 1; i <= amount / 10; i++) add_entry(ref, i);
    add_group(ref, SLICE("group"), amount / 10);
    add_group(ref, SLICE("to be destroyed"), amount / 30);
}

static void change_stream(struct keyref *ref) {
    uint64_t length = stream_length(ref->entry);
    for (uint64_t i = 1; i < length; i += 7) stream_delete(ref, (struct stream_id){i, 0});
    const struct stream_trim trim = {.max_length = length / 2};
    struct entry *cut;
    stream_trim(ref, &trim, &cut);
    if (cut) value_free(cut);
    for (uint64_t i = 1; i < length; i++) add_entry(ref, length + i);
    change_groups(ref);
}

static const struct {
    enum value_type type;
    void (*add)(struct keyref *ref, size_t amount);
    void (*change)(struct keyref *ref);
} types[] = {{VALUE_STRING, add_string, change_string}, {VALUE_LIST, add_list, change_list},
             {VALUE_SET, add_set, change_set},          {VALUE_HASH, add_hash, change_hash},
             {VALUE_ZSET, add_zset, change_zset},       {VALUE_STREAM, add_stream, change_stream}};

enum { TYPES = sizeof(types) / sizeof(types[0]) };

static struct keyref find(struct keyspace *keyspace) {
    return keyspace_find(keyspace, KEY);
}

/* --- Tests --- */

static void every_type_is_tested_here(void **state) {
    (void)state;
    size_t existing = 0;
    for (int type = 0; type < VALUE_TYPES; type++)
        existing += value_type_exists((enum value_type)type);
    assert_int_equal(existing, TYPES);
}

static void a_small_value_is_not_captured(void **state) {
    for (size_t i = 0; i < TYPES; i++) {
        size_t left = 0;
        struct keyref ref = find(*state);
        types[i].add(&ref, 10);
        size_t used = mem_used();
        assert_null(value_capture(ref.entry, &left));
        assert_false(value_is_captured(ref.entry));
        assert_int_equal(mem_used(), used);
        keyspace_delete(&ref);
    }
}

enum fate { CHANGED, DELETED, RENAMED_AND_CHANGED, LEFT_ALONE, FATES };

/* What happens to the captured value. The key is gone afterwards in the second case. */
static void meet(struct keyref *ref, size_t i, enum fate fate) {
    if (fate == CHANGED) {
        types[i].change(ref);
    } else if (fate == DELETED) {
        keyspace_delete(ref);
    } else if (fate == RENAMED_AND_CHANGED) {
        struct keyspace *keyspace = ref->keyspace;
        struct entry *entry = value_rename(keyspace_take(ref), SLICE("another key"));
        entry = value_rename(entry, KEY);
        *ref = find(keyspace);
        keyspace_add(ref, entry);
        types[i].change(ref);
    }
}

static void a_capture_is_written_as_the_value_was(void **state) {
    for (size_t n = 0; n < TYPES * FATES * FORMS; n++) {
        size_t i = n / FATES / FORMS, left = 0;
        enum fate fate = (enum fate)(n / FORMS % FATES);
        enum form form = (enum form)(n % FORMS);
        struct keyref ref = find(*state);
        types[i].add(&ref, 300000);
        sds before = written(form, KEY, ref.entry, types[i].type, NULL);

        size_t uncaptured = mem_used();
        struct capture *capture = value_capture(ref.entry, &left);
        assert_non_null(capture);
        assert_true(value_is_captured(ref.entry) && value_check(ref.entry));
        assert_true(mem_used() - uncaptured >= capture_allocated(capture));
        meet(&ref, i, fate);
        assert_int_equal(left > 0, fate != LEFT_ALONE);
        if (ref.entry) assert_true(value_check(ref.entry));
        sds captured = written(form, KEY, NULL, types[i].type, capture);
        assert_true(slice_equal(sds_slice(captured), sds_slice(before)));

        size_t reported = left;
        assert_int_equal(capture_release(capture), reported);
        assert_int_equal(left, 0);
        capture_free(capture);
        if (ref.entry) {
            assert_false(value_is_captured(ref.entry));
            assert_true(value_check(ref.entry));
            keyspace_delete(&ref);
        }
        sds_free(before);
        sds_free(captured);
    }
}

/* Twice: what the first capture leaves behind does not hinder the second one. */
static void a_value_is_captured_again_after_the_release(void **state) {
    for (size_t i = 0; i < TYPES; i++) {
        struct keyref ref = find(*state);
        types[i].add(&ref, 400000);
        for (int round = 0; round < 2; round++) {
            size_t left = 0;
            struct capture *capture = value_capture(ref.entry, &left);
            assert_non_null(capture);
            capture_release(capture);
            capture_free(capture);
            assert_true(value_check(ref.entry));
        }
        keyspace_delete(&ref);
    }
}

/* What is large of it goes over to the capture. */
static void freeing_a_captured_value_is_little_work(void **state) {
    static const size_t efforts[TYPES] = {1 + 300000 / 8192, 300, 1 + 300000 / 8192,
                                          1 + 300000 / 8192, 100, 300};
    for (size_t i = 0; i < TYPES; i++) {
        size_t left = 0;
        struct keyref ref = find(*state);
        types[i].add(&ref, 300000);
        assert_true(value_free_effort(ref.entry) >= efforts[i]);
        struct capture *capture = value_capture(ref.entry, &left);
        assert_non_null(capture);
        assert_int_equal(value_free_effort(ref.entry), 1);
        keyspace_delete(&ref);
        capture_release(capture);
        capture_free(capture);
    }
}

int main(void) {
    hash_init();
    for (size_t i = 0; i < sizeof(text); i++) text[i] = (char)('a' + i % 23 * (i / 1000 % 2));
#define CAPTURE_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_is_tested_here),
        CAPTURE_TEST(a_small_value_is_not_captured),
        CAPTURE_TEST(a_capture_is_written_as_the_value_was),
        CAPTURE_TEST(a_value_is_captured_again_after_the_release),
        CAPTURE_TEST(freeing_a_captured_value_is_little_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
