#include "persist/rdb_length.h"

#include "persist/rdb_value.h"

/* Discards the bytes: the writer counts them. */
static bool swallow(void *arg, const void *bytes, size_t len) {
    (void)arg, (void)bytes, (void)len;
    return true;
}

static void start(struct rdb_writer *writer) {
    rdb_writer_start(writer, (struct rdb_sink){.write = swallow, .piece = RDB_WRITER_PIECE_MIN},
                     true, false);
}

static size_t finish(struct rdb_writer *writer) {
    size_t length = rdb_writer_offset(writer);
    rdb_writer_end(writer);
    return length;
}

size_t rdb_length_string(struct slice text) {
    struct rdb_writer writer;
    start(&writer);
    rdb_write_string(&writer, text);
    return finish(&writer);
}

size_t rdb_length_value(const struct entry *entry) {
    struct rdb_writer writer;
    start(&writer);
    rdb_write_value(&writer, entry);
    return finish(&writer);
}
