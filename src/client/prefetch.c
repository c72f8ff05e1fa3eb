#include "client/prefetch.h"

#include "resp/peek.h"
#include "types/value.h"

enum {
    /* Requests whose keys are loaded together; their cache lines must fit into the first-level
     * cache. */
    DEPTH = 16,
    /* A keyspace with fewer keys is assumed to be in the caches. */
    KEYS_MIN = 8192
};

/* The entries, and then what their values point to, each step for all of them at once. */
static void prefetch_values(const struct keyspace *keyspace, const uint64_t *hashes, size_t count) {
    const struct entry *entries[DEPTH];
    uint64_t missed[DEPTH];
    size_t found = 0, misses = 0;
    for (size_t i = 0; i < count; i++) {
        const struct entry *entry = keyspace_prefetch_entry(keyspace, hashes[i]);
        entries[found] = entry;
        missed[misses] = hashes[i];
        found += entry != NULL;
        misses += entry == NULL;
    }
    for (size_t i = 0; i < misses; i++) {
        const struct entry *entry = keyspace_prefetch_overflow(keyspace, missed[i]);
        if (entry) entries[found++] = entry;
    }
    for (unsigned step = 0; found > 0; step++) {
        size_t left = 0;
        for (size_t i = 0; i < found; i++)
            if (value_prefetch(entries[i], step)) entries[left++] = entries[i];
        found = left;
    }
}

static __attribute__((noinline)) size_t prefetch_requests(const struct keyspace *keyspace,
                                                          struct slice first, const char *bytes,
                                                          size_t len) {
    uint64_t hashes[DEPTH];
    size_t count = 1, size;
    struct slice key;
    hashes[0] = keyspace_prefetch(keyspace, first);
    for (; count < DEPTH && (size = resp_peek(bytes, len, &key)) > 0; count++) {
        hashes[count] = keyspace_prefetch(keyspace, key);
        bytes += size;
        len -= size;
    }
    prefetch_values(keyspace, hashes, count);
    return count - 1;
}

size_t prefetch_keys(const struct keyspace *keyspace, struct slice first, const char *bytes,
                     size_t len) {
    if (keyspace_count(keyspace) < KEYS_MIN) return DEPTH - 1;
    return prefetch_requests(keyspace, first, bytes, len);
}
