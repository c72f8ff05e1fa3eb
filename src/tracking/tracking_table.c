/* tracking_table: see the drawing in tracking_table.h.
 *
 * Invariants: a record is in the bucket of its key's hash (ds/linear_hashing.h), and its list is
 * not empty; `bytes`, `keys` and `pairs` count all records. */
#include "tracking/tracking_table.h"

#include "base/checked.h"
#include "base/memory/alloc.h"
#include "base/memory/relocate.h"
#include "base/varint.h"
#include "ds/hashtable.h"

#include <string.h>

enum {
#ifdef TINY_LIMITS
    SPLIT_ABOVE = 48, /* bytes of records for each bucket */
    MERGE_BELOW = 12,
    SEARCHED_AT_ONCE = 16, /* buckets */
#else
    SPLIT_ABOVE = 256,
    MERGE_BELOW = 64,
    SEARCHED_AT_ONCE = 256,
#endif
};

struct tracking_bucket {
    unsigned char *bytes;
    size_t length;
};

/* A record, as offsets in its bucket, which are valid until that changes. */
struct record {
    size_t begin;
    size_t list_length_at; /* of the varint with the length of the list */
    size_t name;
    size_t name_length;
    size_t list;
    size_t end;
};

/* --- Varints --- */

static size_t put_varint(unsigned char *to, uint64_t value) {
    return (size_t)(varint_write(to, value) - to);
}

/* Reads a varint and moves *at behind it. */
static inline uint64_t get_varint(const unsigned char *bytes, size_t *at) {
    const unsigned char *p = bytes + *at;
    uint64_t value = varint_read(&p);
    *at = (size_t)(p - bytes);
    return value;
}

/* --- Records --- */

static inline struct record record_at(const struct tracking_bucket *bucket, size_t begin) {
    struct record record = {.begin = begin};
    size_t at = begin + 1;
    record.name_length = get_varint(bucket->bytes, &at);
    record.list_length_at = at;
    size_t list_length = get_varint(bucket->bytes, &at);
    record.name = at;
    record.list = at + record.name_length;
    record.end = record.list + list_length;
    return record;
}

static struct slice name_of(const struct tracking_bucket *bucket, const struct record *record) {
    return slice_make(bucket->bytes + record->name, record->name_length);
}

static unsigned char tag_of(uint64_t hash) {
    return (unsigned char)(hash >> 56);
}

/* Finds the key's record. */
static bool find_record(const struct tracking_bucket *bucket, struct slice key, uint64_t hash,
                        struct record *record) {
    for (size_t at = 0; at < bucket->length; at = record->end) {
        *record = record_at(bucket, at);
        if (bucket->bytes[at] == tag_of(hash) && slice_equal(name_of(bucket, record), key))
            return true;
    }
    return false;
}

static void resize(struct tracking_table *table, struct tracking_bucket *bucket, size_t length) {
    size_t before = bucket->length ? mem_good_size(bucket->length) : 0;
    size_t after = length ? mem_good_size(length) : 0;
    if (after == 0) {
        mem_free(bucket->bytes);
        bucket->bytes = NULL;
    } else if (after != before) {
        bucket->bytes = mem_resize(bucket->bytes, before, after);
    }
    table->bytes = table->bytes - bucket->length + length;
    bucket->length = length;
}

/* Makes `size` bytes at `at` room for `with_size` ones, and copies these there if `with` is not
 * NULL. */
static void splice(struct tracking_table *table, struct tracking_bucket *bucket, size_t at,
                   size_t size, const void *with, size_t with_size) {
    size_t length = bucket->length, behind = length - at - size;
    if (with_size > size) resize(table, bucket, length + with_size - size);
    if (behind) memmove(bucket->bytes + at + with_size, bucket->bytes + at + size, behind);
    if (with_size < size) resize(table, bucket, length + with_size - size);
    if (with && with_size) memcpy(bucket->bytes + at, with, with_size);
}

/* Changes the length that the record's head tells for its list. */
static void set_list_length(struct tracking_table *table, struct tracking_bucket *bucket,
                            const struct record *record, size_t length) {
    unsigned char varint[VARINT_MAX];
    size_t size = put_varint(varint, length);
    splice(table, bucket, record->list_length_at, record->name - record->list_length_at, varint,
           size);
}

