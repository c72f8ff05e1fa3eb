/* Shared texts: each capture keeps the contents of its moment, whatever the owner does meanwhile,
 * also in a second thread. It takes memory only for pieces that change. */
#include "ds/strings/shared_text.h"

#include "base/memory/alloc.h"
#include "unit/seed.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#ifdef TINY_LIMITS
enum { PIECE = 16, LEN = 3000, WRITE_MAX = 60 };
#else
enum { PIECE = 16 * 1024, LEN = 400000, WRITE_MAX = 50000 };
#endif

/* A shared text beside what it must be, and a capture beside what it must be. */
struct pair {
    struct shared_text *shared; /* NULL: the owner has freed it */
    char *text;
    size_t len;
    struct capture *capture;
    char *captured;
    size_t captured_len;
    size_t left;
};

static void fill(struct random *random, char *bytes, size_t len) {
    for (size_t i = 0; i < len; i++) bytes[i] = (char)random_below(random, 256);
}

static void begin(struct pair *pair, struct random *random, size_t len) {
    *pair = (struct pair){.text = malloc(3 * LEN), .captured = malloc(3 * LEN), .len = len};
    fill(random, pair->text, len);
    pair->shared = shared_text_new(sds_new(slice_make(pair->text, len)));
}

static void capture(struct pair *pair) {
    pair->capture = text_capture_begin(pair->shared, &pair->left);
    memcpy(pair->captured, pair->text, pair->len);
    pair->captured_len = pair->len;
    assert_int_equal(text_capture_len(pair->capture), pair->len);
}

static void release(struct pair *pair) {
    size_t left = pair->left;
    assert_int_equal(capture_release(pair->capture), left);
    assert_int_equal(pair->left, 0);
    capture_free(pair->capture);
    pair->capture = NULL;
}

static void end(struct pair *pair) {
    if (pair->capture) release(pair);
    if (pair->shared) shared_text_free(pair->shared);
    free(pair->text);
    free(pair->captured);
}

static void check(const struct pair *pair) {
    if (!pair->shared) return;
    assert_true(shared_text_check(pair->shared));
    assert_int_equal(sds_len(pair->shared->text), pair->len);
    assert_memory_equal(pair->shared->text, pair->text, pair->len);
}

/* --- The owner --- */

static void overwrite(struct pair *pair, struct random *random) {
    size_t from = random_below(random, (uint32_t)pair->len);
    size_t size = 1 + random_below(random, random_below(random, 2) ? 3 : WRITE_MAX);
    if (size > pair->len - from) size = pair->len - from;
    shared_text_before_write(pair->shared, from, from + size);
    fill(random, pair->text + from, size);
    memcpy(pair->shared->text + from, pair->text + from, size);
}

static void append(struct pair *pair, struct random *random) {
    size_t size = 1 + random_below(random, WRITE_MAX);
    if (pair->len + size > 3 * LEN) return;
    if (sds_available(pair->shared->text) < size)
        assert_true(shared_text_try_grow(pair->shared, size));
    fill(random, pair->text + pair->len, size);
    memcpy(pair->shared->text + pair->len, pair->text + pair->len, size);
    pair->len += size;
    sds_set_len(pair->shared->text, pair->len);
}

static void change(struct pair *pair, struct random *random) {
    if (random_below(random, 4) == 0)
        append(pair, random);
    else
        overwrite(pair, random);
}

/* --- The reader --- */

/* Reads all of it in parts of any size, from `passed` on; true when it is what was captured. With
 * `passes` it says so as it goes. */
static bool read_all(struct pair *pair, struct random *random, size_t passed, bool passes) {
    char *part = malloc(WRITE_MAX);
    bool same = true;
    for (size_t offset = passed, size; offset < pair->captured_len; offset += size) {
        size = 1 + random_below(random, WRITE_MAX - 1);
        if (size > pair->captured_len - offset) size = pair->captured_len - offset;
        text_capture_read(pair->capture, offset, part, size);
        same = same && memcmp(part, pair->captured + offset, size) == 0;
        if (passes) text_capture_pass(pair->capture, offset + size);
    }
    free(part);
    return same;
}

/* --- Tests --- */

