#include "server/slowlog.h"

#include "base/alloc.h"
#include "base/chain.h"
#include "base/sds.h"
#include "server/secret.h"
#include "server/server.h"
#include "server/server_commands.h"

struct slowlog_entry {
    struct slowlog_entry *older;
    struct slowlog_entry *newer;
    int64_t id;
    int64_t time_s; /* wall clock */
    uint64_t duration_us;
    sds peer; /* the client's address */
    sds name; /* what it calls itself; NULL = nothing */
    size_t argc;
    sds argv[];
};

/* --- Entries --- */

static sds cut_argument(struct slice argument) {
    if (argument.len <= SLOWLOG_BYTES) return sds_new(argument);
    sds shown = sds_new(slice_make(argument.ptr, SLOWLOG_BYTES));
    return sds_append_format(shown, "... (%zu more bytes)", argument.len - SLOWLOG_BYTES);
}

static struct slowlog_entry *make_entry(const struct session *session,
                                        const struct command *command, const struct slice *argv,
                                        size_t argc) {
    size_t kept = argc <= SLOWLOG_ARGUMENTS ? argc : SLOWLOG_ARGUMENTS;
    struct slowlog_entry *entry = mem_alloc(sizeof(*entry) + kept * sizeof(entry->argv[0]));
    char peer[CONN_NAME_MAX];
    *entry = (struct slowlog_entry){
        .time_s = server.now_ms / 1000,
        .peer = sds_new(
            slice_of_cstr(conn_peer_name(conn_of_session((struct session *)session), peer))),
        .name = session->name ? sds_new(sds_slice(session->name)) : NULL,
        .argc = kept,
    };
    for (size_t i = 0; i < kept; i++)
        entry->argv[i] = secret_is_argument(command, argv, i) ? sds_new(SLICE(SECRET_SHOWN))
                                                              : cut_argument(argv[i]);
    if (kept == argc) return entry;
    sds_free(entry->argv[kept - 1]);
    entry->argv[kept - 1] =
        sds_append_format(sds_new(SLICE("")), "... (%zu more arguments)", argc - kept + 1);
    return entry;
}

static void drop_oldest(struct slowlog *log) {
    struct slowlog_entry *entry = log->oldest;
    CHAIN_REMOVE(log->oldest, log->newest, entry, older, newer);
    log->count--;
    sds_free(entry->peer);
    sds_free(entry->name);
    for (size_t i = 0; i < entry->argc; i++) sds_free(entry->argv[i]);
    mem_free(entry);
}

void slowlog_add(struct slowlog *log, const struct session *session, const struct command *command,
                 const struct slice *argv, size_t argc, uint64_t duration_us, size_t max) {
    struct slowlog_entry *entry = make_entry(session, command, argv, argc);
    entry->id = log->next_id++;
    entry->duration_us = duration_us;
    CHAIN_APPEND(log->oldest, log->newest, entry, older, newer);
    log->count++;
    while (log->count > max) drop_oldest(log);
}

void slowlog_reset(struct slowlog *log) {
    while (log->count) drop_oldest(log);
}

/* --- Commands --- */

static void answer_entry(struct reply *reply, const struct slowlog_entry *entry) {
    reply_array(reply, 6);
    reply_integer(reply, entry->id);
    reply_integer(reply, entry->time_s);
    reply_integer(reply, (int64_t)entry->duration_us);
    reply_array(reply, entry->argc);
    for (size_t i = 0; i < entry->argc; i++) reply_bulk(reply, sds_slice(entry->argv[i]));
    reply_bulk(reply, sds_slice(entry->peer));
    reply_bulk(reply, entry->name ? sds_slice(entry->name) : SLICE(""));
}

void slowlog_get_command(struct call *call) {
    const struct slowlog *log = &server.slowlog;
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
    reply_integer(call->reply, (int64_t)server.slowlog.count);
}

void slowlog_reset_command(struct call *call) {
    slowlog_reset(&server.slowlog);
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
