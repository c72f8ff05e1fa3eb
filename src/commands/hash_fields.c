/* HSET HMSET HSETNX HINCRBY HINCRBYFLOAT HDEL, HGET HMGET HEXISTS HSTRLEN HLEN: fields of a hash by
 * their names. */
#include "base/number.h"
#include "commands/commands.h"
#include "commands/hash_common.h"

#include <math.h>

/* --- Setting --- */

/* Sets the fields and reports it. Returns how many were not there; -1 when an error was replied. */
static int64_t set_fields(struct call *call) {
    struct slice key = call->argv[1];
    size_t count = (call->argc - 2) / 2;
    struct keyref ref;
    if (call->argc % 2 == 1) {
        call_wrong_arity(call);
        return -1;
    }
    call->refills = true;
    if (!hash_find_write(call, key, &ref)) return -1;
    size_t added = hash_set_pairs(call, &ref, key, call->argv + 2, count, HASH_DROP_EXPIRY);
    call_touched(call, &ref, key, EVENT_HASH, "hset", count);
    return (int64_t)added;
}

void hset_command(struct call *call) {
    int64_t added = set_fields(call);
    if (added >= 0) reply_integer(call->reply, added);
}

void hmset_command(struct call *call) {
    if (set_fields(call) >= 0) reply_ok(call->reply);
}

void hsetnx_command(struct call *call) {
    struct slice key = call->argv[1];
    struct keyref ref;
    if (!hash_find_write_field(call, key, call->argv[2], &ref)) return;
    bool sets = !ref.entry || !hash_find(ref.entry, call->argv[2], hash_now(call), NULL);
    reply_integer(call->reply, sets);
    if (!sets) return;
    hash_set_pairs(call, &ref, key, call->argv + 2, 1, HASH_DROP_EXPIRY);
    call_touched(call, &ref, key, EVENT_HASH, "hset", 1);
}

/* Counts fields that have expired, but were not deleted yet, as Redis does: so it lets none expire
 * first. */
void hdel_command(struct call *call) {
    struct slice key = call->argv[1];
    uint64_t deleted = 0;
    struct keyref ref;
    if (!call_find_typed_write(call, key, VALUE_HASH, &ref)) return;
    for (size_t i = 2; ref.entry && i < call->argc && hash_length(ref.entry); i++)
        deleted += hash_delete(&ref, call->argv[i]);
    reply_integer(call->reply, (int64_t)deleted);
    if (deleted) call_touched(call, &ref, key, EVENT_HASH, "hdel", deleted);
}

/* --- Counters --- */

/* The value of the field argv[2], as it is now: a view; empty with *exists false where there is no
 * such field. */
static struct slice value_of(struct call *call, const struct entry *entry, struct record *record,
                             bool *exists) {
    *exists = entry && hash_find(entry, call->argv[2], hash_now(call), record);
    return *exists ? record->value : SLICE("");
}

void hincrby_command(struct call *call) {
    struct slice key = call->argv[1];
    int64_t increment, value = 0;
    struct keyref ref;
    struct record record;
    bool exists;
    char digits[INT64_TEXT_MAX];
    if (!call_integer(call, 3, &increment)) return;
    if (!hash_find_write_field(call, key, call->argv[2], &ref)) return;
    struct slice text = value_of(call, ref.entry, &record, &exists);
    if (exists && !number_parse_int64(text, &value)) {
        reply_error(call->reply, "ERR hash value is not an integer");
        return;
    }
    if (__builtin_add_overflow(value, increment, &value)) {
        reply_error(call->reply, "ERR increment or decrement would overflow");
        return;
    }
    struct slice pair[] = {call->argv[2], number_text(digits, value)};
    hash_set_pairs(call, &ref, key, pair, 1, HASH_KEEP_EXPIRY);
    reply_integer(call->reply, value);
    call_touched(call, &ref, key, EVENT_HASH, "hincrby", 1);
}

/* Adds argv[3] to `text`; else replies the error and returns false. */
static bool add_float(struct call *call, bool exists, struct slice text, long double increment,
                      long double *value) {
    const char *error = NULL;
    *value = 0;
    if (exists && !number_parse_long_double(text, value)) {
        error = "ERR hash value is not a float";
    } else {
        *value += increment;
        if (!isfinite(*value)) error = "ERR increment would produce NaN or Infinity";
    }
    if (error) reply_error(call->reply, error);
    return !error;
}

/* Another processor might round in another way, so the result goes to the log. */
static void propagate_value(struct call *call, const struct slice pair[2], bool expires) {
    if (expires)
        CALL_PROPAGATE(call, SLICE("HSETEX"), call->argv[1], SLICE("KEEPTTL"), SLICE("FIELDS"),
                       SLICE("1"), pair[0], pair[1]);
    else
        CALL_PROPAGATE(call, SLICE("HSET"), call->argv[1], pair[0], pair[1]);
}

void hincrbyfloat_command(struct call *call) {
    struct slice key = call->argv[1];
    long double increment, value;
    struct keyref ref;
    struct record record;
    bool exists;
    char digits[LONG_DOUBLE_TEXT_MAX];
    if (!number_parse_long_double(call->argv[3], &increment)) {
        reply_error(call->reply, "ERR value is not a valid float");
        return;
    }
    if (!isfinite(increment)) {
        reply_error(call->reply, "ERR value is NaN or Infinity");
        return;
    }
    if (!hash_find_write_field(call, key, call->argv[2], &ref)) return;
    struct slice text = value_of(call, ref.entry, &record, &exists);
    if (!add_float(call, exists, text, increment, &value)) return;
    bool expires = exists && record.expiry_ms != RECORD_NEVER;
    struct slice pair[] = {call->argv[2],
                           slice_make(digits, number_format_long_double(digits, value))};
    hash_set_pairs(call, &ref, key, pair, 1, HASH_KEEP_EXPIRY);
    reply_bulk(call->reply, pair[1]);
    call_touched(call, &ref, key, EVENT_HASH, "hincrbyfloat", 1);
    propagate_value(call, pair, expires);
}

/* --- Reading --- */

void hget_command(struct call *call) {
    struct keyref ref;
    if (!hash_find_read(call, call->argv[1], &ref)) return;
    hash_reply_value(call, ref.entry, call->argv[2]);
}

void hmget_command(struct call *call) {
    struct keyref ref;
    if (!hash_find_read(call, call->argv[1], &ref)) return;
    reply_array(call->reply, call->argc - 2);
    for (size_t i = 2; i < call->argc; i++) hash_reply_value(call, ref.entry, call->argv[i]);
}

void hexists_command(struct call *call) {
    struct keyref ref;
    if (!hash_find_read(call, call->argv[1], &ref)) return;
    bool exists = ref.entry && hash_find(ref.entry, call->argv[2], hash_now(call), NULL);
    reply_integer(call->reply, exists);
}

void hstrlen_command(struct call *call) {
    struct keyref ref;
    struct record record;
    if (!hash_find_read(call, call->argv[1], &ref)) return;
    bool exists = ref.entry && hash_find(ref.entry, call->argv[2], hash_now(call), &record);
    reply_integer(call->reply, exists ? (int64_t)record.value.len : 0);
}

void hlen_command(struct call *call) {
    struct keyref ref;
    if (!hash_find_read(call, call->argv[1], &ref)) return;
    reply_integer(call->reply, ref.entry ? (int64_t)hash_length(ref.entry) : 0);
}
