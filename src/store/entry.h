/* entry: one key with its value in one allocation.
 *
 *      byte 0      type (low 4 bits), encoding (high 4 bits)
 *      bytes 1-3   access clock, 24 bits
 *      byte 4      flags: has an expiry; class of the key's sds
 *      byte 5      the encoding's own byte (types/ decides)
 *      [8 bytes]   expiry, ms since the epoch, when the flag says so
 *      key         an embedded sds: header of 1, 3, 5, 9 or 17 bytes, text, no NUL
 *      value       `value_size` bytes that types/ lays out: an embedded value, or one pointer
 * (unaligned)
 *
 * The entry does not know how long its value is: its type does, and passes the size where it is
 * needed. An entry is 16-byte aligned and is found through the keyspace's table; when it moves, the
 * table's slot is updated (store/keyspace). */
#ifndef PACKLIST_STORE_ENTRY_H
#define PACKLIST_STORE_ENTRY_H

#include "base/slice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum value_type { VALUE_STRING, VALUE_LIST, VALUE_SET, VALUE_ZSET, VALUE_HASH };

struct entry; /* opaque bytes */

/* Key size limit: the 512 MB of bulk strings is far below it. */

/* A new entry with a copy of `key` and room for `value_size` uninitialised value bytes. Access
 * clock and the encoding's byte are 0, no expiry. */
struct entry *entry_new(struct slice key, enum value_type type, unsigned encoding,
                        size_t value_size);

/* Frees the entry alone; what its value points to was freed by its type before. `value_size` as now
 * in use. */
void entry_free(struct entry *entry, size_t value_size);

/* The key as a view into the entry. O(1). */
struct slice entry_key(const struct entry *entry);

enum value_type entry_type(const struct entry *entry);
unsigned entry_encoding(const struct entry *entry);
void entry_set_type(struct entry *entry, enum value_type type, unsigned encoding);

/* The encoding's own byte. */
uint8_t entry_byte(const struct entry *entry);
void entry_set_byte(struct entry *entry, uint8_t byte);

/* 24-bit access clock: what eviction and OBJECT IDLETIME read. */
uint32_t entry_clock(const struct entry *entry);
void entry_set_clock(struct entry *entry, uint32_t clock);

/* Expiry in ms since the epoch, or -1. Adding or taking it away changes the entry's size, and so
 * may move it. */
int64_t entry_expiry(const struct entry *entry);
struct entry *entry_set_expiry(struct entry *entry, int64_t expiry_ms, size_t value_size);

/* The first byte of the value. Unaligned: read and write it with memcpy. */
uint8_t *entry_value(const struct entry *entry);

/* The pointer that stands as the value (value_size is sizeof(void *)). */
void *entry_pointer(const struct entry *entry);
void entry_set_pointer(struct entry *entry, void *pointer);

/* Gives the value `new_size` bytes; the first min(old, new) are kept. Returns the entry, which may
 * have moved. No allocator call while the size class stays the same. */
struct entry *entry_resize(struct entry *entry, size_t old_size, size_t new_size);

/* Bytes the entry takes, by size class, with a value of `value_size`. */
size_t entry_allocated(const struct entry *entry, size_t value_size);

/* The executable invariant. */
bool entry_check(const struct entry *entry);

#endif
