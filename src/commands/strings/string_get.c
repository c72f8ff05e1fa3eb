/* GET GETDEL GETEX MGET STRLEN GETRANGE: whole values or parts of them. */
#include "commands/commands.h"
#include "commands/strings/string_common.h"

void get_command(struct call *call) {
    struct entry *entry = call_find_read(call, call->argv[1], NULL);
    int64_t integer;
    if (entry == NULL)
        reply_null(call->reply);
    else if (!call_check_type(call, entry, VALUE_STRING))
        return;
    else if (string_integer(entry, &integer))
        reply_bulk_integer(call->reply, integer);
    else
        string_reply(call->reply, entry);
}

void getdel_command(struct call *call) {
    struct keyref ref;
    if (!call_find_typed_read(call, call->argv[1], VALUE_STRING, &ref)) return;
    string_reply(call->reply, ref.entry);
    if (ref.entry == NULL) return;
    call_remove(call, &ref, call->argv[1], REMOVAL_DELETED);
    CALL_PROPAGATE(call, SLICE("DEL"), call->argv[1]);
}

/* --- GETEX key [EX seconds | PX ms | EXAT time | PXAT ms-time | PERSIST] --- */

static void expire_at(struct call *call, struct keyref *ref, int64_t expiry_ms) {
    char buffer[INT64_TEXT_MAX];
    struct slice key = call->argv[1];
    call_set_expiry(call, ref, expiry_ms);
    CALL_CHANGED(call, ref, key, EVENT_GENERIC, "expire", 1);
    CALL_PROPAGATE(call, SLICE("PEXPIREAT"), key, number_text(buffer, expiry_ms));
}

static void persist(struct call *call, struct keyref *ref) {
    struct slice key = call->argv[1];
    call_set_expiry(call, ref, -1);
    CALL_CHANGED(call, ref, key, EVENT_GENERIC, "persist", 1);
    CALL_PROPAGATE(call, SLICE("PERSIST"), key);
}

/* The options exclude each other. Only a second time in the same unit is accepted. */
static bool parse_getex(struct call *call, enum expiry_option *expiry, size_t *index) {
    for (size_t i = 2; i < call->argc; i++) {
        enum expiry_option option = expiry_option_of(call->argv[i]);
        if (slice_is(call->argv[i], "persist"))
            option = EXPIRY_PERSIST;
        else if (option == EXPIRY_NONE || ++i == call->argc)
            return call_syntax_error(call);
        if (*expiry != EXPIRY_NONE && *expiry != option) return call_syntax_error(call);
        *expiry = option;
        *index = i;
    }
    return true;
}

void getex_command(struct call *call) {
    enum expiry_option expiry = EXPIRY_NONE;
    size_t index = 0;
    int64_t expiry_ms = -1;
    struct keyref ref;
    if (!parse_getex(call, &expiry, &index)) return;
    if (!call_find_typed_read(call, call->argv[1], VALUE_STRING, &ref)) return;
    if (ref.entry && expiry >= EXPIRY_EX && !string_parse_expiry(call, expiry, index, &expiry_ms))
        return;
    string_reply(call->reply, ref.entry);
    if (ref.entry == NULL) return;
    bool absolute = expiry == EXPIRY_EXAT || expiry == EXPIRY_PXAT;
    if (absolute && call_is_past(call, expiry_ms))
        call_remove(call, &ref, call->argv[1], REMOVAL_PAST);
    else if (expiry >= EXPIRY_EX)
        expire_at(call, &ref, expiry_ms);
    else if (expiry == EXPIRY_PERSIST && entry_expiry(ref.entry) >= 0)
        persist(call, &ref);
}

/* --- The other commands --- */

void mget_command(struct call *call) {
    reply_array(call->reply, call->argc - 1);
    for (size_t i = 1; i < call->argc; i++) {
        call_prefetch_keys(call, i, call->argc, 1);
        struct entry *entry = call_find_read(call, call->argv[i], NULL);
        bool is_string = entry && entry_type(entry) == VALUE_STRING;
        string_reply(call->reply, is_string ? entry : NULL);
    }
}

void strlen_command(struct call *call) {
    struct keyref ref;
    if (!call_find_typed_read(call, call->argv[1], VALUE_STRING, &ref)) return;
    reply_integer(call->reply, ref.entry ? (int64_t)string_length(ref.entry) : 0);
}

/* Returns the part of `text` from `start` to `end`, both included. */
static struct slice part_of(struct slice text, int64_t start, int64_t end) {
    bool backwards = start < 0 && end < 0 && start > end;
    if (backwards || !string_range_clamp(&start, &end, (int64_t)text.len)) return SLICE("");
    return slice_make(text.ptr + start, (size_t)(end - start) + 1);
}

void getrange_command(struct call *call) {
    int64_t start, end;
    char buffer[INT64_TEXT_MAX];
    struct keyref ref;
    if (!call_integer(call, 2, &start) || !call_integer(call, 3, &end)) return;
    if (!call_find_typed_read(call, call->argv[1], VALUE_STRING, &ref)) return;
    struct slice text = string_text_or_empty(ref.entry, buffer);
    string_reply_part(call->reply, ref.entry, text, part_of(text, start, end));
}
