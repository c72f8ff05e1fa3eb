/* Sorted sets in files:
 *
 *      RDB_ZSET            [count] (member score) …    score: [length 1] text, or [253] not a
 *                                                      number, [254] inf, [255] -inf
 *      RDB_ZSET_2          [count] (member score) …    score: a double, 8 LE; Redis 4.0 on
 *      RDB_ZSET_ZIPLIST    string    a ziplist of member, score, …             2.6 to 6.2
 *      RDB_ZSET_LISTPACK   string    a listpack of the same                    7.0 on
 *
 * A listpack is written as such, a skiplist as RDB_ZSET_2, from its last member to its first, as
 * Redis 7.0 does. Members are read in any order. */
#include "base/memory/alloc.h"
#include "ds/lists/listpack.h"
#include "ds/sorted_sets/skiplist.h"
#include "persist/rdb_body.h"
#include "persist/rdb_format.h"
#include "persist/type_format.h"
#include "types/zset.h"

#include <math.h>

/* --- Writing --- */

static unsigned zset_format_written(const struct entry *entry) {
    return zset_skiplist(entry) ? RDB_ZSET_2 : RDB_ZSET_LISTPACK;
}

static void write_member(struct slice member, double score, void *arg) {
    struct rdb_writer *writer = arg;
    uint64_t bits;
    memcpy(&bits, &score, sizeof(bits));
    rdb_write_string(writer, member);
    rdb_write_uint64(writer, bits);
}

static uint64_t length_of(struct value_source source) {
    return source.entry ? zset_length(source.entry) : skiplist_capture_count(source.capture);
}

/* Visits the members from the first on, or from the last; those of a capture always from the
 * last. */
static void visit_members(struct value_source source, bool forward,
                          void (*visit)(struct slice member, double score, void *arg), void *arg) {
    if (!source.entry) {
        skiplist_capture_visit(source.capture, visit, arg);
        return;
    }
    struct zset_iter iter;
    struct zset_member member;
    zset_iter_start(&iter, source.entry, forward ? 0 : zset_length(source.entry) - 1, forward);
    while (zset_iter_next(&iter, &member)) visit(member.text, member.score, arg);
}

static void zset_format_write(struct rdb_writer *writer, struct value_source source) {
    const uint8_t *first, *end;
    uint64_t length = length_of(source);
    if (source.entry && zset_listpack(source.entry, &first, &end)) {
        rdb_write_listpack(writer, first, end, 2 * (size_t)length);
        return;
    }
    rdb_write_length(writer, length);
    visit_members(source, false, write_member, writer);
}

/* --- As commands, and in digests --- */

static void add_to_command(struct slice member, double score, void *arg) {
    struct value_commands_members *members = arg;
    char text[DOUBLE_TEXT_MAX];
    value_commands_member(members);
    value_commands_text(members->writer, slice_make(text, number_format_double(text, score)));
    value_commands_text(members->writer, member);
}

static void zset_format_write_commands(struct rdb_writer *writer, struct slice key,
                                       struct value_source source) {
    struct value_commands_members members = {
        .writer = writer, .name = "ZADD", .key = key, .arguments = 2, .left = length_of(source)};
    visit_members(source, true, add_to_command, &members);
}

/* As Redis 8.0 does: a member's digest is of its text and the shortest text of its score. Redis 7.0
 * takes 17 digits, so that its digests differ where scores are fractions. */
static void zset_format_digest(struct digest *digest, uint8_t to[DIGEST_SIZE],
                               const struct entry *entry) {
    struct zset_iter iter;
    struct zset_member member;
    zset_iter_start(&iter, entry, 0, true);
    while (zset_iter_next(&iter, &member)) {
        uint8_t own[DIGEST_SIZE] = {0};
        char text[DOUBLE_TEXT_MAX];
        size_t len = number_format_shortest(text, member.score);
        digest_mix(digest, own, member.text);
        digest_mix(digest, own, slice_make(text, len));
        digest_add(digest, to, slice_make(own, sizeof(own)));
    }
}

