/* Sets: chooses and converts encodings. All but intsets is the work of types/records.c. */
#include "types/set.h"

#include "base/checked.h"
#include "ds/hashtable.h"
#include "ds/records/intset.h"
#include "types/packed.h"
#include "types/type_operations.h"

#include <assert.h>

/* The encoding nibble: one of enum records_encoding, or this. */
enum { SET_INTSET = RECORDS_EXPIRING + 1 };

static bool is_intset(const struct entry *entry) {
    CHECKED_ASSERT(entry_type(entry) == VALUE_SET);
    return entry_encoding(entry) == SET_INTSET;
}

static uint8_t *intset_of(const struct entry *entry) {
    return entry_value(entry);
}

/* --- Conversions --- */

static struct record record_of(struct slice member) {
    return (struct record){.field = member, .expiry_ms = RECORD_NEVER};
}

/* An empty set that is about to get so many members, integers or not. */
static struct entry *new_set(struct slice key, bool integers, uint64_t expected,
                             const struct set_limits *limits) {
    if (!integers || expected > limits->intset_entries)
        return records_new(key, VALUE_SET, expected > limits->listpack_entries);
    struct entry *entry = entry_new(key, VALUE_SET, SET_INTSET, INTSET_HEADER_SIZE);
    intset_init(intset_of(entry));
    return entry;
}

/* Turns an intset into a listpack or a table. */
static void leave_intset(struct entry **entry, bool as_table) {
    struct entry *old = *entry, *new = records_new(entry_key(old), VALUE_SET, as_table);
    struct listpack_limits any = {SIZE_MAX, SIZE_MAX};
    const uint8_t *intset = intset_of(old);
    for (size_t i = 0; i < intset_count(intset); i++) {
        char digits[INT64_TEXT_MAX];
        struct record record = record_of(number_text(digits, intset_get(intset, i)));
        if (as_table)
            records_add(&new, &record, &any);
        else
            records_append(&new, &record);
    }
    /* The value moves into the old entry, which has the key's expiry and access clock. */
    size_t size = value_size(new), old_size = intset_size(intset);
    old = entry_resize(old, old_size, size);
    memcpy(entry_value(old), entry_value(new), size);
    entry_set_type(old, VALUE_SET, entry_encoding(new));
    entry_set_byte(old, entry_byte(new));
    entry_free(new, size);
    *entry = old;
}

/* Returns whether all members of the intset may be in a listpack, with one more. */
static bool fits_listpack(const uint8_t *intset, struct slice member,
                          const struct set_limits *limits) {
    size_t count = intset_count(intset);
    if (count >= limits->listpack_entries || member.len > limits->listpack_value) return false;
    return count == 0 ||
           (number_int64_length(intset_get(intset, 0)) <= limits->listpack_value &&
            number_int64_length(intset_get(intset, count - 1)) <= limits->listpack_value);
}

/* --- Changing --- */

static bool add_integer(struct entry **entry, int64_t value, const struct set_limits *limits) {
    size_t index;
    if (intset_find(intset_of(*entry), value, &index)) return false;
    size_t old_size = intset_size(intset_of(*entry));
    size_t size = intset_size_with(intset_of(*entry), value);
    *entry = entry_resize(*entry, old_size, size);
    intset_insert(intset_of(*entry), index, value);
    if (intset_count(intset_of(*entry)) > limits->intset_entries) leave_intset(entry, true);
    return true;
}

bool set_load_add(struct entry **entry, struct slice member, const struct set_limits *limits) {
    int64_t value;
    if (is_intset(*entry)) {
        if (number_parse_int64(member, &value)) return add_integer(entry, value, limits);
        leave_intset(entry, !fits_listpack(intset_of(*entry), member, limits));
    }
    struct record record = record_of(member);
    struct listpack_limits listpack = {limits->listpack_entries, limits->listpack_value};
    return records_add(entry, &record, &listpack);
}

struct entry *set_load_new(struct slice key, uint64_t expected, const struct set_limits *limits) {
    return new_set(key, true, expected, limits);
}

struct entry *set_from_intset(struct slice key, const uint8_t *intset,
                              const struct set_limits *limits) {
    size_t size = intset_size(intset);
    CHECKED_ASSERT(intset_validate(slice_make(intset, size)));
    struct entry *entry = entry_new(key, VALUE_SET, SET_INTSET, size);
    memcpy(intset_of(entry), intset, size);
    if (intset_count(intset) > limits->intset_entries) leave_intset(&entry, true);
    return entry;
}

