/* BITFIELD and BITFIELD_RO key [GET type offset | [OVERFLOW WRAP | SAT | FAIL] <SET type offset
 * value | INCRBY type offset increment> …]
 *
 * The arguments are read twice: first all of them, to find errors and how far they write; then each
 * operation is read again and executed. */
#include "commands/bit_common.h"
#include "commands/commands.h"

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
static bool parse_operation(struct call *call, size_t *index, struct field_operation *operation) {
    size_t at = *index;
    if (!parse_action(call, at, &operation->action)) return false;
    *index = at + 2;
    if (operation->action == FIELD_OVERFLOW)
        return parse_overflow(call, at + 1, &operation->overflow);
    if (!parse_type(call, at + 1, &operation->type) ||
        !bit_parse_offset(call, at + 2, operation->type.width, &operation->offset))
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
        parse_operation(call, &i, &operation);
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
    if (changes) call_touched(call, &ref, key, EVENT_STRING, "setbit", changes);
}

static void run_fields(struct call *call, bool may_write) {
    struct field_operation operation = {0};
    size_t count = 0;
    uint64_t end = 0;
    for (size_t i = 2; i < call->argc;) {
        if (!parse_operation(call, &i, &operation)) return;
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

void bitfield_command(struct call *call) {
    run_fields(call, true);
}

void bitfield_ro_command(struct call *call) {
    run_fields(call, false);
}
