/* collections: whatever edits a set, a hash and a sorted set go through, under any limits of their
 * encodings, they hold what a naive model holds; a scan visits each member that is there from its
 * first step to its last; a capture is written as the value was.
 *
 * Input: a byte of limits, then edits of four bytes: kind, member, amount, value. */
#include "base/hash/hash.h"
#include "base/memory/alloc.h"
#include "base/text/sds.h"
#include "fuzz/rdb_digest.h"
#include "persist/type_format.h"
#include "types/hash.h"
#include "types/set.h"
#include "types/value.h"
#include "types/zset.h"

#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MEMBERS = 256, TEXT_MAX = 2100, EDIT_SIZE = 4, EDITS_MAX = 120, CHECKED = 16 };
enum { SET, HASH, ZSET, KINDS };

/* A value of each type, and what it must hold. */
struct value {
    bool in[MEMBERS];
    uint8_t number[MEMBERS]; /* the value of the field, the score of the member */
    int64_t expiry[MEMBERS];
    size_t count;

    /* A scan that is under way, when `cursor` is not 0. */
    uint64_t cursor;
    bool visited[MEMBERS];
    bool throughout[MEMBERS];

    struct capture *capture; /* NULL: none */
    unsigned rdb_type;       /* in which the capture will be written */
    uint64_t digest;         /* of the value when it was captured */
};

struct fuzz {
    struct keyspace *keyspace;
    struct value_limits limits;
    struct value values[KINDS];
    int64_t now_ms;
    size_t left; /* bytes that only captures need */
};

static const enum value_type types[KINDS] = {VALUE_SET, VALUE_HASH, VALUE_ZSET};
static const struct slice keys[KINDS] = {{"set", 3}, {"hash", 4}, {"zset", 4}};

/* --- Members: integers of all widths, short texts, long ones --- */

static struct slice members[MEMBERS];

static struct slice make_member(size_t i, char text[TEXT_MAX]) {
    int len = snprintf(text, 32, i % 4 == 2 ? "m%lld" : "%lld",
                       i % 4 == 1 ? ((long long)i - 128) * (1ll << (i / 5)) : (long long)i - 100);
    if (i % 4 < 3) return slice_make(text, (size_t)len);
    memset(text + len, 'x', TEXT_MAX - (size_t)len);
    return slice_make(text, (size_t)len + 8 * i);
}

static void make_members(void) {
    static char texts[MEMBERS][TEXT_MAX];
    if (members[0].ptr) return;
    for (size_t i = 0; i < MEMBERS; i++) members[i] = make_member(i, texts[i]);
}

static size_t index_of(struct slice member) {
    size_t i = 0;
    while (i < MEMBERS && !slice_equal(members[i], member)) i++;
    require(i < MEMBERS, "a member that is read was added");
    return i;
}

static struct slice value_text(uint8_t number, char text[8]) {
    return slice_make(text, (size_t)snprintf(text, 8, number % 2 ? "v%u" : "%u", number));
}

static double score_of(uint8_t number) {
    return number / 4 - 20.5;
}

/* --- Edits --- */

static struct keyref find(struct fuzz *fuzz, int kind) {
    return keyspace_find(fuzz->keyspace, keys[kind]);
}

static void delete_if_empty(struct fuzz *fuzz, int kind) {
    struct keyref ref = find(fuzz, kind);
    if (!ref.entry || !value_is_empty(ref.entry)) return;
    require(fuzz->values[kind].count == 0, "a value becomes empty with its last member");
    keyspace_delete(&ref);
}

static bool has_expired(const struct fuzz *fuzz, size_t i) {
    int64_t expiry_ms = fuzz->values[HASH].expiry[i];
    return expiry_ms != RECORD_NEVER && expiry_ms < fuzz->now_ms;
}

static void note_added(struct value *value, size_t i, uint8_t number) {
    value->count += !value->in[i];
    value->in[i] = true;
    value->number[i] = number;
}

static void note_removed(struct value *value, size_t i) {
    value->count -= value->in[i];
    value->in[i] = value->throughout[i] = false;
    value->expiry[i] = RECORD_NEVER;
}

