#include "ds/records/recordtable_block.h"

#include "base/checked.h"
#include "base/hash/hash.h"
#include "base/memory/alloc.h"
#include "base/prefetch.h"
#include "base/word_bytes.h"

#include <assert.h>

/* --- Reading --- */

static const uint8_t *tags_of(const struct recordtable_block *block) {
    return block->bytes;
}

static const uint8_t *field_lengths(const struct recordtable_block *block) {
    return block->bytes + block->count;
}

static const uint8_t *value_lengths(const struct recordtable_block *block) {
    return block->bytes + 2 * block->count;
}

size_t recordtable__record_size(const struct recordtable_block *block, unsigned columns,
                                unsigned index) {
    size_t size = recordtable__stored(field_lengths(block)[index]);
    if (columns == 3) size += recordtable__stored(value_lengths(block)[index]);
    if (tags_of(block)[index] & RECORD_TAG_EXPIRES) size += RECORD_EXPIRY_SIZE;
    return size;
}

/* The sums of the word's bytes by twos, in 16 bits each. */
static inline uint64_t sums_of_two(uint64_t word) {
    return (word & 0x00FF00FF00FF00FFull) + (word >> 8 & 0x00FF00FF00FF00FFull);
}

/* The sum of the words' bytes, of `b` only when there are values. */
static inline size_t sum_lengths(uint64_t a, uint64_t b, bool values) {
    uint64_t sums = sums_of_two(a);
    if (values) sums += sums_of_two(b);
    return sums * 0x0001000100010001ull >> 48;
}

/* The sum of the first `n` lengths of fields, and of values if there are any. The last words are
 * read whole and masked, because branches that depend on `n` are hard to predict:
 * RECORDTABLE_BLOCK_LEAST. */
static inline __attribute__((always_inline)) size_t
sum_of_lengths(const struct recordtable_block *block, unsigned n, bool values) {
    const uint8_t *fields = field_lengths(block);
    const uint8_t *others = values ? value_lengths(block) : fields;
    size_t sum = 0;
    for (; n >= 8; n -= 8, fields += 8, others += 8)
        sum += sum_lengths(word_bytes_load(fields), word_bytes_load(others), values);
    uint64_t mask = word_bytes_first(n);
    return sum +
           sum_lengths(word_bytes_load(fields) & mask, word_bytes_load(others) & mask, values);
}

size_t recordtable__offset(const struct recordtable_block *block, unsigned columns,
                           unsigned index) {
    CHECKED_ASSERT(index < block->count);
    if (!block->mixed)
        return columns == 3 ? sum_of_lengths(block, index, true)
                            : sum_of_lengths(block, index, false);
    size_t offset = 0;
    for (unsigned i = 0; i < index; i++) offset += recordtable__record_size(block, columns, i);
    return offset;
}

/* The text of this length at *at, which is moved past it. */
static struct slice read_text(const uint8_t **at, uint8_t length) {
    const uint8_t *p = *at;
    *at += recordtable__stored(length);
    if (length != RECORD_OUT_OF_LINE) return slice_make(p, length);
    const struct record_text *text = recordtable__text(p);
    return slice_make(text->bytes, text->len);
}

size_t recordtable__read(const struct recordtable_block *block, unsigned columns, unsigned index,
                         size_t offset, struct record *record) {
    const uint8_t *begin = recordtable__records(block, columns) + offset, *at = begin;
    record->field = read_text(&at, field_lengths(block)[index]);
    record->value = columns == 3 ? read_text(&at, value_lengths(block)[index]) : SLICE("");
    record->expiry_ms = RECORD_NEVER;
    if (tags_of(block)[index] & RECORD_TAG_EXPIRES) {
        memcpy(&record->expiry_ms, at, RECORD_EXPIRY_SIZE);
        at += RECORD_EXPIRY_SIZE;
    }
    return (size_t)(at - begin);
}

uint64_t recordtable__record_hash(const struct recordtable_block *block, unsigned columns,
                                  unsigned index, size_t offset) {
    const uint8_t *at = recordtable__records(block, columns) + offset;
    uint8_t length = field_lengths(block)[index];
    return length == RECORD_OUT_OF_LINE ? recordtable__text(at)->hash
                                        : hash_bytes(slice_make(at, length));
}