static void a_capture_keeps_its_moment_through_any_changes(void **state) {
    struct random *random = *state;
    size_t used = mem_used();
    for (int round = 0; round < 30; round++) {
        struct pair pair;
        begin(&pair, random, 1 + random_below(random, LEN));
        for (int captures = 0; captures < 4; captures++) {
            capture(&pair);
            size_t passed = 0;
            for (int i = 0; i < 25; i++) {
                if (pair.shared) change(&pair, random);
                if (pair.shared && random_below(random, 80) == 0) {
                    shared_text_free(pair.shared);
                    pair.shared = NULL;
                }
                if (random_below(random, 8) == 0) {
                    passed += random_below(random, (uint32_t)(pair.captured_len - passed) + 1);
                    text_capture_pass(pair.capture, passed);
                }
                check(&pair);
                if (i % 8 == 0) assert_true(read_all(&pair, random, passed, false));
            }
            release(&pair);
            if (!pair.shared) break;
            change(&pair, random);
            check(&pair);
        }
        end(&pair);
    }
    assert_int_equal(mem_used(), used);
}

static void a_capture_takes_memory_for_what_changes(void **state) {
    struct random *random = *state;
    struct pair pair;
    begin(&pair, random, 10 * PIECE);
    size_t used = mem_used();
    capture(&pair);
    size_t own = mem_used() - used, piece = mem_good_size(PIECE);
    size_t table = mem_good_size(10 * sizeof(char *));
    assert_int_equal(own, capture_allocated(pair.capture));
    assert_int_equal(pair.left, 0);
    assert_true(own < PIECE || PIECE < 100);
    static const struct {
        size_t from, to, copies;
    } writes[] = {{0, 1, 1},
                  {PIECE - 1, PIECE, 1},
                  {PIECE - 1, PIECE + 1, 2},
                  {5 * PIECE, 8 * PIECE, 5},
                  {7 * PIECE, 7 * PIECE, 5},
                  {10 * PIECE, 12 * PIECE, 5}}; /* what was not captured */
    for (size_t i = 0; i < sizeof(writes) / sizeof(*writes); i++) {
        shared_text_before_write(pair.shared, writes[i].from, writes[i].to);
        assert_int_equal(pair.left, table + writes[i].copies * piece);
        assert_int_equal(mem_used(), used + own + pair.left);
    }
    text_capture_pass(pair.capture, 9 * PIECE + 1);
    shared_text_before_write(pair.shared, 0, 9 * PIECE);
    assert_int_equal(pair.left, table + 5 * piece); /* these pieces are read already */
    text_capture_pass(pair.capture, 10 * PIECE);
    shared_text_before_write(pair.shared, 9 * PIECE, 10 * PIECE);
    assert_int_equal(pair.left, table + 5 * piece);
    release(&pair);
    assert_int_equal(mem_used(), used);
    shared_text_before_write(pair.shared, 0, 10 * PIECE);
    assert_int_equal(mem_used(), used);
    end(&pair);
}

static void a_text_that_the_owner_frees_is_the_captures(void **state) {
    struct random *random = *state;
    struct pair pair;
    size_t used = mem_used();
    begin(&pair, random, LEN);
    capture(&pair);
    size_t allocated = shared_text_allocated(pair.shared), before = mem_used();
    shared_text_free(pair.shared);
    pair.shared = NULL;
    assert_int_equal(pair.left, allocated);
    assert_int_equal(mem_used(), before);
    assert_true(read_all(&pair, random, 0, false));
    release(&pair);
    end(&pair);
    assert_int_equal(mem_used(), used);
}

static void what_is_taken_is_the_same_text(void **state) {
    struct pair pair;
    begin(&pair, *state, LEN);
    capture(&pair);
    release(&pair);
    sds text = pair.shared->text;
    assert_ptr_equal(shared_text_take(pair.shared), text);
    pair.shared = NULL;
    assert_memory_equal(text, pair.text, LEN);
    sds_free(text);
    end(&pair);
}

/* --- Several captures --- */

enum { CAPTURES = 6 };

/* Peeks at all of it from `passed` on; true when it is what was captured. */
static bool peek_all(const struct pair *pair, struct random *random, size_t passed) {
    bool same = true;
    for (size_t offset = passed; offset < pair->captured_len;) {
        size_t most = 1 + random_below(random, WRITE_MAX);
        struct slice part = text_capture_peek(pair->capture, offset, most);
        assert_true(part.len > 0 && part.len <= most && offset + part.len <= pair->captured_len);
        same = same && memcmp(part.ptr, pair->captured + offset, part.len) == 0;
        offset += part.len;
    }
    return same;
}

