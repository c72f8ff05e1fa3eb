/* SET and GET in their simple form. */
#include "types/string.h"

#include "commands/commands.h"
#include "server/call.h"

void set_command(struct call *call) {
    struct slice key = call->argv[1];
    if (call->argc > 3) {
        call_syntax_error(call);
        return;
    }
    struct keyref ref = call_find_write(call, key);
    string_set(&ref, key, call->argv[2]);
    reply_ok(call->reply);
    call_touched(call, &ref, key, EVENT_STRING, "set", 1);
}

void get_command(struct call *call) {
    struct keyref ref = call_find_read(call, call->argv[1]);
    int64_t integer;
    char buffer[INT64_TEXT_MAX];
    if (ref.entry == NULL)
        reply_null(call->reply);
    else if (!call_check_type(call, ref.entry, VALUE_STRING))
        return;
    else if (string_integer(ref.entry, &integer))
        reply_bulk_integer(call->reply, integer);
    else
        reply_bulk(call->reply, string_text(ref.entry, buffer));
}