static void put_in_set(struct fuzz *fuzz, struct keyref *ref, size_t i, struct slice member) {
    bool added = true;
    if (ref->entry)
        added = set_add(ref, member, &fuzz->limits.set);
    else
        set_create(ref, keys[SET], member, 1, &fuzz->limits.set);
    require(added != fuzz->values[SET].in[i], "SADD adds what is not there");
}

static void put_in_hash(struct fuzz *fuzz, struct keyref *ref, size_t i, struct slice member,
                        uint8_t number) {
    char buffer[8];
    struct value *value = &fuzz->values[HASH];
    struct slice text = value_text(number, buffer);
    enum hash_expiry_mode mode = number % 3 ? HASH_DROP_EXPIRY : HASH_KEEP_EXPIRY;
    bool gone = !value->in[i] || has_expired(fuzz, i), added = true;
    if (ref->entry)
        added = hash_set(ref, member, text, mode, fuzz->now_ms, &fuzz->limits.hash);
    else
        hash_create(ref, keys[HASH], member, text, 1, &fuzz->limits.hash);
    require(added == gone, "HSET adds what is not there or has expired");
    if (gone || mode == HASH_DROP_EXPIRY) value->expiry[i] = RECORD_NEVER;
}

static void put_in_zset(struct fuzz *fuzz, struct keyref *ref, size_t i, struct slice member,
                        uint8_t number) {
    if (!ref->entry) {
        zset_create(ref, keys[ZSET], member, score_of(number), 1, member.len, &fuzz->limits.zset);
        return;
    }
    struct zset_place place = zset_find(ref->entry, member);
    require(place.found == fuzz->values[ZSET].in[i], "a member is found that was added");
    zset_put(ref, &place, member, score_of(number), &fuzz->limits.zset);
}

static void put(struct fuzz *fuzz, int kind, size_t i, uint8_t number) {
    struct slice member = members[i];
    struct keyref ref = find(fuzz, kind);
    if (kind == SET) put_in_set(fuzz, &ref, i, member);
    if (kind == HASH) put_in_hash(fuzz, &ref, i, member, number);
    if (kind == ZSET) put_in_zset(fuzz, &ref, i, member, number);
    note_added(&fuzz->values[kind], i, number);
}

static void take(struct fuzz *fuzz, int kind, size_t i) {
    struct slice member = members[i];
    struct keyref ref = find(fuzz, kind);
    bool removed = false;
    if (!ref.entry) return;
    if (kind == SET) removed = set_remove(&ref, member);
    if (kind == HASH) removed = hash_delete(&ref, member);
    if (kind == ZSET) {
        struct zset_place place = zset_find(ref.entry, member);
        removed = place.found;
        if (removed) zset_remove(&ref, &place);
    }
    require(removed == fuzz->values[kind].in[i], "what is there is removed");
    note_removed(&fuzz->values[kind], i);
    delete_if_empty(fuzz, kind);
}

/* Lets a field expire soon, or no longer. */
static void set_field_expiry(struct fuzz *fuzz, size_t i, uint8_t in_ms) {
    struct value *value = &fuzz->values[HASH];
    struct keyref ref = find(fuzz, HASH);
    if (!ref.entry || !value->in[i] || has_expired(fuzz, i)) return;
    if (in_ms % 4 == 0) {
        hash_persist(&ref, members[i], fuzz->now_ms);
        value->expiry[i] = RECORD_NEVER;
        return;
    }
    int64_t expiry_ms = fuzz->now_ms + in_ms;
    require(hash_set_expiry(&ref, members[i], expiry_ms, HASH_ALWAYS, fuzz->now_ms) ==
                HASH_EXPIRY_SET,
            "an expiry is set");
    value->expiry[i] = expiry_ms;
}

static void note_expired(const struct record *record, void *arg) {
    struct fuzz *fuzz = arg;
    size_t i = index_of(record->field);
    require(has_expired(fuzz, i), "a field is deleted when it has expired");
    note_removed(&fuzz->values[HASH], i);
}

static void let_time_pass(struct fuzz *fuzz, uint8_t ms) {
    struct keyref ref = find(fuzz, HASH);
    fuzz->now_ms += ms;
    if (ref.entry) hash_expire(&ref, fuzz->now_ms, 20, note_expired, fuzz);
    delete_if_empty(fuzz, HASH);
}

