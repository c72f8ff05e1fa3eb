#include "persist/function_dump.h"

#include "persist/rdb_format.h"
#include "persist/rdb_reader.h"

static const char *read_libraries(struct rdb_reader *reader,
                                  bool (*take)(void *arg, struct slice code), void *arg) {
    uint8_t opcode;
    struct slice code;
    while (!rdb_reader_is_at_end(reader)) {
        if (!rdb_read_byte(reader, &opcode)) return "failed to read payload data type";
        if (opcode == RDB_FUNCTION_PRE_GA) return "Pre-GA function format not supported";
        if (opcode != RDB_FUNCTION2) return "given type is not a function";
        if (!rdb_read_string(reader, &code)) return "Failed loading library payload";
        if (!take(arg, code)) return NULL;
    }
    return NULL;
}

const char *function_dump_read(struct slice payload, bool skip_checksum,
                               bool (*take)(void *arg, struct slice code), void *arg) {
    struct slice content;
    struct rdb_reader reader;
    if (!dump_open(payload, skip_checksum, &content))
        return "DUMP payload version or checksum are wrong";
    rdb_reader_start_memory(&reader, content, false);
    const char *error = read_libraries(&reader, take, arg);
    rdb_reader_end(&reader);
    return error;
}
