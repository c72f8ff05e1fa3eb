/* SETBIT GETBIT BITCOUNT BITPOS BITFIELD BITFIELD_RO: strings as arrays of bits. */
#include "base/memory/alloc.h"
#include "commands/commands.h"
#include "commands/common.h"
#include "commands/strings/bit_work.h"
#include "commands/strings/string_common.h"
#include "types/bits.h"

bool parse_offset(struct call *call, size_t index, unsigned width, uint64_t *offset) {
    struct slice text = call->argv[index];
    int64_t value;
    bool counts_fields = width && text.len > 0 && text.ptr[0] == '#';
    if (counts_fields) text = slice_make(text.ptr + 1, text.len - 1);
    if (number_parse_int64(text, &value) && value >= 0 &&
        !__builtin_mul_overflow(value, counts_fields ? width : 1, &value) &&
        bits_byte((uint64_t)value) < call_string_max(call)) {
        *offset = (uint64_t)value;
        return true;
    }
    return reply_error(call->reply, "ERR bit offset is not an integer or out of range");
}

void setbit_command(struct call *call) {
    static const char error[] = "ERR bit is not an integer or out of range";
    struct slice key = call->argv[1];
    uint64_t offset;
    int64_t bit;
    struct keyref ref;
    if (!parse_offset(call, 2, 0, &offset)) return;
    if (!call_integer_in(call, 3, 0, 1, &bit, error)) return;
    if (!call_find_typed_write(call, key, VALUE_STRING, &ref)) return;
    size_t old_len = ref.entry ? string_length(ref.entry) : 0;
    size_t at = bits_byte(offset);
    uint8_t *bytes = string_open_or_error(call, &ref, key, at, at + 1);
    if (bytes == NULL) return;
    uint8_t *byte = bytes + bits_byte(offset), mask = bits_mask(offset);
    bool old_bit = *byte & mask;
    *byte = (uint8_t)(bit ? *byte | mask : *byte & ~mask);
    reply_integer(call->reply, old_bit);
    if (bits_byte(offset) >= old_len || old_bit != bit)
        CALL_CHANGED(call, &ref, key, EVENT_STRING, "setbit", 1);
}

void getbit_command(struct call *call) {
    char buffer[INT64_TEXT_MAX];
    uint64_t offset;
    struct keyref ref;
    if (!parse_offset(call, 2, 0, &offset)) return;
    if (!call_find_typed_read(call, call->argv[1], VALUE_STRING, &ref)) return;
    reply_integer(call->reply, bits_test(string_text_or_empty(ref.entry, buffer), offset));
}

/* --- BITCOUNT and BITPOS: a range of a string --- */

struct range {
    int64_t start, end;
    bool in_bits;
};

static bool parse_unit(struct call *call, size_t index, bool *in_bits) {
    *in_bits = slice_is(call->argv[index], "bit");
    if (*in_bits || slice_is(call->argv[index], "byte")) return true;
    return call_syntax_error(call);
}

/* Reads "start [end [BYTE | BIT]]" from argv[index] on; what is missing stays as it is. Whether the
 * unit is read before the end decides which of several errors is replied. */
static bool parse_range(struct call *call, size_t index, bool unit_first, struct range *range) {
    size_t given = call->argc - index;
    bool is_half = given == 1 && !unit_first; /* BITCOUNT with a start only */
    if (given > 3 || is_half) return call_syntax_error(call);
    if (given > 0 && !call_integer(call, index, &range->start)) return false;
    if (given > 2 && unit_first && !parse_unit(call, index + 2, &range->in_bits)) return false;
    if (given > 1 && !call_integer(call, index + 1, &range->end)) return false;
    return given < 3 || unit_first || parse_unit(call, index + 2, &range->in_bits);
}

/* Computes the bits [*from, *to) that a range covers in a string of `len` bytes. Returns false when
 * there are none. */
static bool cover(struct range range, size_t len, uint64_t *from, uint64_t *to) {
    int64_t total = (int64_t)len * (range.in_bits ? 8 : 1), unit = range.in_bits ? 1 : 8;
    if (!string_range_clamp(&range.start, &range.end, total)) return false;
    *from = (uint64_t)(range.start * unit);
    *to = (uint64_t)((range.end + 1) * unit);
    return true;
}

