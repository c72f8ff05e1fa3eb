/* HSET HMSET HSETNX HINCRBY HINCRBYFLOAT HDEL, HGET HMGET HEXISTS HSTRLEN HLEN: fields of a hash by
 * their names; HGETALL HKEYS HVALS HRANDFIELD HSCAN: without naming them. */
#include "base/memory/alloc.h"
#include "base/text/number.h"
#include "commands/choice.h"
#include "commands/commands.h"
#include "commands/common.h"
#include "commands/deferred_records.h"
#include "commands/hashes/hash_common.h"

#include <math.h>

/* The field argv[2] was changed. */
static void touched_field(struct call *call, struct keyref *ref, const char *event) {
    CALL_CHANGED(call, ref, call->argv[1], EVENT_HASH, event, 1,
                 .fields = &(struct event_fields){call->argv + 2, 1, 1});
}

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
    CALL_CHANGED(call, &ref, key, EVENT_HASH, "hset", count,
                 .fields = &(struct event_fields){call->argv + 2, count, 2});
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
    touched_field(call, &ref, "hset");
}

/* Counts fields that have expired, but were not deleted yet, as Redis does: so it lets none expire
 * first. */
void hdel_command(struct call *call) {
    struct slice key = call->argv[1];
    uint64_t deleted = 0;
    struct keyref ref;
    if (!call_find_typed_write(call, key, VALUE_HASH, &ref)) return;
    struct slice *names =
        call_publishes_fields(call) ? mem_alloc(call->argc * sizeof(*names)) : NULL;
    for (size_t i = 2; ref.entry && i < call->argc && hash_length(ref.entry); i++) {
        if (!hash_delete(&ref, call->argv[i])) continue;
        if (names) names[deleted] = call->argv[i];
        deleted++;
    }
    reply_integer(call->reply, (int64_t)deleted);
    if (deleted)
        CALL_CHANGED(call, &ref, key, EVENT_HASH, "hdel", deleted,
                     .fields = &(struct event_fields){names, names ? deleted : 0, 1});
    mem_free(names);
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
    } else if (__builtin_add_overflow(value, increment, &value)) {
        reply_error(call->reply, "ERR increment or decrement would overflow");
    } else {
        struct slice pair[] = {call->argv[2], number_text(digits, value)};
        hash_set_pairs(call, &ref, key, pair, 1, HASH_KEEP_EXPIRY);
        reply_integer(call->reply, value);
        touched_field(call, &ref, "hincrby");
    }
}

static bool parse_increment(struct call *call, long double *increment) {
    if (!number_parse_long_double(call->argv[3], increment))
        return reply_error(call->reply, "ERR value is not a valid float");
    return isfinite(*increment) || reply_error(call->reply, "ERR value is NaN or Infinity");
}

