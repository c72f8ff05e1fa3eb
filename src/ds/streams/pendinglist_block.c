/* The bytes of blocks: see the layout in pendinglist_internal.h. */
#include "base/checked.h"
#include "base/memory/alloc.h"
#include "ds/streams/pendinglist_internal.h"

#include <string.h>

_Static_assert(PENDING_BLOCK <= UINT8_MAX, "count and room are bytes");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "differences are copied as they are");

enum { READ_AHEAD = 7 }; /* a value is read as eight bytes */

/* --- Columns --- */

struct values {
    uint64_t of[PENDING_COLUMNS];
};

static struct values values_of(const struct pending_entry *entry) {
    return (struct values){{entry->id.ms, entry->id.seq, entry->consumer,
                            (uint64_t)entry->delivered_ms, entry->deliveries}};
}

/* The bytes that hold a difference: 0 to 8. */
static unsigned width_of(uint64_t difference) {
    return difference == 0 ? 0 : (71 - (unsigned)__builtin_clzll(difference)) / 8;
}

static size_t row_size(const uint8_t width[PENDING_COLUMNS]) {
    size_t size = 0;
    for (unsigned c = 0; c < PENDING_COLUMNS; c++) size += width[c];
    return size;
}

/* Where the column begins. */
static inline size_t column_at(const struct pending_block *block, unsigned column) {
    size_t before = 0;
    for (unsigned c = 0; c < column; c++) before += block->width[c];
    return before * block->room;
}

static inline uint64_t read_value(const struct pending_block *block, unsigned column, size_t begin,
                                  unsigned at) {
    unsigned width = block->width[column];
    uint64_t value;
    if (width == 0) return block->base[column];
    memcpy(&value, block->bytes + begin + (size_t)at * width, sizeof(value));
    return block->base[column] + (value & UINT64_MAX >> (64 - 8 * width));
}

static inline void write_value(struct pending_block *block, unsigned column, size_t begin,
                               unsigned at, uint64_t value) {
    unsigned width = block->width[column];
    uint64_t difference = value - block->base[column];
    CHECKED_ASSERT(width_of(difference) <= width);
    memcpy(block->bytes + begin + (size_t)at * width, &difference, width);
}

static inline uint64_t value_at(const struct pending_block *block, unsigned column, unsigned at) {
    return read_value(block, column, column_at(block, column), at);
}

void pending_block_set(struct pending_block *block, unsigned at,
                       const struct pending_entry *entry) {
    struct values values = values_of(entry);
    size_t begin = 0;
    for (unsigned c = 0; c < PENDING_COLUMNS; c++) {
        write_value(block, c, begin, at, values.of[c]);
        begin += (size_t)block->width[c] * block->room;
    }
}

/* --- Blocks --- */

static size_t size_of(const uint8_t width[PENDING_COLUMNS], unsigned room) {
    return mem_good_size(sizeof(struct pending_block) + row_size(width) * room + READ_AHEAD);
}

size_t pending_block_size(const struct pending_block *block) {
    return size_of(block->width, block->room);
}

static struct pending_block *allocate(const uint64_t base[PENDING_COLUMNS],
                                      const uint8_t width[PENDING_COLUMNS], unsigned room) {
    struct pending_block *block = mem_alloc(size_of(width, room));
    memcpy(block->base, base, sizeof(block->base));
    memcpy(block->width, width, sizeof(block->width));
    block->count = 0;
    block->room = (uint8_t)room;
    return block;
}

struct pending_block *pending_block_new(const struct pending_entry *entries, unsigned count,
                                        unsigned room) {
    struct values least = values_of(&entries[0]), most = least;
    uint8_t width[PENDING_COLUMNS];
    CHECKED_ASSERT(count > 0 && count <= room && room <= PENDING_BLOCK);
    for (unsigned i = 1; i < count; i++) {
        struct values values = values_of(&entries[i]);
        for (unsigned c = 0; c < PENDING_COLUMNS; c++) {
            if (values.of[c] < least.of[c]) least.of[c] = values.of[c];
            if (values.of[c] > most.of[c]) most.of[c] = values.of[c];
        }
    }
    for (unsigned c = 0; c < PENDING_COLUMNS; c++)
        width[c] = (uint8_t)width_of(most.of[c] - least.of[c]);
    struct pending_block *block = allocate(least.of, width, room);
    for (unsigned i = 0; i < count; i++) pending_block_set(block, i, &entries[i]);
    block->count = (uint8_t)count;
    return block;
}

struct pending_block *pending_block_after(const struct pending_block *before,
                                          const struct pending_entry *entry) {
    struct values values = values_of(entry);
    struct pending_block *block = allocate(values.of, before->width, PENDING_BLOCK);
    pending_block_set(block, 0, entry);
    block->count = 1;
    return block;
}

/* --- Reading --- */

struct pending_entry pending_block_get(const struct pending_block *block, unsigned at) {
    struct values values;
    size_t begin = 0;
    for (unsigned c = 0; c < PENDING_COLUMNS; c++) {
        values.of[c] = read_value(block, c, begin, at);
        begin += (size_t)block->width[c] * block->room;
    }
    return (struct pending_entry){{values.of[PENDING_MS], values.of[PENDING_SEQ]},
                                  values.of[PENDING_CONSUMER],
                                  (int64_t)values.of[PENDING_TIME],
                                  values.of[PENDING_DELIVERIES]};
}

