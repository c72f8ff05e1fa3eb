/* Streams in files:
 *
 *      RDB_STREAM_LISTPACKS     [nodes] (base id as a string, listpack as a string) …
 *                               [entries] [last id] [groups] group …                  Redis 5.0, 6
 *      RDB_STREAM_LISTPACKS_2   … [entries] [last id] [first id] [greatest deleted id]
 *                               [entries ever added] [groups] group …                    Redis 7.0
 *      RDB_STREAM_LISTPACKS_3   the same with more about consumers                  Redis 7.2 on
 *      RDB_STREAM_LISTPACKS_4   … groups, producers                                 Redis 8.6
 *      RDB_STREAM_LISTPACKS_5   the same with entries that no consumer has          Redis 8.8 on
 *
 *      base id       [ms 8 BE] [seq 8 BE]; other ids are two lengths
 *      listpack      entries, deleted entries, fields, field …, 0, entry …
 *      entry         flags, ms, seq, value …, elements before this one      with SAME_FIELDS
 *                    flags, ms, seq, fields, field, value …, elements       otherwise
 *
 *      producers     [seconds] [iids] [producers] producer … [added] [duplicates]
 *      producer      name [iids] (iid [ms] [seq]) …                       the oldest iid first
 *
 * ms and seq of entries are differences to the base id. Groups: persist/stream_groups_format.h. The
 * first two numbers of producers are their limits. A stream that knows of producers is written in
 * the fourth form (but not for Valkey, which does not read it: there the producers are left out),
 * another one with a consumer in the third form, any other in the second one, which Redis 7.0
 * reads. Source: DUMP and files of Redis 7.0 to 8.10 and Valkey 9.1.
 *
 * A field or value of 16378 or 2097146 bytes makes an element whose back length Redis and Valkey,
 * from 9.1 on, write differently, and each rejects the other's (persist/list_format.c). Both forms
 * are read; that of Redis is written. */
#include "base/memory/alloc.h"
#include "ds/lists/listpack.h"
#include "persist/rdb_body.h"
#include "persist/rdb_format.h"
#include "persist/stream_groups_format.h"
#include "persist/type_format.h"
#include "persist/value_commands.h"
#include "types/stream.h"
#include "types/value.h"

#include <endian.h>
#include <errno.h>

enum { ENTRY_DELETED = 1, ENTRY_SAME_FIELDS = 2 };

/* --- Writing --- */

/* The body of a node's listpack. */
struct body_writer {
    struct rdb_scratch scratch;
    size_t used;
    size_t count;
    bool failed; /* no memory */
};

static void put_integer(struct body_writer *body, int64_t integer) {
    if (!rdb_body_append_integer(&body->scratch, &body->used, integer)) body->failed = true;
    body->count++;
}

static void put_text(struct body_writer *body, struct slice text) {
    if (!rdb_body_append(&body->scratch, &body->used, text)) body->failed = true;
    body->count++;
}

static void put_entry(struct body_writer *body, struct stream_id base, struct stream_entry *entry) {
    bool same_fields = entry->fields != NULL;
    int64_t pairs = (int64_t)entry->pairs;
    struct stream_pair pair;
    put_integer(body, same_fields ? ENTRY_SAME_FIELDS : 0);
    put_integer(body, (int64_t)(entry->id.ms - base.ms));
    put_integer(body, (int64_t)(entry->id.seq - base.seq));
    if (!same_fields) put_integer(body, pairs);
    while (streamlog_next_pair(entry, &pair)) {
        if (!same_fields) put_text(body, pair.field);
        put_text(body, pair.value);
    }
    put_integer(body, same_fields ? pairs + 3 : 2 * pairs + 4);
}