/* Begins, passes or releases one of the captures, which belong to the text of `owner`. */
static void change_capture(struct pair *owner, struct pair *captures, size_t *passed,
                           struct random *random) {
    size_t i = random_below(random, CAPTURES);
    struct pair *one = &captures[i];
    if (!one->capture) {
        if (!owner->shared) return;
        one->capture = text_capture_begin(owner->shared, i % 2 ? &owner->left : NULL);
        memcpy(one->captured, owner->text, owner->len);
        one->captured_len = owner->len;
        passed[i] = 0;
    } else if (random_below(random, 3) > 0) {
        passed[i] += random_below(random, (uint32_t)(one->captured_len - passed[i]) + 1);
        text_capture_pass(one->capture, passed[i]);
    } else {
        capture_release(one->capture);
        capture_free(one->capture);
        one->capture = NULL;
    }
}

static void each_of_several_captures_keeps_its_moment(void **state) {
    struct random *random = *state;
    size_t used = mem_used();
    for (int round = 0; round < 20; round++) {
        struct pair owner, captures[CAPTURES] = {0};
        size_t passed[CAPTURES] = {0};
        begin(&owner, random, 1 + random_below(random, LEN / 4));
        for (int i = 0; i < CAPTURES; i++) captures[i].captured = malloc(3 * LEN);
        for (int step = 0; step < 100; step++) {
            if (owner.shared) change(&owner, random);
            if (step == 80 && round % 2) {
                shared_text_free(owner.shared);
                owner.shared = NULL;
            }
            change_capture(&owner, captures, passed, random);
            check(&owner);
            for (int i = 0; i < CAPTURES; i++) {
                if (!captures[i].capture) continue;
                if (i == 1) assert_true(read_all(&captures[i], random, passed[i], false));
                assert_true(peek_all(&captures[i], random, passed[i]));
            }
        }
        for (int i = 0; i < CAPTURES; i++) {
            if (captures[i].capture) capture_release(captures[i].capture);
            if (captures[i].capture) capture_free(captures[i].capture);
            free(captures[i].captured);
        }
        assert_int_equal(owner.left, 0);
        end(&owner);
    }
    assert_int_equal(mem_used(), used);
}

static void a_write_is_copied_once_for_all_captures(void **state) {
    struct pair pair;
    begin(&pair, *state, 10 * PIECE);
    size_t before = mem_used(), left = 0;
    struct capture *captures[CAPTURES];
    for (int i = 0; i < CAPTURES; i++) captures[i] = text_capture_begin(pair.shared, &left);
    shared_text_before_write(pair.shared, 0, 3 * PIECE);
    size_t copied = left, table = mem_good_size(10 * sizeof(char *));
    assert_int_equal(copied, 3 * mem_good_size(PIECE) + table);
    for (int i = CAPTURES - 1; i >= 0; i--) { /* the newest first: its copies go to the next one */
        assert_int_equal(left, copied);
        assert_memory_equal(text_capture_peek(captures[i], 0, PIECE).ptr, pair.text, PIECE);
        assert_int_equal(capture_release(captures[i]), i > 0 ? table : copied);
        capture_free(captures[i]);
    }
    assert_int_equal(left, 0);
    assert_int_equal(mem_used(), before);
    end(&pair);
}

static void a_peek_is_long_where_nothing_was_copied(void **state) {
    struct pair pair;
    begin(&pair, *state, 10 * PIECE);
    capture(&pair);
    assert_int_equal(text_capture_peek(pair.capture, 3, LEN).len, 10 * PIECE - 3);
    assert_int_equal(text_capture_peek(pair.capture, 3, PIECE).len, PIECE);
    shared_text_before_write(pair.shared, 5 * PIECE, 6 * PIECE);
    assert_int_equal(text_capture_peek(pair.capture, 3, LEN).len, 5 * PIECE - 3);
    assert_int_equal(text_capture_peek(pair.capture, 5 * PIECE + 3, LEN).len, PIECE - 3);
    assert_int_equal(text_capture_peek(pair.capture, 6 * PIECE, LEN).len, 4 * PIECE);
    end(&pair);
}

/* --- Two threads --- */

struct reader {
    struct pair *pair;
    struct random random;
    bool same;
    bool done; /* atomic */
};

/* As the writer of a snapshot does: once for the size, once more to write. */
static void *run_reader(void *arg) {
    struct reader *reader = arg;
    reader->same = read_all(reader->pair, &reader->random, 0, false) &&
                   read_all(reader->pair, &reader->random, 0, true);
    __atomic_store_n(&reader->done, true, __ATOMIC_RELEASE);
    return NULL;
}

