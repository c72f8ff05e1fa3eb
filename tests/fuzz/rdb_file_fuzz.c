/* RDB files: whatever the bytes, there are values that hold what they promise, or an error; the
 * same ones whether the file is in memory or comes in pieces, and however lists are compressed; and
 * what was read can be written, and is read back.
 *
 * Input: a byte that chooses the options, then the file. */
#include "persist/rdb_file.h"

#include "base/hash/crc64.h"
#include "base/hash/hash.h"
#include "base/hash/random.h"
#include "base/memory/alloc.h"
#include "base/text/sds.h"
#include "fuzz/rdb_digest.h"
#include "fuzz/rdb_mutate.h"
#include "types/value.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

/* --- Options --- */

enum { CHECKSUM = 1, SKIP_UNKNOWN = 2, COMPRESS = 4, PLAIN = 8 };
enum { FILL_SHIFT = 4, DEPTH_SHIFT = 6 };

static struct rdb_file_options options_of(uint8_t choice) {
    static const int16_t fills[] = {-2, 1, 3, -1};
    size_t entries = choice >> DEPTH_SHIFT & 1 ? 2 : 128;
    return (struct rdb_file_options){
        .values.limits.list = {.fill = fills[choice >> FILL_SHIFT & 3],
                               .compress_depth = choice >> DEPTH_SHIFT,
                               .plain_threshold = choice & PLAIN ? 20 : 0},
        .values.limits.zset = {entries, 64},
        .values.limits.set = {entries, entries, 64},
        .values.limits.hash = {entries, 64},
        .checksum = choice & CHECKSUM,
        .skip_unknown = choice & SKIP_UNKNOWN};
}

/* --- Reading --- */

/* What a file held. */
struct held {
    struct entry **entries;
    struct rdb_usage *usages;
    size_t count;
    size_t capacity;
    size_t usage_capacity;
    uint64_t entries_digest;
    uint64_t others_digest; /* of the other items, and of the error */
    bool good;
};

static void hold_entry(struct held *held, const struct rdb_file_item *item) {
    MEM_RESERVE(held->entries, held->capacity, held->count + 1);
    MEM_RESERVE(held->usages, held->usage_capacity, held->count + 1);
    require(slice_equal(entry_key(item->entry), item->key), "an entry has its key");
    held->usages[held->count] = item->usage;
    held->entries[held->count++] = item->entry;
    held->entries_digest = digest_word(held->entries_digest, digest_entry(item->entry));
    held->entries_digest = digest_word(held->entries_digest, item->usage.value);
}

static void hold_other(struct held *held, const struct rdb_file_item *item) {
    uint64_t digest = digest_word(held->others_digest, item->kind);
    digest = digest_word(digest, item->database ^ item->keys ^ item->expiring_keys);
    digest = digest_bytes(digest_bytes(digest, item->name), item->text);
    held->others_digest = digest_bytes(digest, item->key);
}

static struct held read_all(struct rdb_file *file, size_t size) {
    struct held held = {0};
    struct rdb_file_item item;
    size_t before = mem_used();
    while (!held.good && rdb_file_next(file, &item)) {
        held.good = item.kind == RDB_ITEM_END;
        if (item.kind == RDB_ITEM_ENTRY)
            hold_entry(&held, &item);
        else
            hold_other(&held, &item);
    }
    require(mem_used() - before <= 200 * size + (1 << 20), "memory in proportion to the file");
    require(held.good == (rdb_reader_error(&file->reader) == NULL), "an error, or the end");
    require(rdb_reader_offset(&file->reader) <= size, "no more is consumed than there is");
    if (!held.good)
        held.others_digest =
            digest_bytes(held.others_digest, slice_of_cstr(rdb_reader_error(&file->reader)));
    rdb_file_finish(file);
    return held;
}

static struct held read_memory(struct slice bytes, uint8_t choice) {
    struct rdb_file_options options = options_of(choice);
    struct rdb_file file = {.options = options};
    rdb_reader_start_memory(&file.reader, bytes, options.checksum);
    return read_all(&file, bytes.len);
}

/* A source that gives a few bytes at a time. */
struct source {
    struct slice left;
    struct random random;
};