void set_create(struct keyref *ref, struct slice key, struct slice first, size_t expected,
                const struct set_limits *limits) {
    int64_t value;
    CHECKED_ASSERT(expected >= 1);
    struct entry *entry = new_set(key, number_parse_int64(first, &value), expected, limits);
    set_load_add(&entry, first, limits);
    keyspace_add(ref, entry);
}

void set_expect(struct keyref *ref, size_t expected, const struct set_limits *limits) {
    struct entry *entry = ref->entry;
    if (is_intset(entry)) {
        if (expected > limits->intset_entries) leave_intset(&entry, true);
    } else if (expected > limits->listpack_entries) {
        records_make_table(&entry);
    }
    keyref_moved(ref, entry);
}

bool set_add(struct keyref *ref, struct slice member, const struct set_limits *limits) {
    CHECKED_ASSERT(!value_entry_overlaps(ref->entry, member));
    struct entry *entry = ref->entry;
    bool added = set_load_add(&entry, member, limits);
    keyref_moved(ref, entry);
    uint64_t length = set_length(entry);
    if (added) keyspace_resized(ref, length - 1, length);
    return added;
}

static bool remove_integer(struct entry **entry, struct slice member) {
    int64_t value;
    size_t index;
    uint8_t *intset = intset_of(*entry);
    if (!number_parse_int64(member, &value) || !intset_find(intset, value, &index)) return false;
    size_t old_size = intset_size(intset);
    intset_delete(intset, index);
    *entry = entry_resize(*entry, old_size, intset_size(intset));
    return true;
}

bool set_remove(struct keyref *ref, struct slice member) {
    CHECKED_ASSERT(!value_entry_overlaps(ref->entry, member));
    struct entry *entry = ref->entry;
    bool removed =
        is_intset(entry) ? remove_integer(&entry, member) : records_delete(&entry, member);
    keyref_moved(ref, entry);
    uint64_t length = set_length(entry);
    if (removed) keyspace_resized(ref, length + 1, length);
    return removed;
}

/* --- Reading --- */

uint64_t set_length(const struct entry *entry) {
    return is_intset(entry) ? intset_count(intset_of(entry)) : records_length(entry);
}

bool set_contains(const struct entry *entry, struct slice member) {
    int64_t value;
    size_t index;
    if (!is_intset(entry)) return records_find(entry, member, NULL);
    return number_parse_int64(member, &value) && intset_find(intset_of(entry), value, &index);
}

uint64_t set_hash(struct slice member) {
    return recordtable_hash(member);
}

const struct recordtable *set_table(const struct entry *entry) {
    return !is_intset(entry) && records_is_table(entry) ? records_table(entry) : NULL;
}

/* The prefetches of so many lookups fit into the cache. */
enum { LOOKUPS_AT_ONCE = 32 };

static void find_in_table(const struct recordtable *table, const struct set_probe *probes,
                          size_t count, bool *found) {
    for (unsigned step = 0; step < RECORDTABLE_PREFETCH_STEPS; step++)
        for (size_t i = 0; i < count; i++) recordtable_prefetch(table, probes[i].hash, false, step);
    for (size_t i = 0; i < count; i++)
        found[i] = recordtable_find(table, probes[i].member, probes[i].hash, NULL);
}

/* Looks each member of a listpack up among the probes, which are chained by their hashes: one pass
 * finds them all, where a lookup of each probe would read the listpack again. */
static void find_in_listpack(const struct entry *entry, const struct set_probe *probes,
                             size_t count, bool *found) {
    enum { CHAINS = 2 * TEXT_BATCH, NONE = TEXT_BATCH };
    uint8_t first[CHAINS], next[TEXT_BATCH];
    struct records_iter iter;
    struct text_batch members;
    memset(first, NONE, sizeof(first));
    for (size_t i = 0; i < count; i++) {
        uint8_t *chain = &first[probes[i].hash % CHAINS];
        next[i] = *chain;
        *chain = (uint8_t)i;
    }
    records_iter_start(&iter, entry);
    while (records_iter_next_batch(&iter, RECORD_FIELD, INT64_MIN, &members)) {
        for (size_t at = 0; at < members.count; at++) {
            uint64_t hash = set_hash(members.texts[at]);
            for (unsigned i = first[hash % CHAINS]; i != NONE; i = next[i])
                if (probes[i].hash == hash &&
                    hashtable_key_equal(probes[i].member, members.texts[at]))
                    found[i] = true;
        }
    }
}

