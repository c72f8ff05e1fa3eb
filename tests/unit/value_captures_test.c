/* Several captures of one value at a time, which begin and end in any order while the value changes:
 * each is written and copied as the value was at its own moment, and what only they need is freed
 * with them. */
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
#include "unit/seed.h"
#include "unit/written.h"

#include <pthread.h>

#define KEY SLICE("key")

#ifdef TINY_LIMITS
enum { AMOUNT = 9000 };
#else
enum { AMOUNT = 300 * 1024 }; /* bytes of each value, more or less */
#endif

static struct random random_numbers;
static char text[AMOUNT];

static size_t below(size_t bound) {
    return random_below(&random_numbers, bound);
}

static bool one_in(size_t n) {
    return below(n) == 0;
}

/* A name out of `count`, 30 bytes long, but for some that are longer. */
static struct slice name_of(size_t i, char buffer[700]) {
    int len = snprintf(buffer, 700, "%zu.", i);
    size_t size = i % 50 == 7 ? 650 : 30;
    memset(buffer + len, 'x', size - (size_t)len);
    return slice_make(buffer, size);
}

/* --- Values of each type, and one small change of them --- */

static void add_string(struct keyref *ref) {
    string_set(ref, KEY, slice_make(text, AMOUNT));
}

static void change_string(struct keyref *ref) {
    size_t at = below(string_length(ref->entry));
    string_open(ref, KEY, at, at + 1)[at] ^= 1;
    if (one_in(10)) assert_true(string_append(ref, slice_make(text, below(100))));
}

static const struct quicklist_limits list_limits = {.fill = 64, .compress_depth = 2};

static void add_list(struct keyref *ref) {
    struct slice element = slice_make(text, 50);
    list_create(ref, KEY, LIST_TAIL, &element, 1, &list_limits);
    for (size_t i = 0; i < AMOUNT / 50; i++) list_push(ref, LIST_TAIL, &element, 1, &list_limits);
}

static void change_list(struct keyref *ref) {
    enum list_end end = one_in(2) ? LIST_HEAD : LIST_TAIL;
    struct slice element = slice_make(text + below(100), one_in(40) ? AMOUNT / 2 : below(100));
    if (one_in(2))
        list_set(ref, below(list_length(ref->entry)), element, &list_limits);
    else if (one_in(2))
        list_push(ref, end, &element, 1, &list_limits);
    else if (list_length(ref->entry) > AMOUNT / 100)
        list_drop(ref, end, 1 + below(3), &list_limits);
}

enum { NAMES = AMOUNT / 20 };

static void add_set(struct keyref *ref) {
    char buffer[700];
    set_create(ref, KEY, name_of(0, buffer), 1, &value_limits_default.set);
    for (size_t i = 1; i < NAMES / 2; i++)
        set_add(ref, name_of(i, buffer), &value_limits_default.set);
}

static void change_set(struct keyref *ref) {
    char buffer[700];
    struct slice name = name_of(below(NAMES), buffer);
    if (!set_add(ref, name, &value_limits_default.set)) set_remove(ref, name);
}

static void set_field(struct keyref *ref, struct slice name) {
    hash_set(ref, name, slice_make(text, one_in(30) ? 600 : below(40)), HASH_DROP_EXPIRY, HASH_ALL,
             &value_limits_default.hash);
}

static void add_hash(struct keyref *ref) {
    char buffer[700];
    const struct listpack_limits *limits = &value_limits_default.hash;
    hash_create(ref, KEY, name_of(0, buffer), SLICE("value"), 1, limits);
    for (size_t i = 1; i < NAMES / 3; i++) set_field(ref, name_of(i, buffer));
}

static void change_hash(struct keyref *ref) {
    char buffer[700];
    struct slice name = name_of(below(NAMES / 2), buffer);
    if (one_in(3))
        hash_delete(ref, name);
    else if (one_in(4))
        hash_set_expiry(ref, name, (int64_t)below(1000), HASH_ALWAYS, HASH_ALL);
    else
        set_field(ref, name);
}

static void put_member(struct keyref *ref, struct slice member) {
    struct zset_place place = zset_find(ref->entry, member);
    zset_put(ref, &place, member, (double)below(1000) / (one_in(3) ? 7 : 1),
             &value_limits_default.zset);
}

