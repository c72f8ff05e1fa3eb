/* rdb_bench: what it costs to write and to read an RDB file, in memory.
 *
 *      make benchmarks
 *      build/release/utils/bench/rdb_bench [elements [list | lists | strings]]      default 10000000
 *
 * Datasets: one list of so many elements of 40 bytes; a tenth as many lists of 5 times "hellohello";
 * so many strings. Reading adds each key to a keyspace, as loading does. Best of some rounds, since
 * other things of the machine only ever make it longer. */
#include "base/clock.h"
#include "base/hash/hash.h"
#include "base/memory/alloc.h"
#include "base/text/number.h"
#include "persist/rdb_file.h"
#include "types/list.h"
#include "types/string.h"
#include "types/value.h"

#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 5 };

static const struct quicklist_limits limits = {.fill = -2};

/* --- Datasets --- */

static void push(struct keyref *ref, struct slice key, struct slice element) {
    if (ref->entry)
        list_push(ref, LIST_TAIL, &element, 1, &limits);
    else
        list_create(ref, key, LIST_TAIL, &element, 1, &limits);
}

static void fill_long_list(struct keyspace *keyspace, size_t elements) {
    struct keyref ref = keyspace_find(keyspace, SLICE("list"));
    char text[48];
    for (size_t i = 0; i < elements; i++) {
        int len = snprintf(text, sizeof(text), "%040zu", i);
        push(&ref, SLICE("list"), slice_make(text, (size_t)len));
    }
}

static void fill_small_lists(struct keyspace *keyspace, size_t elements) {
    char key[32];
    for (size_t i = 0; i < elements / 10; i++) {
        struct slice name = slice_make(key, (size_t)snprintf(key, sizeof(key), "list:%zu", i));
        struct keyref ref = keyspace_find(keyspace, name);
        for (int k = 0; k < 5; k++) push(&ref, name, SLICE("hellohello"));
    }
}

static void fill_strings(struct keyspace *keyspace, size_t elements) {
    char key[32], value[32];
    for (size_t i = 0; i < elements; i++) {
        struct slice name = slice_make(key, (size_t)snprintf(key, sizeof(key), "key:%zu", i));
        struct keyref ref = keyspace_find(keyspace, name);
        string_set(&ref, name,
                   slice_make(value, (size_t)snprintf(value, sizeof(value), "value:%zu", i)));
    }
}

/* --- Writing --- */

/* A sink: memory that is there already. */
struct memory {
    uint8_t *bytes;
    size_t size, used;
};

static bool write_memory(void *arg, const void *bytes, size_t len) {
    struct memory *memory = arg;
    if (memory->size - memory->used < len) return false;
    memcpy(memory->bytes + memory->used, bytes, len);
    memory->used += len;
    return true;
}

static void write_keyspace(const struct keyspace *keyspace, struct memory *memory, bool compress,
                           bool checksum) {
    struct rdb_writer writer;
    struct keyspace_iter iter;
    struct entry *entry;
    memory->used = 0;
    rdb_writer_start(&writer, (struct rdb_sink){.write = write_memory, .arg = memory}, compress,
                     checksum);
    rdb_write_header(&writer, &(struct rdb_facts){.server_version = "7.2.4"});
    rdb_write_database(&writer, 0, keyspace_count(keyspace), 0);
    keyspace_iter_start(&iter, keyspace);
    while ((entry = keyspace_iter_next(&iter)))
        rdb_write_entry(&writer, entry, (struct rdb_usage){RDB_USAGE_NONE, 0});
    if (!rdb_write_end(&writer)) printf("  it was not written!\n");
    rdb_writer_end(&writer);
}

/* --- Reading --- */

/* A source: the same memory, in pieces, as a file would come. */
static ssize_t read_memory(void *arg, void *bytes, size_t room) {
    struct memory *memory = arg;
    size_t left = memory->size - memory->used;
    if (room > left) room = left;
    memcpy(bytes, memory->bytes + memory->used, room);
    memory->used += room;
    return (ssize_t)room;
}