static uint8_t tag_of(uint64_t hash) {
    return hash >> RECORD_TAG_SHIFT & 0x7F;
}

/* Returns whether the record at `at` has this field. `length` is the same for both. */
static bool has_field(const uint8_t *at, uint8_t length, struct slice field, uint64_t hash) {
    if (length != RECORD_OUT_OF_LINE) return memcmp(at, field.ptr, length) == 0;
    const struct record_text *text = recordtable__text(at);
    return text->hash == hash && slice_equal(slice_make(text->bytes, text->len), field);
}

/* The top bit of each byte of `tags` that, without its own top bit, may be `tag`: all that are, and
 * at times one after such a byte. */
static uint64_t match_tags(uint64_t tags, uint8_t tag) {
    return word_bytes_equal(tags & WORD_BYTES_ALL(0x7F), tag);
}

void recordtable__prefetch_block(const struct recordtable_block *block) {
    if (!block) return;
    for (size_t line = 0; line < RECORDTABLE_BLOCK_TARGET; line += 64)
        prefetch((const char *)block + line);
}

void recordtable__prefetch_record(const struct recordtable_block *block, unsigned columns,
                                  uint64_t hash, bool adds) {
    for (unsigned first = 0; first < block->count; first += 8) {
        uint64_t tags = word_bytes_load(block->bytes + first); /* RECORDTABLE_BLOCK_LEAST */
        uint64_t match = match_tags(tags, tag_of(hash));
        if (!match) continue;
        unsigned index = first + (unsigned)__builtin_ctzll(match) / 8;
        if (index >= block->count) break;
        const uint8_t *record =
            recordtable__records(block, columns) + recordtable__offset(block, columns, index);
        prefetch(record);
        prefetch(record + 32); /* a record is often in two cache lines */
        return;
    }
    if (adds) recordtable__prefetch_block(block);
}

bool recordtable__find_in_block(const struct recordtable_block *block, unsigned columns,
                                struct slice field, uint64_t hash, struct record_place *place) {
    if (!block) return false;
    uint8_t tag = tag_of(hash), length = recordtable__length(field.len);
    const uint8_t *lengths = field_lengths(block);
    if (length == 0) field.ptr = "";
    for (unsigned first = 0; first < block->count; first += 8) {
        uint64_t tags = word_bytes_load(block->bytes + first); /* RECORDTABLE_BLOCK_LEAST */
        for (uint64_t match = match_tags(tags, tag); match != 0; match &= match - 1) {
            unsigned index = first + (unsigned)__builtin_ctzll(match) / 8;
            if (index >= block->count) break;
            if (lengths[index] != length) continue;
            size_t offset = recordtable__offset(block, columns, index);
            if (!has_field(recordtable__records(block, columns) + offset, length, field, hash))
                continue;
            place->index = index;
            place->offset = offset;
            return true;
        }
    }
    return false;
}

/* --- Texts out-of-line --- */

static size_t text_size(size_t len) {
    return sizeof(struct record_text) + len;
}

static struct record_text *text_new(struct recordtable *table, struct slice text, uint64_t hash) {
    struct record_text *new = pieces_alloc(&table->pieces, mem_good_size(text_size(text.len)));
    new->epoch = pieces_epoch(&table->pieces);
    new->hash = hash;
    new->len = text.len;
    memcpy(new->bytes, text.ptr, text.len);
    return new;
}

static void text_free(struct recordtable *table, struct record_text *text) {
    pieces_drop(&table->pieces, text->epoch, text, mem_good_size(text_size(text->len)));
}

/* --- Changing --- */

/* Replaces the array of a segment, which a capture reads, by a copy; segmented counts both. */
static void own_segment(struct recordtable *table, size_t index) {
    struct recordtable_segment *segment = &recordtable__segments(table)[index];
    size_t size = segmented_room(&table->buckets, index) * sizeof(*segment->blocks);
    struct recordtable_block **blocks = mem_alloc(size);
    memcpy(blocks, segment->blocks, segmented_used(&table->buckets, index) * sizeof(*blocks));
    pieces_leave(&table->pieces, segment->epoch, segment->blocks, size);
    segment->blocks = blocks;
    segment->epoch = pieces_epoch(&table->pieces);
}

