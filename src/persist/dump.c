#include "persist/dump.h"

#include "base/crc64.h"
#include "persist/rdb_format.h"
#include "types/value.h"

static bool append(void *arg, const void *bytes, size_t len) {
    sds *payload = arg;
    *payload = sds_append(*payload, slice_make(bytes, len));
    return true;
}

sds dump_new(const struct entry *entry, bool compress) {
    enum { PIECE = 512 }; /* most values are small */
    struct rdb_writer writer;
    sds payload = sds_new(SLICE(""));
    rdb_writer_start(&writer, (struct rdb_sink){.write = append, .arg = &payload, .piece = PIECE},
                     compress, true);
    rdb_write_byte(&writer, (uint8_t)rdb_value_type(entry));
    rdb_write_value(&writer, entry);
    rdb_write_uint16(&writer, RDB_VERSION);
    rdb_write_uint64(&writer, rdb_writer_checksum(&writer));
    rdb_writer_flush(&writer);
    rdb_writer_end(&writer);
    return payload;
}

static bool footer_is_good(struct slice payload, bool skip_checksum) {
    uint16_t version;
    uint64_t checksum;
    if (payload.len < 1 + RDB_PAYLOAD_FOOTER_SIZE) return false;
    const char *footer = slice_end(payload) - RDB_PAYLOAD_FOOTER_SIZE;
    memcpy(&version, footer, sizeof(version));
    memcpy(&checksum, footer + sizeof(version), sizeof(checksum));
    if (version > RDB_VERSION_MAX && version != RDB_VERSION_VALKEY) return false;
    return skip_checksum || checksum == crc64(0, payload.ptr, payload.len - sizeof(checksum));
}

/* Reads the value, which must end where its bytes end. */
static struct entry *read_value(struct rdb_reader *reader, struct slice key,
                                const struct rdb_load_options *options) {
    uint8_t type;
    if (!rdb_read_byte(reader, &type)) return NULL;
    struct entry *entry = rdb_read_value(reader, type, key, options);
    if (!entry || rdb_reader_is_at_end(reader)) return entry;
    value_free(entry);
    return NULL;
}

struct entry *dump_read(struct slice payload, struct slice key,
                        const struct rdb_load_options *options, enum dump_error *error) {
    *error = DUMP_BAD_FOOTER;
    if (!footer_is_good(payload, options->skip_checksum)) return NULL;
    struct rdb_reader reader;
    payload.len -= RDB_PAYLOAD_FOOTER_SIZE;
    rdb_reader_start_memory(&reader, payload, false);
    struct entry *entry = read_value(&reader, key, options);
    rdb_reader_end(&reader);
    *error = entry ? DUMP_OK : DUMP_BAD_VALUE;
    return entry;
}
