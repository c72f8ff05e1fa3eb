/* Sets in files:
 *
 *      RDB_SET            [n] string …        any                      written for all but intsets
 *      RDB_SET_INTSET     string              ds/records/intset.h              written for those
 *      RDB_SET_LISTPACK   string              a listpack of members    Redis 7.2 on
 *
 * Redis 7.0 reads what is written. */
#include "base/memory/alloc.h"
#include "base/text/number.h"
#include "ds/lists/listpack.h"
#include "ds/records/intset.h"
#include "persist/rdb_body.h"
#include "persist/rdb_format.h"
#include "persist/type_format.h"
#include "types/set.h"
#include "types/value.h"

/* --- Writing --- */

static unsigned set_format_written(const struct entry *entry) {
    size_t size;
    return set_intset(entry, &size) ? RDB_SET_INTSET : RDB_SET;
}

/* Starts an iteration over the members, and returns how many there are. */
static uint64_t start(struct set_iter *iter, struct value_source source) {
    if (source.entry) {
        set_iter_start(iter, source.entry);
        return set_length(source.entry);
    }
    set_iter_start_capture(iter, source.capture);
    return recordtable_count(recordtable_captured(source.capture));
}

static void set_format_write(struct rdb_writer *writer, struct value_source source) {
    size_t size;
    const uint8_t *intset = source.entry ? set_intset(source.entry, &size) : NULL;
    struct set_iter iter;
    struct slice member;
    if (intset) {
        rdb_write_string(writer, slice_make(intset, size));
        return;
    }
    rdb_write_length(writer, start(&iter, source));
    while (!writer->error && set_iter_next(&iter, &member)) rdb_write_string(writer, member);
}

/* --- As commands, and in digests --- */

static void set_format_write_commands(struct rdb_writer *writer, struct slice key,
                                      struct value_source source) {
    struct set_iter iter;
    struct value_commands_members members = {
        .writer = writer, .name = "SADD", .key = key, .arguments = 1};
    struct slice member;
    members.left = start(&iter, source);
    while (!writer->error && set_iter_next(&iter, &member)) {
        value_commands_member(&members);
        value_commands_text(writer, member);
    }
}

static void set_format_digest(struct digest *digest, uint8_t to[DIGEST_SIZE],
                              const struct entry *entry) {
    struct set_iter iter;
    struct slice member;
    set_iter_start(&iter, entry);
    while (set_iter_next(&iter, &member)) digest_add(digest, to, member);
}

/* --- Reading --- */

static bool add_member(struct rdb_reader *reader, struct entry **entry, struct slice member,
                       const struct set_limits *limits) {
    return set_load_add(entry, member, limits) ||
           rdb_reader_fail(reader, "a set has a member twice");
}

/* The entry, or NULL when it could not be filled. */
static struct entry *finish(struct rdb_reader *reader, struct entry *entry, bool filled) {
    if (filled && set_length(entry) == 0) filled = rdb_reader_fail_empty(reader);
    if (filled) return entry;
    value_free(entry);
    return NULL;
}

static struct entry *read_plain(struct rdb_reader *reader, struct slice key,
                                const struct set_limits *limits) {
    uint64_t count;
    struct slice member;
    bool filled = true;
    if (!rdb_read_length(reader, &count)) return NULL;
    struct entry *entry = set_load_new(key, count, limits);
    for (; filled && count > 0; count--)
        filled = rdb_read_string(reader, &member) && add_member(reader, &entry, member, limits);
    return finish(reader, entry, filled);
}

static struct entry *read_intset(struct rdb_reader *reader, struct slice key,
                                 const struct set_limits *limits) {
    struct slice bytes;
    if (!rdb_read_string(reader, &bytes)) return NULL;
    if (intset_validate(bytes)) return set_from_intset(key, (const uint8_t *)bytes.ptr, limits);
    rdb_reader_fail(reader, "malformed intset" RDB_INTEGRITY);
    return NULL;
}

static struct entry *read_listpack(struct rdb_reader *reader, struct slice key,
                                   const struct set_limits *limits) {
    struct rdb_scratch scratch = {0};
    struct rdb_body body;
    struct entry *entry = NULL;
    if (rdb_read_body(reader, false, &scratch, &body)) {
        entry = set_load_new(key, body.count, limits);
        bool filled = true;
        for (const uint8_t *at = body.first; filled && at < body.end;) {
            char digits[INT64_TEXT_MAX];
            struct listpack_value value;
            at += listpack_get(at, &value);
            filled = add_member(reader, &entry, listpack_value_text(&value, digits), limits);
        }
        entry = finish(reader, entry, filled);
    }
    mem_free(scratch.bytes);
    return entry;
}

static struct entry *set_format_read(struct rdb_reader *reader, unsigned type, struct slice key,
                                     const struct rdb_load_options *options) {
    const struct set_limits *limits = &options->limits.set;
    switch (type) {
    case RDB_SET_INTSET: return read_intset(reader, key, limits);
    case RDB_SET_LISTPACK: return read_listpack(reader, key, limits);
    default: return read_plain(reader, key, limits);
    }
}

const struct type_format set_format = TYPE_FORMAT(set);
