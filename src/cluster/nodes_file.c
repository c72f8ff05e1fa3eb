#include "cluster/nodes_file.h"

#include "base/memory/alloc.h"
#include "base/text/number.h"
#include "cluster/nodes_text.h"
#include "config/node_names.h"

#include <assert.h>
#include <inttypes.h>

/* What an error quotes of the file. */
enum { SHOWN_MAX = 64 };

/* What a line says about other lines, which may stand below: looked up at the end. */
struct line {
    struct cluster_node *node;
    unsigned number;
    struct slice primary;
    struct slice slots;
    bool has_shard;
};

/* Lives on the caller's stack. */
struct reader {
    struct cluster *cluster;
    struct line *lines; /* of nodes */
    size_t count;
    size_t capacity;
    unsigned number; /* of the line that is read, from 1 on */
    bool has_vars;
    sds error; /* NULL: none yet */
};

/* --- Errors --- */

/* Sets the error; its last part is quoted from the file. Returns false. */
static bool refuse(struct reader *reader, const char *what, struct slice quoted) {
    if (quoted.len > SHOWN_MAX) quoted.len = SHOWN_MAX;
    reader->error = sds_format("line %u: %s", reader->number, what);
    if (!quoted.ptr) return false;
    reader->error = sds_append_cstr(reader->error, " ");
    reader->error = sds_append_quoted(reader->error, quoted);
    return false;
}

static bool refuse_line(struct reader *reader, const char *what) {
    return refuse(reader, what, (struct slice){0});
}

/* --- Numbers, names --- */

/* Takes a number of at most `max`. */
static bool take_number(struct slice text, uint64_t max, uint64_t *number) {
    return number_parse_uint64(text, number) && *number <= max;
}

static bool take_port(struct reader *reader, struct slice text, int *port) {
    uint64_t number;
    if (!take_number(text, UINT16_MAX, &number))
        return refuse(reader, "a port is a number up to 65535, not", text);
    *port = (int)number;
    return true;
}

static bool take_time(struct reader *reader, struct slice text, int64_t *time_ms) {
    uint64_t number;
    if (!take_number(text, INT64_MAX, &number))
        return refuse(reader, "a time is a number of milliseconds, not", text);
    *time_ms = (int64_t)number;
    return true;
}

static bool take_epoch(struct reader *reader, struct slice text, uint64_t *epoch) {
    if (take_number(text, INT64_MAX, epoch)) return true;
    return refuse(reader, "an epoch is a number, not", text);
}

static bool take_name(struct reader *reader, struct slice text, const struct node_name_rule *rule,
                      sds *name) {
    const char *problem = node_name_problem(text, rule);
    if (problem) return refuse(reader, problem, text);
    sds_free(*name);
    *name = sds_new(text);
    return true;
}

/* --- Addresses --- */

/* ip:port@bus; without @bus before Redis 4, which had no bus ports but those. */
static bool take_ports(struct reader *reader, struct slice address, struct cluster_node *node) {
    struct slice ip = address;
    while (ip.len > 0 && ip.ptr[ip.len - 1] != ':') ip.len--; /* IPv6 has colons, too */
    if (ip.len == 0) return refuse(reader, "an address is ip:port@bus-port, not", address);
    struct slice bus = slice_make(ip.ptr + ip.len, address.len - ip.len);
    ip.len--;
    struct slice port = slice_take_until(&bus, '@');
    bool has_bus = slice_end(port) != slice_end(address);
    int *front = reader->cluster->uses_tls ? &node->tls_port : &node->port;
    if (!take_name(reader, ip, &node_ip_rule, &node->ip) || !take_port(reader, port, front))
        return false;
    if (has_bus) return take_port(reader, bus, &node->bus_port);
    node->bus_port = *front + CLUSTER_BUS_DISTANCE;
    return node->bus_port <= UINT16_MAX || refuse(reader, "no bus port belongs to port", port);
}

