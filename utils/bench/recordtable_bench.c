/* Memory and time of a table of records: how many bytes a record takes, and what adding, finding and
 * deleting one costs, in random order.
 *
 *     build/release/utils/bench/recordtable_bench [records [bytes of a field [bytes of a value]]] */
#include "base/clock.h"
#include "base/hash/hash.h"
#include "base/hash/random.h"
#include "base/memory/alloc.h"
#include "ds/records/recordtable.h"

#include <stdio.h>
#include <stdlib.h>

static size_t records = 5000000, field_len = 20, value_len = 20;
static char field_bytes[256], value_bytes[256];

/* Multiplying by an odd number makes another order of all numbers below 2^64. */
static struct slice field_of(uint64_t i) {
    snprintf(field_bytes, sizeof(field_bytes), "%0*llu", (int)field_len,
             (unsigned long long)(i * 0x9E3779B97F4A7C15ull));
    return slice_make(field_bytes, field_len);
}

static void report(const char *what, int64_t begin_us) {
    double ns = 1000.0 * (double)(clock_monotonic_us() - begin_us) / (double)records;
    printf("%-8s %7.1f ns a record\n", what, ns);
}

int main(int argc, char **argv) {
    if (argc > 1) records = strtoul(argv[1], NULL, 10);
    if (argc > 2) field_len = strtoul(argv[2], NULL, 10);
    if (argc > 3) value_len = strtoul(argv[3], NULL, 10);
    hash_init();
    size_t used = mem_used(), found = 0;
    struct recordtable *table = recordtable_new(value_len > 0);
    int64_t begin_us = clock_monotonic_us();
    for (uint64_t i = 0; i < records; i++) {
        struct record record = {field_of(i), slice_make(value_bytes, value_len), RECORD_NEVER};
        recordtable_set(table, &record, recordtable_hash(record.field));
    }
    report("add", begin_us);
    double bytes = (double)(mem_used() - used) / (double)records;
    printf("%.2f bytes a record, %.2f beside its texts\n", bytes,
           bytes - (double)(field_len + value_len));
    begin_us = clock_monotonic_us();
    for (uint64_t i = 0; i < records; i++) {
        struct slice field = field_of(i * 7919 % records);
        found += recordtable_find(table, field, recordtable_hash(field), NULL);
    }
    report("find", begin_us);
    begin_us = clock_monotonic_us();
    for (uint64_t i = 0; i < records; i++) {
        struct slice field = field_of(i);
        recordtable_delete(table, field, recordtable_hash(field));
    }
    report("delete", begin_us);
    recordtable_free(table);
    return found == records ? 0 : 1;
}
