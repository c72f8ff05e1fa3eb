/* stream_groups_format: see the layout in stream_groups_format.h. */
#include "persist/stream_groups_format.h"

#include "base/memory/alloc.h"
#include "persist/rdb_format.h"
#include "persist/value_commands.h"
#include "types/stream.h"

/* --- Writing --- */

static void write_raw_id(struct rdb_writer *writer, struct stream_id id) {
    rdb_write_uint64(writer, __builtin_bswap64(id.ms));
    rdb_write_uint64(writer, __builtin_bswap64(id.seq));
}

static void write_pending(struct rdb_writer *writer, const struct consumer_group *group) {
    struct pending_iter iter;
    struct pending_entry entry;
    rdb_write_length(writer, group->pending.length);
    pending_iter_start(&iter, &group->pending, STREAM_ID_MIN);
    while (pending_iter_next(&iter, &entry)) {
        write_raw_id(writer, entry.id);
        rdb_write_uint64(writer, (uint64_t)entry.delivered_ms);
        rdb_write_length(writer, entry.deliveries);
    }
}

/* The next pending entry that nobody has. */
static bool next_of_nobody(struct pending_iter *iter, struct pending_entry *entry) {
    while (pending_iter_next(iter, entry))
        if (entry->consumer == CONSUMER_NOBODY) return true;
    return false;
}

/* How many entries nobody has. A consumer without a name takes them over in the file. */
static uint64_t count_of_nobody(const struct consumer_group *group) {
    uint64_t count = group->pending.length;
    for (size_t i = 0; i < group->consumers.count; i++)
        count -= consumer_group_at(group, i)->ids.length;
    return count;
}

/* Writes the ids that nobody has. In the list of a consumer, which has only ids, that is all. */
static void write_ids(struct rdb_writer *writer, const struct pendinglist *ids) {
    struct pending_iter iter;
    struct pending_entry entry;
    pending_iter_start(&iter, ids, STREAM_ID_MIN);
    while (next_of_nobody(&iter, &entry)) write_raw_id(writer, entry.id);
}

/* A consumer that takes over as many pending entries of the group, which nobody has. */
static void write_consumer(struct rdb_writer *writer, unsigned type,
                           const struct consumer *consumer, const struct consumer_group *group,
                           uint64_t of_nobody) {
    rdb_write_string(writer, consumer->name);
    rdb_write_uint64(writer, (uint64_t)consumer->seen_ms);
    if (type >= RDB_STREAM_LISTPACKS_3) rdb_write_uint64(writer, (uint64_t)consumer->active_ms);
    rdb_write_length(writer, consumer->ids.length + of_nobody);
    write_ids(writer, &consumer->ids);
    if (of_nobody > 0) write_ids(writer, &group->pending);
}

static void write_consumers(struct rdb_writer *writer, unsigned type,
                            const struct consumer_group *group) {
    const struct consumer unnamed = {.name = SLICE(""), .active_ms = -1};
    uint64_t of_nobody = count_of_nobody(group);
    /* Names ascend. */
    bool has_unnamed = group->consumers.count > 0 && consumer_group_at(group, 0)->name.len == 0;
    bool adds_unnamed = of_nobody > 0 && !has_unnamed;
    rdb_write_length(writer, group->consumers.count + adds_unnamed);
    if (adds_unnamed) write_consumer(writer, type, &unnamed, group, of_nobody);
    for (size_t c = 0; c < group->consumers.count && writer->error == 0; c++)
        write_consumer(writer, type, consumer_group_at(group, c), group,
                       c == 0 && has_unnamed ? of_nobody : 0);
}

void stream_groups_write(struct rdb_writer *writer, unsigned type,
                         const struct consumer_groups *groups) {
    size_t count = consumer_groups_count(groups);
    rdb_write_length(writer, count);
    for (size_t i = 0; i < count && writer->error == 0; i++) {
        const struct consumer_group *group = consumer_groups_at(groups, i);
        rdb_write_string(writer, group->name);
        rdb_write_length(writer, group->last_id.ms);
        rdb_write_length(writer, group->last_id.seq);
        rdb_write_length(writer, (uint64_t)group->entries_read);
        write_pending(writer, group);
        write_consumers(writer, type, group);
    }
}

