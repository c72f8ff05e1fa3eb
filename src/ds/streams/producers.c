/* producers: see the head of producers.h. */
#include "ds/streams/producers.h"

#include "base/checked.h"
#include "base/hash/hash.h"
#include "base/memory/alloc.h"
#include "base/memory/relocate.h"

#include <string.h>

/* --- Memory --- */

static size_t columns_size(uint32_t capacity) {
    const size_t item = sizeof(struct stream_id) + sizeof(uint64_t) + sizeof(uint32_t);
    return mem_good_size(capacity * item);
}

static uint64_t bytes_end(const struct producer *producer) {
    uint32_t end = producer->first + producer->count;
    return producer->count > 0 ? producer->ends[end - 1] : producer->begin;
}

static void drop_iids(struct pieces *pieces, struct producer *producer) {
    if (!producer->ids) return;
    pieces_drop(pieces, producer->epoch, producer->ids, columns_size(producer->capacity));
    pieces_drop(pieces, producer->epoch, producer->bytes, mem_good_size(producer->byte_capacity));
}

static void set_columns(struct producer *producer, void *columns, uint32_t capacity) {
    producer->ids = columns;
    producer->ends = (uint64_t *)(producer->ids + capacity);
    producer->hashes = (uint32_t *)(producer->ends + capacity);
    producer->capacity = capacity;
}

/* Gives the producer memory of its own with the iids of `from`, with room for others, and at least
 * for one of `len` bytes. */
static void place_iids(struct pieces *pieces, struct producer *producer,
                       const struct producer *from, size_t len) {
    enum { ROOM = 2, BYTES_ROOM = 24 };
    uint32_t count = from->count, capacity = count + count / 2 + ROOM;
    uint64_t used = bytes_end(from) - from->begin;
    set_columns(producer, pieces_alloc(pieces, columns_size(capacity)), capacity);
    producer->byte_capacity = used + used / 2 + len + BYTES_ROOM;
    producer->bytes = pieces_alloc(pieces, mem_good_size(producer->byte_capacity));
    for (uint32_t i = 0; i < count; i++) {
        producer->ids[i] = from->ids[from->first + i];
        producer->ends[i] = from->ends[from->first + i] - from->begin;
        producer->hashes[i] = from->hashes[from->first + i];
    }
    if (used > 0) memcpy(producer->bytes, from->bytes + from->begin, used);
    producer->begin = 0;
    producer->first = 0;
    producer->count = count;
    producer->epoch = pieces_epoch(pieces);
}

/* Makes room for one more iid of `len` bytes. */
static void reserve(struct pieces *pieces, struct producer *producer, size_t len) {
    bool has_room = producer->first + producer->count < producer->capacity &&
                    len <= producer->byte_capacity - bytes_end(producer);
    if (has_room) return;
    struct producer old = *producer;
    place_iids(pieces, producer, &old, len);
    drop_iids(pieces, &old);
}

/* --- Pieces: see ds/pieces.h --- */

static void visit_producer(struct slice **item, const struct piece_visitor *visitor) {
    struct producer *producer = nametable_enter_item(item, sizeof(*producer), visitor);
    if (producer->ids) {
        uint32_t capacity = producer->capacity;
        size_t size = mem_good_size(producer->byte_capacity);
        void *columns =
            piece_visit(visitor, producer->ids, columns_size(capacity), &producer->epoch);
        set_columns(producer, columns, capacity);
        producer->bytes = piece_visit(visitor, producer->bytes, size, &producer->epoch);
    }
    nametable_leave_item(*item, sizeof(*producer), visitor);
}

static void visit_table(struct producers *producers, const struct piece_visitor *visitor) {
    nametable_enter(&producers->table, visitor);
    for (size_t i = 0; i < producers->table.count; i++)
        visit_producer(&producers->table.items[i], visitor);
    nametable_leave(&producers->table, visitor);
}

struct producers *producers_pieces(struct producers *producers,
                                   const struct piece_visitor *visitor) {
    size_t size = mem_good_size(sizeof(*producers));
    producers = visitor->enter(visitor, producers, size);
    visit_table(producers, visitor);
    visitor->leave(visitor, producers, size, NULL);
    return producers;
}

static void remove_producer(struct producers *producers, struct pieces *pieces,
                            struct producer *producer) {
    struct slice *item = &producer->name;
    struct piece_dropper dropper = pieces_dropper(pieces);
    nametable_remove(&producers->table, pieces, item);
    visit_producer(&item, &dropper.visitor);
}

/* --- Life --- */

struct producers *producers_new(struct pieces *pieces, struct producers_limits limits) {
    struct producers *producers = pieces_alloc_zeroed(pieces, mem_good_size(sizeof(*producers)));
    producers->limits = limits;
    return producers;
}

void producers_set_limits(struct producers *producers, struct pieces *pieces,
                          struct producers_limits limits) {
    const struct producers_limits *old = &producers->limits;
    if (old->duration_s == limits.duration_s && old->iids == limits.iids) return;
    struct piece_dropper dropper = pieces_dropper(pieces);
    visit_table(producers, &dropper.visitor);
    producers->table = (struct nametable){0};
    producers->next = 0;
    producers->limits = limits;
}

/* --- Iids --- */

static bool is_old(const struct producers *producers, struct stream_id id, int64_t now_ms) {
    int64_t duration_ms = (int64_t)producers->limits.duration_s * 1000;
    return now_ms >= duration_ms && id.ms <= (uint64_t)(now_ms - duration_ms);
}

bool producers_has(const struct producers *producers, struct slice name) {
    size_t at;
    return nametable_find(&producers->table, name, &at);
}