/* Appends a record with a list of one number. */
static void append_record(struct tracking_table *table, struct tracking_bucket *bucket,
                          struct slice key, uint64_t hash, uint32_t number) {
    size_t at = bucket->length, list_length = varint_size(number);
    size_t head_length = 1 + varint_size(key.len) + varint_size(list_length);
    resize(table, bucket, at + head_length + key.len + list_length);
    unsigned char *to = bucket->bytes + at;
    *to++ = tag_of(hash);
    to = varint_write(varint_write(to, key.len), list_length);
    slice_copy((char *)to, key);
    varint_write(to + key.len, number);
}

/* Adds the number to the record's list. Returns false when it is there. */
static bool add_number(struct tracking_table *table, struct tracking_bucket *bucket,
                       const struct record *record, uint32_t number) {
    uint64_t before = 0, next = 0;
    size_t at = record->list, place = at;
    while (at < record->end) {
        place = at;
        next = before + get_varint(bucket->bytes, &at);
        if (next == number) return false;
        if (next > number) break;
        before = next;
        place = at;
    }
    unsigned char varints[2 * VARINT_MAX];
    size_t size = put_varint(varints, number - before);
    if (place < at) size += put_varint(varints + size, next - number);
    size_t grows = size - (at - place);
    splice(table, bucket, place, at - place, varints, size);
    set_list_length(table, bucket, record, record->end - record->list + grows);
    return true;
}

/* Reads up to `most` numbers of a list that begins at `at`. Returns where the next one is. */
static size_t read_numbers(const struct tracking_bucket *bucket, const struct record *record,
                           size_t most, struct tracking_numbers *numbers) {
    uint64_t number = 0;
    size_t at = record->list;
    for (numbers->count = 0; at < record->end && numbers->count < most; numbers->count++) {
        MEM_RESERVE(numbers->numbers, numbers->capacity, numbers->count + 1);
        number += get_varint(bucket->bytes, &at);
        numbers->numbers[numbers->count] = (uint32_t)number;
    }
    return at;
}

/* --- Buckets --- */

static struct tracking_bucket *bucket_numbered(const struct tracking_table *table, size_t number) {
    struct tracking_bucket *const *segments = table->buckets.directory;
    return &segments[number / SEGMENTED_ITEMS][number % SEGMENTED_ITEMS];
}

static struct tracking_bucket *bucket_of(const struct tracking_table *table, uint64_t hash) {
    return bucket_numbered(table, linear_bucket(&table->linear, hash));
}

static struct tracking_bucket *add_bucket(struct tracking_table *table) {
    struct tracking_bucket *bucket = segmented_push(&table->buckets);
    *bucket = (struct tracking_bucket){0};
    return bucket;
}

static void add_first_bucket(struct tracking_table *table) {
    segmented_init(&table->buckets, sizeof(struct tracking_bucket), sizeof(void *));
    linear_start(&table->linear, LINEAR_NO_TAGS);
    add_bucket(table);
}

static void append_bytes(struct tracking_table *table, struct tracking_bucket *bucket,
                         const unsigned char *bytes, size_t length) {
    size_t at = bucket->length;
    resize(table, bucket, at + length);
    memcpy(bucket->bytes + at, bytes, length);
}

/* Adds a bucket and moves the records there that belong to it. */
static void split(struct tracking_table *table) {
    size_t low = table->linear.split, high = table->buckets.count, kept = 0;
    struct tracking_bucket *to = add_bucket(table), *from = bucket_numbered(table, low);
    linear_grow(&table->linear, LINEAR_NO_TAGS);
    for (size_t at = 0; at < from->length;) {
        struct record record = record_at(from, at);
        size_t length = record.end - at;
        if (linear_bucket(&table->linear, hashtable_hash(name_of(from, &record))) == high) {
            append_bytes(table, to, from->bytes + at, length);
        } else {
            memmove(from->bytes + kept, from->bytes + at, length);
            kept += length;
        }
        at = record.end;
    }
    resize(table, from, kept);
}

/* Gives the last bucket's records back to the one that they came from. */
static void merge(struct tracking_table *table) {
    linear_shrink(&table->linear, LINEAR_NO_TAGS);
    struct tracking_bucket *from = bucket_numbered(table, table->buckets.count - 1);
    struct tracking_bucket *to = bucket_numbered(table, table->linear.split);
    if (from->length) append_bytes(table, to, from->bytes, from->length);
    resize(table, from, 0);
    segmented_pop(&table->buckets);
}