static void remove_ranks(struct fuzz *fuzz, size_t from, size_t count) {
    struct keyref ref = find(fuzz, ZSET);
    struct zset_iter iter;
    struct zset_member member;
    if (!ref.entry || from >= zset_length(ref.entry)) return;
    if (count > zset_length(ref.entry) - from) count = (size_t)zset_length(ref.entry) - from;
    zset_iter_start(&iter, ref.entry, from, true);
    for (size_t i = 0; i < count && zset_iter_next(&iter, &member); i++)
        note_removed(&fuzz->values[ZSET], index_of(member.text));
    zset_remove_range(&ref, from, count);
    delete_if_empty(fuzz, ZSET);
}

/* --- Scans --- */

static void visit_member(struct slice member, void *arg) {
    ((struct value *)arg)->visited[index_of(member)] = true;
}

static void visit_record(const struct record *record, void *arg) {
    visit_member(record->field, arg);
}

static void visit_scored(struct slice member, double score, void *arg) {
    (void)score;
    visit_member(member, arg);
}

static void scan_step(struct fuzz *fuzz, int kind) {
    struct value *value = &fuzz->values[kind];
    struct entry *entry = find(fuzz, kind).entry;
    if (value->cursor == 0) {
        memset(value->visited, 0, sizeof(value->visited));
        memcpy(value->throughout, value->in, sizeof(value->in));
    }
    if (!entry) value->cursor = 0;
    if (entry && kind == SET) value->cursor = set_scan(entry, value->cursor, visit_member, value);
    if (entry && kind == HASH)
        value->cursor = records_scan(entry, value->cursor, visit_record, value);
    if (entry && kind == ZSET) value->cursor = zset_scan(entry, value->cursor, visit_scored, value);
    if (value->cursor != 0) return;
    for (size_t i = 0; i < MEMBERS; i++)
        require(value->visited[i] || !value->throughout[i], "a scan visits what is there");
}

/* --- Captures --- */

static bool append(void *arg, const void *bytes, size_t len) {
    sds *out = arg;
    *out = sds_append(*out, slice_make(bytes, len));
    return true;
}

/* Writes the capture, reads it as a value, and releases it. */
static void end_capture(struct fuzz *fuzz, int kind) {
    struct value *value = &fuzz->values[kind];
    struct rdb_load_options options = {.limits = fuzz->limits};
    struct rdb_writer writer;
    struct rdb_reader reader;
    if (!value->capture) return;
    sds out = sds_new(SLICE(""));
    rdb_writer_start(&writer, (struct rdb_sink){.write = append, .arg = &out}, true, false);
    type_format_of(types[kind])->write(&writer, (struct value_source){.capture = value->capture});
    rdb_writer_flush(&writer);
    rdb_writer_end(&writer);
    capture_end(value->capture);
    value->capture = NULL;
    rdb_reader_start_memory(&reader, sds_slice(out), false);
    struct entry *entry = type_format_read(&reader, value->rdb_type, keys[kind], &options);
    require(entry != NULL, "a capture can be read");
    require(digest_entry(entry) == value->digest, "and is as the value was");
    rdb_reader_end(&reader);
    value_free(entry);
    sds_free(out);
}

static void begin_capture(struct fuzz *fuzz, int kind) {
    struct value *value = &fuzz->values[kind];
    struct entry *entry = find(fuzz, kind).entry;
    if (!entry || value->capture) return;
    value->digest = digest_entry(entry);
    value->rdb_type = type_format_written(entry);
    value->capture = value_capture(entry, &fuzz->left);
}

/* --- Comparing --- */

static void compare_hash(struct fuzz *fuzz, const struct entry *entry, size_t i,
                         struct slice member) {
    const struct value *value = &fuzz->values[HASH];
    char buffer[8];
    struct record record;
    bool found = hash_find(entry, member, HASH_ALL, &record);
    require(found == value->in[i], "a hash has the model's fields");
    if (!found) return;
    require(slice_equal(record.value, value_text(value->number[i], buffer)), "and its values");
    require(record.expiry_ms == value->expiry[i], "and its expiries");
}

