/* HEXPIRE HPEXPIRE HEXPIREAT HPEXPIREAT HPERSIST, HTTL HPTTL HEXPIRETIME HPEXPIRETIME: when fields
 * of a hash expire. */
#include "base/alloc.h"
#include "commands/commands.h"
#include "commands/hash_common.h"
#include "commands/hash_expiry.h"

/* --- Setting: key time [NX | XX | GT | LT] FIELDS count field … --- */

static enum hash_condition condition_at(const struct call *call, size_t index) {
    struct slice word = call->argv[index];
    if (slice_is(word, "nx")) return HASH_IF_NONE;
    if (slice_is(word, "xx")) return HASH_IF_ANY;
    if (slice_is(word, "gt")) return HASH_IF_GREATER;
    if (slice_is(word, "lt")) return HASH_IF_LESS;
    return HASH_ALWAYS;
}

/* Replies for each field what became of it, and reports the change. */
static void set_expiries(struct call *call, struct keyref *ref, const struct field_list *fields,
                         int64_t expiry_ms, enum hash_condition condition) {
    struct field_changes changes;
    field_changes_begin(&changes, fields->count);
    reply_array(call->reply, fields->count);
    for (size_t i = 0; i < fields->count; i++) {
        enum hash_expiry_result result = HASH_NO_FIELD;
        if (ref->entry)
            result = hash_set_expiry(ref, fields->first[i], expiry_ms, condition, hash_now(call));
        field_changes_note(&changes, fields->first[i], result);
        reply_integer(call->reply, result);
    }
    field_changes_report(call, ref, &changes, expiry_ms);
    field_changes_end(&changes);
}

static void expire(struct call *call, int64_t unit_ms, int64_t base_ms) {
    struct field_list fields;
    int64_t expiry_ms;
    struct keyref ref;
    if (!hash_find_write(call, call->argv[1], &ref)) return;
    if (!field_expiry_parse(call, 2, unit_ms, base_ms, &expiry_ms)) return;
    enum hash_condition condition = condition_at(call, 3);
    if (!field_list_parse(call, condition == HASH_ALWAYS ? 3 : 4,
                          "ERR Parameter `numFields` should be greater than 0", &fields))
        return;
    set_expiries(call, &ref, &fields, expiry_ms, condition);
}

void hexpire_command(struct call *call) {
    expire(call, 1000, call->now_ms);
}

void hpexpire_command(struct call *call) {
    expire(call, 1, call->now_ms);
}

void hexpireat_command(struct call *call) {
    expire(call, 1000, 0);
}

void hpexpireat_command(struct call *call) {
    expire(call, 1, 0);
}

/* --- HPERSIST key FIELDS count field … --- */

void hpersist_command(struct call *call) {
    struct slice key = call->argv[1];
    struct field_list fields;
    struct keyref ref;
    uint64_t persisted = 0;
    if (!hash_find_write(call, key, &ref)) return;
    if (!field_list_parse(call, 2, FIELD_COUNT_ERROR, &fields)) return;
    hash_expire_named(call, &ref, key, fields.first, fields.count, 1);
    reply_array(call->reply, fields.count);
    for (size_t i = 0; i < fields.count; i++) {
        enum hash_expiry_result result = HASH_NO_FIELD;
        if (ref.entry) result = hash_persist(&ref, fields.first[i], hash_now(call));
        persisted += result == HASH_EXPIRY_SET;
        reply_integer(call->reply, result);
    }
    if (persisted) call_touched(call, &ref, key, EVENT_HASH, "hpersist", persisted);
}

/* --- Reading: key FIELDS count field … --- */

/* Replies for each field its expiry less `base_ms` in units of `unit_ms` milliseconds, rounded up;
 * -1 where it has none, -2 where there is no such field. */
static void reply_expiries(struct call *call, int64_t unit_ms, int64_t base_ms) {
    struct field_list fields;
    struct keyref ref;
    if (!hash_find_read(call, call->argv[1], &ref)) return;
    if (!field_list_parse(call, 2, FIELD_COUNT_ERROR, &fields)) return;
    reply_array(call->reply, fields.count);
    for (size_t i = 0; i < fields.count; i++) {
        struct record record;
        int64_t reply = HASH_NO_FIELD;
        if (ref.entry && hash_find(ref.entry, fields.first[i], hash_now(call), &record))
            reply = record.expiry_ms == RECORD_NEVER
                        ? HASH_NO_EXPIRY
                        : (record.expiry_ms - base_ms + unit_ms - 1) / unit_ms;
        reply_integer(call->reply, reply);
    }
}

void httl_command(struct call *call) {
    reply_expiries(call, 1000, call->now_ms);
}

void hpttl_command(struct call *call) {
    reply_expiries(call, 1, call->now_ms);
}

void hexpiretime_command(struct call *call) {
    reply_expiries(call, 1000, 0);
}

void hpexpiretime_command(struct call *call) {
    reply_expiries(call, 1, 0);
}
