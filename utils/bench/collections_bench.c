/* Memory of keys with sets or hashes, entries and keyspace included, and the time to add, look up
 * and iterate over them.
 *
 *     build/release/utils/bench/collections_bench [keys [fields]]     1000000 hashes of 5 fields */
#include "base/clock.h"
#include "base/hash/hash.h"
#include "base/memory/alloc.h"
#include "types/hash.h"
#include "types/value.h"

#include <stdio.h>
#include <stdlib.h>

static size_t keys = 1000000, fields = 5;
static int64_t begin_us;

static void report(const char *what) {
    double ns = 1000.0 * (double)(clock_monotonic_us() - begin_us) / (double)(keys * fields);
    printf("%-8s %7.1f ns a field\n", what, ns);
    begin_us = clock_monotonic_us();
}

static struct slice text_of(char buffer[64], const char *format, uint64_t number) {
    return slice_make(buffer, (size_t)snprintf(buffer, 64, format, (unsigned long long)number));
}

static void add(struct keyspace *keyspace, uint64_t i) {
    char key_bytes[64], field_bytes[64], value_bytes[64];
    struct slice key = text_of(key_bytes, "hash:%llu", i);
    struct keyref ref = keyspace_find(keyspace, key);
    for (uint64_t j = 0; j < fields; j++) {
        struct slice field = text_of(field_bytes, "field:%llu", j);
        struct slice value = text_of(value_bytes, "v%09llu", (i * 7 + j * 1000003) % 1000000000);
        if (ref.entry)
            hash_set(&ref, field, value, HASH_DROP_EXPIRY, HASH_ALL, &value_limits_default.hash);
        else
            hash_create(&ref, key, field, value, fields, &value_limits_default.hash);
    }
}

static size_t find(struct keyspace *keyspace, uint64_t i) {
    char bytes[64];
    struct entry *entry = keyspace_find(keyspace, text_of(bytes, "hash:%llu", i)).entry;
    size_t found = 0;
    for (uint64_t j = 0; j < fields; j++)
        found += hash_find(entry, text_of(bytes, "field:%llu", j), HASH_ALL, NULL);
    return found;
}

static size_t iterate(struct keyspace *keyspace, uint64_t i) {
    char bytes[64];
    struct hash_iter iter;
    struct record record;
    size_t sum = 0;
    hash_iter_start(&iter, keyspace_find(keyspace, text_of(bytes, "hash:%llu", i)).entry, HASH_ALL);
    while (hash_iter_next(&iter, &record)) sum += record.value.len;
    return sum;
}

int main(int argc, char **argv) {
    if (argc > 1) keys = strtoul(argv[1], NULL, 10);
    if (argc > 2) fields = strtoul(argv[2], NULL, 10);
    hash_init();
    size_t used = mem_used(), found = 0, bytes = 0;
    struct keyspace *keyspace = keyspace_new(value_free, value_length);
    begin_us = clock_monotonic_us();
    for (uint64_t i = 0; i < keys; i++) add(keyspace, i);
    report("add");
    printf("%.2f bytes a key\n", (double)(mem_used() - used) / (double)keys);
    for (uint64_t i = 0; i < keys; i++) found += find(keyspace, i * 7919 % keys);
    report("find");
    for (uint64_t i = 0; i < keys; i++) bytes += iterate(keyspace, i * 7919 % keys);
    report("iterate");
    keyspace_free(keyspace);
    return found == keys * fields && bytes == 10 * keys * fields ? 0 : 1;
}