static bool take_shard(struct reader *reader, struct line *line, struct slice id) {
    if (!cluster_is_id(id)) return refuse(reader, "a shard-id has 40 hex digits, unlike", id);
    memcpy(line->node->shard_id, id.ptr, CLUSTER_ID_LEN);
    line->has_shard = true;
    return true;
}

/* Other servers have other fields as well. */
static bool take_field(struct reader *reader, struct line *line, struct slice field) {
    struct slice value = field, name = slice_take_until(&value, '=');
    struct cluster_node *node = line->node;
    if (name.len == field.len || name.len == 0)
        return refuse(reader, "a field of an address is name=value, not", field);
    if (slice_equal(name, SLICE("shard-id"))) return take_shard(reader, line, value);
    if (slice_equal(name, SLICE("tls-port"))) return take_port(reader, value, &node->tls_port);
    if (slice_equal(name, SLICE("tcp-port"))) return take_port(reader, value, &node->port);
    return !slice_equal(name, SLICE("nodename")) ||
           take_name(reader, value, &node_human_name_rule, &node->human_name);
}

static bool take_address(struct reader *reader, struct line *line, struct slice text) {
    bool done = take_ports(reader, slice_take_until(&text, ','), line->node);
    struct slice hostname = slice_take_until(&text, ',');
    done = done && take_name(reader, hostname, &node_hostname_rule, &line->node->hostname);
    while (done && text.len > 0) done = take_field(reader, line, slice_take_until(&text, ','));
    return done;
}

/* --- Flags --- */

static bool add_flag(struct reader *reader, struct slice name, unsigned *flags) {
    for (const struct nodes_text_flag *flag = nodes_text_flags; flag->name; flag++) {
        if (!slice_equal(name, slice_of_cstr(flag->name))) continue;
        *flags |= flag->flag;
        return true;
    }
    return refuse(reader, "no flag is named", name);
}

static bool take_flags(struct reader *reader, struct cluster_node *node, struct slice text) {
    struct slice all = text;
    unsigned flags = 0, role = CLUSTER_PRIMARY | CLUSTER_REPLICA;
    do {
        if (!add_flag(reader, slice_take_until(&text, ','), &flags)) return false;
    } while (text.len > 0);
    if ((flags & role) == role || flags & CLUSTER_HANDSHAKE)
        return refuse(reader, "these flags do not go together, or not into a file:", all);
    if (flags & CLUSTER_MYSELF && reader->cluster->myself)
        return refuse_line(reader, "a second node has the flag myself");
    if (flags & CLUSTER_MYSELF) reader->cluster->myself = node;
    node->flags = flags;
    return true;
}

/* --- Lines --- */

static struct line *add_node(struct reader *reader, struct slice id) {
    if (!cluster_is_id(id)) {
        refuse(reader, "a node's id has 40 hex digits, unlike", id);
    } else if (cluster_find(reader->cluster, id)) {
        refuse(reader, "a line above has the same id,", id);
    } else if (reader->count == NODES_FILE_NODES_MAX) {
        refuse_line(reader, "these are too many nodes");
    } else {
        MEM_RESERVE(reader->lines, reader->capacity, reader->count + 1);
        struct line *line = &reader->lines[reader->count++];
        *line =
            (struct line){.node = cluster_add(reader->cluster, id.ptr), .number = reader->number};
        return line;
    }
    return NULL;
}

static bool take_link(struct reader *reader, struct slice state) {
    return slice_equal(state, SLICE("connected")) || slice_equal(state, SLICE("disconnected")) ||
           refuse(reader, "a link is connected or disconnected, not", state);
}

