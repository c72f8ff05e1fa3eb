/* DUMP payloads: whatever the bytes, there is a value that holds what it promises, or an error;
 * what was read can be written, and is read back, whatever the limits of encodings.
 *
 * Input: a byte that chooses the options, then the payload. */
#include "persist/dump.h"

#include "base/hash/crc64.h"
#include "base/hash/hash.h"
#include "base/memory/alloc.h"
#include "fuzz/rdb_digest.h"
#include "fuzz/rdb_mutate.h"
#include "persist/rdb_format.h"
#include "types/value.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

static struct rdb_load_options options_of(uint8_t choice) {
    static const int16_t fills[] = {-2, 1, 3, -1};
    size_t entries = choice & 64 ? 128 : 2;
    return (struct rdb_load_options){.limits.list = {.fill = fills[choice >> 1 & 3],
                                                     .compress_depth = choice >> 3 & 3,
                                                     .plain_threshold = choice & 32 ? 20 : 0},
                                     .limits.zset = {entries, 64},
                                     .limits.set = {entries, entries, 64},
                                     .limits.hash = {entries, 64}};
}

/* Reads, bounded in memory; the digest of what was read, which is freed when `kept` is NULL. */
static uint64_t read_payload(struct slice payload, uint8_t choice, struct entry **kept) {
    struct rdb_load_options options = options_of(choice);
    enum dump_error error;
    size_t before = mem_used();
    struct entry *entry = dump_read(payload, SLICE("key"), &options, &error, NULL);
    require(mem_used() - before <= 200 * payload.len + 4096, "memory in proportion");
    require((entry != NULL) == (error == DUMP_OK), "a value, or an error");
    uint64_t digest = entry ? digest_entry(entry) : 0;
    if (kept)
        *kept = entry;
    else if (entry)
        value_free(entry);
    return digest;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1) return 0;
    hash_init_seed(1);
    uint8_t choice = data[0];
    struct entry *entry;
    /* An allocation of its own, so that the sanitizer sees a read past its end. */
    uint8_t *bytes = mem_alloc(size - 1);
    slice_copy((char *)bytes, slice_make(data + 1, size - 1));
    uint64_t digest = read_payload(slice_make(bytes, size - 1), choice, &entry);
    mem_free(bytes);
    if (!entry) return 0;
    sds payload = dump_new(entry, choice & 1);
    value_free(entry);
    require(read_payload(sds_slice(payload), choice, NULL) == digest, "it comes back");
    require(read_payload(sds_slice(payload), (uint8_t)~choice, NULL) == digest,
            "under other limits, too");
    sds_free(payload);
    return 0;
}

/* --- Mutating --- */

/* Makes the footer right. */
static void seal(uint8_t *payload, size_t size) {
    uint64_t crc;
    if (size < RDB_PAYLOAD_FOOTER_SIZE) return;
    uint8_t *footer = payload + size - RDB_PAYLOAD_FOOTER_SIZE;
    footer[0] = RDB_VERSION;
    footer[1] = 0;
    crc = crc64(0, payload, size - sizeof(crc));
    memcpy(payload + size - sizeof(crc), &crc, sizeof(crc));
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed) {
    enum { FRAME = 1 + RDB_PAYLOAD_FOOTER_SIZE }; /* what is not the value */
    struct rdb_strings strings = {.count = 0};
    struct rdb_reader reader;
    uint8_t type, footer[RDB_PAYLOAD_FOOTER_SIZE];
    if (size < FRAME || max_size < 2 * FRAME || seed % 64 == 0)
        return LLVMFuzzerMutate(data, size, max_size);
    if (seed % 16 == 0) data[0] = (uint8_t)(seed >> 6);
    uint8_t *value = data + 1;
    size_t value_size = size - FRAME;
    memcpy(footer, value + value_size, sizeof(footer));
    rdb_reader_start_memory(&reader, slice_make(value, value_size), false);
    if (rdb_read_byte(&reader, &type)) rdb_find_in_value(&reader, type, &strings);
    rdb_reader_end(&reader);
    value_size = rdb_mutate(value, value_size, max_size - FRAME, &strings, seed);
    memcpy(value + value_size, footer, sizeof(footer));
    if (seed >> 16 & 15) seal(value, value_size + sizeof(footer));
    return FRAME + value_size;
}