bool tracking_table_shrink(struct tracking_table *table) {
    size_t count = table->buckets.count;
    if (table->next_sweep || count == 0) return false;
    if (table->keys > 0 && (count == 1 || table->bytes >= count * MERGE_BELOW)) return false;
    if (count == 1)
        segmented_pop(&table->buckets);
    else
        merge(table);
    return table->buckets.count > 0;
}

/* --- Operations --- */

bool tracking_table_add(struct tracking_table *table, struct slice key, uint32_t number) {
    uint64_t hash = hashtable_hash(key);
    struct record record;
    if (table->buckets.count == 0) add_first_bucket(table);
    struct tracking_bucket *bucket = bucket_of(table, hash);
    if (find_record(bucket, key, hash, &record)) {
        if (!add_number(table, bucket, &record, number)) return false;
    } else {
        append_record(table, bucket, key, hash, number);
        table->keys++;
    }
    table->pairs++;
    if (table->bytes > table->buckets.count * SPLIT_ABOVE) split(table);
    return true;
}

static void remove_record(struct tracking_table *table, struct tracking_bucket *bucket,
                          const struct record *record) {
    splice(table, bucket, record->begin, record->end - record->begin, NULL, 0);
    table->keys--;
}

void tracking_table_take(struct tracking_table *table, struct slice key,
                         struct tracking_numbers *numbers) {
    numbers->count = 0;
    if (table->keys == 0) return;
    uint64_t hash = hashtable_hash(key);
    struct tracking_bucket *bucket = bucket_of(table, hash);
    struct record record;
    if (!find_record(bucket, key, hash, &record)) return;
    read_numbers(bucket, &record, SIZE_MAX, numbers);
    table->pairs -= numbers->count;
    remove_record(table, bucket, &record);
    tracking_table_shrink(table);
}

/* Removes the numbers up to offset `at`, of which `last` is the last one, from the front of the
 * record's list. */
static void cut_list(struct tracking_table *table, struct tracking_bucket *bucket,
                     const struct record *record, size_t at, uint32_t last) {
    unsigned char varint[VARINT_MAX];
    size_t end = at;
    size_t size = put_varint(varint, last + get_varint(bucket->bytes, &end));
    size_t length = size + (record->end - end);
    splice(table, bucket, record->list, end - record->list, varint, size);
    set_list_length(table, bucket, record, length);
}

/* Returns a record of the bucket, nearly at random. */
static struct record any_record(const struct tracking_bucket *bucket, uint64_t random) {
    size_t goal = random % bucket->length;
    struct record record = record_at(bucket, 0);
    while (record.end <= goal) record = record_at(bucket, record.end);
    return record;
}

/* Returns a bucket with records, nearly at random, or NULL: none was among the next ones. During a
 * sweep, which may empty most buckets, the table does not shrink. */
static struct tracking_bucket *find_records(struct tracking_table *table, struct random *random) {
    size_t number = table->next_evict;
    if (number == 0) number = random_below(random, table->buckets.count);
    for (int i = 0; i < SEARCHED_AT_ONCE; i++) {
        if (number >= table->buckets.count) number = 0;
        struct tracking_bucket *bucket = bucket_numbered(table, number++);
        table->next_evict = bucket->length ? 0 : number;
        if (bucket->length) return bucket;
    }
    return NULL;
}

bool tracking_table_evict(struct tracking_table *table, struct random *random, size_t most,
                          struct slice *key, struct tracking_numbers *numbers) {
    CHECKED_ASSERT(table->keys > 0 && most > 0);
    struct tracking_bucket *bucket = find_records(table, random);
    if (!bucket) return false;
    struct record record = any_record(bucket, random_next(random));
    char *name = mem_alloc(record.name_length);
    memcpy(name, bucket->bytes + record.name, record.name_length);
    *key = slice_make(name, record.name_length);
    size_t at = read_numbers(bucket, &record, most, numbers);
    table->pairs -= numbers->count;
    if (at < record.end)
        cut_list(table, bucket, &record, at, numbers->numbers[numbers->count - 1]);
    else
        remove_record(table, bucket, &record);
    tracking_table_shrink(table);
    return true;
}

