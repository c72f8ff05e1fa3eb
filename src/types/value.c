#include "types/value.h"

#include "base/checked.h"
#include "base/memory/relocate.h"
#include "ds/capture.h"
#include "types/type_operations.h"

#include <stdlib.h>

/* Every type that the protocol names. Types without operations have no values yet. */
#define TYPES(ROW)                                                                                 \
    ROW(VALUE_STRING, "string", &string_operations, 0)                                             \
    ROW(VALUE_LIST, "list", &list_operations, VALUE_IS_COLLECTION | VALUE_WAKES_CLIENTS)           \
    ROW(VALUE_SET, "set", &set_operations, VALUE_IS_COLLECTION | VALUE_FINDS_MEMBERS)              \
    ROW(VALUE_ZSET, "zset", &zset_operations,                                                      \
        VALUE_IS_COLLECTION | VALUE_WAKES_CLIENTS | VALUE_FINDS_MEMBERS)                           \
    ROW(VALUE_HASH, "hash", &hash_operations, VALUE_IS_COLLECTION | VALUE_FINDS_MEMBERS)           \
    ROW(VALUE_MODULE, "module", NULL, 0)                                                           \
    ROW(VALUE_STREAM, "stream", &stream_operations, VALUE_WAKES_CLIENTS)

/* In separate arrays, because every command that writes reads the flags. */
#define NAME(type, name, operations, flags)       [type] = (name),
#define OPERATIONS(type, name, operations, flags) [type] = (operations),
#define FLAGS(type, name, operations, flags)      [type] = (flags),
static const char *const names[] = {TYPES(NAME)};
static const struct type_operations *const all_operations[VALUE_TYPE_NUMBERS] = {TYPES(OPERATIONS)};
const uint8_t value_type_flags[VALUE_TYPE_NUMBERS] = {TYPES(FLAGS)};

#define ONE(type, name, operations, flags) +1
_Static_assert(TYPES(ONE) == VALUE_TYPES, "every type has a row");

bool value_type_exists(enum value_type type) {
    return (unsigned)type < VALUE_TYPE_NUMBERS && all_operations[type];
}

const char *value_type_name(enum value_type type) {
    CHECKED_ASSERT((unsigned)type < VALUE_TYPES);
    return names[type];
}

/* There are no values of types without operations: finding one is a bug. */
static const struct type_operations *operations_of(const struct entry *entry) {
    const struct type_operations *operations = all_operations[entry_type(entry)];
    if (__builtin_expect(!operations, 0)) abort();
    return operations;
}

/* Those of an entry with out-of-line memory; NULL for another one. */
static const struct type_operations *out_of_line(const struct entry *entry) {
    const struct type_operations *operations = operations_of(entry);
    return entry_is_out_of_line(entry) ? operations : NULL;
}

const char *value_encoding_name(const struct entry *entry) {
    return operations_of(entry)->encoding_name(entry);
}

uint64_t value_length(const struct entry *entry) {
    return operations_of(entry)->length(entry);
}

size_t value_size(const struct entry *entry) {
    return entry_is_out_of_line(entry) ? sizeof(void *) : operations_of(entry)->value_size(entry);
}

bool value_entry_overlaps(const struct entry *entry, struct slice text) {
    const char *begin = (const char *)entry,
               *end = begin + entry_allocated(entry, value_size(entry));
    return text.len > 0 && text.ptr < end && slice_end(text) > begin;
}

bool value_prefetch(struct value_lookup *lookup, unsigned step) {
    CHECKED_ASSERT(entry_is_out_of_line(lookup->entry));
    return operations_of(lookup->entry)->prefetch(lookup, step);
}

bool value_has_members_to_prefetch(const struct entry *entry) {
    return (value_type_flags[entry_type(entry)] & VALUE_FINDS_MEMBERS) &&
           entry_is_out_of_line(entry) && value_length(entry) > VALUE_CACHED_MEMBERS;
}

void value_free_out_of_line(struct entry *entry) {
    const struct type_operations *operations = out_of_line(entry);
    if (operations) operations->free_value(entry);
}

void value_free(struct entry *entry) {
    size_t size = value_size(entry);
    value_free_out_of_line(entry);
    entry_free(entry, size);
}

/* The entry alone, byte for byte. */
static struct entry *copy_entry(const struct entry *entry, struct slice key) {
    struct entry *copy = entry_copy(entry, key, value_size(entry));
    entry_set_clock(copy, 0);
    return copy;
}

struct entry *value_copy(const struct entry *entry, struct slice key) {
    const struct type_operations *operations = out_of_line(entry);
    struct entry *copy = copy_entry(entry, key);
    if (operations) operations->own_value(copy);
    CHECKED_ASSERT(value_length(copy) == value_length(entry));
    return copy;
}

struct entry *value_rename(struct entry *entry, struct slice key) {
    size_t size = value_size(entry);
    struct entry *renamed = entry_copy(entry, key, size);
    entry_free(entry, size);
    return renamed;
}

size_t value_free_effort(const struct entry *entry) {
    const struct type_operations *operations = out_of_line(entry);
    return operations && !operations->is_captured(entry) ? operations->free_effort(entry) : 1;
}

size_t value_allocated(const struct entry *entry) {
    const struct type_operations *operations = out_of_line(entry);
    return entry_allocated(entry, value_size(entry)) +
           (operations ? operations->allocated(entry) : 0);
}

bool value_check(const struct entry *entry) {
    return value_type_exists(entry_type(entry)) && operations_of(entry)->check(entry);
}

/* --- Captures --- */

struct capture *value_capture(struct entry *entry, size_t *left) {
    const struct type_operations *operations = out_of_line(entry);
    return operations ? operations->capture(entry, left) : NULL;
}

void value_relocate(struct entry *entry, struct relocator *relocator,
                    struct relocate_cursor *cursor) {
    if (entry_is_out_of_line(entry) && !value_is_captured(entry))
        operations_of(entry)->relocate(entry, relocator, cursor);
    else
        *cursor = (struct relocate_cursor){0};
}

void value_freeze(struct entry *entry, size_t *left, struct frozen *frozen) {
    const struct type_operations *operations = operations_of(entry);
    struct capture *capture = value_capture(entry, left);
    void *captured = capture ? operations->captured(capture) : NULL;
    if (capture && !captured) capture_end(capture);
    if (captured) {
        frozen->entry = entry_copy(entry, SLICE(""), value_size(entry));
        entry_set_pointer(frozen->entry, captured);
    } else {
        frozen->entry = value_copy(entry, SLICE(""));
    }
    frozen->capture = captured ? capture : NULL;
}

struct entry *value_copy_frozen(const struct frozen *frozen, struct slice key) {
    const struct entry *entry = frozen->entry;
    if (!frozen->capture) return value_copy(entry, key);
    struct entry *copy = copy_entry(entry, key);
    entry_set_pointer(copy, operations_of(entry)->copy_captured(frozen->capture));
    return copy;
}

struct capture *value_unfreeze(struct frozen *frozen) {
    if (!frozen->entry) return NULL;
    if (frozen->capture)
        entry_free(frozen->entry, value_size(frozen->entry));
    else
        value_free(frozen->entry);
    frozen->entry = NULL;
    return frozen->capture;
}

bool value_is_captured(const struct entry *entry) {
    const struct type_operations *operations = out_of_line(entry);
    return operations && operations->is_captured(entry);
}