static void put_node(struct body_writer *body, struct stream_node_view *node) {
    struct stream_pair pair;
    struct stream_entry entry;
    body->used = body->count = 0;
    put_integer(body, (int64_t)node->count);
    put_integer(body, 0);
    put_integer(body, (int64_t)node->master.pairs);
    while (streamlog_next_field(&node->master, &pair)) put_text(body, pair.field);
    put_integer(body, 0);
    while (!body->failed && streamlog_node_next(node, &entry)) put_entry(body, node->base, &entry);
}

static void write_node(struct rdb_writer *writer, struct body_writer *body,
                       struct stream_node_view *node) {
    uint64_t base[] = {htobe64(node->base.ms), htobe64(node->base.seq)};
    rdb_write_string(writer, slice_make(base, sizeof(base)));
    put_node(body, node);
    const uint8_t *first = body->scratch.bytes;
    if (!body->failed) rdb_write_listpack(writer, first, first + body->used, body->count);
}

static void write_id(struct rdb_writer *writer, struct stream_id id) {
    rdb_write_length(writer, id.ms);
    rdb_write_length(writer, id.seq);
}

static struct stream_id first_id(const struct streamlog *log) {
    struct stream_iter iter;
    struct stream_entry entry;
    streamlog_iter_start(&iter, log, STREAM_ID_MIN, STREAM_ID_MAX, false);
    return streamlog_iter_next(&iter, &entry) ? entry.id : STREAM_ID_MIN;
}

static void write_producer(struct rdb_writer *writer, const struct producer *producer) {
    rdb_write_string(writer, producer->name);
    rdb_write_length(writer, producer->count);
    for (uint32_t i = 0; i < producer->count && writer->error == 0; i++) {
        rdb_write_string(writer, producer_iid(producer, i));
        write_id(writer, producer_id(producer, i));
    }
}

static void write_producers(struct rdb_writer *writer, const struct producers *producers) {
    rdb_write_length(writer, producers->limits.duration_s);
    rdb_write_length(writer, producers->limits.iids);
    rdb_write_length(writer, producers->table.count);
    for (size_t i = 0; i < producers->table.count && writer->error == 0; i++)
        write_producer(writer, producers_at(producers, i));
    rdb_write_length(writer, producers->added);
    rdb_write_length(writer, producers->duplicates);
}

/* Pending entries that nobody has get a consumer in the file. */
static unsigned type_of(const struct streamlog *log) {
    if (log->producers) return RDB_STREAM_LISTPACKS_4;
    for (size_t i = 0; i < consumer_groups_count(&log->groups); i++) {
        const struct consumer_group *group = consumer_groups_at(&log->groups, i);
        if (group->consumers.count > 0 || group->pending.length > 0) return RDB_STREAM_LISTPACKS_3;
    }
    return RDB_STREAM_LISTPACKS_2;
}

static const struct streamlog *log_of(struct value_source source) {
    return source.entry ? stream_log(source.entry) : streamlog_captured(source.capture);
}

static void stream_format_write(struct rdb_writer *writer, struct value_source source) {
    const struct streamlog *log = log_of(source);
    unsigned type = type_format_for_writer(writer, type_of(log));
    struct stream_node_iter iter = {.log = log};
    struct stream_node_view node;
    struct body_writer body = {0};
    rdb_write_length(writer, log->nodes);
    while (!body.failed && writer->error == 0 && streamlog_next_node(&iter, &node))
        write_node(writer, &body, &node);
    mem_free(body.scratch.bytes);
    if (body.failed && writer->error == 0) writer->error = ENOMEM;
    rdb_write_length(writer, log->length);
    write_id(writer, log->facts.last_id);
    write_id(writer, first_id(log));
    write_id(writer, log->facts.max_deleted_id);
    rdb_write_length(writer, log->facts.added);
    stream_groups_write(writer, type, &log->groups);
    if (type == RDB_STREAM_LISTPACKS_4) write_producers(writer, log->producers);
}

static unsigned stream_format_written(const struct entry *entry) {
    return type_of(stream_log(entry));
}

/* --- As commands, and in digests --- */

