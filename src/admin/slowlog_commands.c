/* slowlog_commands: SLOWLOG. */
#include "admin/admin_commands.h"
#include "engine/engine.h"
#include "resp/reply.h"
#include "stats/slowlog.h"

static void answer_entry(struct reply *reply, const struct slowlog_entry *entry) {
    reply_array(reply, 6);
    reply_integer(reply, entry->id);
    reply_integer(reply, entry->time_s);
    reply_integer(reply, (int64_t)entry->duration_us);
    reply_array(reply, entry->argc);
    for (size_t i = 0; i < entry->argc; i++) reply_bulk(reply, sds_slice(entry->argv[i]));
    reply_bulk(reply, sds_slice(entry->peer));
    reply_bulk(reply, sds_slice(entry->name));
}

void slowlog_get_command(struct call *call) {
    const struct slowlog *log = call->engine->slowlog;
    int64_t wanted = 10;
    if (call->argc > 3) {
        call_bad_subcommand(call);
        return;
    }
    if (call->argc == 3 && !call_integer_in(call, 2, -1, INT64_MAX, &wanted,
                                            "ERR count should be greater than or equal to -1"))
        return;
    size_t count = wanted < 0 || (uint64_t)wanted > log->count ? log->count : (size_t)wanted;
    reply_array(call->reply, count);
    const struct slowlog_entry *entry = log->newest;
    for (size_t i = 0; i < count; i++, entry = entry->older) answer_entry(call->reply, entry);
}

void slowlog_len_command(struct call *call) {
    reply_integer(call->reply, (int64_t)call->engine->slowlog->count);
}

void slowlog_reset_command(struct call *call) {
    slowlog_reset(call->engine->slowlog);
    reply_ok(call->reply);
}

void slowlog_help_command(struct call *call) {
    static const char *const lines[] = {
        "GET [<count>]",
        "    The newest entries: 10 of them, or <count>, or all with -1. Of each its number, the",
        "    time in seconds, the duration in microseconds, the arguments, the client's address",
        "    and its name.",
        "LEN",
        "    How many entries there are.",
        "RESET",
        "    Forget all entries.",
        NULL,
    };
    call_help(call, lines);
}
