/* stream_producers_format: see the layout in stream_producers_format.h. */
#include "persist/stream_producers_format.h"

#include "base/alloc.h"
#include "persist/rdb_format.h"
#include "persist/value_commands.h"
#include "types/stream.h"

/* --- Writing --- */

static void write_producer(struct rdb_writer *writer, const struct producer_image *producer) {
    rdb_write_string(writer, producer->name);
    rdb_write_length(writer, producer->count);
    for (uint32_t i = 0; i < producer->count && writer->error == 0; i++) {
        rdb_write_string(writer, producer_image_iid(producer, i));
        rdb_write_length(writer, producer->ids[i].ms);
        rdb_write_length(writer, producer->ids[i].seq);
    }
}

void stream_producers_write(struct rdb_writer *writer, const struct producers_image *image) {
    rdb_write_length(writer, image->limits.duration_s);
    rdb_write_length(writer, image->limits.iids);
    rdb_write_length(writer, image->count);
    for (size_t i = 0; i < image->count && writer->error == 0; i++)
        write_producer(writer, &image->producers[i]);
    rdb_write_length(writer, image->added);
    rdb_write_length(writer, image->duplicates);
}

/* --- As commands --- */

static void write_records(struct rdb_writer *writer, struct slice key,
                          const struct producer_image *producer) {
    for (uint32_t i = 0; i < producer->count && writer->error == 0; i++) {
        char text[STREAM_ID_TEXT_MAX];
        value_commands_begin(writer, "XIDMPRECORD", key, 3);
        value_commands_text(writer, producer->name);
        value_commands_text(writer, producer_image_iid(producer, i));
        value_commands_text(writer, stream_id_text(text, producer->ids[i]));
    }
}

void stream_producers_write_commands(struct rdb_writer *writer, struct slice key,
                                     const struct producers_image *image) {
    if (!image) return;
    value_commands_begin(writer, "XCFGSET", key, 4);
    value_commands_text(writer, SLICE("IDMP-DURATION"));
    value_commands_integer(writer, image->limits.duration_s);
    value_commands_text(writer, SLICE("IDMP-MAXSIZE"));
    value_commands_integer(writer, image->limits.iids);
    for (size_t i = 0; i < image->count && writer->error == 0; i++)
        write_records(writer, key, &image->producers[i]);
}

/* --- Reading --- */

static bool fail(struct rdb_reader *reader, const char *what) {
    return rdb_reader_fail(reader, "a stream has %s" RDB_INTEGRITY, what);
}

static bool read_limit(struct rdb_reader *reader, uint32_t max, uint32_t *limit) {
    uint64_t number;
    if (!rdb_read_length(reader, &number)) return false;
    *limit = (uint32_t)number;
    return (number >= 1 && number <= max) || fail(reader, "a limit of producers out of range");
}

/* Names are kept while others are read. */
struct producers_load {
    struct rdb_reader *reader;
    struct producers *producers;
    struct pieces *pieces;
    struct rdb_scratch name_bytes;
    struct rdb_scratch iid_bytes;
};

static bool read_iid(struct producers_load *load, struct slice name) {
    struct stream_id id, other;
    struct slice iid;
    if (!rdb_read_kept_string(load->reader, &load->iid_bytes, &iid)) return false;
    if (iid.len == 0) return fail(load->reader, "an empty iid");
    if (producers_find_any(load->producers, name, iid, &other))
        return fail(load->reader, "an iid twice");
    if (!rdb_read_length(load->reader, &id.ms) || !rdb_read_length(load->reader, &id.seq))
        return false;
    producers_add(load->producers, load->pieces, name, iid, id);
    return true;
}

static bool read_producer(struct producers_load *load) {
    struct slice name;
    uint64_t iids;
    if (!rdb_read_kept_string(load->reader, &load->name_bytes, &name)) return false;
    if (name.len == 0) return fail(load->reader, "a producer without a name");
    if (producers_has(load->producers, name)) return fail(load->reader, "a producer twice");
    if (!rdb_read_length(load->reader, &iids)) return false;
    for (; iids > 0; iids--)
        if (!read_iid(load, name)) return false;
    return true;
}

static bool read_all(struct producers_load *load) {
    uint64_t count, added, duplicates;
    if (!rdb_read_length(load->reader, &count)) return false;
    for (; count > 0; count--)
        if (!read_producer(load)) return false;
    if (!rdb_read_length(load->reader, &added) || !rdb_read_length(load->reader, &duplicates))
        return false;
    load->producers->added = stream_counter(added);
    load->producers->duplicates = stream_counter(duplicates);
    return true;
}

bool stream_producers_read(struct rdb_reader *reader, struct streamlog *log,
                           struct producers_limits limits) {
    struct producers_limits own;
    if (!read_limit(reader, PRODUCERS_DURATION_MAX, &own.duration_s) ||
        !read_limit(reader, PRODUCERS_IIDS_MAX, &own.iids))
        return false;
    struct producers *producers = streamlog_need_producers(log, own);
    struct producers_load load = {.reader = reader, .producers = producers, .pieces = &log->pieces};
    bool good = read_all(&load);
    mem_free(load.name_bytes.bytes);
    mem_free(load.iid_bytes.bytes);
    bool says_nothing = producers->added == 0 && producers->duplicates == 0 &&
                        own.duration_s == limits.duration_s && own.iids == limits.iids;
    if (good && says_nothing) streamlog_drop_producers(log);
    return good;
}
