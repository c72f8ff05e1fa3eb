#include "persist/dump.h"

#include "base/checked.h"
#include "base/hash/crc64.h"
#include "persist/rdb_format.h"
#include "persist/rdb_reader.h"
#include "persist/rdb_skip.h"
#include "persist/type_format.h"
#include "types/value.h"

#include <errno.h>

void dump_start(struct rdb_writer *writer, sds *payload, bool compress) {
    enum { PIECE = 512 }; /* most values are small */
    rdb_writer_start(writer,
                     (struct rdb_sink){.write = rdb_sink_append, .arg = payload, .piece = PIECE},
                     compress, true);
}

void dump_end(struct rdb_writer *writer) {
    static const uint16_t version = RDB_VERSION;
    rdb_write_bytes(writer, &version, sizeof(version));
    rdb_write_uint64(writer, rdb_writer_checksum(writer));
    rdb_writer_flush(writer);
    rdb_writer_end(writer);
}

sds dump_new(const struct entry *entry, bool compress) {
    struct rdb_writer writer;
    sds payload = sds_new(SLICE(""));
    dump_start(&writer, &payload, compress);
    rdb_write_byte(&writer, (uint8_t)type_format_written(entry));
    type_format_write(&writer, entry);
    dump_end(&writer);
    CHECKED_ASSERT(dump_check(sds_slice(payload), entry));
    return payload;
}

/* A payload that grows as long as it is wanted. */
struct growing {
    sds payload;
    bool (*go_on)(void *arg);
    void *arg;
};

static bool is_wanted(void *arg) {
    struct growing *growing = arg;
    errno = ECANCELED;
    return growing->go_on(growing->arg);
}

static bool append_wanted(void *arg, const void *bytes, size_t len) {
    struct growing *growing = arg;
    return is_wanted(growing) && rdb_sink_append(&growing->payload, bytes, len);
}

sds dump_new_captured(const struct dump_captured *value, bool compress, bool (*go_on)(void *arg),
                      void *arg) {
    struct growing growing = {sds_new(SLICE("")), go_on, arg};
    struct rdb_writer writer;
    rdb_writer_start(&writer,
                     (struct rdb_sink){.write = append_wanted, .go_on = is_wanted, .arg = &growing},
                     compress, true);
    rdb_write_byte(&writer, (uint8_t)value->written);
    value->format->write(&writer, (struct value_source){.capture = value->capture});
    dump_end(&writer);
    return growing.payload;
}

/* Sets *content to what a payload holds. Returns false when its version or checksum is bad. */
static bool dump_open(struct slice payload, bool skip_checksum, struct slice *content) {
    uint16_t version;
    uint64_t checksum;
    if (payload.len < RDB_PAYLOAD_FOOTER_SIZE) return false;
    const char *footer = slice_end(payload) - RDB_PAYLOAD_FOOTER_SIZE;
    memcpy(&version, footer, sizeof(version));
    memcpy(&checksum, footer + sizeof(version), sizeof(checksum));
    *content = slice_make(payload.ptr, payload.len - RDB_PAYLOAD_FOOTER_SIZE);
    if (version > RDB_VERSION_MAX && !rdb_version_is_valkey(version)) return false;
    return skip_checksum || checksum == crc64(0, payload.ptr, payload.len - sizeof(checksum));
}

/* Reads the value, which must end where its bytes end. */
static struct entry *read_value(struct rdb_reader *reader, struct slice key,
                                const struct rdb_load_options *options) {
    uint8_t type;
    if (!rdb_read_byte(reader, &type)) return NULL;
    struct entry *entry = type_format_read(reader, type, key, options);
    if (!entry || rdb_reader_is_at_end(reader)) return entry;
    rdb_reader_fail(reader, "bytes follow the value");
    value_free(entry);
    return NULL;
}

struct entry *dump_read(struct slice payload, struct slice key,
                        const struct rdb_load_options *options, enum dump_error *error,
                        sds *reason) {
    struct slice content;
    *error = DUMP_BAD_FOOTER;
    if (reason) *reason = NULL;
    if (!dump_open(payload, options->skip_checksum, &content) || content.len == 0) return NULL;
    struct rdb_reader reader;
    rdb_reader_start_memory(&reader, content, false);
    struct entry *entry = read_value(&reader, key, options);
    *error = entry ? DUMP_OK : DUMP_BAD_VALUE;
    if (!entry && reason)
        *reason = sds_format("Internal error in RDB reading offset %llu: %s",
                             (unsigned long long)rdb_reader_error_offset(&reader),
                             rdb_reader_error(&reader));
    rdb_reader_end(&reader);
    return entry;
}

const char *dump_foreign_type(struct slice payload) {
    if (payload.len == 0) return NULL;
    uint8_t type = (uint8_t)payload.ptr[0];
    return type_format_reading(type) ? NULL : rdb_type_name(type);
}

static bool have_equal_digests(const struct entry *a, const struct entry *b) {
    struct digest digest;
    uint8_t bytes[2][DIGEST_SIZE];
    if (!digest_start(&digest)) return true;
    type_format_digest_value(&digest, a, bytes[0]);
    type_format_digest_value(&digest, b, bytes[1]);
    digest_end(&digest);
    return memcmp(bytes[0], bytes[1], DIGEST_SIZE) == 0;
}

bool dump_check(struct slice payload, const struct entry *entry) {
    const struct rdb_load_options options = {.limits = value_limits_default};
    enum dump_error error;
    if (value_allocated(entry) > DUMP_CHECK_MAX) return true;
    struct entry *read = dump_read(payload, entry_key(entry), &options, &error, NULL);
    if (!read) return false;
    read = entry_set_expiry(read, entry_expiry(entry), value_size(read)); /* digests tell it */
    bool good = value_check(read) && have_equal_digests(read, entry);
    value_free(read);
    return good;
}

/* --- Libraries of functions --- */

static const char *read_libraries(struct rdb_reader *reader,
                                  bool (*take)(void *arg, struct slice code), void *arg) {
    uint8_t opcode;
    struct slice code;
    while (!rdb_reader_is_at_end(reader)) {
        if (!rdb_read_byte(reader, &opcode)) return "failed to read payload data type";
        if (opcode == RDB_FUNCTION_PRE_GA) return "Pre-GA function format not supported";
        if (opcode != RDB_FUNCTION2) return "given type is not a function";
        if (!rdb_read_string(reader, &code)) return "Failed loading library payload";
        if (!take(arg, code)) return NULL;
    }
    return NULL;
}

const char *dump_read_function(struct slice payload, bool skip_checksum,
                               bool (*take)(void *arg, struct slice code), void *arg) {
    struct slice content;
    struct rdb_reader reader;
    if (!dump_open(payload, skip_checksum, &content))
        return "DUMP payload version or checksum are wrong";
    rdb_reader_start_memory(&reader, content, false);
    const char *error = read_libraries(&reader, take, arg);
    rdb_reader_end(&reader);
    return error;
}
