#include "persist/type_format.h"

#include <stdlib.h>

static const struct type_format *const formats[] = {
    [VALUE_STRING] = &string_format, [VALUE_LIST] = &list_format, [VALUE_SET] = &set_format,
    [VALUE_ZSET] = &zset_format,     [VALUE_HASH] = &hash_format, [VALUE_STREAM] = &stream_format,
};
_Static_assert(sizeof(formats) / sizeof(formats[0]) == VALUE_TYPES, "every type is named");

const struct type_format *type_format_of(enum value_type type) {
    return (unsigned)type < VALUE_TYPES ? formats[type] : NULL;
}

const struct type_format *type_format_of_entry(const struct entry *entry) {
    const struct type_format *format = type_format_of(entry_type(entry));
    if (!format) abort();
    return format;
}

const struct type_format *type_format_reading(unsigned rdb_type) {
    enum { BITS = 8 * sizeof(formats[0]->read_types) };
    if (rdb_type >= BITS) return NULL;
    for (unsigned type = 0; type < VALUE_TYPES; type++) {
        if (formats[type] && formats[type]->read_types & RDB_TYPE_BIT(rdb_type))
            return formats[type];
    }
    return NULL;
}
