/* Hashes in files:
 *
 *      RDB_HASH              [n] (field value) …                      written when no field expires
 *      RDB_HASH_METADATA     [8 first expiry] [n] (ttl field value) …      written when one does
 *      RDB_HASH_LISTPACK     string             a listpack: field, value, …           Redis 7.0 on
 *      RDB_HASH_LISTPACK_EX  [8 first expiry] string    field, value, expiry (0: none), …
 *      RDB_HASH_LISTPACK_EX_PRE_GA              the same without the first expiry
 *      RDB_HASH_2            [n] (field value [8 expiry, -1: none]) …      Valkey 9; written for it
 *      RDB_HASH_ZIPLIST      string             a ziplist: field, value, …        Redis 2.6 … 6.2
 *      RDB_HASH_ZIPMAP       string             see read_zipmap                  Redis before 2.6
 *
 *      ttl                   as a length: 0 no expiry; else expiry - first expiry + 1
 *
 * Expiries are in ms since the epoch. One after HASH_EXPIRY_MAX_MS, as Valkey may write it, is read
 * as HASH_EXPIRY_MAX_MS: Redis refuses files with much later ones. Redis 7.0 reads what is written
 * when no field expires, and Redis 7.4 the other form. Source: DUMP and files of Redis 7.0 and 8.0
 * and Valkey 9.1. */
#include "base/memory/alloc.h"
#include "base/text/number.h"
#include "ds/lists/listpack.h"
#include "persist/rdb_body.h"
#include "persist/rdb_format.h"
#include "persist/type_format.h"
#include "types/hash.h"
#include "types/value.h"

/* --- Writing --- */

static unsigned hash_format_written(const struct entry *entry) {
    return entry_fields_expire(entry) ? RDB_HASH_METADATA : RDB_HASH;
}

/* `first_expiry_ms` is RECORD_NEVER in the form without expiries. */
static void write_record(struct rdb_writer *writer, const struct record *record,
                         int64_t first_expiry_ms) {
    bool has_expiries = first_expiry_ms != RECORD_NEVER;
    if (has_expiries && !writer->for_valkey) {
        bool expires = record->expiry_ms != RECORD_NEVER;
        rdb_write_length(writer, expires ? (uint64_t)(record->expiry_ms - first_expiry_ms) + 1 : 0);
    }
    rdb_write_string(writer, record->field);
    rdb_write_string(writer, record->value);
    if (has_expiries && writer->for_valkey) rdb_write_uint64(writer, (uint64_t)record->expiry_ms);
}

static int64_t first_expiry(struct value_source source) {
    return source.entry ? hash_first_expiry(source.entry)
                        : recordtable_first_expiry(recordtable_captured(source.capture));
}

/* Starts an iteration over all fields, and returns how many there are. */
static uint64_t start(struct hash_iter *iter, struct value_source source) {
    if (source.entry) {
        hash_iter_start(iter, source.entry, HASH_ALL);
        return hash_length(source.entry);
    }
    hash_iter_start_capture(iter, source.capture);
    return recordtable_count(recordtable_captured(source.capture));
}

static void hash_format_write(struct rdb_writer *writer, struct value_source source) {
    struct hash_iter iter;
    struct record record;
    int64_t first_expiry_ms = first_expiry(source);
    if (first_expiry_ms != RECORD_NEVER && !writer->for_valkey)
        rdb_write_uint64(writer, (uint64_t)first_expiry_ms);
    rdb_write_length(writer, start(&iter, source));
    while (!writer->error && hash_iter_next(&iter, &record))
        write_record(writer, &record, first_expiry_ms);
}

/* --- As commands, and in digests --- */

static void set_fields(struct rdb_writer *writer, struct slice key, struct value_source source) {
    struct hash_iter iter;
    struct value_commands_members members = {
        .writer = writer, .name = "HSET", .key = key, .arguments = 2};
    struct record record;
    members.left = start(&iter, source);
    while (!writer->error && hash_iter_next(&iter, &record)) {
        value_commands_member(&members);
        value_commands_text(writer, record.field);
        value_commands_text(writer, record.value);
    }
}

static void set_expiries(struct rdb_writer *writer, struct slice key, struct value_source source) {
    struct hash_iter iter;
    struct record record;
    char digits[INT64_TEXT_MAX];
    start(&iter, source);
    while (!writer->error && hash_iter_next(&iter, &record)) {
        if (record.expiry_ms == RECORD_NEVER) continue;
        value_commands_begin(writer, "HPEXPIREAT", key, 4);
        value_commands_text(writer, number_text(digits, record.expiry_ms));
        value_commands_text(writer, SLICE("FIELDS"));
        value_commands_text(writer, SLICE("1"));
        value_commands_text(writer, record.field);
    }
}

