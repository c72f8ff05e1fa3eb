/* The layout is drawn in store/entry.h. Invariants: the flags name the class that
 * sds_embedded_class gives the key's length, and the last byte of the key's header names the same
 * class; the memory is of the size class of header, key and value together, and was requested as
 * a whole class, so that a value may grow up to its end without the allocator. */
#include "store/entry.h"

#include "base/checked.h"
#include "base/memory/alloc.h"
#include "base/memory/relocate.h"

/* The size class of an entry of `size` bytes. At least 16, so that entries are aligned to 16 and
 * all classes end at multiples of 16. */
static size_t class_of(size_t size) {
    return mem_good_size(size < 16 ? 16 : size);
}

/* Bytes up to the value. */
static size_t head_size(const struct entry *entry) {
    return (size_t)(entry_value(entry) - (const uint8_t *)entry);
}

struct entry *entry_new(struct slice key, enum value_type type, unsigned encoding,
                        size_t value_size) {
    size_t size = sizeof(struct entry) + sds_embedded_size(key.len) + value_size;
    struct entry *entry = mem_alloc(class_of(size));
    memset(entry, 0, sizeof(*entry));
    entry_set_type(entry, type, encoding);
    entry->flags = (uint8_t)(sds_embedded_class(key.len) << ENTRY_KEY_CLASS_SHIFT);
    sds_write_embedded((char *)entry->body, key);
    return entry;
}

struct entry *entry_new_pointer(struct slice key, enum value_type type, unsigned encoding,
                                void *pointer) {
    CHECKED_ASSERT(encoding & ENTRY_OUT_OF_LINE);
    struct entry *entry = entry_new(key, type, encoding, sizeof(pointer));
    entry_set_pointer(entry, pointer);
    return entry;
}

struct entry *entry_copy(const struct entry *entry, struct slice key, size_t value_size) {
    CHECKED_ASSERT(entry_check(entry));
    size_t expiry_size = entry->flags & ENTRY_HAS_EXPIRY ? 8 : 0;
    size_t size = sizeof(*entry) + expiry_size + sds_embedded_size(key.len) + value_size;
    struct entry *copy = mem_alloc(class_of(size));
    memcpy(copy, entry, sizeof(*copy) + expiry_size);
    unsigned key_flags = (unsigned)sds_embedded_class(key.len) << ENTRY_KEY_CLASS_SHIFT;
    unsigned kept = ENTRY_HAS_EXPIRY | ENTRY_FIELDS_EXPIRE | ENTRY_CLOCK_TOP;
    copy->flags = (uint8_t)((entry->flags & kept) | key_flags);
    sds_write_embedded((char *)copy->body + expiry_size, key);
    if (value_size) memcpy(entry_value(copy), entry_value(entry), value_size);
    return copy;
}

void entry_free(struct entry *entry, size_t value_size) {
    mem_free_sized(entry, class_of(head_size(entry) + value_size));
}

/* Returns whether both sizes have the same class; most calls do not look the classes up. */
static bool same_class(size_t old_size, size_t new_size) {
    return (old_size + 15) / 16 == (new_size + 15) / 16 || class_of(old_size) == class_of(new_size);
}

struct entry *entry_resize(struct entry *entry, size_t old_size, size_t new_size) {
    CHECKED_ASSERT(entry_check(entry));
    size_t head = head_size(entry);
    if (same_class(head + old_size, head + new_size)) return entry;
    return mem_resize(entry, class_of(head + old_size), class_of(head + new_size));
}

struct entry *entry_set_expiry(struct entry *entry, int64_t expiry_ms, size_t value_size) {
    CHECKED_ASSERT(expiry_ms >= -1);
    bool had = entry->flags & ENTRY_HAS_EXPIRY, has = expiry_ms >= 0;
    size_t rest = head_size(entry) - sizeof(*entry) - (had ? 8 : 0) + value_size;
    if (has && !had) {
        entry = entry_resize(entry, value_size, value_size + 8);
        memmove(entry->body + 8, entry->body, rest);
    } else if (had && !has) {
        size_t old_size = sizeof(*entry) + 8 + rest, new_size = sizeof(*entry) + rest;
        memmove(entry->body, entry->body + 8, rest);
        entry = mem_resize(entry, class_of(old_size), class_of(new_size));
    }
    entry->flags = (uint8_t)((entry->flags & ~ENTRY_HAS_EXPIRY) | (has ? ENTRY_HAS_EXPIRY : 0));
    if (has) memcpy(entry->body, &expiry_ms, sizeof(expiry_ms));
    CHECKED_ASSERT(entry_check(entry) && entry_expiry(entry) == (has ? expiry_ms : -1));
    return entry;
}

size_t entry_allocated(const struct entry *entry, size_t value_size) {
    return class_of(head_size(entry) + value_size);
}

struct entry *entry_relocate(struct entry *entry, size_t value_size, struct relocator *relocator) {
    return relocate(relocator, entry, entry_allocated(entry, value_size));
}

bool entry_check(const struct entry *entry) {
    struct slice key = entry_key(entry);
    unsigned class = entry->flags >> ENTRY_KEY_CLASS_SHIFT & ENTRY_KEY_CLASS_MASK;
    if (((uintptr_t)entry & 15) != 0) return false;
    if (class > SDS_64 || class != (unsigned)sds_embedded_class(key.len)) return false;
    if ((key.ptr[-1] & 7) != (int)class) return false;
    if (entry_fields_expire(entry) && entry_type(entry) != VALUE_HASH) return false;
    return entry_type(entry) <= VALUE_STREAM && entry_expiry(entry) >= -1;
}