void bitcount_command(struct call *call) {
    char buffer[INT64_TEXT_MAX];
    struct range range = {.start = 0, .end = -1};
    struct keyref ref;
    uint64_t from, to, count = 0;
    if (!parse_range(call, 2, false, &range)) return;
    if (!call_find_typed_read(call, call->argv[1], VALUE_STRING, &ref)) return;
    struct slice bytes = string_text_or_empty(ref.entry, buffer);
    bool backwards = range.start < 0 && range.end < 0 && range.start > range.end;
    if (!backwards && cover(range, bytes.len, &from, &to)) {
        if (bits_pay(call, from, to) && bits_count_later(call, ref.entry, from, to)) return;
        count = bits_count(bytes, from, to);
    }
    reply_integer(call->reply, (int64_t)count);
}

void bitpos_command(struct call *call) {
    char buffer[INT64_TEXT_MAX];
    struct range range = {.start = 0, .end = -1};
    struct keyref ref;
    uint64_t from, to;
    int64_t bit, position = -1;
    if (!call_integer_within(call, 2, 0, 1, &bit, "ERR The bit argument must be 1 or 0.")) return;
    if (!parse_range(call, 3, true, &range)) return;
    if (!call_find_typed_read(call, call->argv[1], VALUE_STRING, &ref)) return;
    struct slice bytes = string_text_or_empty(ref.entry, buffer);
    if (ref.entry == NULL) {
        position = bit ? -1 : 0;
    } else if (cover(range, bytes.len, &from, &to)) {
        /* Without an end, zeros follow the string. */
        int64_t otherwise = bit == 0 && call->argc < 5 ? (int64_t)(8 * bytes.len) : -1;
        uint64_t end = bits_pay(call, from, to) ? from + BITS_LOOK_FIRST : to;
        position = bits_find(bytes, bit, from, end);
        if (position < 0 && end < to) {
            if (bits_find_later(call, ref.entry, bit, end, to, otherwise)) return;
            position = bits_find(bytes, bit, end, to);
        }
        if (position < 0) position = otherwise;
    }
    reply_integer(call->reply, position);
}

/* --- BITFIELD and BITFIELD_RO ---
 *
 * key [GET type offset | [OVERFLOW WRAP | SAT | FAIL] <SET type offset value | INCRBY type offset
 * increment> …]
 *
 * The arguments are read twice: first all of them, to find errors and how far they write; then each
 * operation is read again and executed. */

enum field_action { FIELD_GET, FIELD_SET, FIELD_INCRBY, FIELD_OVERFLOW };

struct field_operation {
    enum field_action action;
    enum bits_overflow overflow; /* in force since the last OVERFLOW */
    struct bits_type type;
    uint64_t offset;
    int64_t value;
};

/* "i16", "u8": i1 to i64 and u1 to u63. */
static bool parse_type(struct call *call, size_t index, struct bits_type *type) {
    struct slice text = call->argv[index];
    int64_t width;
    if (text.len > 0 && (text.ptr[0] == 'i' || text.ptr[0] == 'u') &&
        number_parse_int64(slice_make(text.ptr + 1, text.len - 1), &width)) {
        bool is_signed = text.ptr[0] == 'i';
        *type = (struct bits_type){is_signed, (uint8_t)width};
        if (width >= 1 && width <= (is_signed ? 64 : 63)) return true;
    }
    return reply_error(call->reply,
                       "ERR Invalid bitfield type. Use something like i16 u8. Note that u64 "
                       "is not supported but i64 is.");
}

static bool parse_overflow(struct call *call, size_t index, enum bits_overflow *overflow) {
    static const char *const names[] = {
        [BITS_WRAP] = "wrap", [BITS_SATURATE] = "sat", [BITS_FAIL] = "fail"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (!slice_is(call->argv[index], names[i])) continue;
        *overflow = (enum bits_overflow)i;
        return true;
    }
    return reply_error(call->reply, "ERR Invalid OVERFLOW type specified");
}

/* Finds the action of the word at argv[index], if enough arguments follow it. */
static bool parse_action(struct call *call, size_t index, enum field_action *action) {
    static const struct {
        const char *name;
        size_t arguments;
    } actions[] = {[FIELD_GET] = {"get", 2},
                   [FIELD_SET] = {"set", 3},
                   [FIELD_INCRBY] = {"incrby", 3},
                   [FIELD_OVERFLOW] = {"overflow", 1}};
    for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
        if (!slice_is(call->argv[index], actions[i].name)) continue;
        *action = (enum field_action)i;
        if (index + actions[i].arguments < call->argc) return true;
    }
    return call_syntax_error(call);
}

/* Reads the operation at argv[*index] and moves *index past it. The mode of an OVERFLOW stays in
 * `operation` for later ones. Otherwise replies the error and returns false. */
