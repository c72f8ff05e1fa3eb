/* entry: one key with its value in one allocation.
 *
 *      byte 0      type (low 4 bits), encoding (high 4 bits)
 *      bytes 1-3   access clock, 24 of its 25 bits, little-endian
 *      byte 4      flags: bit 0 has an expiry; bits 1-3 class of the key's sds; bit 4 its epoch;
 *                  bit 5 fields of its value have expiries; bit 6 the clock's 25th bit
 *      byte 5      the encoding's own byte (types/ decides)
 *      [8 bytes]   expiry, ms since the epoch, when the flag says so
 *      key         an embedded sds: header of 1, 3, 5, 9 or 17 bytes, text, no NUL
 *      value       `value_size` bytes that types/ lays out: embedded, or one pointer (unaligned)
 *
 * The entry does not know how long its value is: its type does, and passes the size where it is
 * needed. An entry is 16-byte aligned and is found through the keyspace's table; when it moves, the
 * table's slot is updated (store/keyspace). Getters are inline: every command reads them. */
#ifndef PACKLIST_STORE_ENTRY_H
#define PACKLIST_STORE_ENTRY_H

#include "base/checked.h"
#include "base/slice.h"
#include "base/text/sds.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct relocator; /* base/memory/relocate.h */

/* The numbers are those that Redis gives to the types: digests contain them. There are no values of
 * modules. */
enum value_type {
    VALUE_STRING,
    VALUE_LIST,
    VALUE_SET,
    VALUE_ZSET,
    VALUE_HASH,
    VALUE_MODULE,
    VALUE_STREAM
};

enum { VALUE_TYPES = VALUE_STREAM + 1 };

/* The fields are private to this module. */
struct entry {
    uint8_t type_encoding;
    uint8_t clock[3];
    uint8_t flags;
    uint8_t encoding_byte;
    uint8_t body[]; /* expiry, key, value */
};
_Static_assert(sizeof(struct entry) == 6, "a small string must fit 32 bytes, a small list 80");

enum {
    ENTRY_HAS_EXPIRY = 1,
    ENTRY_KEY_CLASS_SHIFT = 1,
    ENTRY_KEY_CLASS_MASK = 7,
    ENTRY_EPOCH = 16,
    ENTRY_FIELDS_EXPIRE = 32,
    ENTRY_CLOCK_TOP_SHIFT = 6,
    ENTRY_CLOCK_TOP = 1 << ENTRY_CLOCK_TOP_SHIFT
};

/* A new entry with a copy of `key` and room for `value_size` uninitialised value bytes. Access
 * clock and the encoding's byte are 0, no expiry. */
struct entry *entry_new(struct slice key, enum value_type type, unsigned encoding,
                        size_t value_size);

/* The same for a value in memory of its own, to which `pointer` points: `encoding` has the bit
 * ENTRY_OUT_OF_LINE. */
struct entry *entry_new_pointer(struct slice key, enum value_type type, unsigned encoding,
                                void *pointer);

/* A copy of the entry under another key, with clock, expiry, encoding, the mark of
 * entry_fields_expire and the `value_size` bytes of the value. A pointer in the value is copied, so
 * both entries then point to the same memory. One allocation. */
struct entry *entry_copy(const struct entry *entry, struct slice key, size_t value_size);

/* Frees the entry alone: its type has already freed what its value points to. `value_size` is the
 * present size of the value. */
void entry_free(struct entry *entry, size_t value_size);

/* The key as a view into the entry. O(1). */
static inline struct slice entry_key(const struct entry *entry) {
    const char *at = (const char *)entry->body + (entry->flags & ENTRY_HAS_EXPIRY ? 8 : 0);
    unsigned class = entry->flags >> ENTRY_KEY_CLASS_SHIFT & ENTRY_KEY_CLASS_MASK;
    if (class == SDS_5) return slice_make(at + 1, (uint8_t)*at >> 3);
    return sds_slice(at + sds_header_size((enum sds_class) class));
}

static inline enum value_type entry_type(const struct entry *entry) {
    return (enum value_type)(entry->type_encoding & 15);
}

/* ENTRY_EPOCH or 0: compared with the keyspace's epoch, it says whether a snapshot iterator still
 * has to visit the entry (store/keyspace). A new entry has 0. */
static inline uint8_t entry_epoch(const struct entry *entry) {
    return entry->flags & ENTRY_EPOCH;
}

static inline void entry_set_epoch(struct entry *entry, uint8_t epoch) {
    CHECKED_ASSERT(epoch == 0 || epoch == ENTRY_EPOCH);
    entry->flags = (uint8_t)((entry->flags & ~ENTRY_EPOCH) | epoch);
}

/* The value is in memory of its own, to which the entry points. */
enum { ENTRY_OUT_OF_LINE = 8 };

