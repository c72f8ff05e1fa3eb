#include "persist/type_format.h"

#include "persist/rdb_format.h"
#include "persist/rdb_skip.h"
#include "types/value.h"

#include <stdlib.h>
#include <string.h>

static const struct type_format *const formats[] = {
    [VALUE_STRING] = &string_format, [VALUE_LIST] = &list_format, [VALUE_SET] = &set_format,
    [VALUE_ZSET] = &zset_format,     [VALUE_HASH] = &hash_format, [VALUE_STREAM] = &stream_format,
};
_Static_assert(sizeof(formats) / sizeof(formats[0]) == VALUE_TYPES, "every type is named");

const struct type_format *type_format_of(enum value_type type) {
    return (unsigned)type < VALUE_TYPES ? formats[type] : NULL;
}

const struct type_format *type_format_of_entry(const struct entry *entry) {
    const struct type_format *format = type_format_of(entry_type(entry));
    if (!format) abort();
    return format;
}

const struct type_format *type_format_reading(unsigned rdb_type) {
    return type_format_of((enum value_type)rdb_type_holds(rdb_type));
}

/* --- Commands --- */

void type_format_write_commands(struct rdb_writer *writer, const struct entry *entry) {
    type_format_of_entry(entry)->write_commands(writer, entry_key(entry),
                                                (struct value_source){.entry = entry});
}

/* --- RDB form --- */

unsigned type_format_written(const struct entry *entry) {
    return type_format_of_entry(entry)->written(entry);
}

unsigned type_format_for_writer(const struct rdb_writer *writer, unsigned type) {
    if (!writer->for_valkey) return type;
    return type == RDB_HASH_METADATA        ? RDB_HASH_2
           : type == RDB_STREAM_LISTPACKS_4 ? RDB_STREAM_LISTPACKS_3
                                            : type;
}

void type_format_write(struct rdb_writer *writer, const struct entry *entry) {
    type_format_of_entry(entry)->write(writer, (struct value_source){.entry = entry});
}

struct entry *type_format_read(struct rdb_reader *reader, unsigned type, struct slice key,
                               const struct rdb_load_options *options) {
    const struct type_format *format = type_format_reading(type);
    if (format) return format->read(reader, type, key, options);
    const char *name = rdb_type_name(type);
    rdb_reader_fail(reader, "values of type %u (%s) can't be read", type, name ? name : "unknown");
    return NULL;
}

/* Discards the bytes: the writer counts them. */
static bool swallow(void *arg, const void *bytes, size_t len) {
    (void)arg, (void)bytes, (void)len;
    return true;
}

static size_t length_of(const struct type_format *format, struct value_source source,
                        bool (*go_on)(void *arg), void *arg) {
    const struct rdb_sink sink = {
        .write = swallow, .go_on = go_on, .arg = arg, .piece = RDB_WRITER_PIECE_MIN};
    struct rdb_writer writer;
    rdb_writer_start(&writer, sink, true, false);
    format->write(&writer, source);
    size_t length = rdb_writer_offset(&writer);
    rdb_writer_end(&writer);
    return length;
}

size_t type_format_length(const struct entry *entry) {
    return length_of(type_format_of_entry(entry), (struct value_source){.entry = entry}, NULL,
                     NULL);
}

size_t type_format_length_captured(const struct type_format *format, struct capture *capture,
                                   bool (*go_on)(void *arg), void *arg) {
    return length_of(format, (struct value_source){.capture = capture}, go_on, arg);
}

uint64_t type_format_effort(const struct entry *entry) {
    size_t bytes = value_allocated(entry);
    switch (entry_type(entry)) {
    case VALUE_STRING: return bytes / 32;
    case VALUE_STREAM: return bytes / 8;
    default: return bytes / 32 + value_length(entry) / 2;
    }
}

/* --- Digests --- */

static void mix_value(struct digest *digest, uint8_t to[DIGEST_SIZE], const struct entry *entry) {
    static const struct slice expiring = SLICE("!!expire!!");
    digest_mix_number(digest, to, entry_type(entry));
    type_format_of_entry(entry)->digest(digest, to, entry);
    if (entry_expiry(entry) >= 0) digest_add(digest, to, expiring);
}

void type_format_digest_database(struct digest *digest, unsigned number) {
    digest_mix_number(digest, digest->bytes, number);
}

void type_format_digest_entry(struct digest *digest, const struct entry *entry) {
    uint8_t key[DIGEST_SIZE] = {0};
    digest_mix(digest, key, entry_key(entry));
    mix_value(digest, key, entry);
    digest_add(digest, digest->bytes, slice_make(key, sizeof(key)));
}

void type_format_digest_value(struct digest *digest, const struct entry *entry,
                              uint8_t bytes[DIGEST_SIZE]) {
    memset(bytes, 0, DIGEST_SIZE);
    mix_value(digest, bytes, entry);
}