static bool take_node(struct reader *reader, struct slice text) {
    enum { ID, ADDRESS, FLAGS, PRIMARY, PING, PONG, EPOCH, LINK, FIELDS };
    struct slice fields[FIELDS];
    for (int i = 0; i < FIELDS; i++) {
        fields[i] = slice_take_until(&text, ' ');
        if (fields[i].len == 0) return refuse_line(reader, "it has fewer than eight fields");
    }
    struct line *line = add_node(reader, fields[ID]);
    if (!line) return false;
    line->primary = fields[PRIMARY];
    line->slots = text;
    struct cluster_node *node = line->node;
    return take_address(reader, line, fields[ADDRESS]) && take_flags(reader, node, fields[FLAGS]) &&
           take_time(reader, fields[PING], &node->ping_sent_ms) &&
           take_time(reader, fields[PONG], &node->pong_received_ms) &&
           take_epoch(reader, fields[EPOCH], &node->config_epoch) &&
           take_link(reader, fields[LINK]);
}

/* Names that are not known are of later versions. */
static bool take_vars(struct reader *reader, struct slice text) {
    bool has_current = false, has_vote = false, done = true;
    while (done && text.len > 0) {
        struct slice name = slice_take_until(&text, ' '), value = slice_take_until(&text, ' ');
        bool is_current = slice_equal(name, SLICE("currentEpoch"));
        bool is_vote = slice_equal(name, SLICE("lastVoteEpoch"));
        if (is_current) done = take_epoch(reader, value, &reader->cluster->current_epoch);
        if (is_vote) done = take_epoch(reader, value, &reader->cluster->last_vote_epoch);
        has_current |= is_current;
        has_vote |= is_vote;
    }
    reader->has_vars = true;
    if (done && !(has_current && has_vote))
        return refuse_line(reader, "currentEpoch or lastVoteEpoch is missing");
    return done;
}

static bool take_line(struct reader *reader, struct slice text) {
    struct slice rest = text, first = slice_take_until(&rest, ' ');
    if (text.len == 0) return true; /* old versions of Redis leave empty lines at the end */
    if (memchr(text.ptr, '\0', text.len)) return refuse_line(reader, "it contains a zero byte");
    if (reader->has_vars) return refuse_line(reader, "the line 'vars' must be the last one");
    return slice_equal(first, SLICE("vars")) ? take_vars(reader, rest) : take_node(reader, text);
}

static bool take_lines(struct reader *reader, struct slice text) {
    bool done = true;
    while (done && text.len > 0) {
        const char *end = slice_end(text);
        struct slice line = slice_take_until(&text, '\n');
        reader->number++;
        /* A number may go on where the text was cut off, so no such line is taken. */
        done = slice_end(line) == end ? refuse_line(reader, "it is cut off, without a line end")
                                      : take_line(reader, line);
    }
    return done;
}

/* --- What lines say about others --- */

static bool link_primary(struct reader *reader, const struct line *line) {
    bool has_none = slice_equal(line->primary, SLICE("-"));
    struct cluster_node *primary = has_none ? NULL : cluster_find(reader->cluster, line->primary);
    if (has_none) return true;
    if (!(line->node->flags & CLUSTER_REPLICA))
        return refuse_line(reader, "only a node with the flag slave can have a primary");
    if (!primary || primary == line->node)
        return refuse(reader, "its primary is no other node of this file:", line->primary);
    line->node->primary = primary;
    return true;
}

static bool take_slot(struct slice text, unsigned *slot) {
    uint64_t number;
    bool done = take_number(text, KEY_SLOTS - 1, &number);
    if (done) *slot = (unsigned)number;
    return done;
}

/* 5 or 0-99 */
static bool take_range(struct reader *reader, struct cluster_node *node, struct slice text) {
    struct slice last = text, first = slice_take_until(&last, '-');
    unsigned slot, end;
    if (first.len == text.len) last = first;
    if (!take_slot(first, &slot) || !take_slot(last, &end) || end < slot)
        return refuse(reader, "this is no range of slots:", text);
    for (; slot <= end; slot++) {
        if (reader->cluster->owners[slot])
            return refuse(reader, "a slot that is served already is in", text);
        cluster_set_owner(reader->cluster, slot, node);
    }
    return true;
}