/* --- As commands --- */

static void write_claim(struct rdb_writer *writer, struct slice key,
                        const struct consumer_group *group, const struct consumer *consumer,
                        const struct pending_entry *entry) {
    char id[STREAM_ID_TEXT_MAX], time[INT64_TEXT_MAX], deliveries[INT64_TEXT_MAX];
    VALUE_COMMAND(writer, SLICE("XCLAIM"), key, group->name, consumer->name, SLICE("0"),
                  stream_id_text(id, entry->id), SLICE("TIME"),
                  number_text(time, entry->delivered_ms), SLICE("RETRYCOUNT"),
                  number_text(deliveries, (int64_t)entry->deliveries), SLICE("JUSTID"),
                  SLICE("FORCE"));
}

static void write_consumer_commands(struct rdb_writer *writer, struct slice key,
                                    const struct consumer_group *group,
                                    const struct consumer *consumer) {
    struct pending_iter iter;
    struct pending_entry entry;
    if (consumer->ids.length == 0)
        VALUE_COMMAND(writer, SLICE("XGROUP"), SLICE("CREATECONSUMER"), key, group->name,
                      consumer->name);
    pending_iter_start(&iter, &consumer->ids, STREAM_ID_MIN);
    while (writer->error == 0 && pending_iter_next(&iter, &entry)) {
        pendinglist_find(&group->pending, entry.id, &entry);
        write_claim(writer, key, group, consumer, &entry);
    }
}

/* What nobody has is claimed and given back: so it is made even where the stream has no such entry.
 * Any consumer serves for that; where there is none, one is made and deleted. */
static void write_releases(struct rdb_writer *writer, struct slice key,
                           const struct consumer_group *group) {
    const struct consumer unnamed = {.name = SLICE("")};
    const struct consumer *consumer =
        group->consumers.count > 0 ? consumer_group_at(group, 0) : &unnamed;
    struct pending_iter iter;
    struct pending_entry entry;
    char id[STREAM_ID_TEXT_MAX];
    if (count_of_nobody(group) == 0) return;
    pending_iter_start(&iter, &group->pending, STREAM_ID_MIN);
    while (writer->error == 0 && next_of_nobody(&iter, &entry)) {
        write_claim(writer, key, group, consumer, &entry);
        VALUE_COMMAND(writer, SLICE("XNACK"), key, group->name, SLICE("FAIL"), SLICE("IDS"),
                      SLICE("1"), stream_id_text(id, entry.id));
    }
    if (consumer == &unnamed)
        VALUE_COMMAND(writer, SLICE("XGROUP"), SLICE("DELCONSUMER"), key, group->name,
                      unnamed.name);
}

void stream_groups_write_commands(struct rdb_writer *writer, struct slice key,
                                  const struct consumer_groups *groups) {
    for (size_t i = 0; i < consumer_groups_count(groups); i++) {
        const struct consumer_group *group = consumer_groups_at(groups, i);
        char last[STREAM_ID_TEXT_MAX], read[INT64_TEXT_MAX];
        VALUE_COMMAND(writer, SLICE("XGROUP"), SLICE("CREATE"), key, group->name,
                      stream_id_text(last, group->last_id), SLICE("ENTRIESREAD"),
                      number_text(read, group->entries_read));
        for (size_t c = 0; c < group->consumers.count && writer->error == 0; c++)
            write_consumer_commands(writer, key, group, consumer_group_at(group, c));
        write_releases(writer, key, group);
    }
}

/* --- In digests --- */

static void mix_id(struct digest *digest, uint8_t to[DIGEST_SIZE], struct stream_id id) {
    char text[STREAM_ID_TEXT_MAX];
    digest_mix(digest, to, stream_id_text(text, id));
}

static void mix_integer(struct digest *digest, uint8_t to[DIGEST_SIZE], int64_t integer) {
    char digits[INT64_TEXT_MAX];
    digest_mix(digest, to, number_text(digits, integer));
}