static void add_zset(struct keyref *ref) {
    char buffer[700];
    zset_create(ref, KEY, SLICE("first"), 1, 1, 5, &value_limits_default.zset);
    for (size_t i = 0; i < NAMES / 3; i++) put_member(ref, name_of(i, buffer));
}

static void change_zset(struct keyref *ref) {
    char buffer[700];
    struct slice member = name_of(below(NAMES / 2), buffer);
    struct zset_place place = zset_find(ref->entry, member);
    if (place.found && one_in(3))
        zset_remove(ref, &place);
    else
        put_member(ref, member);
    if (one_in(50) && zset_length(ref->entry) > NAMES / 6)
        zset_remove_range(ref, below(zset_length(ref->entry) - 10), 10);
}

static uint64_t last_ms;

static void add_entry(struct keyref *ref) {
    struct slice pair[] = {SLICE("field"), slice_make(text, 1 + below(60))};
    stream_append(ref, (struct stream_id){++last_ms, 0}, pair, 1, &value_limits_default.stream);
}

static void assign(struct keyref *ref, uint64_t ms) {
    struct consumer_group *group = consumer_groups_find(stream_groups(ref->entry), SLICE("group"));
    const struct pending_entry entry = {{ms, 0}, 1 + below(2), (int64_t)below(1000), 1};
    consumer_group_assign(group, stream_pieces(ref->entry), &entry);
}

static void add_stream(struct keyref *ref) {
    struct pieces *pieces;
    stream_create(ref, KEY);
    pieces = stream_pieces(ref->entry);
    struct consumer_group *group =
        consumer_groups_add(stream_groups(ref->entry), pieces, SLICE("group"));
    consumer_group_add(group, pieces, SLICE("first"), 1);
    consumer_group_add(group, pieces, SLICE("second"), 2);
    streamlog_need_producers(stream_log(ref->entry),
                             (struct producers_limits){.duration_s = 100, .iids = 50});
    for (size_t i = 0; i < AMOUNT / 40; i++) {
        add_entry(ref);
        assign(ref, last_ms);
    }
}

static void add_iid(struct keyref *ref) {
    char buffer[700];
    producers_add(stream_producers(ref->entry), stream_pieces(ref->entry),
                  one_in(2) ? SLICE("one") : SLICE("another"), name_of(below(NAMES), buffer),
                  (struct stream_id){last_ms, 0});
}

/* As a trimming with ACKED, so that what is released from now on is noted. */
static void look_until(struct keyref *ref, uint64_t ms) {
    consumer_groups_note_looked(stream_groups(ref->entry), stream_pieces(ref->entry),
                                &(struct stream_id){ms, 0}, 1);
}

static void change_stream(struct keyref *ref) {
    struct consumer_groups *groups = stream_groups(ref->entry);
    struct consumer_group *group = consumer_groups_find(groups, SLICE("group"));
    uint64_t ms = last_ms - below(AMOUNT / 40);
    if (one_in(3)) add_entry(ref);
    if (one_in(3)) stream_delete(ref, (struct stream_id){ms, 0});
    if (one_in(20)) add_iid(ref);
    if (one_in(50)) look_until(ref, ms);
    if (one_in(2))
        consumer_groups_acknowledge(groups, stream_pieces(ref->entry), group,
                                    (struct stream_id){ms, 0}, true);
    else
        assign(ref, ms);
    if (one_in(20)) {
        const struct stream_trim trim = {.max_length = AMOUNT / 50};
        struct entry *cut;
        stream_trim(ref, &trim, &cut);
        if (cut) value_free(cut);
    }
}

static const struct {
    enum value_type type;
    void (*add)(struct keyref *ref);
    void (*change)(struct keyref *ref);
} types[] = {{VALUE_STRING, add_string, change_string}, {VALUE_LIST, add_list, change_list},
             {VALUE_SET, add_set, change_set},          {VALUE_HASH, add_hash, change_hash},
             {VALUE_ZSET, add_zset, change_zset},       {VALUE_STREAM, add_stream, change_stream}};

enum { TYPES = sizeof(types) / sizeof(types[0]) };

/* --- Captures --- */

enum { CAPTURES = 6 };

struct moment {
    struct capture *capture; /* NULL: none */
    enum value_type type;
    sds written; /* of the value when it was captured */
};

