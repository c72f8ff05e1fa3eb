/* EXPIRE PEXPIRE EXPIREAT PEXPIREAT, TTL PTTL EXPIRETIME PEXPIRETIME, PERSIST: expiries of keys. */
#include "base/text/number.h"
#include "commands/commands.h"
#include "engine/call.h"

/* --- Setting: key time [NX | XX | GT | LT …] --- */

enum expire_condition {
    EXPIRE_NX = 1 << 0, /* only if the key has no expiry */
    EXPIRE_XX = 1 << 1, /* only if it has one */
    EXPIRE_GT = 1 << 2, /* only if the new one is later; no expiry is the latest */
    EXPIRE_LT = 1 << 3  /* only if the new one is earlier */
};

static bool parse_conditions(struct call *call, unsigned *conditions) {
    static const char *const names[] = {"nx", "xx", "gt", "lt"};
    *conditions = 0;
    for (size_t i = 3; i < call->argc; i++) {
        unsigned option = 0;
        while (option < 4 && !slice_is(call->argv[i], names[option])) option++;
        if (option == 4) {
            sds error = sds_append(sds_new(SLICE("ERR Unsupported option ")), call->argv[i]);
            call_fail(call, CALL_ERROR_OPTION, error);
            sds_free(error);
            return false;
        }
        *conditions |= 1u << option;
    }
    if (*conditions & EXPIRE_NX && *conditions != EXPIRE_NX)
        return reply_error(call->reply,
                           "ERR NX and XX, GT or LT options at the same time are not compatible");
    if (*conditions & EXPIRE_GT && *conditions & EXPIRE_LT)
        return reply_error(call->reply,
                           "ERR GT and LT options at the same time are not compatible");
    return true;
}

/* Reads the time at argv[2], in units of `unit_ms` milliseconds, counted from `base_ms`. */
static bool parse_time(struct call *call, int64_t unit_ms, int64_t base_ms, int64_t *expiry_ms) {
    int64_t time;
    if (!call_integer(call, 2, &time)) return false;
    if (!__builtin_mul_overflow(time, unit_ms, &time) &&
        !__builtin_add_overflow(time, base_ms, expiry_ms))
        return true;
    return call_bad_expiry(call);
}

static bool conditions_hold(unsigned conditions, int64_t old_ms, int64_t new_ms) {
    bool had = old_ms >= 0;
    if (conditions & EXPIRE_NX && had) return false;
    if (conditions & EXPIRE_XX && !had) return false;
    if (conditions & EXPIRE_GT && (!had || new_ms <= old_ms)) return false;
    return !(conditions & EXPIRE_LT && had && new_ms >= old_ms);
}

static void propagate_absolute(struct call *call, int64_t expiry_ms) {
    char buffer[INT64_TEXT_MAX];
    const struct slice words[] = {SLICE("PEXPIREAT"), call->argv[1],
                                  number_text(buffer, expiry_ms)};
    call_propagate_with(call, words, 3, call->argv + 3, call->argc - 3);
}

static void expire(struct call *call, int64_t unit_ms, int64_t base_ms) {
    unsigned conditions;
    int64_t expiry_ms = -1;
    if (!parse_conditions(call, &conditions)) return;
    if (!parse_time(call, unit_ms, base_ms, &expiry_ms)) return;
    struct slice key = call->argv[1];
    struct keyref ref;
    call_find_write(call, key, &ref);
    if (!ref.entry || !conditions_hold(conditions, entry_expiry(ref.entry), expiry_ms)) {
        reply_integer(call->reply, 0);
        return;
    }
    if (call_is_past(call, expiry_ms)) {
        call_remove(call, &ref, key, REMOVAL_PAST);
    } else {
        call_set_expiry(call, &ref, expiry_ms);
        CALL_CHANGED(call, &ref, key, EVENT_GENERIC, "expire", 1, .flags = CHANGE_WAKES_NOBODY);
        if (call->propagates) propagate_absolute(call, expiry_ms);
    }
    reply_integer(call->reply, 1);
}

COMMAND_FORM(expire_command, expire, 1000, call->now_ms)
COMMAND_FORM(pexpire_command, expire, 1, call->now_ms)
COMMAND_FORM(expireat_command, expire, 1000, 0)
COMMAND_FORM(pexpireat_command, expire, 1, 0)

void persist_command(struct call *call) {
    struct slice key = call->argv[1];
    struct keyref ref;
    call_find_write(call, key, &ref);
    bool expires = ref.entry && entry_expiry(ref.entry) >= 0;
    if (expires) {
        call_set_expiry(call, &ref, -1);
        CALL_CHANGED(call, &ref, key, EVENT_GENERIC, "persist", 1, .flags = CHANGE_WAKES_NOBODY);
    }
    reply_integer(call->reply, expires);
}

/* --- Reading: TTL and the like --- */

/* Replies the key's expiry minus `base_ms` in units of `unit_ms` milliseconds, rounded to the
 * nearest; -1 when it never expires, -2 when the key does not exist. */
static void reply_expiry(struct call *call, int64_t unit_ms, int64_t base_ms) {
    const struct entry *entry = call_find(call, call->argv[1], FIND_COUNT | FIND_NOTIFY, NULL);
    int64_t expiry_ms = entry ? entry_expiry(entry) : -2;
    if (expiry_ms >= 0) {
        expiry_ms = expiry_ms > base_ms ? expiry_ms - base_ms : 0; /* call_sees_expired */
        if (unit_ms > 1) expiry_ms = expiry_ms / unit_ms + (expiry_ms % unit_ms >= unit_ms / 2);
    }
    reply_integer(call->reply, expiry_ms);
}

COMMAND_FORM(ttl_command, reply_expiry, 1000, call->now_ms)
COMMAND_FORM(pttl_command, reply_expiry, 1, call->now_ms)
COMMAND_FORM(expiretime_command, reply_expiry, 1000, 0)
COMMAND_FORM(pexpiretime_command, reply_expiry, 1, 0)