/* 0 … 15, each type's own numbering, but for the bit ENTRY_OUT_OF_LINE. */
static inline unsigned entry_encoding(const struct entry *entry) {
    return entry->type_encoding >> 4;
}

/* Returns whether the entry points to memory that its value is in. O(1). */
static inline bool entry_is_out_of_line(const struct entry *entry) {
    return entry_encoding(entry) & ENTRY_OUT_OF_LINE;
}

static inline void entry_set_type(struct entry *entry, enum value_type type, unsigned encoding) {
    CHECKED_ASSERT((unsigned)type <= 15 && encoding <= 15);
    entry->type_encoding = (uint8_t)((unsigned)type | encoding << 4);
}

/* The encoding's own byte. */
static inline uint8_t entry_byte(const struct entry *entry) {
    return entry->encoding_byte;
}

static inline void entry_set_byte(struct entry *entry, uint8_t byte) {
    entry->encoding_byte = byte;
}

/* The 25 bits that record how the key is used: store/access.h. Setting drops higher bits. */
static inline uint32_t entry_clock(const struct entry *entry) {
    return entry->clock[0] | (uint32_t)entry->clock[1] << 8 | (uint32_t)entry->clock[2] << 16 |
           (uint32_t)(entry->flags & ENTRY_CLOCK_TOP) << (24 - ENTRY_CLOCK_TOP_SHIFT);
}

static inline void entry_set_clock(struct entry *entry, uint32_t clock) {
    entry->clock[0] = (uint8_t)clock;
    entry->clock[1] = (uint8_t)(clock >> 8);
    entry->clock[2] = (uint8_t)(clock >> 16);
    unsigned top = (clock >> 24 & 1) << ENTRY_CLOCK_TOP_SHIFT;
    entry->flags = (uint8_t)((entry->flags & ~ENTRY_CLOCK_TOP) | top);
}

/* Expiry in ms since the epoch, or -1. */
static inline int64_t entry_expiry(const struct entry *entry) {
    int64_t expiry_ms = -1;
    if (entry->flags & ENTRY_HAS_EXPIRY) memcpy(&expiry_ms, entry->body, sizeof(expiry_ms));
    return expiry_ms;
}

/* Returns whether the expiry, if it has one, is over at `now_ms`. */
static inline bool entry_has_expired(const struct entry *entry, int64_t now_ms) {
    int64_t expiry_ms = entry_expiry(entry);
    return expiry_ms >= 0 && now_ms > expiry_ms;
}

/* Returns whether the value has fields with expiries. types/hash.c sets this mark; in an entry of a
 * keyspace it does so with keyspace_set_fields_expire, because the keyspace has a table of them. */
static inline bool entry_fields_expire(const struct entry *entry) {
    return entry->flags & ENTRY_FIELDS_EXPIRE;
}

static inline void entry_set_fields_expire(struct entry *entry, bool expire) {
    CHECKED_ASSERT(!expire || entry_type(entry) == VALUE_HASH);
    entry->flags =
        (uint8_t)((entry->flags & ~ENTRY_FIELDS_EXPIRE) | (expire ? ENTRY_FIELDS_EXPIRE : 0));
}

/* Sets the expiry (>= 0), or removes it (-1). Returns the entry, which may have moved if an expiry
 * was added or removed; changing one does not move it. */
struct entry *entry_set_expiry(struct entry *entry, int64_t expiry_ms, size_t value_size);

/* The first byte of the value. Unaligned: read and write it with memcpy. */
static inline uint8_t *entry_value(const struct entry *entry) {
    struct slice key = entry_key(entry);
    return (uint8_t *)(uintptr_t)(key.ptr + key.len);
}

/* The pointer that is the value (value_size is sizeof(void *)). */
static inline void *entry_pointer(const struct entry *entry) {
    void *pointer;
    CHECKED_ASSERT(entry_is_out_of_line(entry));
    memcpy(&pointer, entry_value(entry), sizeof(pointer));
    return pointer;
}

static inline void entry_set_pointer(struct entry *entry, void *pointer) {
    memcpy(entry_value(entry), &pointer, sizeof(pointer));
}

/* Gives the value `new_size` bytes; the first min(old, new) are kept. Returns the entry, which may
 * have moved. No allocator call while the size class stays the same. */
struct entry *entry_resize(struct entry *entry, size_t old_size, size_t new_size);

/* Bytes the entry takes, by size class, with a value of `value_size`. */
size_t entry_allocated(const struct entry *entry, size_t value_size);

/* Moves the entry to a better place (base/memory/relocate.h). Returns where it is now; its owner's
 * table must learn of it (store/keyspace). */
struct entry *entry_relocate(struct entry *entry, size_t value_size, struct relocator *relocator);

/* Checks the invariant. */
bool entry_check(const struct entry *entry);

#endif