static void write_add(struct rdb_writer *writer, struct slice key, struct stream_entry *entry) {
    struct stream_pair pair;
    char id[STREAM_ID_TEXT_MAX];
    value_commands_begin(writer, "XADD", key, 1 + 2 * (size_t)entry->pairs);
    value_commands_text(writer, stream_id_text(id, entry->id));
    while (streamlog_next_pair(entry, &pair)) {
        value_commands_text(writer, pair.field);
        value_commands_text(writer, pair.value);
    }
}

/* Only XADD makes a stream: its entry is trimmed at once. */
static void write_empty(struct rdb_writer *writer, struct slice key) {
    VALUE_COMMAND(writer, SLICE("XADD"), key, SLICE("MAXLEN"), SLICE("0"), SLICE("0-1"), SLICE("x"),
                  SLICE("y"));
}

static void write_records(struct rdb_writer *writer, struct slice key,
                          const struct producer *producer) {
    for (uint32_t i = 0; i < producer->count && writer->error == 0; i++) {
        char text[STREAM_ID_TEXT_MAX];
        VALUE_COMMAND(writer, SLICE("XIDMPRECORD"), key, producer->name, producer_iid(producer, i),
                      stream_id_text(text, producer_id(producer, i)));
    }
}

/* The commands that make the producers; the counters are lost. */
static void write_producer_commands(struct rdb_writer *writer, struct slice key,
                                    const struct producers *producers) {
    char duration[INT64_TEXT_MAX], iids[INT64_TEXT_MAX];
    if (!producers) return;
    VALUE_COMMAND(writer, SLICE("XCFGSET"), key, SLICE("IDMP-DURATION"),
                  number_text(duration, producers->limits.duration_s), SLICE("IDMP-MAXSIZE"),
                  number_text(iids, producers->limits.iids));
    for (size_t i = 0; i < producers->table.count && writer->error == 0; i++)
        write_records(writer, key, producers_at(producers, i));
}

/* XSETID refuses a deleted id behind the last one, which files of Redis 7.0 may have: the last id
 * then stands for it. */
static void stream_format_write_commands(struct rdb_writer *writer, struct slice key,
                                         struct value_source source) {
    const struct streamlog *log = log_of(source);
    const struct stream_facts *facts = &log->facts;
    char last[STREAM_ID_TEXT_MAX], added[INT64_TEXT_MAX], deleted[STREAM_ID_TEXT_MAX];
    bool is_behind = stream_id_compare(facts->max_deleted_id, facts->last_id) > 0;
    struct stream_iter iter;
    struct stream_entry entry;
    if (log->length == 0) write_empty(writer, key);
    streamlog_iter_start(&iter, log, STREAM_ID_MIN, STREAM_ID_MAX, false);
    while (!writer->error && streamlog_iter_next(&iter, &entry)) write_add(writer, key, &entry);
    VALUE_COMMAND(writer, SLICE("XSETID"), key, stream_id_text(last, facts->last_id),
                  SLICE("ENTRIESADDED"), number_text(added, (int64_t)facts->added),
                  SLICE("MAXDELETEDID"),
                  stream_id_text(deleted, is_behind ? facts->last_id : facts->max_deleted_id));
    stream_groups_write_commands(writer, key, &log->groups);
    write_producer_commands(writer, key, log->producers);
}

/* As in Redis, and the groups after the entries. Producers are no part of it. */
static void stream_format_digest(struct digest *digest, uint8_t to[DIGEST_SIZE],
                                 const struct entry *entry) {
    struct stream_iter iter;
    struct stream_entry one;
    struct stream_pair pair;
    streamlog_iter_start(&iter, stream_log(entry), STREAM_ID_MIN, STREAM_ID_MAX, false);
    while (streamlog_iter_next(&iter, &one)) {
        char text[STREAM_ID_TEXT_MAX];
        struct slice id = stream_id_text(text, one.id);
        *(char *)memchr(text, '-', id.len) = '.';
        digest_mix(digest, to, id);
        while (streamlog_next_pair(&one, &pair)) {
            digest_mix(digest, to, pair.field);
            digest_mix(digest, to, pair.value);
        }
    }
    stream_groups_digest(digest, to, stream_groups(entry));
}