/* Adds the increment to `text`; else replies the error and returns false. */
static bool add_float(struct call *call, bool exists, struct slice text, long double increment,
                      long double *value) {
    *value = 0;
    if (exists && !number_parse_long_double(text, value))
        return reply_error(call->reply, "ERR hash value is not a float");
    *value += increment;
    return isfinite(*value) ||
           reply_error(call->reply, "ERR increment would produce NaN or Infinity");
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
    if (!parse_increment(call, &increment)) return;
    if (!hash_find_write_field(call, key, call->argv[2], &ref)) return;
    struct slice text = value_of(call, ref.entry, &record, &exists);
    if (!add_float(call, exists, text, increment, &value)) return;
    bool expires = exists && record.expiry_ms != RECORD_NEVER;
    struct slice pair[] = {call->argv[2],
                           slice_make(digits, number_format_long_double(digits, value))};
    hash_set_pairs(call, &ref, key, pair, 1, HASH_KEEP_EXPIRY);
    reply_bulk(call->reply, pair[1]);
    touched_field(call, &ref, "hincrbyfloat");
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

/* --- All fields --- */

static void reply_all(struct call *call, unsigned parts) {
    struct keyref ref;
    struct hash_iter iter;
    struct text_batch batch;
    if (!hash_find_read(call, call->argv[1], &ref)) return;
    uint64_t count = ref.entry ? records_living(ref.entry, hash_now(call)) : 0;
    if (parts == (RECORD_FIELD | RECORD_VALUE))
        reply_map(call->reply, count);
    else
        reply_array(call->reply, count);
    if (count == 0 || deferred_records_reply(call, ref.entry, parts, hash_now(call), count)) return;
    hash_iter_start(&iter, ref.entry, hash_now(call));
    while (hash_iter_next_batch(&iter, parts, &batch))
        reply_bulks(call->reply, batch.texts, batch.count);
}

COMMAND_FORM(hgetall_command, reply_all, RECORD_FIELD | RECORD_VALUE)
COMMAND_FORM(hkeys_command, reply_all, RECORD_FIELD)
COMMAND_FORM(hvals_command, reply_all, RECORD_VALUE)

/* --- HRANDFIELD key [count [WITHVALUES]] --- */

/* RESP3 has an array for each field with its value. */
static void reply_chosen(struct choice *choice, const struct record *record) {
    bool with_values = choice->form;
    if (with_values && choice->reply->protocol == 3) reply_array(choice->reply, 2);
    reply_bulk(choice->reply, record->field);
    if (with_values) reply_bulk(choice->reply, record->value);
}

static void reply_choice_header(const struct choice *choice) {
    bool is_flat = choice->form && choice->reply->protocol == 2;
    reply_array(choice->reply, is_flat ? 2 * choice->count : choice->count);
}

static void reply_repeated(struct choice *choice) {
    struct records_draws draws;
    struct record record;
    reply_choice_header(choice);
    records_draws_begin(&draws, choice->value.entry, choice->now_ms);
    for (uint64_t i = 0; i < choice->count && choice_goes_on(choice); i++) {
        records_draws_next(&draws, choice->random, &record);
        reply_chosen(choice, &record);
    }
    records_draws_end(&draws);
}

static bool reply_visited(const struct record *record, void *arg) {
    struct choice *choice = arg;
    if (!choice_goes_on(choice)) return false;
    reply_chosen(choice, record);
    return true;
}

static void reply_different(struct choice *choice) {
    reply_choice_header(choice);
    records_sample(choice->value.entry, choice->random, choice->count, choice->length,
                   choice->now_ms, reply_visited, choice);
}

static void reply_one(struct call *call) {
    struct keyref ref;
    struct records_draws draws;
    struct record record;
    if (!hash_find_read(call, call->argv[1], &ref)) return;
    if (ref.entry) records_draws_begin(&draws, ref.entry, hash_now(call));
    if (ref.entry && records_draws_next(&draws, call_random(call), &record))
        reply_bulk(call->reply, record.field);
    else
        reply_null(call->reply);
    if (ref.entry) records_draws_end(&draws);
}

void hrandfield_command(struct call *call) {
    static const struct choice_type type = {reply_repeated, reply_different};
    int64_t count;
    struct keyref ref;
    if (call->argc == 2) {
        reply_one(call);
        return;
    }
    if (!choice_count_parse(call, "withvalues", &count)) return;
    if (!hash_find_read(call, call->argv[1], &ref)) return;
    struct choice choice = {.type = &type,
                            .value = {.entry = ref.entry},
                            .length = ref.entry ? records_living(ref.entry, hash_now(call)) : 0,
                            .now_ms = hash_now(call),
                            .form = call->argc == 4};
    if (choice.length == 0 || count == 0)
        reply_array(call->reply, 0);
    else
        choice_reply(call, &choice, count);
}

/* --- HSCAN key cursor [MATCH pattern] [COUNT count] [NOVALUES] --- */

static void scan_visit(const struct record *record, void *arg) {
    struct scan *scan = arg;
    scan->visited++;
    if (record_has_expired(record, hash_now(scan->call)) || !scan_matches(scan, record->field))
        return;
    scan_reply(scan, record->field);
    if (!scan->only_names) scan_reply(scan, record->value);
}

static uint64_t scan_step(struct scan *scan) {
    return records_scan(scan->entry, scan->cursor, scan_visit, scan);
}

COMMAND_FORM(hscan_command, scan_value, VALUE_HASH, "novalues", scan_step)
