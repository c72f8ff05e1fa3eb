#include "server/slowlog.h"

#include "base/alloc.h"
#include "base/chain.h"
#include "server/secret.h"
#include "server/server.h"

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