static void hash_format_write_commands(struct rdb_writer *writer, struct slice key,
                                       struct value_source source) {
    set_fields(writer, key, source);
    if (first_expiry(source) != RECORD_NEVER) set_expiries(writer, key, source);
}

static void hash_format_digest(struct digest *digest, uint8_t to[DIGEST_SIZE],
                               const struct entry *entry) {
    struct hash_iter iter;
    struct record record;
    hash_iter_start(&iter, entry, HASH_ALL);
    while (hash_iter_next(&iter, &record)) {
        uint8_t one[DIGEST_SIZE] = {0};
        digest_mix(digest, one, record.field);
        digest_mix(digest, one, record.value);
        if (record.expiry_ms != RECORD_NEVER) digest_add(digest, one, SLICE("!!hexpire!!"));
        digest_add(digest, to, slice_make(one, sizeof(one)));
    }
}

/* --- Reading --- */

struct hash_load {
    struct rdb_reader *reader;
    const struct listpack_limits *limits;
    struct slice key;
    struct entry *entry;      /* NULL until the number of fields is known */
    struct rdb_scratch field; /* while the value is read */
    struct rdb_scratch value; /* while an expiry is read */
    struct rdb_scratch body;  /* a listpack that was encoded anew */
};

static const char bad_expiry[] = "a field of a hash expires at no valid time";

static bool begin_hash(struct hash_load *load, uint64_t count) {
    if (count == 0) return rdb_reader_fail_empty(load->reader);
    load->entry = hash_load_new(load->key, count, load->limits);
    return true;
}

static bool add_record(struct hash_load *load, struct slice field, struct slice value,
                       int64_t expiry_ms) {
    struct record record = {field, value, expiry_ms};
    if (expiry_ms < 0 && expiry_ms != RECORD_NEVER)
        return rdb_reader_fail(load->reader, "%s", bad_expiry);
    return hash_load_add(&load->entry, &record, load->limits) ||
           rdb_reader_fail(load->reader, "a hash has a field twice");
}

/* The expiry that RDB_HASH_METADATA gives as `ttl`; INT64_MIN when it is out of range. */
static int64_t expiry_of_ttl(uint64_t first_expiry_ms, uint64_t ttl) {
    if (ttl == 0) return RECORD_NEVER;
    if (first_expiry_ms > INT64_MAX || ttl - 1 > INT64_MAX - first_expiry_ms) return INT64_MIN;
    return (int64_t)(first_expiry_ms + ttl - 1);
}

/* RDB_HASH; RDB_HASH_METADATA, with a ttl before each field; RDB_HASH_2, with an expiry after each
 * value, whose view ends when it is read. */
static bool read_fields(struct hash_load *load, unsigned type) {
    uint64_t count, ttl = 0, first_expiry_ms = 0, expiry_ms;
    struct rdb_reader *reader = load->reader;
    bool has_ttls = type == RDB_HASH_METADATA, has_expiries = type == RDB_HASH_2;
    if (has_ttls && !rdb_read_uint64(reader, &first_expiry_ms)) return false;
    if (!rdb_read_length(reader, &count) || !begin_hash(load, count)) return false;
    for (; count > 0; count--) {
        struct slice field, value;
        if (has_ttls && !rdb_read_length(reader, &ttl)) return false;
        if (!rdb_read_kept_string(reader, &load->field, &field) ||
            !(has_expiries ? rdb_read_kept_string(reader, &load->value, &value)
                           : rdb_read_string(reader, &value)))
            return false;
        expiry_ms = (uint64_t)expiry_of_ttl(first_expiry_ms, ttl);
        if (has_expiries && !rdb_read_uint64(reader, &expiry_ms)) return false;
        if (!add_record(load, field, value, (int64_t)expiry_ms)) return false;
    }
    return true;
}

/* The next element of a body, as text. */
static struct slice take_text(const uint8_t **at, char digits[INT64_TEXT_MAX]) {
    struct listpack_value value;
    *at += listpack_get(*at, &value);
    return listpack_value_text(&value, digits);
}

