#include "stats/slowlog.h"

#include "base/chain.h"
#include "base/memory/alloc.h"
#include "base/memory/relocate.h"
#include "table/secret.h"

static sds cut_argument(struct slice argument, size_t bytes) {
    if (argument.len <= bytes) return sds_new(argument);
    sds shown = sds_new(slice_make(argument.ptr, bytes));
    return sds_append_format(shown, "... (%zu more bytes)", argument.len - bytes);
}

static size_t entry_size(size_t argc) {
    return sizeof(struct slowlog_entry) + argc * sizeof(sds);
}

static struct slowlog_entry *make_entry(const struct slowlog_call *call,
                                        struct slowlog_limits limits) {
    size_t kept = call->argc <= limits.arguments ? call->argc : limits.arguments;
    struct slowlog_entry *entry = mem_alloc(entry_size(kept));
    *entry = (struct slowlog_entry){
        .time_s = call->time_s,
        .amount = call->amount,
        .peer = sds_new(call->peer),
        .name = sds_new(call->name),
        .total_argc = call->argc,
        .argc = kept,
    };
    struct secret_cursor cursor = secret_begin(call->command, call->argv, call->argc);
    for (size_t i = 0; i < kept; i++)
        entry->argv[i] =
            cut_argument(secret_next(&cursor) ? SLICE(SECRET_SHOWN) : call->argv[i], limits.bytes);
    if (kept == call->argc) return entry;
    sds_free(entry->argv[kept - 1]);
    entry->argv[kept - 1] = sds_format("... (%zu more arguments)", call->argc - kept + 1);
    return entry;
}

static void drop_oldest(struct slowlog *log) {
    struct slowlog_entry *entry = log->oldest;
    if (log->relocate_next == entry) log->relocate_next = entry->newer;
    CHAIN_REMOVE(log->oldest, log->newest, entry, older, newer);
    log->count--;
    sds_free(entry->peer);
    sds_free(entry->name);
    for (size_t i = 0; i < entry->argc; i++) sds_free(entry->argv[i]);
    mem_free(entry);
}

void slowlog_add(struct slowlog *log, const struct slowlog_call *call,
                 struct slowlog_limits limits) {
    if (limits.entries == 0) return;
    struct slowlog_entry *entry = make_entry(call, limits);
    entry->id = log->next_id++;
    CHAIN_APPEND(log->oldest, log->newest, entry, older, newer);
    log->count++;
    while (log->count > limits.entries) drop_oldest(log);
}

void slowlog_reset(struct slowlog *log) {
    while (log->count) drop_oldest(log);
}

/* --- Relocating --- */

static struct slowlog_entry *relocate_entry(struct slowlog *log, struct slowlog_entry *entry,
                                            struct relocator *relocator) {
    entry = relocate(relocator, entry, entry_size(entry->argc));
    *(entry->older ? &entry->older->newer : &log->oldest) = entry;
    *(entry->newer ? &entry->newer->older : &log->newest) = entry;
    entry->peer = sds_relocate(entry->peer, relocator);
    entry->name = sds_relocate(entry->name, relocator);
    for (size_t i = 0; i < entry->argc; i++)
        entry->argv[i] = sds_relocate(entry->argv[i], relocator);
    return entry;
}

bool slowlog_relocate(struct slowlog *log, struct relocator *relocator) {
    struct slowlog_entry *entry = log->relocate_next ? log->relocate_next : log->oldest;
    for (bool is_due = false; entry && !is_due; is_due = relocator_is_due(relocator))
        entry = relocate_entry(log, entry, relocator)->newer;
    log->relocate_next = entry;
    return !entry;
}