/* --- Reading --- */

/* Texts of an entry, or the fields of a master. */
struct texts {
    struct slice *slices;
    char (*digits)[INT64_TEXT_MAX]; /* of texts that are stored as integers */
    size_t capacity;
};

struct stream_load {
    struct rdb_reader *reader;
    const struct stream_limits *limits;
    struct producers_limits producers; /* of new ones */
    struct streamlog *log;
    struct rdb_scratch scratch; /* a listpack that was encoded anew, or the name of a producer */
    struct rdb_scratch iid_bytes;
    struct texts master;
    struct texts entry;
    size_t fields; /* of the master */
    struct stream_id base;
    const uint8_t *at; /* the next element of the node */
    const uint8_t *end;
};

static bool malformed(struct stream_load *load) {
    return rdb_reader_fail(load->reader, "malformed node of a stream" RDB_INTEGRITY);
}

static bool reserve_texts(struct stream_load *load, struct texts *texts, size_t count) {
    if (count <= texts->capacity) return true;
    size_t capacity = texts->capacity, for_digits = capacity;
    struct slice *slices = mem_try_grow(texts->slices, &capacity, count, sizeof(*slices));
    if (slices) texts->slices = slices;
    char(*digits)[INT64_TEXT_MAX] =
        mem_try_grow(texts->digits, &for_digits, count, sizeof(*digits));
    if (digits) texts->digits = digits;
    if (!slices || !digits) return rdb_reader_fail(load->reader, "no memory for an entry");
    texts->capacity = capacity < for_digits ? capacity : for_digits;
    return true;
}

static void free_texts(struct texts *texts) {
    mem_free(texts->slices);
    mem_free(texts->digits);
}

static bool take_integer(struct stream_load *load, int64_t *integer) {
    struct listpack_value value;
    if (load->at == load->end) return malformed(load);
    load->at += listpack_get(load->at, &value);
    *integer = value.integer;
    return !value.ptr || malformed(load);
}

static bool take_text(struct stream_load *load, struct texts *texts, size_t index) {
    struct listpack_value value;
    if (load->at == load->end) return malformed(load);
    load->at += listpack_get(load->at, &value);
    texts->slices[index] = listpack_value_text(&value, texts->digits[index]);
    return true;
}

/* Takes a number of fields, which are at least one element each in what is left of the node. */
static bool take_count(struct stream_load *load, size_t *count) {
    int64_t integer;
    if (!take_integer(load, &integer)) return false;
    *count = (size_t)integer;
    return (integer > 0 && integer < load->end - load->at) || malformed(load);
}

/* Takes the texts of an entry with the master's fields, or with its own. */
static bool take_pairs(struct stream_load *load, bool same_fields, size_t *pairs) {
    *pairs = load->fields;
    if (!same_fields && !take_count(load, pairs)) return false;
    struct texts *texts = &load->entry;
    if (!reserve_texts(load, texts, 2 * *pairs)) return false;
    for (size_t i = 0; i < *pairs; i++) {
        if (same_fields)
            texts->slices[2 * i] = load->master.slices[i];
        else if (!take_text(load, texts, 2 * i))
            return false;
        if (!take_text(load, texts, 2 * i + 1)) return false;
    }
    return true;
}

static bool append_entry(struct stream_load *load, struct stream_id id, size_t pairs) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < 2 * pairs; i++) bytes += load->entry.slices[i].len;
    if (bytes > STREAM_ENTRY_MAX)
        return rdb_reader_fail(load->reader, "an entry of a stream is too large");
    if (stream_id_compare(id, load->log->facts.last_id) <= 0)
        return rdb_reader_fail(load->reader, "ids of a stream do not ascend");
    streamlog_append(load->log, id, load->entry.slices, pairs, load->limits);
    return true;
}

