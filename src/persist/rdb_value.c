#include "persist/rdb_value.h"

#include "persist/rdb_format.h"
#include "persist/rdb_skip.h"
#include "persist/type_format.h"

unsigned rdb_value_type(const struct entry *entry) {
    return type_format_of_entry(entry)->written(entry);
}

unsigned rdb_type_for(const struct rdb_writer *writer, unsigned type) {
    if (!writer->for_valkey) return type;
    return type == RDB_HASH_METADATA        ? RDB_HASH_2
           : type == RDB_STREAM_LISTPACKS_4 ? RDB_STREAM_LISTPACKS_3
                                            : type;
}

void rdb_write_value(struct rdb_writer *writer, const struct entry *entry) {
    type_format_of_entry(entry)->write(writer, (struct value_source){.entry = entry});
}

void rdb_write_capture(struct rdb_writer *writer, enum value_type type, struct capture *capture) {
    type_format_of(type)->write(writer, (struct value_source){.capture = capture});
}

struct entry *rdb_read_value(struct rdb_reader *reader, unsigned type, struct slice key,
                             const struct rdb_load_options *options) {
    const struct type_format *format = type_format_reading(type);
    if (format) return format->read(reader, type, key, options);
    const char *name = rdb_type_name(type);
    rdb_reader_fail(reader, "values of type %u (%s) can't be read", type, name ? name : "unknown");
    return NULL;
}

/* --- Sizes --- */

/* Discards the bytes: the writer counts them. */
static bool swallow(void *arg, const void *bytes, size_t len) {
    (void)arg, (void)bytes, (void)len;
    return true;
}

size_t rdb_length_value(const struct entry *entry) {
    struct rdb_writer writer;
    rdb_writer_start(&writer, (struct rdb_sink){.write = swallow, .piece = RDB_WRITER_PIECE_MIN},
                     true, false);
    rdb_write_value(&writer, entry);
    size_t length = rdb_writer_offset(&writer);
    rdb_writer_end(&writer);
    return length;
}
