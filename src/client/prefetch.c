#include "client/prefetch.h"

#include "resp/peek.h"

enum {
    /* Requests whose keys are loaded together; their cache lines must fit into the first-level
     * cache. */
    DEPTH = 16,
    /* A keyspace with fewer keys is assumed to be in the caches. */
    KEYS_MIN = 8192
};

size_t prefetch_keys(const struct keyspace *keyspace, struct slice first, const char *bytes,
                     size_t len) {
    uint64_t hashes[DEPTH];
    size_t count = 1, size;
    struct slice key;
    if (keyspace_count(keyspace) < KEYS_MIN) return DEPTH - 1;
    hashes[0] = keyspace_prefetch(keyspace, first);
    for (; count < DEPTH && (size = resp_peek(bytes, len, &key)) > 0; count++) {
        hashes[count] = keyspace_prefetch(keyspace, key);
        bytes += size;
        len -= size;
    }
    for (size_t i = 0; i < count; i++) keyspace_prefetch_entry(keyspace, hashes[i]);
    return count - 1;
}