size_t set_keep_members(const struct entry *entry, struct set_probe *probes, size_t count) {
    enum { FEW = 4 }; /* so many lookups are cheaper one by one than by hashes of all members */
    const struct recordtable *table = set_table(entry);
    bool found[TEXT_BATCH] = {false};
    assert(count <= TEXT_BATCH);
    CHECKED_ASSERT(count == 0 || probes[0].hash == set_hash(probes[0].member));
    if (table) {
        for (size_t i = 0; i < count; i += LOOKUPS_AT_ONCE)
            find_in_table(table, probes + i,
                          count - i < LOOKUPS_AT_ONCE ? count - i : LOOKUPS_AT_ONCE, found + i);
    } else if (!is_intset(entry) && count > FEW) {
        find_in_listpack(entry, probes, count, found);
    } else {
        for (size_t i = 0; i < count; i++) found[i] = set_contains(entry, probes[i].member);
    }
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (found[i]) probes[kept++] = probes[i];
    return kept;
}

void set_draws_begin(struct set_draws *draws, const struct entry *entry) {
    draws->intset = is_intset(entry) ? intset_of(entry) : NULL;
    if (!draws->intset) records_draws_begin(&draws->records, entry, INT64_MIN);
}

struct slice set_draws_next(struct set_draws *draws, struct random *random) {
    struct record record;
    if (draws->intset) {
        CHECKED_ASSERT(intset_count(draws->intset) > 0);
        size_t index = random_below(random, intset_count(draws->intset));
        return number_text(draws->digits, intset_get(draws->intset, index));
    }
    bool is_drawn = records_draws_next(&draws->records, random, &record);
    CHECKED_ASSERT(is_drawn);
    (void)is_drawn;
    return record.field;
}

void set_draws_end(struct set_draws *draws) {
    if (!draws->intset) records_draws_end(&draws->records);
}

void set_iter_start(struct set_iter *iter, const struct entry *entry) {
    iter->intset = is_intset(entry) ? intset_of(entry) : NULL;
    iter->index = 0;
    if (!iter->intset) records_iter_start(&iter->records, entry);
}

void set_iter_start_capture(struct set_iter *iter, const struct capture *capture) {
    iter->intset = NULL;
    records_iter_start_capture(&iter->records, capture);
}

bool set_iter_next(struct set_iter *iter, struct slice *member) {
    struct record record;
    if (iter->intset) {
        if (iter->index == intset_count(iter->intset)) return false;
        *member = number_text(iter->digits, intset_get(iter->intset, iter->index++));
        return true;
    }
    if (!records_iter_next(&iter->records, &record)) return false;
    *member = record.field;
    return true;
}

bool set_iter_next_batch(struct set_iter *iter, struct text_batch *batch) {
    struct slice member;
    if (!iter->intset)
        return records_iter_next_batch(&iter->records, RECORD_FIELD, INT64_MIN, batch);
    batch->count = 0;
    while (batch->count < TEXT_BATCH && set_iter_next(iter, &member))
        text_batch_add_digits(batch, member);
    return batch->count > 0;
}

/* Who gets the members that are chosen. */
struct sampling {
    bool (*visit)(struct slice member, void *arg);
    void *arg;
};

static bool sample_record(const struct record *record, void *arg) {
    const struct sampling *sampling = arg;
    return sampling->visit(record->field, sampling->arg);
}

void set_sample(const struct entry *entry, struct random *random, uint64_t count,
                bool (*visit)(struct slice member, void *arg), void *arg) {
    if (!is_intset(entry)) {
        struct sampling sampling = {visit, arg};
        records_sample(entry, random, count, records_length(entry), INT64_MIN, sample_record,
                       &sampling);
        return;
    }
    const uint8_t *intset = intset_of(entry);
    size_t left = intset_count(intset), needed = count < left ? count : left;
    for (size_t i = 0; needed; i++) {
        char digits[INT64_TEXT_MAX];
        if (random_below(random, left--) >= needed) continue;
        if (!visit(number_text(digits, intset_get(intset, i)), arg)) return;
        needed--;
    }
}