/* Returns whether some of the pending entries belong to no consumer. */
static bool mix_pending(struct digest *digest, uint8_t to[DIGEST_SIZE],
                        const struct consumer_group *group) {
    struct pending_iter iter;
    struct pending_entry entry;
    bool some_of_nobody = false;
    pending_iter_start(&iter, &group->pending, STREAM_ID_MIN);
    while (pending_iter_next(&iter, &entry)) {
        const struct consumer *consumer = consumer_group_numbered(group, entry.consumer);
        some_of_nobody |= consumer == NULL;
        mix_id(digest, to, entry.id);
        digest_mix(digest, to, consumer ? consumer->name : SLICE(""));
        mix_integer(digest, to, (int64_t)entry.deliveries);
    }
    return some_of_nobody;
}

static void mix_group(struct digest *digest, uint8_t to[DIGEST_SIZE],
                      const struct consumer_group *group) {
    size_t consumers = group->consumers.count;
    digest_mix(digest, to, group->name);
    mix_id(digest, to, group->last_id);
    mix_integer(digest, to, group->entries_read);
    mix_integer(digest, to, (int64_t)group->pending.length);
    bool some_of_nobody = mix_pending(digest, to, group);
    bool has_unnamed = consumers > 0 && consumer_group_at(group, 0)->name.len == 0;
    bool adds_unnamed = some_of_nobody && !has_unnamed;
    mix_integer(digest, to, (int64_t)(consumers + adds_unnamed));
    if (adds_unnamed) digest_mix(digest, to, SLICE(""));
    for (size_t i = 0; i < consumers; i++)
        digest_mix(digest, to, consumer_group_at(group, i)->name);
}

void stream_groups_digest(struct digest *digest, uint8_t to[DIGEST_SIZE],
                          const struct consumer_groups *groups) {
    for (size_t i = 0; i < consumer_groups_count(groups); i++)
        mix_group(digest, to, consumer_groups_at(groups, i));
}

/* --- Reading --- */

struct groups_load {
    struct rdb_reader *reader;
    unsigned type;
    struct consumer_groups *groups;
    struct pieces *pieces;
    struct consumer_group *group;
    uint64_t owned;   /* pending entries of the group that a consumer has */
    bool has_unnamed; /* one that has no name, or nobody */
};

static bool fail(const struct groups_load *load, const char *what) {
    return rdb_reader_fail(load->reader, "a consumer group of a stream has %s" RDB_INTEGRITY, what);
}

static bool read_raw_id(const struct groups_load *load, struct stream_id *id) {
    if (!rdb_read_uint64(load->reader, &id->ms) || !rdb_read_uint64(load->reader, &id->seq))
        return false;
    id->ms = __builtin_bswap64(id->ms);
    id->seq = __builtin_bswap64(id->seq);
    return stream_id_compare(*id, STREAM_ID_MIN) != 0 || fail(load, "a pending id 0-0");
}

/* A time in ms; what lies before 1970 becomes `least`. */
static bool read_time(const struct groups_load *load, int64_t least, int64_t *ms) {
    uint64_t number;
    if (!rdb_read_uint64(load->reader, &number)) return false;
    *ms = (int64_t)number < least ? least : (int64_t)number;
    return true;
}

/* The pending entries of the group; whose they are, the consumers say. */
static bool read_pending(struct groups_load *load) {
    uint64_t count;
    struct pendinglist *list = &load->group->pending;
    if (!rdb_read_length(load->reader, &count)) return false;
    for (; count > 0; count--) {
        struct pending_entry entry = {.consumer = CONSUMER_NOBODY}, other;
        if (!read_raw_id(load, &entry.id) || !read_time(load, 0, &entry.delivered_ms) ||
            !rdb_read_length(load->reader, &entry.deliveries))
            return false;
        entry.deliveries = stream_counter(entry.deliveries);
        if (pendinglist_find(list, entry.id, &other)) return fail(load, "a pending id twice");
        pendinglist_insert(list, load->pieces, &entry);
    }
    return true;
}