/* [5->-id] or [6-<-id] */
static bool take_open_slot(struct reader *reader, const struct cluster_node *node,
                           struct slice text) {
    enum { SIGN = 3 };
    struct cluster *cluster = reader->cluster;
    struct slice inner = slice_make(text.ptr + 1, text.len - 1);
    struct slice rest = slice_take_until(&inner, ']'), sign = rest;
    struct slice number = slice_take_until(&rest, '-');
    sign = slice_make(number.ptr + number.len, sign.len - number.len);
    unsigned slot;
    bool goes = slice_begins(sign, SLICE("->-")), comes = slice_begins(sign, SLICE("-<-"));
    if (text.ptr[text.len - 1] != ']' || inner.len > 0 || !(goes || comes) ||
        !take_slot(number, &slot))
        return refuse(reader, "this is no open slot:", text);
    struct cluster_node *other =
        cluster_find(cluster, slice_make(sign.ptr + SIGN, sign.len - SIGN));
    if (node != cluster->myself || !other || other == node)
        return refuse(reader, "an open slot is of myself and another node of this file, unlike",
                      text);
    if (goes ? cluster->migrating_to[slot] : cluster->importing_from[slot])
        return refuse(reader, "a slot is open twice in", text);
    (goes ? cluster_set_migrating : cluster_set_importing)(cluster, slot, other);
    return true;
}

static bool take_slots(struct reader *reader, const struct line *line) {
    struct slice text = line->slots;
    while (text.len > 0) {
        struct slice word = slice_take_until(&text, ' ');
        bool is_open = slice_begins(word, SLICE("["));
        if (!(is_open ? take_open_slot(reader, line->node, word)
                      : take_range(reader, line->node, word)))
            return false;
    }
    return true;
}

/* Redis before 7.2 knows no shards, and other versions may leave a replica with an old one. */
static void share_shards(struct reader *reader) {
    for (size_t i = 0; i < reader->count; i++) {
        struct cluster_node *node = reader->lines[i].node;
        if (node->primary) memcpy(node->shard_id, node->primary->shard_id, CLUSTER_ID_LEN);
    }
}

static bool link_lines(struct reader *reader) {
    for (size_t i = 0; i < reader->count; i++) {
        reader->number = reader->lines[i].number;
        if (!link_primary(reader, &reader->lines[i]) || !take_slots(reader, &reader->lines[i]))
            return false;
    }
    share_shards(reader);
    return true;
}

/* --- The whole text --- */

/* Lines that are missing have no number. */
static bool refuse_all(struct reader *reader, const char *what) {
    reader->error = sds_format("after line %u: %s", reader->number, what);
    return false;
}

static bool take_all(struct reader *reader, struct slice text) {
    struct cluster *cluster = reader->cluster;
    if (!take_lines(reader, text)) return false;
    if (!reader->has_vars) return refuse_all(reader, "the line 'vars' is missing");
    if (!cluster->myself) return refuse_all(reader, "no node has the flag myself");
    if (!link_lines(reader)) return false;
    cluster->current_epoch = cluster_greatest_epoch(cluster);
    return true;
}

struct cluster *nodes_file_parse(struct slice text, bool uses_tls, sds *error) {
    struct reader reader = {.cluster = cluster_new()};
    reader.cluster->uses_tls = uses_tls;
    bool done = text.len <= NODES_FILE_MAX ? take_all(&reader, text)
                                           : refuse_all(&reader, "the file is too large");
    mem_free(reader.lines);
    assert(done == !reader.error);
    if (done) return reader.cluster;
    cluster_free(reader.cluster);
    *error = reader.error;
    return NULL;
}

sds nodes_file_text(const struct cluster *cluster) {
    sds text = nodes_text_append_all(cluster, sds_new(SLICE("")), NODES_TEXT_FOR_FILE);
    return sds_append_format(text, "vars currentEpoch %" PRIu64 " lastVoteEpoch %" PRIu64 "\n",
                             cluster->current_epoch, cluster->last_vote_epoch);
}
