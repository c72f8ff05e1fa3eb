/* The access bits: idle times over the wrap, and the LFU counter's growth and decay. */
#include "store/access.h"

#include "base/hash/random.h"
#include "unit/in_range.h"
#include "unit/seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void idle_seconds_are_counted_over_the_wrap(void **state) {
    (void)state;
    const int64_t wrap_ms = (int64_t)(ACCESS_MASK + 1) * ACCESS_LRU_TICK_MS;
    const int64_t times[] = {0, 1000, wrap_ms - 500, 40 * wrap_ms + 123456};
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        uint32_t then = access_lru_at(times[i]);
        assert_true(then <= ACCESS_MASK);
        assert_int_equal(access_lru_idle(then, then), 0);
        for (int64_t seconds = 0; seconds < wrap_ms / 1000 - 1; seconds = seconds * 2 + 1) {
            uint32_t now = access_lru_at(times[i] + seconds * 1000);
            assert_int_equal(access_lru_idle_seconds(then, now), seconds);
        }
    }
}

static void the_past_is_as_far_away_as_it_was_said_to_be(void **state) {
    (void)state;
    const int64_t most_s = (int64_t)ACCESS_MASK * ACCESS_LRU_TICK_MS / 1000;
    const uint32_t times[] = {0, 1, 12345, ACCESS_MASK};
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        for (int64_t seconds = 0; seconds < most_s; seconds = seconds * 2 + 1) {
            uint32_t then = access_lru_before(times[i], seconds);
            assert_true(then <= ACCESS_MASK);
            assert_int_equal(access_lru_idle_seconds(then, times[i]), seconds);
        }
        uint32_t then = access_lru_before(times[i], INT64_MAX);
        assert_int_equal(access_lru_idle_seconds(then, times[i]), most_s);
    }
}

static void no_time_has_the_bits_of_a_new_entry(void **state) {
    (void)state;
    const int64_t wrap_ms = (int64_t)(ACCESS_MASK + 1) * ACCESS_LRU_TICK_MS;
    for (int64_t at_ms = wrap_ms - 2000; at_ms < wrap_ms + 2000; at_ms += ACCESS_LRU_TICK_MS) {
        uint32_t now = access_lru_at(at_ms);
        assert_int_not_equal(now, 0);
        for (int64_t seconds = 0; seconds < 4; seconds++) {
            uint32_t then = access_lru_before(now, seconds);
            assert_int_not_equal(then, 0);
            assert_int_equal(access_lru_idle_seconds(then, now), seconds);
        }
    }
}

static void idle_time_is_finer_than_a_second(void **state) {
    (void)state;
    uint32_t then = access_lru_at(1000000);
    assert_int_equal(access_lru_idle(then, access_lru_at(1000999)), 3);
    assert_int_equal(access_lru_idle_seconds(then, access_lru_at(1000999)), 0);
}

static void an_lfu_counter_falls_with_time(void **state) {
    (void)state;
    struct access_lfu_rules rules = {.log_factor = 10, .decay_minutes = 1};
    for (uint32_t start = 100; start <= 65500; start += 65400) { /* the minutes wrap */
        uint32_t bits = access_lfu_make(start, 200);
        for (uint32_t minutes = 0; minutes < 300; minutes++) {
            uint32_t now = (start + minutes) & ACCESS_LFU_MINUTES_MASK;
            uint32_t expected = minutes < 200 ? 200 - minutes : 0;
            assert_int_equal(access_lfu_frequency(bits, now, &rules), expected);
            assert_int_equal(access_lfu_idle_minutes(bits, now), minutes);
        }
    }
    rules.decay_minutes = 10;
    assert_int_equal(access_lfu_frequency(access_lfu_make(0, 50), 9, &rules), 50);
    assert_int_equal(access_lfu_frequency(access_lfu_make(0, 50), 95, &rules), 41);
    rules.decay_minutes = 0;
    assert_int_equal(access_lfu_frequency(access_lfu_make(0, 50), 60000, &rules), 50);
}