void pending_block_get_all(const struct pending_block *block, struct pending_entry *entries) {
    for (unsigned i = 0; i < block->count; i++) entries[i] = pending_block_get(block, i);
}

struct stream_id pending_block_id(const struct pending_block *block, unsigned at) {
    return (struct stream_id){value_at(block, PENDING_MS, at), value_at(block, PENDING_SEQ, at)};
}

unsigned pending_block_search(const struct pending_block *block, struct stream_id id) {
    unsigned low = 0, high = block->count;
    size_t seqs = column_at(block, PENDING_SEQ);
    while (low < high) {
        unsigned middle = (low + high) / 2;
        uint64_t ms = read_value(block, PENDING_MS, 0, middle);
        bool is_before =
            ms < id.ms || (ms == id.ms && read_value(block, PENDING_SEQ, seqs, middle) < id.seq);
        if (is_before)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* --- Changing --- */

bool pending_block_takes(const struct pending_block *block, const struct pending_entry *entry) {
    struct values values = values_of(entry);
    for (unsigned c = 0; c < PENDING_COLUMNS; c++) {
        if (values.of[c] < block->base[c] ||
            width_of(values.of[c] - block->base[c]) > block->width[c])
            return false;
    }
    return true;
}

/* Moves the places [from, count) of each column by `distance`. */
static void move_places(struct pending_block *block, unsigned from, int distance) {
    uint8_t *begin = block->bytes;
    for (unsigned c = 0; c < PENDING_COLUMNS; c++) {
        size_t width = block->width[c];
        uint8_t *at = begin + from * width;
        memmove(at + distance * (int)width, at, (block->count - from) * width);
        begin += width * block->room;
    }
}

void pending_block_insert(struct pending_block *block, unsigned at,
                          const struct pending_entry *entry) {
    CHECKED_ASSERT(block->count < block->room && at <= block->count);
    if (at < block->count) move_places(block, at, 1);
    block->count++;
    pending_block_set(block, at, entry);
}

void pending_block_remove(struct pending_block *block, unsigned at) {
    move_places(block, at + 1, -1);
    block->count--;
}

/* The value at kept[i] becomes the one at i. */
static inline __attribute__((always_inline)) void
keep_values(uint8_t *column, size_t width, const uint8_t *kept, unsigned from, unsigned count) {
    for (unsigned i = from; i < count; i++)
        memcpy(column + i * width, column + kept[i] * width, width);
}

/* The same, where the compiler knows the usual widths. */
static void keep_column(uint8_t *column, size_t width, const uint8_t *kept, unsigned from,
                        unsigned count) {
    switch (width) {
    case 0: return;
    case 1: keep_values(column, 1, kept, from, count); return;
    case 2: keep_values(column, 2, kept, from, count); return;
    case 3: keep_values(column, 3, kept, from, count); return;
    case 4: keep_values(column, 4, kept, from, count); return;
    default: keep_values(column, width, kept, from, count);
    }
}

void pending_block_keep(struct pending_block *block, const uint8_t *kept, unsigned count) {
    uint8_t *column = block->bytes;
    unsigned from = 0;
    while (from < count && kept[from] == from) from++;
    for (unsigned c = 0; c < PENDING_COLUMNS; c++) {
        size_t width = block->width[c];
        keep_column(column, width, kept, from, count);
        column += width * block->room;
    }
    block->count = (uint8_t)count;
}

unsigned pending_block_remove_all(struct pending_block *block, uint64_t consumer) {
    uint8_t kept[PENDING_BLOCK];
    unsigned count = 0, all = block->count;
    if (block->width[PENDING_CONSUMER] == 0) { /* one consumer has all */
        if (block->base[PENDING_CONSUMER] != consumer) return 0;
        block->count = 0;
        return all;
    }
    size_t begin = column_at(block, PENDING_CONSUMER);
    for (unsigned i = 0; i < all; i++) {
        kept[count] = (uint8_t)i;
        count += read_value(block, PENDING_CONSUMER, begin, i) != consumer;
    }
    pending_block_keep(block, kept, count);
    return all - count;
}

struct pending_block *pending_block_resized(const struct pending_block *block, unsigned room) {
    struct pending_block *resized = allocate(block->base, block->width, room);
    uint8_t *to = resized->bytes;
    const uint8_t *from = block->bytes;
    CHECKED_ASSERT(block->count <= room && room <= PENDING_BLOCK);
    for (unsigned c = 0; c < PENDING_COLUMNS; c++) {
        size_t width = block->width[c];
        memcpy(to, from, width * block->count);
        to += width * room;
        from += width * block->room;
    }
    resized->count = block->count;
    return resized;
}

/* --- Checking --- */

bool pending_block_check(const struct pending_block *block) {
    if (block->count == 0 || block->count > block->room || block->room > PENDING_BLOCK)
        return false;
    for (unsigned c = 0; c < PENDING_COLUMNS; c++)
        if (block->width[c] > 8) return false;
    for (unsigned i = 1; i < block->count; i++)
        if (stream_id_compare(pending_block_id(block, i - 1), pending_block_id(block, i)) >= 0)
            return false;
    return true;
}