bool producers_find(const struct producers *producers, struct slice name, struct slice iid,
                    int64_t now_ms, struct stream_id *id) {
    size_t at;
    if (!nametable_find(&producers->table, name, &at)) return false;
    const struct producer *producer = producers_at(producers, at);
    uint32_t hash = (uint32_t)hash_bytes(iid);
    for (uint32_t i = producer->first + producer->count; i-- > producer->first;) {
        if (producer->hashes[i] != hash ||
            !slice_equal(producer_iid(producer, i - producer->first), iid))
            continue;
        *id = producer->ids[i];
        return !is_old(producers, *id, now_ms);
    }
    return false;
}

static void forget_first(struct producer *producer) {
    CHECKED_ASSERT(producer->count > 0);
    producer->begin = producer->ends[producer->first];
    producer->first++;
    producer->count--;
}

void producers_add(struct producers *producers, struct pieces *pieces, struct slice name,
                   struct slice iid, struct stream_id id) {
    size_t at;
    CHECKED_ASSERT(name.len > 0 && iid.len > 0);
    struct producer *producer =
        nametable_find(&producers->table, name, &at)
            ? producers_at(producers, at)
            : nametable_insert(&producers->table, pieces, at, sizeof(*producer), name);
    while (producer->count >= producers->limits.iids) forget_first(producer);
    reserve(pieces, producer, iid.len);
    uint64_t end = bytes_end(producer);
    uint32_t next = producer->first + producer->count;
    slice_copy(producer->bytes + end, iid);
    producer->ids[next] = id;
    producer->ends[next] = end + iid.len;
    producer->hashes[next] = (uint32_t)hash_bytes(iid);
    producer->count++;
    producers->added++;
}

void producers_expire(struct producers *producers, struct pieces *pieces, int64_t now_ms) {
    enum { STEPS = 2 }; /* more than one, so that old producers become fewer */
    for (int step = 0; step < STEPS && producers->table.count > 0; step++) {
        if (producers->next >= producers->table.count) producers->next = 0;
        struct producer *producer = producers_at(producers, producers->next);
        while (producer->count > 0 && is_old(producers, producer->ids[producer->first], now_ms))
            forget_first(producer);
        if (producer->count > 0)
            producers->next++;
        else
            remove_producer(producers, pieces, producer);
    }
}

void producers_count(const struct producers *producers, int64_t now_ms, uint64_t *producer_count,
                     uint64_t *iid_count) {
    *producer_count = *iid_count = 0;
    for (size_t i = 0; i < producers->table.count; i++) {
        const struct producer *producer = producers_at(producers, i);
        uint32_t old = 0;
        while (old < producer->count &&
               is_old(producers, producer->ids[producer->first + old], now_ms))
            old++;
        *producer_count += old < producer->count;
        *iid_count += producer->count - old;
    }
}

/* --- Relocating --- */

struct producers *producers_relocate(struct producers *producers, uint64_t *at,
                                     struct relocator *relocator) {
    struct piece_relocator pieces = pieces_relocator(relocator);
    if (*at == 0) {
        producers = relocate(relocator, producers, mem_good_size(sizeof(*producers)));
        nametable_enter(&producers->table, &pieces.visitor);
    }
    while (*at < producers->table.count) {
        visit_producer(&producers->table.items[(*at)++], &pieces.visitor);
        if (*at < producers->table.count && relocator_is_due(relocator)) return producers;
    }
    *at = 0;
    return producers;
}

/* --- Images --- */

size_t producers_image_size(const struct producers *producers) {
    if (!producers) return 0;
    return sizeof(*producers) + nametable_image_size(&producers->table, sizeof(struct producer));
}

struct producers *producers_image(const struct producers *producers, char **to) {
    if (!producers) return NULL;
    struct producers *image = memcpy(*to, producers, sizeof(*producers));
    *to += sizeof(*producers);
    nametable_image(&image->table, sizeof(struct producer), to);
    return image;
}

struct producers *producers_copy(const struct producers *producers, struct pieces *pieces) {
    if (!producers) return NULL;
    struct producers *copy = pieces_alloc(pieces, mem_good_size(sizeof(*copy)));
    *copy = *producers;
    nametable_own(&copy->table, pieces, sizeof(struct producer));
    for (size_t i = 0; i < copy->table.count; i++) {
        struct producer from = *producers_at(copy, i);
        if (from.ids) place_iids(pieces, producers_at(copy, i), &from, 0);
    }
    return copy;
}

/* --- Checking --- */

static bool check_producer(const struct producers *producers, const struct producer *producer,
                           const struct pieces *pieces) {
    uint64_t begin = producer->begin;
    if (producer->count > producers->limits.iids || producer->epoch > pieces_epoch(pieces) ||
        producer->count > producer->capacity - producer->first ||
        bytes_end(producer) > producer->byte_capacity)
        return false;
    for (uint32_t i = producer->first; i < producer->first + producer->count; i++) {
        if (producer->ends[i] < begin) return false;
        begin = producer->ends[i];
        if (producer->hashes[i] !=
            (uint32_t)hash_bytes(producer_iid(producer, i - producer->first)))
            return false;
    }
    return true;
}

bool producers_check(const struct producers *producers, const struct pieces *pieces) {
    for (size_t i = 0; i < producers->table.count; i++)
        if (!check_producer(producers, producers_at(producers, i), pieces)) return false;
    return nametable_check(&producers->table) && producers->limits.iids >= 1 &&
           producers->limits.iids <= PRODUCERS_IIDS_MAX && producers->limits.duration_s >= 1 &&
           producers->limits.duration_s <= PRODUCERS_DURATION_MAX;
}