/* Of the entry, or of the capture. A captured text is only read here: writing it ends its use. */
static sds contents(const struct entry *entry, const struct moment *moment) {
    if (moment->type != VALUE_STRING)
        return written(IN_RDB, KEY, entry, moment->type, entry ? NULL : moment->capture);
    if (entry) return sds_new(string_text(entry, (char[INT64_TEXT_MAX]){0}));
    size_t len = text_capture_len(moment->capture);
    sds read = sds_try_new_uninit(len);
    text_capture_read(moment->capture, 0, read, len);
    return read;
}

/* With few epochs (CAPTURES_EPOCH_MAX) the value may refuse to be captured until others ended. */
static void begin(struct moment *moment, struct entry *entry, size_t *left) {
    moment->type = entry_type(entry);
    moment->capture = value_capture(entry, left);
    if (moment->capture) moment->written = contents(entry, moment);
}

static bool is_as_it_was(const struct moment *moment) {
    sds now = contents(NULL, moment);
    bool same = slice_equal(sds_slice(now), sds_slice(moment->written));
    sds_free(now);
    return same;
}

static void end(struct moment *moment) {
    if (!moment->capture) return;
    capture_release(moment->capture);
    capture_free(moment->capture);
    sds_free(moment->written);
    moment->capture = NULL;
}

static struct keyref find(struct keyspace *keyspace) {
    return keyspace_find(keyspace, KEY);
}

/* --- Tests --- */

static void captures_of_any_moments_end_in_any_order(void **state) {
    enum { STEPS = 1500 };
    for (size_t n = 0; n < 4 * TYPES; n++) {
        size_t type = n / 4, left[2] = {0}, used = mem_used(), begun = 0;
        struct moment moments[CAPTURES] = {{0}};
        struct keyref ref = find(*state);
        types[type].add(&ref);
        for (size_t step = 0; step < STEPS; step++) {
            size_t at = below(CAPTURES);
            if (ref.entry) types[type].change(&ref);
            if (!one_in(12)) continue;
            if (moments[at].capture) assert_true(is_as_it_was(&moments[at]));
            if (moments[at].capture && one_in(2))
                end(&moments[at]);
            else if (!moments[at].capture && ref.entry)
                begin(&moments[at], ref.entry, &left[at % 2]);
            begun += moments[at].capture != NULL;
            if (ref.entry) assert_true(value_check(ref.entry));
            if (ref.entry && n % 2 && step > STEPS - 100) keyspace_delete(&ref);
        }
        for (size_t i = 0; i < CAPTURES; i++)
            if (moments[i].capture) assert_true(is_as_it_was(&moments[i]));
        for (size_t i = CAPTURES; i-- > 0;) end(&moments[n % 4 < 2 ? i : CAPTURES - 1 - i]);
        assert_true(begun > CAPTURES);
        assert_int_equal(left[0], 0);
        assert_int_equal(left[1], 0);
        if (ref.entry) {
            assert_false(value_is_captured(ref.entry));
            keyspace_delete(&ref);
        }
        assert_true(mem_used() <= used + 4096); /* the keyspace's own memory */
    }
}

/* While a slow reader holds the value, many others come and go, and the value changes all the time:
 * the memory that is left is that of the first capture, once. */
static void an_old_capture_keeps_nothing_that_later_ones_left(void **state) {
    enum { ROUNDS = 400 };
    for (size_t type = 0; type < TYPES; type++) {
        size_t left = 0, captured = 0;
        struct keyref ref = find(*state);
        struct moment first = {0};
        types[type].add(&ref);
        size_t size = value_allocated(ref.entry);
        begin(&first, ref.entry, &left);
        assert_non_null(first.capture);
        for (size_t round = 0; round < ROUNDS; round++) {
            struct capture *capture = value_capture(ref.entry, &left);
            for (size_t i = 0; i < 40; i++) types[type].change(&ref);
            if (capture) capture_end(capture);
            captured += capture != NULL;
        }
        assert_true(captured >= 40);
        assert_true(left < 2 * size + 40000);
        assert_true(is_as_it_was(&first));
        end(&first);
        assert_int_equal(left, 0);
        keyspace_delete(&ref);
    }
}

struct reader {
    struct moment moment;
    pthread_t thread;
    bool same;
};

