/* word_table: an array of 64-bit words that grows and shrinks at its end, one word at a time,
 * without ever copying the words of a large array.
 *
 *      directory:  segment 0 │ segment 1 │ …          word i: directory[i / SEGMENT][i % SEGMENT]
 *
 * A segment has 4 KB. The first one grows by one size class at a time, so that small arrays are
 * small; with one segment the directory is a field of the table. */
#ifndef PACKLIST_DS_WORD_TABLE_H
#define PACKLIST_DS_WORD_TABLE_H

#include "base/checked.h"

#include <stddef.h>
#include <stdint.h>

#ifdef TINY_LIMITS
enum { WORD_TABLE_SEGMENT_BITS = 2 };
#else
enum { WORD_TABLE_SEGMENT_BITS = 9 };
#endif
enum { WORD_TABLE_SEGMENT = 1 << WORD_TABLE_SEGMENT_BITS };

/* Must not be copied. The fields but `count` are private. */
struct word_table {
    uint64_t **directory;
    uint64_t *first_segment;
    size_t count;          /* words */
    size_t capacity;       /* pointers in the directory */
    size_t first_capacity; /* words in the first segment */
};

/* An empty table owns no memory. */
void word_table_init(struct word_table *table);
void word_table_free(struct word_table *table);

/* Appends a word, or removes the last one. O(1), but for the directory: once in 512 times the size,
 * at most one pointer per 4 KB of words is copied. */
void word_table_push(struct word_table *table, uint64_t word);
void word_table_pop(struct word_table *table);

/* The word with this index (< count). It stays in its place until the next push or pop. O(1). */
static inline uint64_t *word_table_at(const struct word_table *table, size_t index) {
    CHECKED_ASSERT(index < table->count);
    return &table->directory[index >> WORD_TABLE_SEGMENT_BITS][index & (WORD_TABLE_SEGMENT - 1)];
}

/* Copies all words to `dst`. O(words), at memory speed. */
void word_table_read(const struct word_table *table, uint64_t *dst);

/* Bytes that the table owns, as allocated. O(1). */
size_t word_table_allocated(const struct word_table *table);

#endif