static void compare_zset(struct fuzz *fuzz, const struct entry *entry, size_t i,
                         struct slice member) {
    const struct value *value = &fuzz->values[ZSET];
    struct zset_place place = zset_find(entry, member);
    require(place.found == value->in[i], "a sorted set has the model's members");
    require(!place.found || place.score == score_of(value->number[i]), "and its scores");
}

static void compare(struct fuzz *fuzz, int kind) {
    const struct value *value = &fuzz->values[kind];
    struct entry *entry = find(fuzz, kind).entry;
    require((entry == NULL) == (value->count == 0), "a value has members");
    if (!entry) return;
    digest_entry(entry);
    require(value_length(entry) == value->count, "as many as the model");
    for (size_t i = 0; i < MEMBERS; i++) {
        struct slice member = members[i];
        if (kind == SET)
            require(set_contains(entry, member) == value->in[i], "a set has the model's members");
        if (kind == HASH) compare_hash(fuzz, entry, i, member);
        if (kind == ZSET) compare_zset(fuzz, entry, i, member);
    }
}

/* --- All --- */

enum edit { PUT, PUT_MANY, TAKE, TAKE_MANY, SCAN, CAPTURE, RELEASE, EXPIRE, PASS, RANKS, EDITS };

static void edit(struct fuzz *fuzz, const uint8_t bytes[EDIT_SIZE]) {
    int kind = bytes[0] / EDITS % KINDS;
    size_t i = bytes[1], many = bytes[2];
    switch (bytes[0] % EDITS) {
    case PUT: put(fuzz, kind, i, bytes[3]); break;
    case PUT_MANY:
        for (size_t n = 0; n < many; n++)
            put(fuzz, kind, (i + n) % MEMBERS, (uint8_t)(bytes[3] + n));
        break;
    case TAKE: take(fuzz, kind, i); break;
    case TAKE_MANY:
        for (size_t n = 0; n < many; n++) take(fuzz, kind, (i + n) % MEMBERS);
        break;
    case SCAN: scan_step(fuzz, kind); break;
    case CAPTURE: begin_capture(fuzz, kind); break;
    case RELEASE: end_capture(fuzz, kind); break;
    case EXPIRE: set_field_expiry(fuzz, i, bytes[3]); break;
    case PASS: let_time_pass(fuzz, bytes[3]); break;
    case RANKS: remove_ranks(fuzz, i, many); break;
    }
}

static struct fuzz *begin(uint8_t choice) {
    static const size_t entries[] = {0, 3, 20, 128};
    size_t most = entries[choice & 3], text = choice & 4 ? 64 : 5;
    struct fuzz *fuzz = mem_alloc_zeroed(sizeof(*fuzz));
    fuzz->keyspace = keyspace_new(value_free, value_length);
    fuzz->limits = value_limits_default;
    fuzz->limits.set = (struct set_limits){entries[choice >> 3 & 3], most, text};
    fuzz->limits.hash = (struct listpack_limits){most, text};
    fuzz->limits.zset = (struct listpack_limits){most, text};
    for (size_t i = 0; i < MEMBERS; i++) {
        for (int kind = 0; kind < KINDS; kind++) fuzz->values[kind].expiry[i] = RECORD_NEVER;
    }
    return fuzz;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1) return 0;
    hash_init_seed(1);
    make_members();
    size_t used = mem_used(), edits = (size - 1) / EDIT_SIZE;
    struct fuzz *fuzz = begin(data[0]);
    if (edits > EDITS_MAX) edits = EDITS_MAX;
    for (size_t i = 0; i < edits; i++) {
        edit(fuzz, data + 1 + i * EDIT_SIZE);
        if (i % CHECKED == 0) compare(fuzz, data[1 + i * EDIT_SIZE] / EDITS % KINDS);
    }
    for (int kind = 0; kind < KINDS; kind++) {
        end_capture(fuzz, kind);
        compare(fuzz, kind);
    }
    require(fuzz->left == 0, "no capture is left");
    keyspace_free(fuzz->keyspace);
    mem_free(fuzz);
    require(mem_used() == used, "all memory is given back");
    return 0;
}