struct recordtable_block **recordtable__open_pointer(struct recordtable *table, size_t bucket) {
    struct recordtable_segment *segment = recordtable__segment(table, bucket);
    if (__builtin_expect(pieces_is_read(&table->pieces, segment->epoch), 0))
        own_segment(table, bucket >> SEGMENTED_BITS);
    return &segment->blocks[bucket & (SEGMENTED_ITEMS - 1)];
}

static size_t size_of(const struct recordtable *table, const struct recordtable_block *block) {
    return block ? recordtable__block_size(table->columns, block->count, block->used) : 0;
}

/* A block of `size` bytes, whose head alone is initialised. */
static struct recordtable_block *block_new(struct recordtable *table, size_t size) {
    size = recordtable__allocated(size);
    table->block_bytes += size;
    struct recordtable_block *block = pieces_alloc(&table->pieces, size);
    *block = (struct recordtable_block){.epoch = pieces_epoch(&table->pieces)};
    return block;
}

/* Gives up a block, which may be NULL, and was made for `size` bytes. */
static void drop_block(struct recordtable *table, struct recordtable_block *block, size_t size) {
    if (!block) return;
    size = recordtable__allocated(size);
    table->block_bytes -= size;
    pieces_drop(&table->pieces, block->epoch, block, size);
}

/* Makes a block, which no capture reads, as large as `size` bytes need. */
static void resize_block(struct recordtable *table, struct recordtable_block **pointer,
                         size_t old_size, size_t size) {
    old_size = recordtable__allocated(old_size);
    size = recordtable__allocated(size);
    if (size == old_size) return;
    *pointer = pieces_resize(&table->pieces, *pointer, old_size, size);
    table->block_bytes += size - old_size;
}

struct recordtable_block *recordtable__open_block(struct recordtable *table, size_t bucket,
                                                  size_t more) {
    struct recordtable_block **pointer = recordtable__open_pointer(table, bucket),
                             *block = *pointer;
    size_t size = block ? size_of(table, block) : sizeof(*block);
    if (block && !pieces_is_read(&table->pieces, block->epoch)) {
        if (more > 0) resize_block(table, pointer, size, size + more);
        return *pointer;
    }
    *pointer = block_new(table, size + more);
    if (!block) return *pointer;
    memcpy(*pointer, block, size);
    (*pointer)->epoch = pieces_epoch(&table->pieces);
    drop_block(table, block, size);
    return *pointer;
}

/* Something was taken out of the bucket's block, which had `old_size` bytes: gives back what its
 * size class has too much. */
static void fit_block(struct recordtable *table, size_t bucket, size_t old_size) {
    struct recordtable_block **pointer = recordtable__open_pointer(table, bucket);
    struct recordtable_block *block = *pointer;
    if (block->count > 0) {
        resize_block(table, pointer, old_size, size_of(table, block));
        return;
    }
    drop_block(table, block, old_size);
    *pointer = NULL;
}

uint8_t *recordtable__block_splice(struct recordtable *table, size_t bucket, size_t at,
                                   size_t remove, size_t add) {
    struct recordtable_block *block =
        recordtable__open_block(table, bucket, add > remove ? add - remove : 0);
    size_t old_size = size_of(table, block);
    CHECKED_ASSERT(at + remove <= block->used);
    uint8_t *gap = recordtable__records(block, table->columns) + at;
    memmove(gap + add, gap + remove, block->used - at - remove);
    assert(block->used + add - remove <= UINT16_MAX);
    block->used = (uint16_t)(block->used + add - remove);
    if (add >= remove) return gap;
    fit_block(table, bucket, old_size);
    block = recordtable__block_at(table, bucket);
    return recordtable__records(block, table->columns) + at;
}

static uint8_t *write_text(struct recordtable *table, uint8_t *at, struct slice text,
                           uint64_t hash) {
    if (recordtable__length(text.len) != RECORD_OUT_OF_LINE) {
        slice_copy((char *)at, text);
        return at + text.len;
    }
    struct record_text *out_of_line = text_new(table, text, hash);
    memcpy(at, &out_of_line, sizeof(out_of_line));
    return at + RECORD_POINTER_SIZE;
}

