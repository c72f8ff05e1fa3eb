#include "users/acl_log.h"

#include "base/chain.h"
#include "base/memory/alloc.h"

/* Among how many entries an event looks for its kind, how old these may be, and the bytes that are
 * kept of a name. */
enum { GROUPED = 10, GROUPED_MS = 60 * 1000, NAME_MAX_BYTES = 256 };

static struct slice cut(struct slice text) {
    return slice_make(text.ptr, text.len < NAME_MAX_BYTES ? text.len : NAME_MAX_BYTES);
}

static void take_out(struct acl_log *log, struct acl_entry *entry) {
    CHAIN_REMOVE(log->oldest, log->newest, entry, older, newer);
    log->count--;
}

/* Keeps `max` entries. */
static void drop_oldest(struct acl_log *log, size_t max) {
    while (log->count > max) {
        struct acl_entry *entry = log->oldest;
        take_out(log, entry);
        sds_free(entry->object);
        sds_free(entry->user);
        sds_free(entry->client);
        mem_free(entry);
    }
}

static struct acl_entry *find(const struct acl_log *log, const struct acl_event *event) {
    struct acl_entry *entry = log->newest;
    for (int i = 0; entry && i < GROUPED; i++, entry = entry->older)
        if (entry->reason == event->reason && entry->context == event->context &&
            event->now_ms - entry->updated_ms <= GROUPED_MS &&
            slice_equal(sds_slice(entry->object), cut(event->object)) &&
            slice_equal(sds_slice(entry->user), cut(event->user)))
            return entry;
    return NULL;
}

static struct acl_entry *make(struct acl_log *log, const struct acl_event *event) {
    struct acl_entry *entry = mem_alloc_zeroed(sizeof(*entry));
    entry->reason = event->reason;
    entry->context = event->context;
    entry->id = log->next_id++;
    entry->created_ms = event->now_ms;
    entry->object = sds_new(cut(event->object));
    entry->user = sds_new(cut(event->user));
    return entry;
}

void acl_log_add(struct acl_log *log, const struct acl_event *event, size_t max) {
    struct acl_entry *entry = find(log, event);
    if (entry)
        take_out(log, entry);
    else
        entry = make(log, event);
    entry->count++;
    entry->updated_ms = event->now_ms;
    sds_free(entry->client);
    entry->client = sds_new(event->client);
    CHAIN_APPEND(log->oldest, log->newest, entry, older, newer);
    log->count++;
    drop_oldest(log, max);
}

void acl_log_reset(struct acl_log *log) {
    drop_oldest(log, 0);
}
