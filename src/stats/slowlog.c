#include "stats/slowlog.h"

#include "base/alloc.h"
#include "base/chain.h"
#include "table/secret.h"

static sds cut_argument(struct slice argument) {
    if (argument.len <= SLOWLOG_BYTES) return sds_new(argument);
    sds shown = sds_new(slice_make(argument.ptr, SLOWLOG_BYTES));
    return sds_append_format(shown, "... (%zu more bytes)", argument.len - SLOWLOG_BYTES);
}

static struct slowlog_entry *make_entry(const struct slowlog_call *call) {
    size_t kept = call->argc <= SLOWLOG_ARGUMENTS ? call->argc : SLOWLOG_ARGUMENTS;
    struct slowlog_entry *entry = mem_alloc(sizeof(*entry) + kept * sizeof(entry->argv[0]));
    *entry = (struct slowlog_entry){
        .time_s = call->time_s,
        .duration_us = call->duration_us,
        .peer = sds_new(call->peer),
        .name = sds_new(call->name),
        .argc = kept,
    };
    struct secret_cursor cursor = secret_begin(call->command, call->argv, call->argc);
    for (size_t i = 0; i < kept; i++)
        entry->argv[i] = cut_argument(secret_next(&cursor) ? SLICE(SECRET_SHOWN) : call->argv[i]);
    if (kept == call->argc) return entry;
    sds_free(entry->argv[kept - 1]);
    entry->argv[kept - 1] =
        sds_append_format(sds_new(SLICE("")), "... (%zu more arguments)", call->argc - kept + 1);
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

void slowlog_add(struct slowlog *log, const struct slowlog_call *call, size_t max) {
    if (max == 0) return;
    struct slowlog_entry *entry = make_entry(call);
    entry->id = log->next_id++;
    CHAIN_APPEND(log->oldest, log->newest, entry, older, newer);
    log->count++;
    while (log->count > max) drop_oldest(log);
}

void slowlog_reset(struct slowlog *log) {
    while (log->count) drop_oldest(log);
}
