/* keyspace_bench: what the keyspace costs, in ns per operation and bytes per key.
 *
 *      make benchmarks
 *      build/release/utils/bench/keyspace_bench [keys ...]          default 100000 10000000
 *
 * Keys are "key:N" with a 13-byte value, visited in a random order. "Longest" is the slowest single
 * keyspace_add during which the thread was not switched out: everything that growing costs. */
#define _GNU_SOURCE /* RUSAGE_THREAD */
#include "base/clock.h"
#include "base/hash/hash.h"
#include "base/memory/alloc.h"
#include "base/text/number.h"
#include "ds/hashtable_internal.h"
#include "store/keyspace.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

enum { VALUE_SIZE = 14, BATCH = 16 };

static uint64_t no_length(const struct entry *entry) {
    (void)entry;
    return 0;
}

static void free_entry(struct entry *entry) {
    entry_free(entry, VALUE_SIZE);
}

struct key {
    char text[24];
    size_t len;
};

static struct slice key_of(struct key *key, uint64_t number) {
    memcpy(key->text, "key:", 4);
    key->len = 4 + number_format_uint64(key->text + 4, number);
    return slice_make(key->text, key->len);
}

static uint32_t *shuffled(size_t count, struct random *random) {
    uint32_t *order = mem_alloc(count * sizeof(*order));
    for (size_t i = 0; i < count; i++) order[i] = (uint32_t)i;
    for (size_t i = count; i > 1; i--) {
        size_t j = random_below(random, i);
        uint32_t swap = order[i - 1];
        order[i - 1] = order[j];
        order[j] = swap;
    }
    return order;
}

static void report(const char *what, size_t count, int64_t start_us) {
    int64_t took_us = clock_monotonic_us() - start_us;
    printf("  %-34s %7.1f ns\n", what, 1000.0 * (double)took_us / (double)count);
}

static void print_bytes(const struct keyspace *keyspace) {
    double count = (double)keyspace_count(keyspace);
    const struct hashtable *table = keyspace_table(keyspace, ALL_KEYS);
    printf("  %9.0f keys: %5.2f bytes of table per key, %.2f keys per bucket\n", count,
           (double)keyspace_table_allocated(keyspace) / count,
           count / (double)table->buckets.count);
}

static long switches(void) {
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw + usage.ru_nivcsw;
}

/* Single adds: they count only when their batch was not interrupted by the scheduler. */
struct longest {
    uint64_t ticks, batch_ticks, switched_ticks;
    long switches;
};

static void longest_note(struct longest *longest, uint64_t ticks, bool batch_ends) {
    if (ticks > longest->batch_ticks) longest->batch_ticks = ticks;
    if (!batch_ends) return;
    long now = switches();
    uint64_t *to = now == longest->switches ? &longest->ticks : &longest->switched_ticks;
    if (longest->batch_ticks > *to) *to = longest->batch_ticks;
    longest->batch_ticks = 0;
    longest->switches = now;
}

static void bench_insert(struct keyspace *keyspace, const uint32_t *order, size_t count) {
    struct longest longest = {.switches = switches()};
    size_t next_print = count / 16;
    int64_t start_us = clock_monotonic_us();
    for (size_t i = 0; i < count; i++) {
        struct key key;
        struct slice text = key_of(&key, order[i]);
        struct keyref ref = keyspace_find(keyspace, text);
        struct entry *entry = entry_new(text, VALUE_STRING, 0, VALUE_SIZE);
        uint64_t before = clock_ticks();
        keyspace_add(&ref, entry);
        longest_note(&longest, clock_ticks() - before, i % 32 == 31);
        if (i + 1 == next_print) print_bytes(keyspace), next_print += next_print / 6 + 1;
    }
    report("find (absent), entry_new, add", count, start_us);
    printf("  %-34s %7lu us (%lu us when switched out)\n", "longest add",
           (unsigned long)clock_ticks_to_us(longest.ticks),
           (unsigned long)clock_ticks_to_us(longest.switched_ticks));
}

static size_t bench_batches(struct keyspace *keyspace, const uint32_t *order, size_t count) {
    size_t found = 0;
    int64_t start_us = clock_monotonic_us();
    for (size_t i = 0; i + BATCH <= count; i += BATCH) {
        struct key keys[BATCH];
        struct hashtable_lookup lookups[BATCH];
        for (int b = 0; b < BATCH; b++) {
            lookups[b] = keyspace_prefetch(keyspace, key_of(&keys[b], order[i + (size_t)b]));
        }
        for (int b = 0; b < BATCH; b++) hashtable_prefetch_item(&lookups[b]);
        for (int b = 0; b < BATCH; b++) {
            struct slice text = slice_make(keys[b].text, keys[b].len);
            found += keyspace_find_hashed(keyspace, text, lookups[b].hash).entry != NULL;
        }
    }
    report("find, 16 at a time with prefetch", count, start_us);
    return found;
}

static void bench_find(struct keyspace *keyspace, const uint32_t *order, size_t count) {
    size_t found = 0;
    struct key key;
    int64_t start_us = clock_monotonic_us();
    for (size_t i = 0; i < count; i++) {
        found += keyspace_find(keyspace, key_of(&key, order[i])).entry != NULL;
    }
    report("find", count, start_us);
    start_us = clock_monotonic_us();
    for (size_t i = 0; i < count; i++) {
        found += keyspace_find(keyspace, key_of(&key, count + order[i])).entry != NULL;
    }
    report("find (absent)", count, start_us);
    found += bench_batches(keyspace, order, count);
    struct slice hot = key_of(&key, order[0]);
    start_us = clock_monotonic_us();
    for (size_t i = 0; i < count; i++) found += keyspace_find(keyspace, hot).entry != NULL;
    report("find, the same key again", count, start_us);
    if (found < 3 * count - BATCH) printf("  keys are missing!\n");
}

static void bench_delete(struct keyspace *keyspace, const uint32_t *order, size_t count) {
    int64_t start_us = clock_monotonic_us();
    for (size_t i = 0; i < count; i++) {
        struct key key;
        struct keyref ref = keyspace_find(keyspace, key_of(&key, order[i]));
        keyspace_delete(&ref);
        if (i + 1 == count / 2 || i + 1 == count / 4 * 3) print_bytes(keyspace);
    }
    report("find and delete", count, start_us);
    printf("  table after the last delete: %zu bytes\n", keyspace_table_allocated(keyspace));
}

static void bench(size_t count) {
    struct random random;
    random_seed(&random, 1);
    uint32_t *order = shuffled(count, &random);
    size_t before = mem_used();
    struct keyspace *keyspace = keyspace_new(free_entry, no_length);
    printf("%zu keys\n", count);
    bench_insert(keyspace, order, count);
    print_bytes(keyspace);
    printf("  %.2f bytes per key with its entry\n", (double)(mem_used() - before) / (double)count);
    mem_free(order);
    order = shuffled(count, &random);
    bench_find(keyspace, order, count);
    bench_delete(keyspace, order, count);
    mem_free(order);
    keyspace_free(keyspace);
}

int main(int argc, char **argv) {
    clock_init();
    hash_init();
    if (argc < 2) bench(100000), bench(10000000);
    for (int i = 1; i < argc; i++) bench(strtoul(argv[i], NULL, 10));
    return 0;
}