/* Writes a record with these numbers at offset `to`, where there is room before the old one's
 * list. Returns its end. */
static size_t rewrite(struct tracking_bucket *bucket, const struct record *record, size_t to,
                      const struct tracking_numbers *numbers) {
    const uint32_t *all = numbers->numbers;
    unsigned char *bytes = bucket->bytes;
    size_t list_length = 0;
    for (size_t i = 0; i < numbers->count; i++)
        list_length += varint_size(all[i] - (i ? all[i - 1] : 0));
    bytes[to++] = bytes[record->begin];
    to += put_varint(bytes + to, record->name_length);
    to += put_varint(bytes + to, list_length);
    memmove(bytes + to, bytes + record->name, record->name_length);
    to += record->name_length;
    for (size_t i = 0; i < numbers->count; i++)
        to += put_varint(bytes + to, all[i] - (i ? all[i - 1] : 0));
    return to;
}

/* A shorter list takes no more bytes, so the records move towards the beginning of the bucket. */
size_t tracking_table_sweep(struct tracking_table *table,
                            bool (*is_gone)(uint32_t number, void *arg), void *arg,
                            struct tracking_numbers *scratch) {
    if (table->buckets.count == 0) return 0;
    struct tracking_bucket *bucket = bucket_numbered(table, table->next_sweep);
    size_t looked_at = 0, to = 0;
    struct record record;
    for (size_t at = 0; at < bucket->length; at = record.end) {
        record = record_at(bucket, at);
        read_numbers(bucket, &record, SIZE_MAX, scratch);
        size_t count = scratch->count, kept = 0;
        for (size_t i = 0; i < count; i++)
            if (!is_gone(scratch->numbers[i], arg)) scratch->numbers[kept++] = scratch->numbers[i];
        scratch->count = kept;
        looked_at += count;
        table->pairs -= count - kept;
        if (kept == 0)
            table->keys--;
        else
            to = rewrite(bucket, &record, to, scratch);
    }
    resize(table, bucket, to);
    if (++table->next_sweep == table->buckets.count) table->next_sweep = 0;
    return looked_at;
}

bool tracking_table_relocate(struct tracking_table *table, struct relocator *relocator) {
    if (table->next_relocate == 0) segmented_relocate(&table->buckets, relocator);
    while (table->next_relocate < table->buckets.count) {
        struct tracking_bucket *bucket = bucket_numbered(table, table->next_relocate++);
        if (bucket->length > 0) bucket->bytes = relocate(relocator, bucket->bytes, bucket->length);
        if (relocator_is_due(relocator)) return false;
    }
    table->next_relocate = 0;
    return true;
}

bool tracking_table_free_some(struct tracking_table *table) {
    if (table->buckets.count == 0) return false;
    segmented_follow(&table->buckets); /* the table may have been copied */
    resize(table, bucket_numbered(table, table->buckets.count - 1), 0);
    segmented_pop(&table->buckets);
    if (table->buckets.count > 0) return true;
    *table = (struct tracking_table){0};
    return false;
}

/* --- Checks --- */

/* Counts the record's numbers; 0: the list is wrong. */
static size_t count_numbers(const struct tracking_bucket *bucket, const struct record *record) {
    size_t at = record->list, count = 0;
    for (; at < record->end; count++)
        if (get_varint(bucket->bytes, &at) == 0 && count > 0) return 0;
    return at == record->end ? count : 0;
}

bool tracking_table_check(const struct tracking_table *table) {
    size_t bytes = 0, keys = 0, pairs = 0;
    for (size_t i = 0; i < table->buckets.count; i++) {
        const struct tracking_bucket *bucket = bucket_numbered(table, i);
        struct record record;
        for (size_t at = 0; at < bucket->length; at = record.end, keys++) {
            record = record_at(bucket, at);
            uint64_t hash = hashtable_hash(name_of(bucket, &record));
            size_t count = record.end <= bucket->length ? count_numbers(bucket, &record) : 0;
            if (count == 0 || bucket->bytes[at] != tag_of(hash) || bucket_of(table, hash) != bucket)
                return false;
            pairs += count;
        }
        bytes += bucket->length;
    }
    return linear_check(&table->linear, table->buckets.count, LINEAR_NO_TAGS) &&
           bytes == table->bytes && keys == table->keys && pairs == table->pairs;
}
