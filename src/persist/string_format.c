/* Strings in files: RDB_STRING, one string. */
#include "base/text/number.h"
#include "persist/rdb_format.h"
#include "persist/type_format.h"
#include "types/string.h"

/* --- Writing --- */

static unsigned string_format_written(const struct entry *entry) {
    (void)entry;
    return RDB_STRING;
}

static void string_format_write(struct rdb_writer *writer, struct value_source source) {
    int64_t integer;
    char digits[INT64_TEXT_MAX];
    if (!source.entry)
        rdb_write_text_capture(writer, source.capture);
    else if (string_integer(source.entry, &integer))
        rdb_write_integer(writer, integer);
    else
        rdb_write_string(writer, string_text(source.entry, digits));
}

static void string_format_write_commands(struct rdb_writer *writer, struct slice key,
                                         struct value_source source) {
    char digits[INT64_TEXT_MAX];
    value_commands_begin(writer, "SET", key, 1);
    if (source.entry)
        value_commands_text(writer, string_text(source.entry, digits));
    else
        value_commands_text_capture(writer, source.capture);
}

static void string_format_digest(struct digest *digest, uint8_t to[DIGEST_SIZE],
                                 const struct entry *entry) {
    char digits[INT64_TEXT_MAX];
    digest_mix(digest, to, string_text(entry, digits));
}

/* --- Reading --- */

static struct entry *string_format_read(struct rdb_reader *reader, unsigned type, struct slice key,
                                        const struct rdb_load_options *options) {
    struct slice text;
    (void)type;
    (void)options;
    if (!rdb_read_string(reader, &text)) return NULL;
    if (text.len > STRING_LENGTH_MAX) {
        rdb_reader_fail(reader, "the string is too long");
        return NULL;
    }
    return string_new(key, text);
}

const struct type_format string_format = TYPE_FORMAT(string);