/* The counter after `uses` of a new key within one minute. */
static uint32_t counter_after(uint32_t uses, uint32_t log_factor, struct random *random) {
    struct access_lfu_rules rules = {.log_factor = log_factor, .decay_minutes = 1};
    uint32_t bits = access_lfu_make(7, ACCESS_LFU_FIRST);
    for (uint32_t i = 0; i < uses; i++) bits = access_lfu_use(bits, 7, &rules, random_next(random));
    assert_int_equal(access_lfu_idle_minutes(bits, 7), 0);
    return access_lfu_frequency(bits, 7, &rules);
}

static uint32_t mean_after(uint32_t uses, uint32_t log_factor, struct random *random) {
    enum { RUNS = 20 };
    uint32_t sum = 0;
    for (int i = 0; i < RUNS; i++) sum += counter_after(uses, log_factor, random);
    return sum / RUNS;
}

/* One step of the counter takes (counter - 5) * factor + 1 uses on average, so n uses lead to about
 * 5 + sqrt(2 n / factor). */
static void an_lfu_counter_grows_with_the_root_of_uses(void **state) {
    (void)state;
    struct random random = random_of_this_run();
    assert_uint_in_range(mean_after(100, 10, &random), 5 + 2, 5 + 6);
    assert_uint_in_range(mean_after(1000, 10, &random), 5 + 10, 5 + 18);
    assert_uint_in_range(mean_after(100000, 10, &random), 5 + 125, 5 + 155);
    assert_uint_in_range(mean_after(1000, 100, &random), 5 + 2, 5 + 6);
    assert_int_equal(counter_after(2000000, 10, &random), ACCESS_LFU_MAX);
}

static void with_factor_0_every_use_counts(void **state) {
    (void)state;
    struct random random = random_of_this_run();
    assert_int_equal(counter_after(100, 0, &random), 105);
    assert_int_equal(counter_after(1000, 0, &random), ACCESS_LFU_MAX);
}

static void a_use_begins_with_what_decay_has_left(void **state) {
    (void)state;
    struct access_lfu_rules rules = {.log_factor = 0, .decay_minutes = 1};
    uint32_t bits = access_lfu_use(access_lfu_make(10, 100), 40, &rules, 1);
    assert_int_equal(access_lfu_frequency(bits, 40, &rules), 71);
    assert_int_equal(access_lfu_idle_minutes(bits, 40), 0);
}

static void bits_of_the_other_form_are_read_as_what_they_say(void **state) {
    (void)state;
    struct access_lfu_rules rules = {.log_factor = 10, .decay_minutes = 1, .begin_minute = 65530};
    const uint32_t lru[] = {1, 255, 0x00FF00, ACCESS_MASK};
    for (size_t i = 0; i < sizeof(lru) / sizeof(lru[0]); i++) {
        uint32_t bits = access_as_lfu(lru[i], &rules);
        assert_int_equal(access_lfu_frequency(bits, 65530, &rules), ACCESS_LFU_FIRST);
        assert_int_equal(access_lfu_frequency(bits, 65533, &rules), ACCESS_LFU_FIRST - 3);
        assert_int_equal(access_lfu_frequency(bits, 10, &rules), 0);
        assert_int_equal(access_as_lru(lru[i], 7, 7), lru[i]);
    }
    const uint32_t minutes[] = {0, 1, 2, 61, 65535}, seconds[] = {0, 0, 60, 3600, 65534 * 60};
    for (size_t i = 0; i < sizeof(minutes) / sizeof(minutes[0]); i++) {
        uint32_t bits = access_lfu_make(40000, 200), now = 12345;
        uint32_t minute = (40000 + minutes[i]) & ACCESS_LFU_MINUTES_MASK;
        assert_int_equal(access_as_lfu(bits, &rules), bits);
        assert_int_equal(access_lru_idle_seconds(access_as_lru(bits, now, minute), now),
                         seconds[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(idle_seconds_are_counted_over_the_wrap),
        cmocka_unit_test(the_past_is_as_far_away_as_it_was_said_to_be),
        cmocka_unit_test(no_time_has_the_bits_of_a_new_entry),
        cmocka_unit_test(idle_time_is_finer_than_a_second),
        cmocka_unit_test(an_lfu_counter_falls_with_time),
        cmocka_unit_test(an_lfu_counter_grows_with_the_root_of_uses),
        cmocka_unit_test(with_factor_0_every_use_counts),
        cmocka_unit_test(a_use_begins_with_what_decay_has_left),
        cmocka_unit_test(bits_of_the_other_form_are_read_as_what_they_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