/* Makes place for one record more at the end of the columns. */
static void grow_columns(struct recordtable_block *block, unsigned columns) {
    unsigned count = block->count;
    for (unsigned column = columns; column > 0; column--) {
        uint8_t *from = block->bytes + column * count;
        memmove(from + column, from, column == columns ? block->used : count);
    }
    block->count = (count + 1) & 0x7FFF;
}

void recordtable__block_add(struct recordtable *table, size_t bucket, const struct record *record,
                            uint64_t hash) {
    unsigned columns = table->columns;
    bool expires = record->expiry_ms != RECORD_NEVER;
    uint8_t lengths[2] = {recordtable__length(record->field.len),
                          recordtable__length(record->value.len)};
    size_t size = recordtable__stored(lengths[0]) + (expires ? RECORD_EXPIRY_SIZE : 0) +
                  (columns == 3 ? recordtable__stored(lengths[1]) : 0);
    struct recordtable_block *block = recordtable__open_block(table, bucket, columns + size);
    unsigned index = block->count;
    assert(index < 0x7FFF && block->used + size <= UINT16_MAX);
    grow_columns(block, columns);
    block->bytes[index] = (uint8_t)(tag_of(hash) | (expires ? RECORD_TAG_EXPIRES : 0));
    for (unsigned i = 0; i + 1 < columns; i++)
        block->bytes[(i + 1) * block->count + index] = lengths[i];
    if (expires || lengths[0] == RECORD_OUT_OF_LINE || lengths[1] == RECORD_OUT_OF_LINE)
        block->mixed = 1;
    uint8_t *at = recordtable__records(block, columns) + block->used;
    block->used = (uint16_t)(block->used + size);
    at = write_text(table, at, record->field, hash);
    if (columns == 3) at = write_text(table, at, record->value, 0);
    if (expires) memcpy(at, &record->expiry_ms, RECORD_EXPIRY_SIZE);
    table->expiring += expires;
    recordtable__note_count(table, block->count);
}

static void free_texts(struct recordtable *table, const struct recordtable_block *block,
                       const struct record_place *place) {
    const uint8_t *at = recordtable__records(block, table->columns) + place->offset;
    uint8_t length = field_lengths(block)[place->index];
    if (length == RECORD_OUT_OF_LINE) text_free(table, recordtable__text(at));
    at += recordtable__stored(length);
    if (table->columns == 3 && value_lengths(block)[place->index] == RECORD_OUT_OF_LINE)
        text_free(table, recordtable__text(at));
}

void recordtable__block_remove(struct recordtable *table, const struct record_place *place) {
    struct recordtable_block *block = recordtable__open_block(table, place->bucket, 0);
    unsigned count = block->count, columns = table->columns;
    CHECKED_ASSERT(place->offset == recordtable__offset(block, columns, place->index));
    size_t old_size = size_of(table, block), total = old_size - sizeof(*block);
    size_t size = recordtable__record_size(block, columns, place->index);
    free_texts(table, block, place);
    table->expiring -= (block->bytes[place->index] & RECORD_TAG_EXPIRES) != 0;
    /* What is between the cuts moves together: a byte of each column, and the record. */
    uint8_t *to = block->bytes + place->index;
    for (unsigned column = 0; column <= columns; column++) {
        bool last = column == columns;
        size_t begin =
            last ? columns * count + place->offset + size : column * count + place->index + 1;
        size_t end = last                   ? total
                     : column + 1 < columns ? (column + 1) * count + place->index
                                            : columns * count + place->offset;
        memmove(to, block->bytes + begin, end - begin);
        to += end - begin;
    }
    block->count = (count - 1) & 0x7FFF;
    block->used = (uint16_t)(block->used - size);
    fit_block(table, place->bucket, old_size);
}

/* --- Splitting and merging --- */

/* A block that is filled record by record, its count and bytes known before. */
struct filling {
    struct recordtable_block *block;
    unsigned index;
    uint8_t *at;
};