/* The ids that a consumer has pending; NULL: that nobody has. */
static bool read_ids(struct groups_load *load, const struct consumer *consumer) {
    uint64_t count;
    if (!rdb_read_length(load->reader, &count)) return false;
    for (; count > 0; count--) {
        struct pending_entry entry;
        struct stream_id id;
        if (!read_raw_id(load, &id)) return false;
        if (!pendinglist_find(&load->group->pending, id, &entry))
            return fail(load, "a consumer with an id that is not pending");
        if (entry.consumer != CONSUMER_NOBODY) return fail(load, "a pending id of two consumers");
        load->owned++;
        if (!consumer) continue;
        entry.consumer = consumer->number;
        consumer_group_assign(load->group, load->pieces, &entry);
    }
    return true;
}

static bool fail_consumer_twice(const struct groups_load *load) {
    return fail(load, "a consumer twice");
}

/* One without a name that was never seen nor active is nobody. */
static bool read_consumer(struct groups_load *load) {
    struct slice name;
    int64_t seen_ms, active_ms;
    struct consumer *consumer = NULL;
    if (!rdb_read_string(load->reader, &name)) return false;
    bool is_unnamed = name.len == 0;
    if (is_unnamed && load->has_unnamed) return fail_consumer_twice(load);
    load->has_unnamed = load->has_unnamed || is_unnamed;
    if (!is_unnamed) consumer = consumer_group_append(load->group, load->pieces, name);
    if (!read_time(load, 0, &seen_ms)) return false;
    active_ms = seen_ms;
    if (load->type >= RDB_STREAM_LISTPACKS_3 && !read_time(load, -1, &active_ms)) return false;
    if (is_unnamed && seen_ms == 0 && active_ms == -1) return read_ids(load, NULL);
    if (is_unnamed) consumer = consumer_group_append(load->group, load->pieces, SLICE(""));
    consumer->seen_ms = seen_ms;
    consumer->active_ms = active_ms;
    if (!read_ids(load, consumer)) return false;
    pendinglist_fit(&consumer->ids, load->pieces);
    return true;
}

/* How many entries it has read: a length, of which the greatest is -1. */
static bool read_entries_read(struct groups_load *load) {
    uint64_t number;
    if (!rdb_read_length(load->reader, &number)) return false;
    load->group->entries_read = (int64_t)number == CONSUMER_GROUP_UNKNOWN
                                    ? CONSUMER_GROUP_UNKNOWN
                                    : (int64_t)stream_counter(number);
    return true;
}

static bool read_group(struct groups_load *load) {
    struct slice name;
    uint64_t consumers;
    if (!rdb_read_string(load->reader, &name)) return false;
    struct consumer_group *group = consumer_groups_append(load->groups, load->pieces, name);
    load->group = group;
    load->owned = 0;
    load->has_unnamed = false;
    if (!rdb_read_length(load->reader, &group->last_id.ms) ||
        !rdb_read_length(load->reader, &group->last_id.seq))
        return false;
    if (load->type != RDB_STREAM_LISTPACKS && !read_entries_read(load)) return false;
    if (!read_pending(load) || !rdb_read_length(load->reader, &consumers)) return false;
    for (; consumers > 0; consumers--)
        if (!read_consumer(load)) return false;
    if (!nametable_sort(&group->consumers)) return fail_consumer_twice(load);
    if (load->type >= RDB_STREAM_LISTPACKS_5 && !read_ids(load, NULL)) return false;
    if (load->owned != group->pending.length)
        return fail(load, "a pending entry that no consumer has");
    pendinglist_fit(&group->pending, load->pieces);
    return true;
}

bool stream_groups_read(struct rdb_reader *reader, unsigned type, struct streamlog *log) {
    struct groups_load load = {
        .reader = reader, .type = type, .groups = &log->groups, .pieces = &log->pieces};
    uint64_t groups;
    if (!rdb_read_length(reader, &groups)) return false;
    for (; groups > 0; groups--)
        if (!read_group(&load)) return false;
    return nametable_sort(&load.groups->groups) ||
           rdb_reader_fail(reader, "a stream has a consumer group twice" RDB_INTEGRITY);
}