static void another_thread_reads_what_was_captured(void **state) {
    struct random *random = *state;
    size_t used = mem_used(), changes = 0;
    for (int round = 0; round < 40; round++) {
        struct pair pair;
        begin(&pair, random, LEN);
        capture(&pair);
        struct reader reader = {.pair = &pair};
        random_seed(&reader.random, random_next(random));
        struct capture *another = NULL;
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, run_reader, &reader), 0);
        while (pair.shared && !__atomic_load_n(&reader.done, __ATOMIC_ACQUIRE)) {
            change(&pair, random);
            changes++;
            if (!another) another = text_capture_begin(pair.shared, NULL);
            if (another && random_below(random, 3) == 0) {
                capture_release(another);
                capture_free(another);
                another = NULL;
            }
            if (random_below(random, 300) > 0) continue;
            shared_text_free(pair.shared);
            pair.shared = NULL;
        }
        pthread_join(thread, NULL);
        assert_true(reader.same);
        check(&pair);
        if (another) capture_release(another);
        end(&pair);
        if (another) capture_free(another);
    }
    assert_true(changes > 40);
    assert_true(mem_used() <= used + 65536); /* threads may keep some */
}

/* The flags order nothing (they are relaxed), so that a thread sanitizer sees what the text does. */
struct freer {
    struct shared_text *shared;
    bool begins;
    bool done;
    bool was_captured;
};

static void set(bool *flag) {
    __atomic_store_n(flag, true, __ATOMIC_RELAXED);
}

static void await(const bool *flag) {
    while (!__atomic_load_n(flag, __ATOMIC_RELAXED)) sched_yield();
}

static void *run_freer(void *arg) {
    struct freer *freer = arg;
    set(&freer->begins);
    freer->was_captured = shared_text_is_captured(freer->shared);
    if (!freer->was_captured) shared_text_free(freer->shared);
    set(&freer->done);
    return NULL;
}

static void read_captured(const struct pair *pair, const struct capture *capture) {
    for (size_t at = 0; at < pair->len;) {
        struct slice part = text_capture_peek(capture, at, PIECE);
        assert_memory_equal(part.ptr, pair->text + at, part.len);
        at += part.len;
    }
}

/* As FLUSHALL ASYNC does, while replies release their captures. */
static void another_thread_frees_a_text_without_captures(void **state) {
    struct random *random = *state;
    size_t used = mem_used();
    for (int round = 0; round < 200; round++) {
        struct pair pair;
        begin(&pair, random, 3 * PIECE);
        struct freer freer = {.shared = pair.shared};
        struct capture *captures[CAPTURES];
        size_t count = 1 + random_below(random, CAPTURES), kept = random_below(random, 2);
        for (size_t i = 0; i < count; i++) captures[i] = text_capture_begin(pair.shared, NULL);
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, run_freer, &freer), 0);
        await(&freer.begins);
        if (random_below(random, 2)) await(&freer.done);
        while (count > kept) {
            size_t at = random_below(random, (uint32_t)count);
            if (random_below(random, 2)) read_captured(&pair, captures[at]);
            capture_end(captures[at]);
            captures[at] = captures[--count];
        }
        pthread_join(thread, NULL);
        assert_true(freer.was_captured || kept == 0);
        if (freer.was_captured) shared_text_free(pair.shared);
        if (kept) read_captured(&pair, captures[0]);
        if (kept) capture_end(captures[0]);
        pair.shared = NULL;
        end(&pair);
    }
    assert_true(mem_used() <= used + 65536); /* threads may keep some */
}

int main(void) {
    struct random random = random_of_this_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(a_capture_keeps_its_moment_through_any_changes, &random),
        cmocka_unit_test_prestate(a_capture_takes_memory_for_what_changes, &random),
        cmocka_unit_test_prestate(a_text_that_the_owner_frees_is_the_captures, &random),
        cmocka_unit_test_prestate(what_is_taken_is_the_same_text, &random),
        cmocka_unit_test_prestate(each_of_several_captures_keeps_its_moment, &random),
        cmocka_unit_test_prestate(a_write_is_copied_once_for_all_captures, &random),
        cmocka_unit_test_prestate(a_peek_is_long_where_nothing_was_copied, &random),
        cmocka_unit_test_prestate(another_thread_reads_what_was_captured, &random),
        cmocka_unit_test_prestate(another_thread_frees_a_text_without_captures, &random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
