/* Fields of hashes that have expired: deleting them, and saying so. */
#include "base/text/sds.h"
#include "engine/call.h"
#include "engine/engine.h"
#include "table/command.h"
#include "types/hash.h"

struct expired_fields {
    sds fields[CALL_EXPIRED_FIELDS];
    size_t count;
};

static void note_field(const struct record *record, void *arg) {
    struct expired_fields *expired = arg;
    expired->fields[expired->count++] = sds_new(record->field);
}

static void propagate(const struct call *call, struct slice key, const struct slice *fields,
                      size_t count) {
    struct slice argv[2 + CALL_EXPIRED_FIELDS] = {SLICE("HDEL"), key};
    memcpy(argv + 2, fields, count * sizeof(*fields));
    call_propagate_removal(call, argv, 2 + count);
}

/* The fields are deleted already. Empties `expired`. */
static void report(struct call *call, struct keyref *ref, struct slice key,
                   struct expired_fields *expired) {
    struct slice names[CALL_EXPIRED_FIELDS];
    for (size_t i = 0; i < expired->count; i++) names[i] = sds_slice(expired->fields[i]);
    if (call->propagates) propagate(call, key, names, expired->count);
    call->engine->stats.expired_fields += expired->count;
    CALL_CHANGED(call, ref, key, EVENT_HASH, "hexpired", 0,
                 .fields = &(struct event_fields){names, expired->count, 1});
    for (size_t i = 0; i < expired->count; i++) sds_free(expired->fields[i]);
    expired->count = 0;
}

/* Returns whether there is an expired field that may be deleted. */
static bool has_expired_fields(const struct call *call, const struct keyref *ref) {
    int64_t first_ms = hash_first_expiry(ref->entry);
    return first_ms != RECORD_NEVER && first_ms < call->now_ms && call_may_expire(call);
}

size_t call_expire_fields(struct call *call, struct keyref *ref, struct slice key) {
    struct expired_fields expired = {.count = 0};
    if (!has_expired_fields(call, ref)) return 0;
    keyspace_before_change(ref);
    size_t count = hash_expire(ref, call->now_ms, CALL_EXPIRED_FIELDS, note_field, &expired);
    report(call, ref, key, &expired);
    return count;
}

/* Deletes the field, and notes it, if it is there and has expired. */
static void expire_field(struct call *call, struct keyref *ref, struct slice field,
                         struct expired_fields *expired) {
    struct record record;
    if (!hash_find(ref->entry, field, HASH_ALL, &record)) return;
    if (!record_has_expired(&record, call->now_ms)) return;
    note_field(&record, expired);
    keyspace_before_change(ref);
    hash_delete(ref, field);
}

void call_expire_named(struct call *call, struct keyref *ref, struct slice key,
                       const struct slice *fields, size_t count, size_t stride) {
    struct expired_fields expired = {.count = 0};
    for (size_t i = 0; i < count && ref->entry && has_expired_fields(call, ref); i++) {
        expire_field(call, ref, fields[i * stride], &expired);
        if (expired.count == CALL_EXPIRED_FIELDS) report(call, ref, key, &expired);
    }
    if (expired.count) report(call, ref, key, &expired);
}
