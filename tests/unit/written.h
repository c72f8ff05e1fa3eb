/* written: the bytes that are written of a value, or of a capture of it: by them tests compare what a
 * capture holds with what the value was. */
#ifndef PACKLIST_TESTS_UNIT_WRITTEN_H
#define PACKLIST_TESTS_UNIT_WRITTEN_H

#include "base/memory/alloc.h"
#include "persist/type_format.h"
#include "unit/rdb_io.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum form { IN_RDB, AS_COMMANDS, FORMS };

static inline int compare_lines(const void *a, const void *b) {
    return slice_compare(*(const struct slice *)a, *(const struct slice *)b);
}

/* The members of a captured sorted set may be in another order: sorts the lines of the commands. */
static inline sds sort_lines(sds commands) {
    size_t count = 0, len = sds_len(commands);
    struct slice *lines = mem_alloc(len * sizeof(*lines));
    for (const char *at = commands, *end; at < commands + len; at = end + 1) {
        end = memchr(at, '\n', (size_t)(commands + len - at));
        lines[count++] = slice_make(at, (size_t)(end + 1 - at));
    }
    qsort(lines, count, sizeof(*lines), compare_lines);
    sds sorted = sds_reserve(sds_new(SLICE("")), len);
    for (size_t i = 0; i < count; i++) sorted = sds_append(sorted, lines[i]);
    mem_free(lines);
    sds_free(commands);
    return sorted;
}

/* What is written of the entry, or of a capture. */
static inline sds written(enum form form, struct slice key, const struct entry *entry,
                          enum value_type type, struct capture *capture) {
    struct rdb_io io = rdb_io_new(NULL);
    struct rdb_writer writer;
    rdb_writer_start(&writer, rdb_io_sink(&io), true, false);
    struct value_source source = {.capture = capture};
    if (form == AS_COMMANDS && capture)
        type_format_of(type)->write_commands(&writer, key, source);
    else if (form == AS_COMMANDS)
        type_format_write_commands(&writer, entry);
    else if (capture)
        type_format_of(type)->write(&writer, source);
    else
        type_format_write(&writer, entry);
    assert_true(rdb_writer_flush(&writer));
    rdb_writer_end(&writer);
    return form == AS_COMMANDS ? sort_lines(io.bytes) : io.bytes;
}

#endif