static ssize_t read_piece(void *arg, void *bytes, size_t room) {
    struct source *source = arg;
    size_t len = 1 + random_below(&source->random, 64);
    if (len > room) len = room;
    if (len > source->left.len) len = source->left.len;
    slice_copy(bytes, slice_make(source->left.ptr, len));
    source->left = slice_make(source->left.ptr + len, source->left.len - len);
    return (ssize_t)len;
}

static struct held read_pieces(struct slice bytes, uint8_t choice) {
    struct rdb_file_options options = options_of(choice);
    struct rdb_file file;
    struct source source = {.left = bytes};
    random_seed(&source.random, bytes.len);
    rdb_file_start(&file, (struct rdb_source){read_piece, &source}, &options);
    return read_all(&file, bytes.len);
}

static void let_go(struct held *held) {
    for (size_t i = 0; i < held->count; i++) value_free(held->entries[i]);
    mem_free(held->entries);
    mem_free(held->usages);
}

/* --- Writing --- */

static bool append(void *arg, const void *bytes, size_t len) {
    sds *out = arg;
    *out = sds_append(*out, slice_make(bytes, len));
    return true;
}

static void check_there_and_back(const struct held *held, uint8_t choice) {
    struct rdb_writer writer;
    sds out = sds_new(SLICE(""));
    rdb_writer_start(&writer, (struct rdb_sink){.write = append, .arg = &out}, choice & COMPRESS,
                     true);
    rdb_write_header(&writer, &(struct rdb_facts){.server_version = "7.2.4"});
    rdb_write_database(&writer, 0, held->count, 0);
    for (size_t i = 0; i < held->count; i++)
        rdb_write_entry(&writer, held->entries[i], held->usages[i]);
    require(rdb_write_end(&writer), "all is written");
    require(rdb_writer_offset(&writer) == sds_len(out), "all of it");
    rdb_writer_end(&writer);
    struct held again = read_memory(sds_slice(out), choice | CHECKSUM);
    require(again.good, "what was written is good");
    require(again.count == held->count, "and has as many keys");
    require(again.entries_digest == held->entries_digest, "and the same ones");
    let_go(&again);
    sds_free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1) return 0;
    hash_init_seed(1);
    uint8_t choice = data[0];
    /* An allocation of its own, so that the sanitizer sees a read past its end. */
    uint8_t *bytes = mem_alloc(size - 1);
    slice_copy((char *)bytes, slice_make(data + 1, size - 1));
    struct held held = read_memory(slice_make(bytes, size - 1), choice);
    /* Another compress depth, other limits of encodings. */
    struct held pieces = read_pieces(slice_make(bytes, size - 1), choice + (1 << DEPTH_SHIFT));
    mem_free(bytes);
    require(held.good == pieces.good && held.count == pieces.count, "as many keys in pieces");
    require(held.entries_digest == pieces.entries_digest, "the same keys in pieces");
    require(held.others_digest == pieces.others_digest, "the same of all else in pieces");
    check_there_and_back(&held, choice);
    let_go(&held);
    let_go(&pieces);
    return 0;
}

/* --- Mutating --- */

static void find_strings(const uint8_t *file, size_t size, struct rdb_strings *strings) {
    struct rdb_reader reader;
    strings->count = strings->end = 0;
    rdb_reader_start_memory(&reader, slice_make(file, size), false);
    if (rdb_skip_bytes(&reader, RDB_MAGIC_SIZE)) rdb_find_in_file(&reader, strings);
    rdb_reader_end(&reader);
}

/* Makes the checksum right, where there is one. */
static void seal(uint8_t *file, size_t size) {
    struct rdb_strings strings;
    find_strings(file, size, &strings);
    if (strings.end == 0 || file[strings.end - 1] != RDB_EOF) return;
    uint64_t crc = crc64(0, file, strings.end);
    if (size - strings.end >= sizeof(crc)) memcpy(file + strings.end, &crc, sizeof(crc));
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed) {
    struct rdb_strings strings;
    if (size < 1 || max_size < 2) return size;
    if (seed % 16 == 0) data[0] = (uint8_t)(seed >> 4);
    find_strings(data + 1, size - 1, &strings);
    size = 1 + rdb_mutate(data + 1, size - 1, max_size - 1, &strings, seed);
    if (seed >> 16 & 7) seal(data + 1, size - 1);
    return size;
}