static void *read_several_times(void *arg) {
    struct reader *reader = arg;
    reader->same = true;
    for (int i = 0; i < 3; i++) reader->same &= is_as_it_was(&reader->moment);
    return NULL;
}

/* What the sanitizer for threads looks at: each capture has a thread that reads it. */
static void threads_read_their_own_captures(void **state) {
    enum { READERS = 4 };
    for (size_t type = 0; type < TYPES; type++) {
        struct keyref ref = find(*state);
        struct reader readers[READERS] = {0};
        size_t left = 0;
        types[type].add(&ref);
        for (size_t round = 0; round < 5; round++) {
            for (size_t i = 0; i < READERS; i++) {
                begin(&readers[i].moment, ref.entry, &left);
                assert_non_null(readers[i].moment.capture);
                assert_int_equal(
                    pthread_create(&readers[i].thread, NULL, read_several_times, &readers[i]), 0);
                for (size_t change = 0; change < 200; change++) types[type].change(&ref);
            }
            if (round == 4) keyspace_delete(&ref);
            for (size_t i = 0; i < READERS; i++) {
                size_t at = round % 2 ? i : READERS - 1 - i;
                assert_int_equal(pthread_join(readers[at].thread, NULL), 0);
                assert_true(readers[at].same);
                end(&readers[at].moment);
                if (ref.entry) types[type].change(&ref);
            }
        }
        assert_int_equal(left, 0);
    }
}

struct copying {
    struct frozen frozen;
    sds written; /* of the value when it was frozen */
    struct entry *copy;
};

static void *copy_frozen(void *arg) {
    struct copying *copying = arg;
    copying->copy = value_copy_frozen(&copying->frozen, KEY);
    return NULL;
}

/* The copy is what the value was, and a value like others. */
static void check_copy(const struct copying *copying, size_t type) {
    struct keyspace *keyspace = keyspace_new(value_free, value_length);
    struct keyref ref = keyspace_find(keyspace, KEY);
    size_t left = 0;
    assert_true(value_check(copying->copy));
    sds now = written(IN_RDB, KEY, copying->copy, types[type].type, NULL);
    assert_true(slice_equal(sds_slice(now), sds_slice(copying->written)));
    sds_free(now);
    keyspace_add(&ref, copying->copy);
    struct capture *capture = value_capture(ref.entry, &left);
    assert_non_null(capture);
    for (size_t change = 0; change < 200; change++) types[type].change(&ref);
    assert_true(value_check(ref.entry));
    capture_end(capture);
    keyspace_free(keyspace);
}

/* Copies are made while the values change. */
static void threads_copy_frozen_values(void **state) {
    enum { ROUNDS = 5 };
    for (size_t type = 1; type < TYPES; type++) { /* texts are not frozen, but copied */
        struct keyref ref = find(*state);
        size_t left = 0, used = mem_used();
        types[type].add(&ref);
        for (size_t round = 0; round < ROUNDS; round++) {
            struct copying copying;
            pthread_t thread;
            for (size_t change = 0; change < 300; change++) types[type].change(&ref);
            copying.written = written(IN_RDB, KEY, ref.entry, types[type].type, NULL);
            value_freeze(ref.entry, &left, &copying.frozen);
            assert_non_null(copying.frozen.capture);
            assert_int_equal(pthread_create(&thread, NULL, copy_frozen, &copying), 0);
            for (size_t change = 0; change < 300; change++) types[type].change(&ref);
            assert_int_equal(pthread_join(thread, NULL), 0);
            capture_end(value_unfreeze(&copying.frozen));
            check_copy(&copying, type);
            sds_free(copying.written);
        }
        assert_int_equal(left, 0);
        keyspace_delete(&ref);
        assert_true(mem_used() <= used + 4096);
    }
}

int main(void) {
    hash_init();
    random_numbers = random_of_this_run();
    for (size_t i = 0; i < sizeof(text); i++) text[i] = (char)('a' + i % 23 * (i / 1000 % 2));
#define CAPTURE_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CAPTURE_TEST(captures_of_any_moments_end_in_any_order),
        CAPTURE_TEST(an_old_capture_keeps_nothing_that_later_ones_left),
        CAPTURE_TEST(threads_read_their_own_captures),
        CAPTURE_TEST(threads_copy_frozen_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