/* --- Taking members out at random --- */

sds set_take_one(struct keyref *ref, struct random *random) {
    CHECKED_ASSERT(set_length(ref->entry) > 0);
    struct set_draws draws;
    set_draws_begin(&draws, ref->entry);
    sds member = sds_new(set_draws_next(&draws, random));
    set_draws_end(&draws);
    set_remove(ref, sds_slice(member));
    return member;
}

/* Who takes the members that are removed. */
struct taker {
    void (*take)(sds member, void *arg);
    void *arg;
};

static void take_record(const struct record *record, void *arg) {
    const struct taker *taker = arg;
    taker->take(sds_new(record->field), taker->arg);
}

/* Selection sampling, as in records_sample. From the greatest down: a replica that removes them one
 * by one then moves only those that stay. */
static void take_integers(struct entry **entry, struct random *random, uint64_t count,
                          const struct taker *taker) {
    uint8_t *intset = intset_of(*entry);
    size_t old_size = intset_size(intset), length = intset_count(intset), kept = 0;
    for (size_t left = length; left > 0; left--) {
        char digits[INT64_TEXT_MAX];
        if (count && random_below(random, left) < count) {
            taker->take(sds_new(number_text(digits, intset_get(intset, left - 1))), taker->arg);
            count--;
        } else {
            intset_keep(intset, length - ++kept, left - 1);
        }
    }
    intset_keep_last(intset, kept);
    *entry = entry_resize(*entry, old_size, intset_size(intset));
}

void set_take(struct keyref *ref, struct random *random, uint64_t count,
              void (*take)(sds member, void *arg), void *arg) {
    enum { FEW = 8 }; /* so many removals, one by one, are cheaper than a pass */
    struct entry *entry = ref->entry;
    uint64_t length = set_length(entry);
    assert(count < length);
    if (count <= FEW || set_table(entry)) {
        while (count--) take(set_take_one(ref, random), arg);
        return;
    }
    struct taker taker = {take, arg};
    if (is_intset(entry))
        take_integers(&entry, random, count, &taker);
    else
        records_take_sample(&entry, random, count, take_record, &taker);
    keyref_moved(ref, entry);
    keyspace_resized(ref, length, length - count);
}

struct scan {
    void (*visit)(struct slice member, void *arg);
    void *arg;
};

static void scan_record(const struct record *record, void *arg) {
    const struct scan *scan = arg;
    scan->visit(record->field, scan->arg);
}

uint64_t set_scan(const struct entry *entry, uint64_t cursor,
                  void (*visit)(struct slice member, void *arg), void *arg) {
    struct scan scan = {visit, arg};
    if (!is_intset(entry)) return records_scan(entry, cursor, scan_record, &scan);
    struct set_iter iter;
    struct slice member;
    set_iter_start(&iter, entry);
    while (set_iter_next(&iter, &member)) visit(member, arg);
    return 0;
}

const uint8_t *set_intset(const struct entry *entry, size_t *size) {
    if (!is_intset(entry)) return NULL;
    *size = intset_size(intset_of(entry));
    return intset_of(entry);
}

static const char *set_encoding_name(const struct entry *entry) {
    if (is_intset(entry)) return "intset";
    return records_is_table(entry) ? "hashtable" : "listpack";
}

/* --- What every type has --- */

static size_t set_value_size(const struct entry *entry) {
    return is_intset(entry) ? intset_size(intset_of(entry)) : packed_value_size(entry);
}

static bool set_check(const struct entry *entry) {
    if (entry_type(entry) != VALUE_SET) return false;
    if (!is_intset(entry)) return records_check(entry) && entry_encoding(entry) != RECORDS_EXPIRING;
    const uint8_t *intset = intset_of(entry);
    return entry_check(entry) && entry_byte(entry) == 0 &&
           (intset_count(intset) == 0 || intset_validate(slice_make(intset, intset_size(intset))));
}

STRUCTURE_OPERATIONS(set, recordtable)

const struct type_operations set_operations = {
    set_encoding_name, set_length,           set_value_size,   set_check,
    set_allocated,     records_free_effort,  records_prefetch, set_free_value,
    set_own_value,     set_relocate,         records_capture,  records_is_captured,
    records_captured,  records_copy_captured};