/* --- Reading --- */

/* A sorted set while it is read. */
struct zset_load {
    struct rdb_reader *reader;
    struct skiplist *list;
    size_t longest;
};

static bool add_member(struct zset_load *load, struct slice member, double score) {
    if (isnan(score)) return rdb_reader_fail(load->reader, "a score is not a number");
    struct skiplist_place place = skiplist_find(load->list, member);
    if (place.node) return rdb_reader_fail(load->reader, "a member of a sorted set occurs twice");
    skiplist_insert(load->list, &place, member, score);
    if (member.len > load->longest) load->longest = member.len;
    return true;
}

/* The form of old files. */
static bool read_score_text(struct rdb_reader *reader, double *score) {
    enum { NOT_A_NUMBER = 253, PLUS_INFINITY = 254, MINUS_INFINITY = 255 };
    uint8_t len;
    const uint8_t *text;
    if (!rdb_read_byte(reader, &len)) return false;
    *score = len == NOT_A_NUMBER ? NAN : len == PLUS_INFINITY ? INFINITY : -INFINITY;
    if (len >= NOT_A_NUMBER) return true;
    return rdb_read_bytes(reader, len, &text) &&
           (number_parse_double(slice_make(text, len), score) ||
            rdb_reader_fail(reader, "malformed score"));
}

static bool read_score(struct rdb_reader *reader, unsigned type, double *score) {
    uint64_t bits;
    if (type == RDB_ZSET) return read_score_text(reader, score);
    if (!rdb_read_uint64(reader, &bits)) return false;
    memcpy(score, &bits, sizeof(bits));
    return true;
}

/* The member's text is needed after its score is read: it is kept in the scratch buffer. */
static bool read_members(struct zset_load *load, unsigned type, struct rdb_scratch *scratch) {
    uint64_t count;
    if (!rdb_read_length(load->reader, &count)) return false;
    for (; count > 0; count--) {
        struct slice text;
        double score;
        if (!rdb_read_kept_string(load->reader, scratch, &text) ||
            !read_score(load->reader, type, &score) || !add_member(load, text, score))
            return false;
    }
    return true;
}

static bool read_body(struct zset_load *load, bool ziplist, struct rdb_scratch *scratch) {
    struct rdb_body body;
    if (!rdb_read_body(load->reader, ziplist, scratch, &body)) return false;
    if (body.count % 2)
        return rdb_reader_fail(load->reader, "a member without a score" RDB_INTEGRITY);
    for (const uint8_t *at = body.first; at < body.end;) {
        struct listpack_value value;
        char digits[INT64_TEXT_MAX];
        double score;
        at += listpack_get(at, &value);
        struct slice member = listpack_value_text(&value, digits);
        if (!zset_parse_score(at, &score)) return rdb_reader_fail(load->reader, "malformed score");
        at += listpack_size(at);
        if (!add_member(load, member, score)) return false;
    }
    return true;
}

static struct entry *zset_format_read(struct rdb_reader *reader, unsigned type, struct slice key,
                                      const struct rdb_load_options *options) {
    struct zset_load load = {.reader = reader, .list = skiplist_new()};
    struct rdb_scratch scratch = {0};
    bool good = type == RDB_ZSET || type == RDB_ZSET_2
                    ? read_members(&load, type, &scratch)
                    : read_body(&load, type == RDB_ZSET_ZIPLIST, &scratch);
    mem_free(scratch.bytes);
    if (good && skiplist_count(load.list) == 0) good = rdb_reader_fail_empty(reader);
    if (good) return zset_from_skiplist(key, load.list, load.longest, &options->limits.zset);
    skiplist_free(load.list);
    return NULL;
}

const struct type_format zset_format = TYPE_FORMAT(zset);
