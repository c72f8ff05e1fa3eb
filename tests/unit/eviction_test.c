/* Which key is evicted: the pool against a model, each policy on small keyspaces, and how close sampled
 * LRU comes to the exact order. */
#include "store/eviction.h"

#include "store/keyspace.h"

#include "base/hash/hash.h"
#include "base/memory/alloc.h"
#include "unit/seed.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { VALUE_SIZE = 4 };

static struct random start(void) {
    struct random random = random_of_this_run();
    hash_init_seed(random_next(&random));
    return random;
}

/* --- The pool --- */

static int compare_scores(const void *a, const void *b) {
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

/* Offered distinct entries, the pool keeps the highest scores, and gives them highest first. */
static void the_pool_keeps_the_best(void **state) {
    (void)state;
    struct random random = start();
    for (size_t count = 0; count < 4 * EVICTION_POOL_SIZE; count++) {
        struct eviction_pool pool = {0};
        uint64_t scores[4 * EVICTION_POOL_SIZE];
        for (size_t i = 0; i < count; i++) {
            scores[i] = random_below(&random, 50);
            struct eviction_candidate candidate = {.score = scores[i],
                                                   .entry = (const void *)(16 * (i + 1))};
            if (eviction_pool_wants(&pool, scores[i])) eviction_pool_offer(&pool, &candidate);
            assert_true(eviction_pool_check(&pool));
        }
        qsort(scores, count, sizeof(scores[0]), compare_scores);
        struct eviction_candidate best;
        size_t taken = 0;
        for (; eviction_pool_take(&pool, &best); taken++)
            assert_true(best.score == scores[count - 1 - taken]);
        assert_int_equal(taken, count < EVICTION_POOL_SIZE ? count : EVICTION_POOL_SIZE);
    }
}

static void an_entry_stands_in_the_pool_once(void **state) {
    (void)state;
    struct random random = start();
    struct eviction_pool pool = {0};
    uint64_t last[8] = {0};
    for (int step = 0; step < 2000; step++) {
        size_t which = random_below(&random, 8);
        struct eviction_candidate candidate = {.score = random_below(&random, 1000),
                                               .entry = (const void *)(16 * (which + 1))};
        if (!eviction_pool_wants(&pool, candidate.score)) continue;
        last[which] = candidate.score;
        eviction_pool_offer(&pool, &candidate);
        assert_true(eviction_pool_check(&pool));
    }
    struct eviction_candidate best;
    while (eviction_pool_take(&pool, &best))
        assert_true(best.score == last[(uintptr_t)best.entry / 16 - 1]);
}

/* --- Keys --- */

static void free_entry(struct entry *entry) {
    entry_free(entry, VALUE_SIZE);
}

static uint64_t value_length(const struct entry *entry) {
    (void)entry;
    return VALUE_SIZE;
}

static uint32_t number_of(const struct entry *entry) {
    uint32_t number;
    memcpy(&number, entry_value(entry), sizeof(number));
    return number;
}

static struct keyref find(struct keyspace *keyspace, uint32_t number) {
    char text[16];
    int len = snprintf(text, sizeof(text), "k%u", number);
    return keyspace_find(keyspace, slice_make(text, (size_t)len));
}

static struct keyref add(struct keyspace *keyspace, uint32_t number, uint32_t clock) {
    char text[16];
    int len = snprintf(text, sizeof(text), "k%u", number);
    struct keyref ref = keyspace_find(keyspace, slice_make(text, (size_t)len));
    struct entry *entry = entry_new(slice_make(text, (size_t)len), VALUE_STRING, 0, VALUE_SIZE);
    memcpy(entry_value(entry), &number, sizeof(number));
    entry_set_clock(entry, clock);
    keyspace_add(&ref, entry);
    return ref;
}

/* Chooses, deletes, and returns the number of what was chosen; -1 when nothing may go. */
static int64_t evict(struct eviction_pool *pool, struct keyspace *const *keyspaces, int count,
                     const struct eviction_rules *rules, struct random *random, int *database) {
    struct keyref ref;
    if (!eviction_choose(pool, keyspaces, count, rules, random, database, &ref)) return -1;
    assert_ptr_equal(ref.keyspace, keyspaces[*database]);
    int64_t number = number_of(ref.entry);
    assert_ptr_equal(find(ref.keyspace, (uint32_t)number).entry, ref.entry);
    keyspace_delete(&ref);
    assert_true(eviction_pool_check(pool));
    assert_true(keyspace_check(keyspaces[*database]));
    return number;
}

/* So few keys that each choice sees them all: then the order is exact. */
static void check_order(const struct eviction_rules *rules, const uint32_t *clocks,
                        const int64_t *expiries, const int64_t *order, size_t count) {
    struct random random = start();
    struct eviction_pool pool = {0};
    struct keyspace *keyspace = keyspace_new(free_entry, value_length);
    int database;
    for (uint32_t i = 0; i < 3; i++) {
        struct keyref ref = add(keyspace, i, clocks[i]);
        if (expiries && expiries[i] >= 0) keyspace_set_expiry(&ref, expiries[i], VALUE_SIZE);
    }
    for (size_t i = 0; i < count; i++)
        assert_int_equal(evict(&pool, &keyspace, 1, rules, &random, &database), order[i]);
    assert_int_equal(evict(&pool, &keyspace, 1, rules, &random, &database), -1);
    keyspace_free(keyspace);
}

static void each_policy_has_its_order(void **state) {
    (void)state;
    const uint32_t idle[] = {90, 10, 50}, everything = 1000;
    struct eviction_rules rules = {.policy = EVICTION_ALLKEYS_LRU,
                                   .samples = everything,
                                   .lru_clock = 100,
                                   .lfu_minute = 20,
                                   .lfu = {.log_factor = 10, .decay_minutes = 1}};
    check_order(&rules, idle, NULL, (const int64_t[]){1, 2, 0}, 3);
    rules.policy = EVICTION_VOLATILE_LRU;
    check_order(&rules, idle, (const int64_t[]){5, -1, 7}, (const int64_t[]){2, 0}, 2);
    rules.policy = EVICTION_VOLATILE_TTL;
    check_order(&rules, idle, (const int64_t[]){900, 100, 500}, (const int64_t[]){1, 2, 0}, 3);
    check_order(&rules, idle, (const int64_t[]){900, -1, -1}, (const int64_t[]){0}, 1);
    rules.policy = EVICTION_ALLKEYS_LFU; /* decay: 30 - 15, 10 - 0, 16 - 0 */
    const uint32_t used[] = {access_lfu_make(5, 30), access_lfu_make(20, 10),
                             access_lfu_make(20, 16)};
    check_order(&rules, used, NULL, (const int64_t[]){1, 0, 2}, 3);
    rules.policy = EVICTION_VOLATILE_LFU;
    check_order(&rules, used, (const int64_t[]){1, -1, 1}, (const int64_t[]){0, 2}, 2);
    rules.policy = EVICTION_NONE;
    check_order(&rules, idle, (const int64_t[]){1, 1, 1}, NULL, 0);
}

/* The key with LRU bits counts as created in minute 16: 5 - 4; the one with LFU bits as used in
 * minute 10: before the others by the clock of LRU. */
static void bits_from_before_a_change_of_the_policy_have_their_place(void **state) {
    (void)state;
    struct eviction_rules rules = {.policy = EVICTION_ALLKEYS_LRU,
                                   .samples = 1000,
                                   .lru_clock = 0xFFFFFF,
                                   .lfu_minute = 16,
                                   .lfu = {.log_factor = 10, .decay_minutes = 1}};
    const uint32_t clocks[] = {0xFFFFF0, access_lfu_make(20, 2), access_lfu_make(20, 0)};
    eviction_set_policy(&rules, EVICTION_ALLKEYS_LFU);
    rules.lfu_minute = 20;
    eviction_set_policy(&rules, EVICTION_VOLATILE_LFU);
    assert_int_equal(eviction_frequency(&rules, clocks[0]), 1);
    rules.policy = EVICTION_ALLKEYS_LFU;
    check_order(&rules, clocks, NULL, (const int64_t[]){2, 0, 1}, 3);
    const uint32_t used[] = {0xFFFFF0, access_lfu_make(10, 255), 0xFFFFF8};
    eviction_set_policy(&rules, EVICTION_ALLKEYS_LRU);
    assert_int_equal(eviction_idle_seconds(&rules, used[1]), 9 * 60);
    check_order(&rules, used, NULL, (const int64_t[]){1, 0, 2}, 3);
}

static void random_policies_take_any_key_that_may_go(void **state) {
    (void)state;
    enum { KEYS = 60 };
    struct random random = start();
    const enum eviction_policy policies[] = {EVICTION_ALLKEYS_RANDOM, EVICTION_VOLATILE_RANDOM};
    for (size_t p = 0; p < 2; p++) {
        struct eviction_rules rules = {.policy = policies[p], .samples = 5};
        struct eviction_pool pool = {0};
        struct keyspace *keyspaces[3];
        for (int i = 0; i < 3; i++) keyspaces[i] = keyspace_new(free_entry, value_length);
        for (uint32_t i = 0; i < KEYS; i++) {
            struct keyref ref = add(keyspaces[i % 2 * 2], i, 1); /* databases 0 and 2 */
            if (i % 4 < 2) keyspace_set_expiry(&ref, 99, VALUE_SIZE);
        }
        bool gone[KEYS] = {false};
        size_t count = 0;
        int database;
        int64_t number;
        while ((number = evict(&pool, keyspaces, 3, &rules, &random, &database)) >= 0) {
            assert_false(gone[number]);
            assert_int_equal(database, number % 2 * 2);
            assert_true(policies[p] == EVICTION_ALLKEYS_RANDOM || number % 4 < 2);
            gone[number] = true;
            count++;
        }
        assert_int_equal(count, policies[p] == EVICTION_ALLKEYS_RANDOM ? KEYS : KEYS / 2);
        for (int i = 0; i < 3; i++) keyspace_free(keyspaces[i]);
    }
}

/* Between choices anything may happen to what the pool remembers: keys go, come back at the same
 * address, are used again, lose their expiry. */
static void what_the_pool_remembers_may_be_gone(void **state) {
    (void)state;
    enum { KEYS = 200, STEPS = 20000 };
    struct random random = start();
    struct eviction_pool pool = {0};
    struct eviction_rules rules = {.policy = EVICTION_VOLATILE_LRU, .samples = 5};
    struct keyspace *keyspace = keyspace_new(free_entry, value_length);
    int database;
    for (uint32_t step = 0; step < STEPS; step++) {
        rules.lru_clock = step;
        struct keyref ref = find(keyspace, (uint32_t)random_below(&random, KEYS));
        uint64_t dice = random_below(&random, 8);
        if (ref.entry && dice == 0)
            keyspace_delete(&ref);
        else if (ref.entry && dice < 3)
            keyspace_set_expiry(&ref, dice == 1 ? -1 : 50, VALUE_SIZE);
        else if (ref.entry)
            entry_set_clock(ref.entry, step);
        else if (dice < 7)
            ref = add(keyspace, (uint32_t)random_below(&random, KEYS) + KEYS * (step + 1), step);
        if (dice == 7) {
            size_t expiring = keyspace_count_of(keyspace, EXPIRING_KEYS);
            int64_t evicted = evict(&pool, &keyspace, 1, &rules, &random, &database);
            assert_true((evicted >= 0) == (expiring > 0));
            assert_int_equal(keyspace_count_of(keyspace, EXPIRING_KEYS), expiring - (evicted >= 0));
        }
        while (keyspace_count(keyspace) < KEYS / 2) {
            uint32_t number = (uint32_t)random_below(&random, KEYS);
            if (find(keyspace, number).entry) continue;
            ref = add(keyspace, number, step);
            if (number % 2) keyspace_set_expiry(&ref, 60, VALUE_SIZE);
        }
    }
    keyspace_free(keyspace);
}

/* Each look at a bucket draws one random number, so the draws count the work. */
static void the_keys_bound_the_work_of_a_choice(void **state) {
    (void)state;
    enum { KEYS = 10, OTHER_DRAWS = 8 };
    struct random random = start();
    struct eviction_pool pool = {0};
    struct eviction_rules rules = {.policy = EVICTION_ALLKEYS_LRU, .samples = 1000000};
    struct keyspace *keyspace = keyspace_new(free_entry, value_length);
    for (uint32_t i = 0; i < KEYS; i++) add(keyspace, i, i);
    struct random replayed = random;
    struct keyref ref;
    int database;
    assert_true(eviction_choose(&pool, &keyspace, 1, &rules, &random, &database, &ref));
    int draws = 0;
    for (; memcmp(&replayed, &random, sizeof(random)) && draws < 1000; draws++)
        random_next(&replayed);
    assert_true(draws <= KEYS + OTHER_DRAWS);
    keyspace_free(keyspace);
}

/* --- How good LRU is --- */

#ifdef TINY_LIMITS
enum { UNIVERSE = 3000, ROOM = 600, REQUESTS = 40000 };
#else
enum { UNIVERSE = 20000, ROOM = 4000, REQUESTS = 300000 };
#endif

/* Requests whose popularity falls with the rank to the power of -0.9. */
static uint32_t *make_requests(struct random *random) {
    double *below = mem_alloc(UNIVERSE * sizeof(*below)), sum = 0;
    for (int i = 0; i < UNIVERSE; i++) below[i] = sum += pow(i + 1, -0.9);
    uint32_t *requests = mem_alloc(REQUESTS * sizeof(*requests));
    for (int i = 0; i < REQUESTS; i++) {
        double draw = (double)(random_next(random) >> 11) / 9007199254740992.0 * sum;
        int low = 0, high = UNIVERSE - 1;
        while (low < high) {
            int middle = (low + high) / 2;
            if (below[middle] < draw)
                low = middle + 1;
            else
                high = middle;
        }
        requests[i] = (uint32_t)low;
    }
    mem_free(below);
    return requests;
}

/* Hits of a cache with the exact order: a list of keys by their last use. */
static int exact_hits(const uint32_t *requests) {
    enum { END = UNIVERSE };
    uint32_t *next = mem_alloc((UNIVERSE + 1) * sizeof(*next));
    uint32_t *prev = mem_alloc((UNIVERSE + 1) * sizeof(*prev));
    bool *cached = mem_alloc_zeroed(UNIVERSE);
    int hits = 0, count = 0;
    next[END] = prev[END] = END;
    for (int i = 0; i < REQUESTS; i++) {
        uint32_t key = requests[i];
        if (cached[key]) {
            hits++;
            next[prev[key]] = next[key], prev[next[key]] = prev[key];
        } else if (count == ROOM) {
            uint32_t oldest = prev[END];
            cached[oldest] = false;
            prev[END] = prev[oldest], next[prev[oldest]] = END;
        } else {
            count++;
        }
        cached[key] = true;
        next[key] = next[END], prev[key] = END;
        prev[next[END]] = key, next[END] = key;
    }
    mem_free(next), mem_free(prev), mem_free(cached);
    return hits;
}

static int sampled_hits(const uint32_t *requests, size_t samples, struct random *random) {
    struct eviction_rules rules = {.policy = EVICTION_ALLKEYS_LRU, .samples = samples};
    struct eviction_pool pool = {0};
    struct keyspace *keyspace = keyspace_new(free_entry, value_length);
    int hits = 0, database;
    for (uint32_t i = 0; i < REQUESTS; i++) {
        rules.lru_clock = i;
        struct keyref ref = find(keyspace, requests[i]);
        if (ref.entry) {
            hits++;
            entry_set_clock(ref.entry, i);
            continue;
        }
        if (keyspace_count(keyspace) == ROOM) {
            assert_true(eviction_choose(&pool, &keyspace, 1, &rules, random, &database, &ref));
            keyspace_delete(&ref);
        }
        add(keyspace, requests[i], i);
    }
    keyspace_free(keyspace);
    return hits;
}

static void sampled_lru_hits_nearly_as_often_as_exact_lru(void **state) {
    (void)state;
    struct random random = start();
    uint32_t *requests = make_requests(&random);
    double exact = exact_hits(requests) * 100.0 / REQUESTS;
    double five = sampled_hits(requests, 5, &random) * 100.0 / REQUESTS;
    double ten = sampled_hits(requests, 10, &random) * 100.0 / REQUESTS;
    printf("hits: exact %.2f %%, 5 samples %.2f %%, 10 samples %.2f %%\n", exact, five, ten);
    assert_true(five > exact - 1.5);
    assert_true(ten > exact - 1);
    mem_free(requests);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_pool_keeps_the_best),
        cmocka_unit_test(an_entry_stands_in_the_pool_once),
        cmocka_unit_test(each_policy_has_its_order),
        cmocka_unit_test(bits_from_before_a_change_of_the_policy_have_their_place),
        cmocka_unit_test(random_policies_take_any_key_that_may_go),
        cmocka_unit_test(what_the_pool_remembers_may_be_gone),
        cmocka_unit_test(the_keys_bound_the_work_of_a_choice),
        cmocka_unit_test(sampled_lru_hits_nearly_as_often_as_exact_lru),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
