#include "ds/word_table.h"

#include "base/alloc.h"
#include "base/checked.h"

#include <string.h>

enum { SEGMENT_BYTES = WORD_TABLE_SEGMENT * sizeof(uint64_t) };

void word_table_init(struct word_table *table) {
    *table = (struct word_table){.capacity = 1};
    table->directory = &table->first_segment;
}

static size_t segments_of(const struct word_table *table) {
    return (table->count + WORD_TABLE_SEGMENT - 1) >> WORD_TABLE_SEGMENT_BITS;
}

void word_table_free(struct word_table *table) {
    size_t segments = segments_of(table);
    for (size_t i = 0; i < segments; i++) mem_free(table->directory[i]);
    if (table->capacity > 1) mem_free(table->directory);
    word_table_init(table);
}

static void directory_resize(struct word_table *table, size_t capacity, size_t used) {
    uint64_t **directory = &table->first_segment;
    if (capacity > 1) directory = mem_alloc(capacity * sizeof(*directory));
    memcpy(directory, table->directory, used * sizeof(*directory));
    if (table->directory != &table->first_segment) mem_free(table->directory);
    table->directory = directory;
    table->capacity = capacity;
}

static void first_segment_resize(struct word_table *table, size_t words) {
    size_t size = mem_good_size(words * sizeof(uint64_t));
    if (size > SEGMENT_BYTES) size = SEGMENT_BYTES;
    table->directory[0] = mem_realloc(table->directory[0], size);
    table->first_capacity = size / sizeof(uint64_t);
}

void word_table_push(struct word_table *table, uint64_t word) {
    size_t index = table->count, segment = index >> WORD_TABLE_SEGMENT_BITS;
    if (segment == 0) {
        if (index == table->first_capacity) first_segment_resize(table, index + 1);
    } else if ((index & (WORD_TABLE_SEGMENT - 1)) == 0) {
        if (segment == table->capacity) directory_resize(table, segment * 2, segment);
        table->directory[segment] = mem_alloc(SEGMENT_BYTES);
    }
    table->count++;
    *word_table_at(table, index) = word;
}

void word_table_pop(struct word_table *table) {
    CHECKED_ASSERT(table->count > 0);
    size_t index = --table->count, segment = index >> WORD_TABLE_SEGMENT_BITS;
    if (segment == 0) {
        if (index == 0) {
            mem_free(table->directory[0]);
            table->directory[0] = NULL;
            table->first_capacity = 0;
        } else if (index * 3 <= table->first_capacity * 2) {
            first_segment_resize(table, index);
        }
    } else if ((index & (WORD_TABLE_SEGMENT - 1)) == 0) {
        mem_free(table->directory[segment]);
        if (segment == 1)
            directory_resize(table, 1, segment);
        else if (segment * 4 <= table->capacity)
            directory_resize(table, segment * 2, segment);
    }
}

void word_table_read(const struct word_table *table, uint64_t *dst) {
    for (size_t i = 0; i < table->count; i += WORD_TABLE_SEGMENT) {
        size_t left = table->count - i;
        if (left > WORD_TABLE_SEGMENT) left = WORD_TABLE_SEGMENT;
        memcpy(dst + i, word_table_at(table, i), left * sizeof(uint64_t));
    }
}

size_t word_table_allocated(const struct word_table *table) {
    size_t segments = segments_of(table);
    size_t size = table->first_capacity * sizeof(uint64_t);
    if (segments > 1) size += (segments - 1) * mem_good_size(SEGMENT_BYTES);
    if (table->capacity > 1) size += mem_good_size(table->capacity * sizeof(uint64_t *));
    return size;
}
