/* slowlog_commands: SLOWLOG, and COMMANDLOG (of Valkey): commands that took long, and commands with
 * large requests and large replies. */
#include "admin/admin_commands.h"
#include "engine/engine.h"
#include "resp/reply.h"
#include "stats/slowlog.h"

static void answer_entry(struct reply *reply, const struct slowlog_entry *entry, bool with_argc) {
    reply_array(reply, with_argc ? 7 : 6);
    reply_integer(reply, entry->id);
    reply_integer(reply, entry->time_s);
    reply_integer(reply, (int64_t)entry->amount);
    reply_array(reply, entry->argc);
    for (size_t i = 0; i < entry->argc; i++) reply_bulk(reply, sds_slice(entry->argv[i]));
    reply_bulk(reply, sds_slice(entry->peer));
    reply_bulk(reply, sds_slice(entry->name));
    if (with_argc) reply_integer(reply, (int64_t)entry->total_argc);
}

/* Replies the newest entries, `wanted` of them or, if that is negative, all. */
static void answer_newest(struct reply *reply, const struct slowlog *log, int64_t wanted,
                          bool with_argc) {
    size_t count = wanted < 0 || (uint64_t)wanted > log->count ? log->count : (size_t)wanted;
    reply_array(reply, count);
    const struct slowlog_entry *entry = log->newest;
    for (size_t i = 0; i < count; i++, entry = entry->older) answer_entry(reply, entry, with_argc);
}

static bool parse_count(struct call *call, int64_t *wanted) {
    return call_integer_in(call, 2, -1, INT64_MAX, wanted,
                           "ERR count should be greater than or equal to -1");
}

/* --- SLOWLOG --- */

static struct slowlog *slowest(const struct call *call) {
    return &call->engine->slowlogs[SLOWLOG_SLOW];
}

void slowlog_get_command(struct call *call) {
    int64_t wanted = 10;
    if (call->argc > 3)
        call_bad_subcommand(call);
    else if (call->argc == 2 || parse_count(call, &wanted))
        answer_newest(call->reply, slowest(call), wanted, call->engine->config.slowlog_show_argc);
}

void slowlog_len_command(struct call *call) {
    reply_integer(call->reply, (int64_t)slowest(call)->count);
}

void slowlog_reset_command(struct call *call) {
    slowlog_reset(slowest(call));
    reply_ok(call->reply);
}

COMMAND_FORM(slowlog_help_command, call_help,
             "GET [<count>]\n"
             "    The newest entries: 10 of them, or <count>, or all with -1. Of each its number, "
             "the\n"
             "    time in seconds, the duration in microseconds, the arguments, the client's "
             "address\n"
             "    and its name; with slowlog-show-argc how many arguments there were, too.\n"
             "LEN\n"
             "    How many entries there are.\n"
             "RESET\n"
             "    Forget all entries.\n")

/* --- COMMANDLOG --- */

/* Returns the log of the type argv[index]; otherwise replies the error and returns NULL. */
static struct slowlog *log_named(struct call *call, size_t index) {
    static const char *const names[SLOWLOG_KINDS] = {"slow", "large-request", "large-reply"};
    for (int kind = 0; kind < SLOWLOG_KINDS; kind++)
        if (slice_is(call->argv[index], names[kind])) return &call->engine->slowlogs[kind];
    reply_error(call->reply,
                "ERR type should be one of the following: slow, large-request, large-reply");
    return NULL;
}

void commandlog_get_command(struct call *call) {
    int64_t wanted;
    if (!parse_count(call, &wanted)) return;
    const struct slowlog *log = log_named(call, 3);
    if (log) answer_newest(call->reply, log, wanted, false);
}

void commandlog_len_command(struct call *call) {
    const struct slowlog *log = log_named(call, 2);
    if (log) reply_integer(call->reply, (int64_t)log->count);
}

void commandlog_reset_command(struct call *call) {
    struct slowlog *log = log_named(call, 2);
    if (!log) return;
    slowlog_reset(log);
    reply_ok(call->reply);
}

COMMAND_FORM(commandlog_help_command, call_help,
             "GET <count> SLOW|LARGE-REQUEST|LARGE-REPLY\n"
             "    The newest entries, all of them with -1. Of each its number, the time in "
             "seconds,\n"
             "    the duration in microseconds or the size in bytes, the arguments, the client's\n"
             "    address and its name.\n"
             "LEN SLOW|LARGE-REQUEST|LARGE-REPLY\n"
             "    How many entries there are.\n"
             "RESET SLOW|LARGE-REQUEST|LARGE-REPLY\n"
             "    Forget all entries.\n")