/* The expiry of a field in a listpack: an integer, 0 when there is none. */
static bool take_expiry(struct hash_load *load, const uint8_t **at, int64_t *expiry_ms) {
    struct listpack_value value;
    *at += listpack_get(*at, &value);
    *expiry_ms = value.integer > 0 ? value.integer : RECORD_NEVER;
    return (!value.ptr && value.integer >= 0) || rdb_reader_fail(load->reader, "%s", bad_expiry);
}

static bool add_body(struct hash_load *load, const struct rdb_body *body, bool expiries) {
    size_t stride = expiries ? 3 : 2;
    if (body->count % stride != 0)
        return rdb_reader_fail(load->reader, "a hash has a field without a value" RDB_INTEGRITY);
    if (!begin_hash(load, body->count / stride)) return false;
    for (const uint8_t *at = body->first; at < body->end;) {
        char field_digits[INT64_TEXT_MAX], value_digits[INT64_TEXT_MAX];
        struct slice field = take_text(&at, field_digits), value = take_text(&at, value_digits);
        int64_t expiry_ms = RECORD_NEVER;
        if (expiries && !take_expiry(load, &at, &expiry_ms)) return false;
        if (!add_record(load, field, value, expiry_ms)) return false;
    }
    return true;
}

static bool read_packed(struct hash_load *load, unsigned type) {
    uint64_t first_expiry_ms;
    struct rdb_body body;
    if (type == RDB_HASH_LISTPACK_EX && !rdb_read_uint64(load->reader, &first_expiry_ms))
        return false;
    if (!rdb_read_body(load->reader, type == RDB_HASH_ZIPLIST, &load->body, &body)) return false;
    return add_body(load, &body,
                    type == RDB_HASH_LISTPACK_EX || type == RDB_HASH_LISTPACK_EX_PRE_GA);
}

/* A text in a zipmap: [1 below 254 | 254, 4 LE] length, of a value also [1] unused bytes after the
 * text, text. NULL when it does not end before `end`. */
static const uint8_t *take_zipmap_text(const uint8_t *at, const uint8_t *end, bool value,
                                       struct slice *text) {
    enum { LONG = 254 };
    uint32_t len;
    if (end - at < 5 + value) {
        if (end - at < 1 + value || *at >= LONG) return NULL;
    }
    len = *at++;
    if (len > LONG) return NULL;
    if (len == LONG) {
        memcpy(&len, at, sizeof(len));
        at += sizeof(len);
    }
    size_t unused = value ? *at++ : 0;
    if ((size_t)(end - at) < (size_t)len + unused) return NULL;
    *text = slice_make(at, len);
    return at + len + unused;
}

/* [number of fields 1, 254: unknown] (field value) … [255] */
static bool read_zipmap(struct hash_load *load) {
    enum { UNKNOWN = 254, END = 255 };
    struct slice bytes;
    if (!rdb_read_string(load->reader, &bytes)) return false;
    const uint8_t *at = (const uint8_t *)bytes.ptr, *end = at + bytes.len - 1;
    size_t count = 0;
    if (bytes.len < 2 || *end != END)
        return rdb_reader_fail(load->reader, "malformed zipmap" RDB_INTEGRITY);
    uint8_t stated = *at++;
    if (!begin_hash(load, at < end)) return false;
    for (; at < end; count++) {
        struct slice field, value;
        at = take_zipmap_text(at, end, false, &field);
        if (at) at = take_zipmap_text(at, end, true, &value);
        if (!at) return rdb_reader_fail(load->reader, "malformed zipmap" RDB_INTEGRITY);
        if (!add_record(load, field, value, RECORD_NEVER)) return false;
    }
    return stated >= UNKNOWN || stated == count ||
           rdb_reader_fail(load->reader, "malformed zipmap" RDB_INTEGRITY);
}

static bool read_any(struct hash_load *load, unsigned type) {
    switch (type) {
    case RDB_HASH:
    case RDB_HASH_METADATA:
    case RDB_HASH_2: return read_fields(load, type);
    case RDB_HASH_ZIPMAP: return read_zipmap(load);
    default: return read_packed(load, type);
    }
}

static struct entry *hash_format_read(struct rdb_reader *reader, unsigned type, struct slice key,
                                      const struct rdb_load_options *options) {
    struct hash_load load = {.reader = reader, .limits = &options->limits.hash, .key = key};
    bool good = read_any(&load, type);
    mem_free(load.field.bytes);
    mem_free(load.value.bytes);
    mem_free(load.body.bytes);
    if (good) return load.entry;
    if (load.entry) value_free(load.entry);
    return NULL;
}

const struct type_format hash_format = TYPE_FORMAT(hash);