/* Takes the next entry; *deleted tells whether it is marked as deleted and was left out. */
static bool take_entry(struct stream_load *load, bool *deleted) {
    int64_t flags, ms, seq, elements;
    size_t pairs;
    if (!take_integer(load, &flags) || !take_integer(load, &ms) || !take_integer(load, &seq))
        return false;
    if (flags & ~(int64_t)(ENTRY_DELETED | ENTRY_SAME_FIELDS)) return malformed(load);
    bool same_fields = flags & ENTRY_SAME_FIELDS;
    if (!take_pairs(load, same_fields, &pairs) || !take_integer(load, &elements)) return false;
    if (elements != (int64_t)(same_fields ? pairs + 3 : 2 * pairs + 4)) return malformed(load);
    *deleted = flags & ENTRY_DELETED;
    struct stream_id id = {load->base.ms + (uint64_t)ms, load->base.seq + (uint64_t)seq};
    return *deleted || append_entry(load, id, pairs);
}

static bool take_master(struct stream_load *load, int64_t *count, int64_t *deleted) {
    int64_t zero;
    if (!take_integer(load, count) || !take_integer(load, deleted) ||
        !take_count(load, &load->fields))
        return false;
    if (!reserve_texts(load, &load->master, load->fields)) return false;
    for (size_t i = 0; i < load->fields; i++)
        if (!take_text(load, &load->master, i)) return false;
    return take_integer(load, &zero) && (zero == 0 || malformed(load));
}

static bool take_entries(struct stream_load *load) {
    int64_t count, deleted;
    if (!take_master(load, &count, &deleted)) return false;
    if (count < 0 || deleted < 0) return malformed(load);
    while (load->at < load->end) {
        bool is_deleted = false;
        if (!take_entry(load, &is_deleted)) return false;
        count -= !is_deleted;
        deleted -= is_deleted;
    }
    return (count == 0 && deleted == 0) || malformed(load);
}

static bool read_node(struct stream_load *load) {
    struct slice text;
    struct rdb_body body;
    if (!rdb_read_string(load->reader, &text)) return false;
    uint64_t base[2];
    if (text.len != sizeof(base)) return malformed(load);
    memcpy(base, text.ptr, sizeof(base));
    load->base = (struct stream_id){be64toh(base[0]), be64toh(base[1])};
    if (!rdb_read_body(load->reader, false, &load->scratch, &body)) return false;
    load->at = body.first;
    load->end = body.end;
    return take_entries(load);
}

static bool read_id(struct rdb_reader *reader, struct stream_id *id) {
    return rdb_read_length(reader, &id->ms) && rdb_read_length(reader, &id->seq);
}

/* What follows the nodes, up to the groups. */
static bool read_facts(struct stream_load *load, unsigned type) {
    struct rdb_reader *reader = load->reader;
    struct stream_facts *facts = &load->log->facts;
    struct stream_id last, first, max_deleted = STREAM_ID_MIN;
    uint64_t length, added;
    if (!rdb_read_length(reader, &length) || !read_id(reader, &last)) return false;
    added = length;
    if (type != RDB_STREAM_LISTPACKS &&
        !(read_id(reader, &first) && read_id(reader, &max_deleted) &&
          rdb_read_length(reader, &added)))
        return false;
    if (length != load->log->length || added < length)
        return rdb_reader_fail(reader, "a stream has another number of entries than stated");
    if (stream_id_compare(last, facts->last_id) < 0)
        return rdb_reader_fail(reader, "an entry of a stream has an id behind its last one");
    *facts = (struct stream_facts){last, max_deleted, stream_counter(added)};
    return true;
}

static bool fail(struct stream_load *load, const char *what) {
    return rdb_reader_fail(load->reader, "a stream has %s" RDB_INTEGRITY, what);
}

