/* keyspace_bench: what the keyspace costs, in ns per operation and bytes per key.
 *
 *      make benchmarks
 *      build/release/utils/bench/keyspace_bench [by-slot] [keys ...]      default 100000 10000000
 *
 * Keys are "key:N" with a 13-byte value, visited in a random order. "Longest" is the slowest single
 * keyspace_add during which the thread was not switched out: everything that growing costs. */
#define _GNU_SOURCE /* RUSAGE_THREAD */
#include "base/clock.h"
#include "base/hash/hash.h"
#include "base/memory/alloc.h"
#include "base/text/number.h"
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
    printf("  %9.0f keys: %5.2f bytes of table per key\n", count,
           (double)keyspace_table_allocated(keyspace) / count);
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

/* As requests of a pipeline and commands with many keys do it. */
static size_t bench_entries(struct keyspace *keyspace, const uint32_t *order, size_t count) {
    size_t found = 0;
    int64_t start_us = clock_monotonic_us();
    for (size_t i = 0; i + BATCH <= count; i += BATCH) {
        struct key keys[BATCH];
        struct slice texts[BATCH];
        const struct entry *entries[KEYSPACE_KEYS_AT_ONCE];
        for (int b = 0; b < BATCH; b++) texts[b] = key_of(&keys[b], order[i + (size_t)b]);
        keyspace_prefetch_entries(keyspace, texts, 1, BATCH, entries);
        for (int b = 0; b < BATCH; b++) found += keyspace_find(keyspace, texts[b]).entry != NULL;
    }
    report("find, 16 at a time as requests", count, start_us);
    return found;
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
    found += bench_entries(keyspace, order, count);
    struct slice hot = key_of(&key, order[0]);
    start_us = clock_monotonic_us();
    for (size_t i = 0; i < count; i++) found += keyspace_find(keyspace, hot).entry != NULL;
    report("find, the same key again", count, start_us);
    if (found < 4 * count - 2 * BATCH) printf("  keys are missing!\n");
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

static void count_visit(struct entry *entry, void *arg) {
    *(size_t *)arg += entry_key(entry).len > 0;
}

static void bench_all(struct keyspace *keyspace, size_t count) {
    size_t visited = 0;
    uint64_t cursor = 0;
    int64_t start_us = clock_monotonic_us();
    do cursor = keyspace_scan(keyspace, ALL_KEYS, cursor, count_visit, &visited);
    while (cursor != 0);
    report("scan", count, start_us);
    start_us = clock_monotonic_us();
    struct keyspace_iter iter;
    keyspace_iter_start(&iter, keyspace);
    for (const struct entry *entry; (entry = keyspace_iter_next(&iter)) != NULL;)
        visited += entry_key(entry).len > 0;
    report("iterate", count, start_us);
    if (visited < 2 * count) printf("  keys are missing!\n");
}

static void bench_random(struct keyspace *keyspace, size_t count, struct random *random) {
    enum { DRAWS = 1000000 };
    size_t empty = 0;
    int64_t start_us = clock_monotonic_us();
    for (int i = 0; i < DRAWS; i++)
        empty += entry_key(keyspace_random(keyspace, ALL_KEYS, random)).len == 0;
    report("random", DRAWS, start_us);
    if (empty > count) printf("  keys are empty!\n");
}

static void bench(size_t count, bool by_slot) {
    struct random random;
    random_seed(&random, 1);
    uint32_t *order = shuffled(count, &random);
    size_t before = mem_used();
    struct keyspace *keyspace =
        by_slot ? keyspace_new_by_slot(free_entry, no_length) : keyspace_new(free_entry, no_length);
    printf("%zu keys%s\n", count, by_slot ? ", by slot" : "");
    bench_insert(keyspace, order, count);
    print_bytes(keyspace);
    printf("  %.2f bytes per key with its entry\n", (double)(mem_used() - before) / (double)count);
    mem_free(order);
    order = shuffled(count, &random);
    bench_find(keyspace, order, count);
    bench_all(keyspace, count);
    bench_random(keyspace, count, &random);
    bench_delete(keyspace, order, count);
    mem_free(order);
    keyspace_free(keyspace);
}

int main(int argc, char **argv) {
    clock_init();
    hash_init();
    bool by_slot = argc > 1 && strcmp(argv[1], "by-slot") == 0;
    int first = by_slot ? 2 : 1;
    if (argc <= first) bench(100000, by_slot), bench(10000000, by_slot);
    for (int i = first; i < argc; i++) bench(strtoul(argv[i], NULL, 10), by_slot);
    return 0;
}
