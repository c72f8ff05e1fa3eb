#include "types/value.h"

#include "types/list.h"
#include "types/string.h"

#include <stdlib.h>

const char *value_type_name(enum value_type type) {
    static const char *const names[] = {[VALUE_STRING] = "string",
                                        [VALUE_LIST] = "list",
                                        [VALUE_SET] = "set",
                                        [VALUE_ZSET] = "zset",
                                        [VALUE_HASH] = "hash"};
    return names[type];
}

/* Entries of other types are not made: one that is found is a bug of ours. */

const char *value_encoding_name(const struct entry *entry) {
    switch (entry_type(entry)) {
    case VALUE_STRING: return string_encoding_name(entry);
    case VALUE_LIST: return list_encoding_name(entry);
    default: abort();
    }
}

bool value_is_empty(const struct entry *entry) {
    return entry_type(entry) == VALUE_LIST && list_length(entry) == 0;
}

uint64_t value_length(const struct entry *entry) {
    switch (entry_type(entry)) {
    case VALUE_STRING: return string_length(entry);
    case VALUE_LIST: return list_length(entry);
    default: abort();
    }
}

size_t value_size(const struct entry *entry) {
    switch (entry_type(entry)) {
    case VALUE_STRING: return string_value_size(entry);
    case VALUE_LIST: return list_value_size(entry);
    default: abort();
    }
}

void value_free_hanging(struct entry *entry) {
    switch (entry_type(entry)) {
    case VALUE_STRING: string_free_value(entry); return;
    case VALUE_LIST: list_free_value(entry); return;
    default: abort();
    }
}

void value_free(struct entry *entry) {
    size_t size = value_size(entry);
    value_free_hanging(entry);
    entry_free(entry, size);
}

struct entry *value_copy(const struct entry *entry, struct slice key) {
    struct entry *copy = entry_copy(entry, key, value_size(entry));
    entry_set_clock(copy, 0);
    switch (entry_type(entry)) {
    case VALUE_STRING: string_own_value(copy); return copy;
    case VALUE_LIST: list_own_value(copy); return copy;
    default: abort();
    }
}

struct entry *value_rename(struct entry *entry, struct slice key) {
    size_t size = value_size(entry);
    struct entry *renamed = entry_copy(entry, key, size);
    entry_free(entry, size);
    return renamed;
}

static size_t hanging_allocated(const struct entry *entry) {
    return entry_type(entry) == VALUE_LIST ? list_allocated(entry) : string_allocated(entry);
}

/* Memory of a large allocation goes back to the system, page by page: so many bytes take about as
 * long as freeing a small allocation. */
enum { BYTES_FREED_AT_ONCE = 8 * 1024 };

size_t value_free_effort(const struct entry *entry) {
    const struct quicklist *list = entry_type(entry) == VALUE_LIST ? list_quicklist(entry) : NULL;
    size_t allocations = list ? quicklist_node_count(list) : 1;
    return allocations + hanging_allocated(entry) / BYTES_FREED_AT_ONCE;
}

size_t value_allocated(const struct entry *entry) {
    return entry_allocated(entry, value_size(entry)) + hanging_allocated(entry);
}

bool value_check(const struct entry *entry) {
    switch (entry_type(entry)) {
    case VALUE_STRING: return string_check(entry);
    case VALUE_LIST: return list_check(entry);
    default: return false;
    }
}