static struct filling fill_begin(struct recordtable *table, size_t count, size_t used) {
    struct filling filling = {.block = NULL};
    if (count == 0) return filling;
    assert(count <= 0x7FFF && used <= UINT16_MAX);
    filling.block = block_new(table, recordtable__block_size(table->columns, count, used));
    filling.block->count = count & 0x7FFF;
    filling.block->used = (uint16_t)used;
    filling.at = recordtable__records(filling.block, table->columns);
    recordtable__note_count(table, count);
    return filling;
}

/* Copies record `index` with its `size` bytes at `from`. */
static void fill(struct filling *filling, unsigned columns, const struct recordtable_block *source,
                 unsigned index, const uint8_t *from, size_t size) {
    struct recordtable_block *block = filling->block;
    for (unsigned column = 0; column < columns; column++)
        block->bytes[column * block->count + filling->index] =
            source->bytes[column * source->count + index];
    if (source->mixed) block->mixed = 1;
    filling->index++;
    memcpy(filling->at, from, size);
    filling->at += size;
}

static void fill_with_all(struct filling *filling, unsigned columns,
                          const struct recordtable_block *source) {
    if (!source) return;
    const uint8_t *at = recordtable__records(source, columns);
    for (unsigned i = 0; i < source->count; i++) {
        size_t size = recordtable__record_size(source, columns, i);
        fill(filling, columns, source, i, at, size);
        at += size;
    }
}

void recordtable__block_split(struct recordtable *table, size_t low, size_t high, uint64_t bit) {
    struct recordtable_block **low_pointer = recordtable__open_pointer(table, low);
    struct recordtable_block **high_pointer = recordtable__open_pointer(table, high);
    struct recordtable_block *old = *low_pointer;
    *high_pointer = NULL;
    if (!old) return;
    unsigned columns = table->columns;
    uint8_t few[256], *moves = old->count <= sizeof(few) ? few : mem_alloc(old->count);
    size_t count = 0, used = 0, offset = 0;
    for (unsigned i = 0; i < old->count; i++) {
        size_t size = recordtable__record_size(old, columns, i);
        moves[i] = (recordtable__record_hash(old, columns, i, offset) & bit) != 0;
        if (moves[i]) count++, used += size;
        offset += size;
    }
    struct filling fillings[2] = {fill_begin(table, old->count - count, old->used - used),
                                  fill_begin(table, count, used)};
    const uint8_t *at = recordtable__records(old, columns);
    for (unsigned i = 0; i < old->count; i++) {
        size_t size = recordtable__record_size(old, columns, i);
        fill(&fillings[moves[i]], columns, old, i, at, size);
        at += size;
    }
    CHECKED_ASSERT(fillings[0].index == old->count - count && fillings[1].index == count);
    if (moves != few) mem_free(moves);
    *low_pointer = fillings[0].block;
    *high_pointer = fillings[1].block;
    drop_block(table, old, size_of(table, old));
}

void recordtable__block_merge(struct recordtable *table, size_t low, size_t high) {
    struct recordtable_block **low_pointer = recordtable__open_pointer(table, low);
    struct recordtable_block **high_pointer = recordtable__open_pointer(table, high);
    struct recordtable_block *a = *low_pointer, *b = *high_pointer;
    size_t count = (a ? a->count : 0u) + (b ? b->count : 0u);
    size_t used = (a ? a->used : 0u) + (b ? b->used : 0u);
    struct filling filling = fill_begin(table, count, used);
    fill_with_all(&filling, table->columns, a);
    fill_with_all(&filling, table->columns, b);
    CHECKED_ASSERT(filling.index == count);
    *low_pointer = filling.block;
    *high_pointer = NULL;
    drop_block(table, a, size_of(table, a));
    drop_block(table, b, size_of(table, b));
}

/* --- Expiries: the least one of each block, of each segment, of the table --- */

void recordtable__resize_expiries(struct recordtable *table, struct recordtable_segment *segment,
                                  size_t old_capacity, size_t capacity) {
    int64_t *old = segment->expiries;
    size_t old_size = recordtable__expiries_size(old_capacity);
    size_t size = recordtable__expiries_size(capacity), kept = old ? old_capacity : 0;
    if (capacity == 0) {
        if (old) pieces_drop(&table->pieces, PIECES_UNREAD, old, old_size);
        segment->expiries = NULL;
        return;
    }
    segment->expiries = pieces_resize(&table->pieces, old, old ? old_size : 0, size);
    for (size_t i = kept; i < capacity; i++) segment->expiries[i] = RECORD_NO_EXPIRY;
}

