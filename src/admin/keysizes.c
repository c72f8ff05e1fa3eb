#include "admin/keysizes.h"

/* The types that Redis shows: all but streams. */
static const char *const fields[VALUE_TYPES] = {[VALUE_STRING] = "strings_sizes",
                                                [VALUE_LIST] = "lists_items",
                                                [VALUE_SET] = "sets_items",
                                                [VALUE_ZSET] = "zsets_items",
                                                [VALUE_HASH] = "hashes_items"};

/* Appends "512", "1K", "2K", … "1M" … */
static sds append_size(sds out, uint64_t size) {
    static const char *const units[] = {"", "K", "M", "G", "T", "P", "E"};
    unsigned unit = 0;
    for (; size >= 1024; unit++) size /= 1024;
    return sds_append_format(out, "%llu%s", (unsigned long long)size, units[unit]);
}

static sds append_type(sds out, int64_t database, const struct size_histogram *sizes,
                       enum value_type type) {
    bool is_first = true;
    for (unsigned bucket = 0; bucket < SIZE_BUCKETS; bucket++) {
        uint64_t count = size_histogram_count(sizes, type, bucket);
        if (count == 0) continue;
        if (is_first)
            out = sds_append_format(out, "db%lld_distrib_%s:", (long long)database, fields[type]);
        else
            out = sds_append_cstr(out, ",");
        is_first = false;
        out = append_size(out, size_bucket_min(bucket));
        out = sds_append_format(out, "=%llu", (unsigned long long)count);
    }
    return is_first ? out : sds_append_cstr(out, "\r\n");
}

sds keysizes_append(sds out, int64_t database, const struct size_histogram *sizes) {
    for (unsigned type = 0; type < VALUE_TYPES; type++)
        if (fields[type]) out = append_type(out, database, sizes, (enum value_type)type);
    return out;
}