static struct keyspace *read_keyspace(const struct memory *memory, bool checksum) {
    const struct rdb_file_options options = {.values = {.limits = {.list = limits}},
                                             .checksum = checksum};
    struct memory source = {.bytes = memory->bytes, .size = memory->used};
    struct keyspace *keyspace = keyspace_new(value_free, value_length);
    struct rdb_file file;
    struct rdb_file_item item;
    rdb_file_start(&file, (struct rdb_source){read_memory, &source}, &options);
    while (rdb_file_next(&file, &item) && item.kind != RDB_ITEM_END) {
        if (item.kind != RDB_ITEM_ENTRY) continue;
        struct keyref ref = keyspace_find(keyspace, entry_key(item.entry));
        if (!ref.entry) keyspace_add(&ref, item.entry);
    }
    const char *error = rdb_reader_error(&file.reader);
    if (error) printf("  it was not read: %s\n", error);
    rdb_file_finish(&file);
    return keyspace;
}

/* --- Measuring --- */

static void report(const char *what, int64_t took_us, size_t items, size_t bytes) {
    printf("  %-34s %7.1f ms %7.1f ns each %7.0f MB/s of file\n", what, (double)took_us / 1000,
           1000.0 * (double)took_us / (double)items, (double)bytes / (double)took_us);
}

static void measure(const struct keyspace *keyspace, struct memory *memory, size_t items,
                    bool compress, bool checksum) {
    int64_t writing_us = INT64_MAX, reading_us = INT64_MAX;
    for (int round = 0; round < ROUNDS; round++) {
        int64_t start_us = clock_monotonic_us();
        write_keyspace(keyspace, memory, compress, checksum);
        int64_t written_us = clock_monotonic_us();
        struct keyspace *again = read_keyspace(memory, checksum);
        int64_t read_us = clock_monotonic_us();
        keyspace_free(again);
        if (written_us - start_us < writing_us) writing_us = written_us - start_us;
        if (read_us - written_us < reading_us) reading_us = read_us - written_us;
    }
    char what[64];
    const char *how = compress ? "compressed" : "as it is";
    const char *sum = checksum ? ", checksum" : "";
    snprintf(what, sizeof(what), "written %s%s", how, sum);
    report(what, writing_us, items, memory->used);
    snprintf(what, sizeof(what), "read %s%s", how, sum);
    report(what, reading_us, items, memory->used);
}

struct dataset {
    const char *name;
    const char *what;
    void (*fill)(struct keyspace *keyspace, size_t elements);
    size_t elements_each; /* of an item */
};
static const struct dataset datasets[] = {
    {"list", "a list of elements of 40 bytes", fill_long_list, 1},
    {"lists", "lists of 5 x 10 bytes", fill_small_lists, 10},
    {"strings", "strings of some 12 bytes", fill_strings, 1},
};

static void bench(const struct dataset *dataset, size_t elements) {
    struct keyspace *keyspace = keyspace_new(value_free, value_length);
    dataset->fill(keyspace, elements);
    struct memory memory = {.size = 64 * elements + 4096};
    memory.bytes = mem_alloc(memory.size);
    memset(memory.bytes, 1, memory.size); /* pages that are there */
    size_t items = elements / dataset->elements_each;
    printf("%s\n", dataset->what);
    measure(keyspace, &memory, items, true, true);
    measure(keyspace, &memory, items, true, false);
    measure(keyspace, &memory, items, false, true);
    mem_free(memory.bytes);
    keyspace_free(keyspace);
}

int main(int argc, char **argv) {
    uint64_t elements = 10000000;
    hash_init();
    if (argc > 1 && !number_parse_uint64(slice_of_cstr(argv[1]), &elements)) return 1;
    for (size_t i = 0; i < sizeof(datasets) / sizeof(datasets[0]); i++) {
        if (argc < 3 || strcmp(argv[2], datasets[i].name) == 0) bench(&datasets[i], elements);
    }
    return 0;
}
