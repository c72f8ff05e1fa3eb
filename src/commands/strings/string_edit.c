/* APPEND SETRANGE and the counters: values changed in place. */
#include "commands/commands.h"
#include "commands/strings/string_common.h"

#include <math.h>

void append_command(struct call *call) {
    struct slice key = call->argv[1], text = call->argv[2];
    struct keyref ref;
    if (!call_find_typed_write(call, key, VALUE_STRING, &ref)) return;
    if (ref.entry == NULL) {
        string_set_argument(call, &ref, key, 2, false);
    } else {
        if (!call_check_growth(call, string_length(ref.entry), text.len)) return;
        if (!string_append(&ref, text)) {
            call_too_long(call);
            return;
        }
    }
    reply_integer(call->reply, (int64_t)string_length(ref.entry));
    CALL_CHANGED(call, &ref, key, EVENT_STRING, "append", 1);
}

void setrange_command(struct call *call) {
    struct slice key = call->argv[1], text = call->argv[3];
    int64_t offset;
    struct keyref ref;
    if (!call_integer_within(call, 2, 0, INT64_MAX, &offset, "ERR offset is out of range")) return;
    if (!call_find_typed_write(call, key, VALUE_STRING, &ref)) return;
    if (text.len == 0) { /* an empty text changes nothing and creates no key */
        reply_integer(call->reply, ref.entry ? (int64_t)string_length(ref.entry) : 0);
        return;
    }
    if (!call_check_growth(call, (size_t)offset, text.len)) return;
    size_t from = (size_t)offset;
    uint8_t *bytes = string_open_or_error(call, &ref, key, from, from + text.len);
    if (bytes == NULL) return;
    memcpy(bytes + from, text.ptr, text.len);
    reply_integer(call->reply, (int64_t)string_length(ref.entry));
    CALL_CHANGED(call, &ref, key, EVENT_STRING, "setrange", 1);
}

/* --- Counters --- */

static void add(struct call *call, int64_t increment) {
    struct slice key = call->argv[1];
    struct keyref ref;
    int64_t value = 0;
    if (!call_find_typed_write(call, key, VALUE_STRING, &ref)) return;
    if (ref.entry && !string_parse_integer(ref.entry, &value)) {
        reply_error(call->reply, "ERR value is not an integer or out of range");
    } else if (__builtin_add_overflow(value, increment, &value)) {
        reply_error(call->reply, "ERR increment or decrement would overflow");
    } else {
        string_set_integer(&ref, key, value);
        reply_integer(call->reply, value);
        CALL_CHANGED(call, &ref, key, EVENT_STRING, "incrby", 1);
    }
}

COMMAND_FORM(incr_command, add, 1)
COMMAND_FORM(decr_command, add, -1)

void incrby_command(struct call *call) {
    int64_t increment;
    if (call_integer(call, 2, &increment)) add(call, increment);
}

void decrby_command(struct call *call) {
    int64_t decrement;
    if (!call_integer(call, 2, &decrement)) return;
    if (decrement == INT64_MIN)
        reply_error(call->reply, "ERR decrement would overflow");
    else
        add(call, -decrement);
}

void incrbyfloat_command(struct call *call) {
    struct slice key = call->argv[1];
    char buffer[LONG_DOUBLE_TEXT_MAX];
    struct keyref ref;
    long double value = 0, increment;
    if (!call_find_typed_write(call, key, VALUE_STRING, &ref)) return;
    if ((ref.entry && !number_parse_long_double(string_text(ref.entry, buffer), &value)) ||
        !number_parse_long_double(call->argv[2], &increment)) {
        reply_error(call->reply, "ERR value is not a valid float");
        return;
    }
    value += increment;
    if (!isfinite(value)) {
        reply_error(call->reply, "ERR increment would produce NaN or Infinity");
        return;
    }
    struct slice text = slice_make(buffer, number_format_long_double(buffer, value));
    string_set_text(&ref, key, text);
    reply_bulk(call->reply, text);
    CALL_CHANGED(call, &ref, key, EVENT_STRING, "incrbyfloat", 1);
    CALL_PROPAGATE(call, SLICE("SET"), key, text, SLICE("KEEPTTL"));
}