static bool parse_field_operation(struct call *call, size_t *index,
                                  struct field_operation *operation) {
    size_t at = *index;
    if (!parse_action(call, at, &operation->action)) return false;
    *index = at + 2;
    if (operation->action == FIELD_OVERFLOW)
        return parse_overflow(call, at + 1, &operation->overflow);
    if (!parse_type(call, at + 1, &operation->type) ||
        !parse_offset(call, at + 2, operation->type.width, &operation->offset))
        return false;
    *index = at + 3;
    if (operation->action == FIELD_GET) return true;
    *index = at + 4;
    return call_integer(call, at + 3, &operation->value);
}

/* The string that the operations work on. */
struct field_string {
    struct slice text;
    struct entry *entry; /* NULL, and `bytes` is set, when nothing is written */
    uint8_t *bytes;
    bool grown; /* it has grown for the operations that write */
};

static void write_field(const struct field_string *string, const struct field_operation *operation,
                        int64_t value) {
    uint64_t end = operation->offset + operation->type.width;
    string_before_write(string->entry, bits_byte(operation->offset), bits_byte(end + 7));
    bits_write(string->bytes, operation->offset, operation->type, value);
}

/* Executes one operation on a string that is long enough, and replies its result. Returns whether
 * it changed the string. */
static bool run_operation(struct reply *reply, const struct field_operation *operation,
                          const struct field_string *string) {
    int64_t old = bits_read(string->text, operation->offset, operation->type), value = old;
    bool fits =
        operation->action == FIELD_GET ||
        (operation->action == FIELD_SET
             ? bits_fit(operation->type, operation->overflow, operation->value, &value)
             : bits_add(operation->type, operation->overflow, old, operation->value, &value));
    if (!fits) {
        reply_null(reply);
        return false;
    }
    reply_integer(reply, operation->action == FIELD_INCRBY ? value : old);
    if (operation->action == FIELD_GET) return false;
    write_field(string, operation, value);
    return value != old || string->grown;
}

/* Executes all operations, whose number is known. Returns how many changed something: all that
 * write, when the string has grown for them. */
static uint64_t run_operations(struct call *call, size_t count, const struct field_string *string) {
    struct field_operation operation = {0};
    uint64_t changes = 0;
    reply_array(call->reply, count);
    for (size_t i = 2; i < call->argc;) {
        parse_field_operation(call, &i, &operation);
        if (operation.action != FIELD_OVERFLOW)
            changes += run_operation(call->reply, &operation, string);
    }
    return changes;
}

static void read_fields(struct call *call, size_t count) {
    char buffer[INT64_TEXT_MAX];
    struct keyref ref;
    if (!call_find_typed_read(call, call->argv[1], VALUE_STRING, &ref)) return;
    struct field_string string = {.text = string_text_or_empty(ref.entry, buffer)};
    run_operations(call, count, &string);
}

/* `end`: the length that the string must have, in bits. */
static void write_fields(struct call *call, size_t count, uint64_t end) {
    struct slice key = call->argv[1];
    struct keyref ref;
    if (!call_find_typed_write(call, key, VALUE_STRING, &ref)) return;
    size_t old_len = ref.entry ? string_length(ref.entry) : 0, len = bits_byte(end + 7);
    uint8_t *bytes = string_open_or_error(call, &ref, key, len, len);
    if (bytes == NULL) return;
    struct field_string string = {.entry = ref.entry, .bytes = bytes, .grown = len > old_len};
    string.text = slice_make(bytes, string.grown ? len : old_len);
    uint64_t changes = run_operations(call, count, &string);
    /* Where no operation fits, the string stays longer all the same. */
    if (changes == 0) changes = string.grown;
    if (changes) CALL_CHANGED(call, &ref, key, EVENT_STRING, "setbit", changes);
}

static void run_fields(struct call *call, bool may_write) {
    struct field_operation operation = {0};
    size_t count = 0;
    uint64_t end = 0;
    for (size_t i = 2; i < call->argc;) {
        if (!parse_field_operation(call, &i, &operation)) return;
        if (operation.action == FIELD_OVERFLOW) continue;
        count++;
        uint64_t operation_end = operation.offset + operation.type.width;
        if (operation.action != FIELD_GET && operation_end > end) end = operation_end;
    }
    if (end == 0)
        read_fields(call, count);
    else if (may_write)
        write_fields(call, count, end);
    else
        reply_error(call->reply, "ERR BITFIELD_RO only supports the GET subcommand");
}

COMMAND_FORM(bitfield_command, run_fields, true)
COMMAND_FORM(bitfield_ro_command, run_fields, false)
