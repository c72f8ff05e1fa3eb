/* The bytes of nodes: see the layout in streamlog_internal.h. */
#include "base/checked.h"
#include "base/memory/alloc.h"
#include "base/varint.h"
#include "ds/lists/listpack.h"
#include "ds/streams/streamlog_internal.h"

#include <assert.h>

/* --- Numbers --- */

/* Written so that it is read from its last byte backwards: that one has the lowest bits, and every
 * byte but the first has the top bit set. */
static uint8_t *back_length_write(uint8_t *at, uint64_t value) {
    size_t size = varint_size(value);
    for (size_t i = size; i-- > 0; value >>= 7) at[i] = (uint8_t)((value & 0x7F) | (i > 0) << 7);
    return at + size;
}

static uint64_t back_length_read(const uint8_t **end) {
    const uint8_t *p = *end - 1;
    uint64_t value = *p & 0x7F;
    for (unsigned shift = 7; *p & 0x80; shift += 7) value |= (uint64_t)(*--p & 0x7F) << shift;
    *end = p;
    return value;
}

/* --- Texts --- */

static uint64_t zigzag(int64_t value) {
    return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

static int64_t unzigzag(uint64_t value) {
    return (int64_t)(value >> 1 ^ -(value & 1));
}

/* A text, classified. */
struct text {
    struct slice bytes; /* empty for an integer */
    uint64_t head;      /* the varint before them */
};

/* Integers of more than 62 bits are stored as texts: their head would not fit 64 bits. */
static struct text text_of(struct slice bytes) {
    int64_t integer;
    if (number_parse_int64(bytes, &integer) && integer >> 61 == integer >> 63)
        return (struct text){SLICE(""), zigzag(integer) << 1 | 1};
    return (struct text){bytes, (uint64_t)bytes.len << 1};
}

static size_t text_size(struct slice bytes) {
    struct text text = text_of(bytes);
    return varint_size(text.head) + text.bytes.len;
}

static uint8_t *text_write(uint8_t *at, struct slice bytes) {
    struct text text = text_of(bytes);
    at = varint_write(at, text.head);
    slice_copy((char *)at, text.bytes);
    return at + text.bytes.len;
}

static struct slice text_read(const uint8_t **at, char digits[INT64_TEXT_MAX]) {
    uint64_t head = varint_read(at);
    if (head & 1) return number_text(digits, unzigzag(head >> 1));
    struct slice text = slice_make(*at, head >> 1);
    *at += text.len;
    return text;
}

/* Returns whether the text at *at, which is moved past it, is this one. */
static bool text_matches(const uint8_t **at, struct slice bytes) {
    struct text text = text_of(bytes);
    uint64_t head = varint_read(at);
    const uint8_t *begin = *at;
    if (!(head & 1)) *at += head >> 1;
    return head == text.head && slice_equal(slice_make(begin, text.bytes.len), text.bytes);
}

/* --- Sizes in RDB files --- */

static size_t serialized_integer(int64_t value) {
    struct listpack_element element;
    listpack_prepare_integer(&element, value);
    return element.size;
}

static size_t serialized_text(struct slice text) {
    struct listpack_element element;
    listpack_prepare(&element, text);
    return element.size;
}

/* The head of a node's listpack: two counts, which change and are not counted here, the number of
 * the master's fields, these fields, and a zero. */
static size_t serialized_master(const struct streamlog_new_entry *entry) {
    size_t size =
        LISTPACK_OVERHEAD + serialized_integer((int64_t)entry->pairs) + serialized_integer(0);
    for (size_t i = 0; i < entry->pairs; i++) size += serialized_text(entry->texts[2 * i]);
    return size;
}

/* Flags, differences of ms and seq, [pairs,] texts, the number of these elements. */
static size_t serialized_entry(struct stream_id base, const struct streamlog_new_entry *entry,
                               bool own_fields) {
    int64_t ms = (int64_t)(entry->id.ms - base.ms), seq = (int64_t)(entry->id.seq - base.seq);
    int64_t pairs = (int64_t)entry->pairs;
    size_t size = serialized_integer(0) + serialized_integer(ms) + serialized_integer(seq);
    size += own_fields ? serialized_integer(pairs) + serialized_integer(2 * pairs + 4)
                       : serialized_integer(pairs + 3);
    for (size_t i = own_fields ? 0 : 1; i < 2 * entry->pairs; i += own_fields ? 1 : 2)
        size += serialized_text(entry->texts[i]);
    return size;
}

bool streamlog__node_is_full(const struct streamlog_node *node, size_t text_bytes,
                             const struct stream_limits *limits) {
    size_t max = limits->node_bytes;
    if (max == 0 || max > STREAM_NODE_MAX) max = STREAM_NODE_MAX;
    size_t counts =
        serialized_integer(node->count) + serialized_integer((int64_t)node->added - node->count);
    return node->serialized + counts + text_bytes >= max ||
           (limits->node_entries > 0 && node->added >= limits->node_entries);
}

/* --- Writing --- */

struct streamlog_node *streamlog__node_new(const struct streamlog_new_entry *entry,
                                           size_t expected) {
    size_t master = varint_size(entry->pairs);
    for (size_t i = 0; i < entry->pairs; i++) master += text_size(entry->texts[2 * i]);
    size_t needed = sizeof(struct streamlog_node) + master;
    size_t size = mem_good_size(needed > expected ? needed : expected);
    struct streamlog_node *node = mem_alloc(size);
    *node = (struct streamlog_node){.capacity = (uint32_t)(size - sizeof(*node)),
                                    .used = (uint32_t)master,
                                    .first = (uint32_t)master,
                                    .serialized = (uint32_t)serialized_master(entry)};
    uint8_t *at = varint_write(node->bytes, entry->pairs);
    for (size_t i = 0; i < entry->pairs; i++) at = text_write(at, entry->texts[2 * i]);
    return node;
}

bool streamlog__has_fields(const struct streamlog_node *node,
                           const struct streamlog_new_entry *entry) {
    const uint8_t *at = node->bytes;
    if (varint_read(&at) != entry->pairs) return false;
    for (size_t i = 0; i < entry->pairs; i++)
        if (!text_matches(&at, entry->texts[2 * i])) return false;
    return true;
}

static uint64_t stored_seq(struct stream_id base, struct stream_id id) {
    return id.ms == base.ms ? id.seq - base.seq : id.seq;
}

/* The entry's size without the back length. */
static size_t front_size(struct stream_id base, const struct streamlog_new_entry *entry,
                         bool own_fields) {
    size_t size = varint_size((uint64_t)entry->pairs << 1) + varint_size(entry->id.ms - base.ms) +
                  varint_size(stored_seq(base, entry->id));
    for (size_t i = 0; i < entry->pairs; i++) {
        if (own_fields) size += text_size(entry->texts[2 * i]);
        size += text_size(entry->texts[2 * i + 1]);
    }
    return size;
}

size_t streamlog__entry_size(struct stream_id base, const struct streamlog_new_entry *entry,
                             bool own_fields) {
    size_t front = front_size(base, entry, own_fields);
    return front + varint_size(front);
}

void streamlog__node_append(struct streamlog_node *node, struct stream_id base,
                            const struct streamlog_new_entry *entry, bool own_fields) {
    uint8_t *begin = node->bytes + node->used;
    uint8_t *at = varint_write(begin, (uint64_t)entry->pairs << 1 | own_fields);
    at = varint_write(at, entry->id.ms - base.ms);
    at = varint_write(at, stored_seq(base, entry->id));
    for (size_t i = 0; i < entry->pairs; i++) {
        if (own_fields) at = text_write(at, entry->texts[2 * i]);
        at = text_write(at, entry->texts[2 * i + 1]);
    }
    at = back_length_write(at, (uint64_t)(at - begin));
    CHECKED_ASSERT((size_t)(at - begin) == streamlog__entry_size(base, entry, own_fields));
    CHECKED_ASSERT(streamlog__after(begin) == at && streamlog__before(at) == begin);
    node->used = (uint32_t)(at - node->bytes);
    node->count++;
    node->added++;
    /* A node that has reached this size takes no more entries: what it adds up to is of no use. */
    size_t serialized = node->serialized + serialized_entry(base, entry, own_fields);
    node->serialized = serialized < UINT32_MAX ? (uint32_t)serialized : UINT32_MAX;
    assert(node->used <= node->capacity);
}

void streamlog__node_cut(struct streamlog_node *node, size_t at) {
    CHECKED_ASSERT(at >= node->first && at < node->used && node->count > 1);
    const uint8_t *begin = node->bytes + at, *end = streamlog__after(begin);
    size_t size = (size_t)(end - begin);
    node->count--;
    if (at == node->first) {
        node->first += (uint32_t)size;
        return;
    }
    memmove(node->bytes + at, end, (size_t)(streamlog__end(node) - end));
    node->used -= (uint32_t)size;
}

void streamlog__node_cut_front(struct streamlog_node *node, size_t at, size_t count) {
    CHECKED_ASSERT(at > node->first && at < node->used && count < node->count);
    node->first = (uint32_t)at;
    node->count -= (uint32_t)count;
}

/* --- Reading --- */

void streamlog__read(const struct streamlog_node *node, struct stream_id base, const uint8_t *at,
                     struct stream_entry *entry) {
    uint64_t head = varint_read(&at);
    uint64_t ms = varint_read(&at), seq = varint_read(&at);
    entry->id.ms = base.ms + ms;
    entry->id.seq = ms == 0 ? base.seq + seq : seq;
    entry->pairs = head >> 1;
    entry->fields = NULL;
    entry->at = at;
    if (head & 1) return;
    entry->fields = node->bytes;
    varint_read(&entry->fields);
}

struct stream_entry streamlog__master(const struct streamlog_node *node) {
    struct stream_entry master = {.fields = node->bytes};
    master.pairs = varint_read(&master.fields);
    return master;
}

bool streamlog_next_field(struct stream_entry *master, struct stream_pair *pair) {
    if (master->pairs == 0) return false;
    master->pairs--;
    pair->field = text_read(&master->fields, pair->field_digits);
    return true;
}

bool streamlog_next_pair(struct stream_entry *entry, struct stream_pair *pair) {
    if (entry->pairs == 0) return false;
    entry->pairs--;
    pair->field = text_read(entry->fields ? &entry->fields : &entry->at, pair->field_digits);
    pair->value = text_read(&entry->at, pair->value_digits);
    return true;
}

const uint8_t *streamlog__after(const uint8_t *at) {
    const uint8_t *begin = at;
    uint64_t head = varint_read(&at);
    varint_read(&at);
    varint_read(&at);
    for (uint64_t texts = (head >> 1) << (head & 1); texts > 0; texts--) {
        uint64_t text = varint_read(&at);
        if (!(text & 1)) at += text >> 1;
    }
    return at + varint_size((uint64_t)(at - begin));
}

const uint8_t *streamlog__before(const uint8_t *end) {
    uint64_t size = back_length_read(&end);
    return end - size;
}

struct stream_id streamlog__last_id(const struct streamlog_node *node, struct stream_id base) {
    struct stream_entry entry;
    streamlog__read(node, base, streamlog__before(streamlog__end(node)), &entry);
    return entry.id;
}

/* --- Checking --- */

bool streamlog__node_check(const struct streamlog_node *node, struct stream_id base) {
    const uint8_t *at = streamlog__first(node), *end = streamlog__end(node);
    struct stream_id last = base;
    size_t count = 0;
    if (node->used > node->capacity || node->first > node->used || node->added < node->count)
        return false;
    for (; at < end; count++) {
        struct stream_entry entry;
        const uint8_t *after = streamlog__after(at);
        streamlog__read(node, base, at, &entry);
        int order = stream_id_compare(entry.id, last);
        if (order < 0 || (order == 0 && count > 0) || entry.pairs == 0) return false;
        if (after > end || streamlog__before(after) != at) return false;
        last = entry.id;
        at = after;
    }
    return at == end && count == node->count && count > 0;
}
