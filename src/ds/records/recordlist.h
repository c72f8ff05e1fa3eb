/* recordlist: records (ds/records/record.h) one after another in a body of bytes: what small sets
 * and hashes are. A lookup reads the body from its start.
 *
 *      with values       [field 4 bits, value 4 bits] lengths [field][value] [expiry 8]
 *      without           [length] [field] [expiry 8]
 *
 * A length of less than 15 stands in its 4 bits; else they are 15, and it follows as a byte. A
 * length of 255 or more is the byte 255 and 4 bytes. All records of a body have an expiry, or none
 * has. So a field and a value of up to 14 bytes take one byte more, where a listpack takes four.
 *
 * This module knows bodies; where they lie is their owner's matter. */
#ifndef PACKLIST_DS_RECORDS_RECORDLIST_H
#define PACKLIST_DS_RECORDS_RECORDLIST_H

#include "base/text/text_batch.h"
#include "ds/records/record.h"

/* What the records of a body have besides the field. */
enum recordlist_layout { RECORDLIST_VALUES = 1, RECORDLIST_EXPIRIES = 2 };

/* Bytes that the record takes. O(1). */
size_t recordlist_size(const struct record *record, unsigned layout);

/* Writes the record at `at`, and returns its end. */
uint8_t *recordlist_write(uint8_t *at, const struct record *record, unsigned layout);

/* Reads the record at `at`, as a view, and returns its end. O(1). */
const uint8_t *recordlist_read(const uint8_t *at, unsigned layout, struct record *record);

/* Fills the batch with texts of the records from `at` on, of a layout without expiries: fields,
 * values, or both in turn. Returns the end of the last record read. O(batch). */
const uint8_t *recordlist_read_texts(const uint8_t *at, const uint8_t *end, unsigned layout,
                                     unsigned parts, struct text_batch *batch);

/* The record with this field in the body [first, end), or NULL; *record gets it. O(records). */
const uint8_t *recordlist_find(const uint8_t *first, const uint8_t *end, unsigned layout,
                               struct slice field, struct record *record);

/* The executable invariant: the body consists of `count` records with different fields.
 * O(records^2). */
bool recordlist_check(const uint8_t *first, const uint8_t *end, unsigned layout, size_t count);

#endif