static bool read_limit(struct stream_load *load, uint32_t max, uint32_t *limit) {
    uint64_t number;
    if (!rdb_read_length(load->reader, &number)) return false;
    *limit = (uint32_t)number;
    return (number >= 1 && number <= max) || fail(load, "a limit of producers out of range");
}

static bool read_iid(struct stream_load *load, struct slice name) {
    struct streamlog *log = load->log;
    struct stream_id id, other;
    struct slice iid;
    if (!rdb_read_kept_string(load->reader, &load->iid_bytes, &iid)) return false;
    if (iid.len == 0) return fail(load, "an empty iid");
    if (producers_find(log->producers, name, iid, 0, &other)) return fail(load, "an iid twice");
    if (!read_id(load->reader, &id)) return false;
    producers_add(log->producers, &log->pieces, name, iid, id);
    return true;
}

static bool read_producer(struct stream_load *load) {
    struct slice name;
    uint64_t iids;
    if (!rdb_read_kept_string(load->reader, &load->scratch, &name)) return false;
    if (name.len == 0) return fail(load, "a producer without a name");
    if (producers_has(load->log->producers, name)) return fail(load, "a producer twice");
    if (!rdb_read_length(load->reader, &iids)) return false;
    for (; iids > 0; iids--)
        if (!read_iid(load, name)) return false;
    return true;
}

/* The log has none after this, either, if nothing says more than new ones would. */
static bool read_producers(struct stream_load *load) {
    struct rdb_reader *reader = load->reader;
    struct producers_limits limits;
    uint64_t count, added, duplicates;
    if (!read_limit(load, PRODUCERS_DURATION_MAX, &limits.duration_s) ||
        !read_limit(load, PRODUCERS_IIDS_MAX, &limits.iids) || !rdb_read_length(reader, &count))
        return false;
    struct producers *producers = streamlog_need_producers(load->log, limits);
    for (; count > 0; count--)
        if (!read_producer(load)) return false;
    if (!rdb_read_length(reader, &added) || !rdb_read_length(reader, &duplicates)) return false;
    producers->added = stream_counter(added);
    producers->duplicates = stream_counter(duplicates);
    bool says_nothing = added == 0 && duplicates == 0 &&
                        limits.duration_s == load->producers.duration_s &&
                        limits.iids == load->producers.iids;
    if (says_nothing) streamlog_drop_producers(load->log);
    return true;
}

static bool read_stream(struct stream_load *load, unsigned type) {
    uint64_t nodes;
    if (!rdb_read_length(load->reader, &nodes)) return false;
    for (; nodes > 0; nodes--)
        if (!read_node(load)) return false;
    return read_facts(load, type) && stream_groups_read(load->reader, type, load->log) &&
           (type < RDB_STREAM_LISTPACKS_4 || read_producers(load));
}

/* Files before RDB version 10 do not say how many entries each group has read. */
static void count_entries_read(const struct entry *entry) {
    struct stream_extent extent = stream_extent(entry);
    struct consumer_groups *groups = stream_groups(entry);
    for (size_t i = 0; i < consumer_groups_count(groups); i++) {
        struct consumer_group *group = consumer_groups_at(groups, i);
        group->entries_read = stream_entries_up_to(&extent, group->last_id);
    }
}

static struct entry *stream_format_read(struct rdb_reader *reader, unsigned type, struct slice key,
                                        const struct rdb_load_options *options) {
    struct entry *entry = stream_load_new(key);
    struct stream_load load = {.reader = reader,
                               .limits = &options->limits.stream,
                               .producers = options->limits.producers,
                               .log = stream_log(entry)};
    bool good = read_stream(&load, type);
    free_texts(&load.master);
    free_texts(&load.entry);
    mem_free(load.scratch.bytes);
    mem_free(load.iid_bytes.bytes);
    if (good && type == RDB_STREAM_LISTPACKS) count_entries_read(entry);
    if (good) return entry;
    value_free(entry);
    return NULL;
}

const struct type_format stream_format = TYPE_FORMAT(stream);
