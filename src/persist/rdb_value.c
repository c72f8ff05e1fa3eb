#include "persist/rdb_value.h"

#include "base/number.h"
#include "persist/rdb_format.h"
#include "persist/rdb_list.h"
#include "types/string.h"

#include <stdlib.h>

/* --- Writing --- */

/* A text of as many bytes is captured where the sink can do that; a shorter one is copied sooner
 * than captured and released. */
#ifdef TINY_LIMITS
enum { LARGE_TEXT_MIN = 256 };
#else
enum { LARGE_TEXT_MIN = 256 * 1024 };
#endif
_Static_assert((int)LARGE_TEXT_MIN > (int)STRING_EMBEDDED_MAX, "only hanging texts are captured");

unsigned rdb_value_type(const struct entry *entry) {
    switch (entry_type(entry)) {
    case VALUE_STRING: return RDB_STRING;
    case VALUE_LIST: return RDB_LIST_QUICKLIST_2;
    default: abort(); /* other entries are not made */
    }
}

/* Is the value captured by the sink, to be written later? */
static bool defer_string(struct rdb_writer *writer, const struct entry *entry) {
    if (!writer->sink.deferral || string_length(entry) < LARGE_TEXT_MIN) return false;
    const struct rdb_deferral *deferral = rdb_writer_defer(writer);
    /* To be captured changes nothing that is seen of the string. */
    if (deferral) deferral->text(writer->sink.arg, string_share((struct entry *)entry));
    return true;
}

static void write_string_value(struct rdb_writer *writer, const struct entry *entry) {
    int64_t integer;
    char digits[INT64_TEXT_MAX];
    if (defer_string(writer, entry)) return;
    if (string_integer(entry, &integer))
        rdb_write_integer(writer, integer);
    else
        rdb_write_string(writer, string_text(entry, digits));
}

void rdb_write_value(struct rdb_writer *writer, const struct entry *entry) {
    switch (entry_type(entry)) {
    case VALUE_STRING: write_string_value(writer, entry); return;
    case VALUE_LIST: rdb_write_list(writer, entry); return;
    default: abort();
    }
}

/* --- Reading --- */

bool rdb_can_read(unsigned type) {
    return type == RDB_STRING || type == RDB_LIST || type == RDB_LIST_ZIPLIST ||
           type == RDB_LIST_QUICKLIST || type == RDB_LIST_QUICKLIST_2;
}

static struct entry *read_string_value(struct rdb_reader *reader, struct slice key) {
    struct slice text;
    if (!rdb_read_string(reader, &text)) return NULL;
    if (text.len > STRING_LENGTH_MAX) {
        rdb_reader_fail(reader, "the string is too long");
        return NULL;
    }
    return string_new(key, text);
}

struct entry *rdb_read_value(struct rdb_reader *reader, unsigned type, struct slice key,
                             const struct rdb_load_options *options) {
    if (type == RDB_STRING) return read_string_value(reader, key);
    if (rdb_can_read(type)) return rdb_read_list(reader, type, key, options);
    rdb_reader_fail(reader, "values of type %u can't be read", type);
    return NULL;
}
