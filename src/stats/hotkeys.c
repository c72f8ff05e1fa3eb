#include "stats/hotkeys.h"

#include "base/hash/hash.h"
#include "base/memory/alloc.h"

#include <stdlib.h>
#include <sys/resource.h>

static void read_processor_time(uint64_t *user_ms, uint64_t *system_ms) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    *user_ms = (uint64_t)usage.ru_utime.tv_sec * 1000 + (uint64_t)usage.ru_utime.tv_usec / 1000;
    *system_ms = (uint64_t)usage.ru_stime.tv_sec * 1000 + (uint64_t)usage.ru_stime.tv_usec / 1000;
}

void hotkeys_begin(struct hotkeys *hotkeys, const struct hotkeys *description) {
    hotkeys_reset(hotkeys);
    *hotkeys = *description;
    hotkeys->is_active = hotkeys->exists = true;
    for (int metric = 0; metric < HOTKEYS_METRICS; metric++) {
        if (!hotkeys->has[metric]) continue;
        hotkeys->tables[metric] = mem_alloc(sizeof(struct hotkeys_table));
        hotkeys->tables[metric]->count = 0;
    }
    read_processor_time(&hotkeys->user_ms, &hotkeys->system_ms);
}

void hotkeys_processor_time(const struct hotkeys *hotkeys, uint64_t *user_ms, uint64_t *system_ms) {
    *user_ms = hotkeys->user_ms;
    *system_ms = hotkeys->system_ms;
    if (!hotkeys->is_active) return;
    read_processor_time(user_ms, system_ms);
    *user_ms -= hotkeys->user_ms;
    *system_ms -= hotkeys->system_ms;
}

void hotkeys_end(struct hotkeys *hotkeys, int64_t now_ms) {
    uint64_t user_ms, system_ms;
    if (!hotkeys->is_active) return;
    hotkeys_processor_time(hotkeys, &user_ms, &system_ms);
    hotkeys->is_active = false;
    hotkeys->user_ms = user_ms;
    hotkeys->system_ms = system_ms;
    if (!hotkeys->end_ms || now_ms < hotkeys->end_ms) hotkeys->end_ms = now_ms;
}

void hotkeys_reset(struct hotkeys *hotkeys) {
    for (int metric = 0; metric < HOTKEYS_METRICS; metric++) {
        struct hotkeys_table *table = hotkeys->tables[metric];
        for (size_t i = 0; table && i < table->count; i++) sds_free(table->keys[i].key);
        mem_free(table);
    }
    *hotkeys = (struct hotkeys){0};
}

/* Returns the counter of the key, or the one that it takes over. */
static struct hotkey *counter_of(struct hotkeys_table *table, struct slice key, uint64_t hash) {
    struct hotkey *least = &table->keys[0];
    for (struct hotkey *at = table->keys; at < table->keys + table->count; at++) {
        if (at->hash == hash && slice_equal(sds_slice(at->key), key)) return at;
        if (at->amount < least->amount) least = at;
    }
    if (table->count < HOTKEYS_KEPT)
        *(least = &table->keys[table->count++]) = (struct hotkey){0};
    else
        sds_free(least->key);
    least->hash = hash;
    least->key = sds_new(key);
    return least;
}

void hotkeys_add(struct hotkeys *hotkeys, enum hotkeys_metric metric, struct slice key,
                 uint64_t amount) {
    if (key.len > HOTKEYS_KEY_MAX) key.len = HOTKEYS_KEY_MAX;
    if (hotkeys->tables[metric])
        counter_of(hotkeys->tables[metric], key, hash_bytes(key))->amount += amount;
}

static int by_amount(const void *a, const void *b) {
    uint64_t left = ((const struct hotkey *)a)->amount, right = ((const struct hotkey *)b)->amount;
    return (left < right) - (left > right);
}

void hotkeys_sort(struct hotkeys_table *table) {
    qsort(table->keys, table->count, sizeof(table->keys[0]), by_amount);
}