int64_t recordtable__first_in_block(const struct recordtable_block *block, unsigned columns) {
    int64_t first = RECORD_NO_EXPIRY;
    if (!block || !block->mixed) return first;
    size_t offset = 0;
    for (unsigned i = 0; i < block->count; i++) {
        struct record record;
        offset += recordtable__read(block, columns, i, offset, &record);
        if (record.expiry_ms != RECORD_NEVER && record.expiry_ms < first) first = record.expiry_ms;
    }
    return first;
}

static int64_t least(const int64_t *values, size_t count) {
    int64_t value = RECORD_NO_EXPIRY;
    for (size_t i = 0; i < count; i++) value = values[i] < value ? values[i] : value;
    return value;
}

void recordtable__update_expiry(struct recordtable *table, size_t bucket) {
    struct recordtable_segment *segment = recordtable__segment(table, bucket);
    if (__builtin_expect(table->expiring == 0 && !segment->expiries, 1)) return;
    size_t number = bucket >> SEGMENTED_BITS;
    size_t capacity = segmented_room(&table->buckets, number);
    int64_t first =
        recordtable__first_in_block(recordtable__block_at(table, bucket), table->columns);
    if (!segment->expiries) {
        if (first == RECORD_NO_EXPIRY) return;
        recordtable__resize_expiries(table, segment, capacity, capacity);
    }
    int64_t *expiry = &segment->expiries[bucket & (SEGMENTED_ITEMS - 1)], old = *expiry;
    *expiry = first;
    if (first < segment->first_expiry) {
        segment->first_expiry = first;
    } else if (old == segment->first_expiry && first > old) {
        segment->first_expiry = least(segment->expiries, capacity);
        if (old == table->first_expiry) table->first_expiry_is_stale = true;
    }
    if (first < table->first_expiry) table->first_expiry = first;
}

/* --- Pieces --- */

static void visit_text(uint8_t *at, const struct piece_visitor *visitor) {
    struct record_text *text = recordtable__text(at);
    size_t size = mem_good_size(text_size(text->len));
    struct record_text *now = visitor->enter(visitor, text, size);
    if (now != text) memcpy(at, &now, sizeof(now));
    visitor->leave(visitor, now, size, &now->epoch);
}

static void visit_texts(struct recordtable_block *block, unsigned columns,
                        const struct piece_visitor *visitor) {
    uint8_t *at = recordtable__records(block, columns);
    for (unsigned i = 0; i < block->count; i++) {
        size_t size = recordtable__record_size(block, columns, i), before = 0;
        for (unsigned column = 1; column < columns; column++) {
            uint8_t length = block->bytes[column * block->count + i];
            if (length == RECORD_OUT_OF_LINE) visit_text(at + before, visitor);
            before += recordtable__stored(length);
        }
        at += size;
    }
}

void recordtable__bucket_pieces(const struct recordtable *table, size_t bucket,
                                const struct piece_visitor *visitor) {
    struct recordtable_block **pointer = recordtable__pointer(table, bucket), *block = *pointer;
    if (!block) return;
    size_t size = recordtable__allocated(size_of(table, block));
    struct recordtable_block *now = visitor->enter(visitor, block, size);
    if (now != block) *pointer = now;
    if (now->mixed) visit_texts(now, table->columns, visitor);
    visitor->leave(visitor, now, size, &now->epoch);
}

void recordtable__pieces(const struct recordtable *table, const struct piece_visitor *visitor) {
    for (size_t b = 0; b < table->buckets.count; b++) recordtable__bucket_pieces(table, b, visitor);
    for (size_t s = 0; s < segmented_segments(&table->buckets); s++) {
        struct recordtable_segment *segment = &recordtable__segments(table)[s];
        size_t size = recordtable__expiries_size(segmented_room(&table->buckets, s));
        if (segment->expiries)
            segment->expiries = piece_visit(visitor, segment->expiries, size, NULL);
    }
}
