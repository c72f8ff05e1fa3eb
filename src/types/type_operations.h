/* type_operations: the operations on values that do not depend on their type. Each type has one row
 * of these; types/value.c joins the rows in a table and is the only caller. */
#ifndef PACKLIST_TYPES_TYPE_OPERATIONS_H
#define PACKLIST_TYPES_TYPE_OPERATIONS_H

#include "store/entry.h"

struct relocator; /* base/memory/relocate.h */
struct relocate_cursor;

struct capture;      /* ds/capture.h */
struct value_lookup; /* types/value.h */

/* Every function gets entries of its type only. Out-of-line memory is what the entry points to. */
struct type_operations {
    /* The name that OBJECT ENCODING replies. Static. O(1). */
    const char *(*encoding_name)(const struct entry *entry);

    /* The size as store/size_histogram.h counts it: bytes of a text, members of a collection.
     * O(1). */
    uint64_t (*length)(const struct entry *entry);

    /* Bytes of a value inside the entry, which has none out-of-line. O(1). */
    size_t (*value_size)(const struct entry *entry);

    /* Checks the invariant, including entry_check(). */
    bool (*check)(const struct entry *entry);

    /* --- The others get entries with out-of-line memory. --- */

    /* Its bytes; how much work it is to free them while they are not captured (type_free_effort).
     * O(1). */
    size_t (*allocated)(const struct entry *entry);
    size_t (*free_effort)(const struct entry *entry);

    /* Starts loading what a request probably needs (value_prefetch), in steps 0, 1, …: each needs
     * what the one before has loaded. Returns whether there is a next step. Only a hint. O(1). */
    bool (*prefetch)(struct value_lookup *lookup, unsigned step);

    /* Frees it, but not the entry. In any thread; while it is captured only in the loop's thread,
     * and captures keep what they need. */
    void (*free_value)(struct entry *entry);

    /* The entry is a byte for byte copy of another one: gives it memory of its own. */
    void (*own_value)(struct entry *entry);

    /* Moves it: see value_relocate. It is not captured. */
    void (*relocate)(struct entry *entry, struct relocator *relocator,
                     struct relocate_cursor *cursor);

    /* See value_capture and value_is_captured. */
    struct capture *(*capture)(struct entry *entry, size_t *left);
    bool (*is_captured)(const struct entry *entry);

    /* Returns what an entry must point to, to be read as the value was when it was captured, until
     * the release and in any thread. NULL: captures of this type are read in another way. */
    void *(*captured)(const struct capture *capture);

    /* Returns what an entry must point to, to have the value that was captured with memory of its
     * own. In any thread, until the release. NULL: as `captured`. */
    void *(*copy_captured)(struct capture *capture);
};

/* The system takes back a large allocation page by page: this many bytes take about as long as
 * freeing a small allocation. */
enum { BYTES_FREED_AT_ONCE = 8 * 1024 };

/* The effort of freeing `allocations` (at least 1) with `bytes` altogether. */
static inline size_t type_free_effort(size_t allocations, size_t bytes) {
    return allocations + bytes / BYTES_FREED_AT_ONCE;
}

/* A smaller value is copied sooner than captured and released. */
#ifdef TINY_LIMITS
enum { VALUE_CAPTURE_MIN = 2048 };
#else
enum { VALUE_CAPTURE_MIN = 64 * 1024 };
#endif

/* The row of the type whose functions begin with `prefix`. The initialisers follow the order of
 * the members, and the compiler refuses a row that lacks the last ones. */
#define TYPE_OPERATIONS(prefix)                                                                    \
    {                                                                                              \
        prefix##_encoding_name, prefix##_length, prefix##_value_size, prefix##_check,              \
            prefix##_allocated, prefix##_free_effort, prefix##_prefetch, prefix##_free_value,      \
            prefix##_own_value, prefix##_relocate, prefix##_capture, prefix##_is_captured,         \
            prefix##_captured, prefix##_copy_captured                                              \
    }
#pragma GCC diagnostic error "-Wmissing-field-initializers"

/* Those of these functions that only call the one of the same name of the type's structure
 * (ds/…). */
#define STRUCTURE_OPERATIONS(prefix, structure)                                                    \
    static size_t prefix##_allocated(const struct entry *entry) {                                  \
        return structure##_allocated(entry_pointer(entry));                                        \
    }                                                                                              \
    static void prefix##_free_value(struct entry *entry) {                                         \
        structure##_free(entry_pointer(entry));                                                    \
    }                                                                                              \
    static void prefix##_own_value(struct entry *entry) {                                          \
        entry_set_pointer(entry, structure##_copy(entry_pointer(entry)));                          \
    }                                                                                              \
    static void prefix##_relocate(struct entry *entry, struct relocator *relocator,                \
                                  struct relocate_cursor *cursor) {                                \
        entry_set_pointer(entry, structure##_relocate(entry_pointer(entry), relocator, cursor));   \
    }

/* The same for captures of structures that can be read as they were. */
#define CAPTURED_OPERATIONS(prefix, structure)                                                     \
    static void *prefix##_captured(const struct capture *capture) {                                \
        return (void *)(uintptr_t)structure##_captured(capture);                                   \
    }                                                                                              \
    static void *prefix##_copy_captured(struct capture *capture) {                                 \
        return structure##_copy(structure##_captured(capture));                                    \
    }

/* The rows. */
extern const struct type_operations string_operations; /* types/string.c */
extern const struct type_operations list_operations;   /* types/list.c */
extern const struct type_operations set_operations;    /* types/set.c */
extern const struct type_operations zset_operations;   /* types/zset.c */
extern const struct type_operations hash_operations;   /* types/hash.c */
extern const struct type_operations stream_operations; /* types/stream.c */

#endif
