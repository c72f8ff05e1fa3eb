/* HGETALL HKEYS HVALS HRANDFIELD HSCAN: fields of a hash without naming them. */
#include "commands/commands.h"
#include "commands/hash_common.h"
#include "commands/random_repeat.h"
#include "commands/scan_common.h"

static void reply_all(struct call *call, unsigned parts) {
    struct keyref ref;
    struct hash_iter iter;
    struct text_batch batch;
    if (!hash_find_read(call, call->argv[1], &ref)) return;
    uint64_t count = ref.entry ? hash_living(ref.entry, hash_now(call)) : 0;
    if (parts == (RECORD_FIELD | RECORD_VALUE))
        reply_map(call->reply, count);
    else
        reply_array(call->reply, count);
    if (!ref.entry) return;
    hash_iter_start(&iter, ref.entry, hash_now(call));
    while (hash_iter_next_batch(&iter, parts, &batch))
        reply_bulks(call->reply, batch.texts, batch.count);
}

void hgetall_command(struct call *call) {
    reply_all(call, RECORD_FIELD | RECORD_VALUE);
}

void hkeys_command(struct call *call) {
    reply_all(call, RECORD_FIELD);
}

void hvals_command(struct call *call) {
    reply_all(call, RECORD_VALUE);
}

/* --- HRANDFIELD key [count [WITHVALUES]] --- */

struct choice {
    struct call *call;
    const struct entry *entry; /* NULL: there is no hash */
    uint64_t living;           /* fields that have not expired */
    bool with_values;
};

/* RESP3 has an array for each field with its value. */
static void reply_chosen(const struct record *record, void *arg) {
    const struct choice *choice = arg;
    struct reply *reply = choice->call->reply;
    if (choice->with_values && reply->protocol == 3) reply_array(reply, 2);
    reply_bulk(reply, record->field);
    if (choice->with_values) reply_bulk(reply, record->value);
}

static void reply_choice_header(const struct choice *choice, uint64_t count) {
    struct reply *reply = choice->call->reply;
    reply_array(reply, choice->with_values && reply->protocol == 2 ? 2 * count : count);
}

/* Any field may come more than once. */
static void reply_repeated(struct choice *choice, uint64_t count) {
    struct records_draws draws;
    struct record record;
    struct random_repeat repeat;
    if (!random_repeat_begin(&repeat, choice->call, count)) return;
    reply_choice_header(choice, count);
    records_draws_begin(&draws, choice->entry, hash_now(choice->call));
    while (random_repeat_next(&repeat)) {
        records_draws_next(&draws, call_random(choice->call), &record);
        reply_chosen(&record, choice);
    }
    records_draws_end(&draws);
}

static void reply_different(struct choice *choice, uint64_t count) {
    reply_choice_header(choice, count < choice->living ? count : choice->living);
    records_sample(choice->entry, call_random(choice->call), count, choice->living,
                   hash_now(choice->call), reply_chosen, choice);
}

static void reply_one(struct call *call) {
    struct keyref ref;
    struct records_draws draws;
    struct record record;
    if (!hash_find_read(call, call->argv[1], &ref)) return;
    if (!ref.entry) {
        reply_null(call->reply);
        return;
    }
    records_draws_begin(&draws, ref.entry, hash_now(call));
    if (records_draws_next(&draws, call_random(call), &record))
        reply_bulk(call->reply, record.field);
    else
        reply_null(call->reply);
    records_draws_end(&draws);
}

static bool parse_choice(struct call *call, int64_t *count) {
    if (!call_integer_in(call, 2, -INT64_MAX, INT64_MAX, count, NULL)) return false;
    if (call->argc == 3) return true;
    if (call->argc > 4 || !slice_is(call->argv[3], "withvalues")) return call_syntax_error(call);
    if (*count >= -INT64_MAX / 2 && *count <= INT64_MAX / 2) return true;
    return reply_error(call->reply, "ERR value is out of range");
}

void hrandfield_command(struct call *call) {
    int64_t count;
    struct keyref ref;
    if (call->argc == 2) {
        reply_one(call);
        return;
    }
    if (!parse_choice(call, &count)) return;
    if (!hash_find_read(call, call->argv[1], &ref)) return;
    uint64_t living = ref.entry ? hash_living(ref.entry, hash_now(call)) : 0;
    struct choice choice = {call, ref.entry, living, call->argc == 4};
    if (living == 0)
        reply_array(call->reply, 0);
    else if (count < 0)
        reply_repeated(&choice, (uint64_t)-count);
    else
        reply_different(&choice, (uint64_t)count);
}

/* --- HSCAN key cursor [MATCH pattern] [COUNT count] [NOVALUES] --- */

struct hash_scan {
    struct scan scan; /* the first member: steps get its address */
    const struct entry *entry;
    unsigned parts; /* enum record_parts */
};

static void scan_visit(const struct record *record, void *arg) {
    struct hash_scan *hash = arg;
    struct scan *scan = &hash->scan;
    scan->visited++;
    if (record_has_expired(record, hash_now(scan->call)) || !scan_matches(scan, record->field))
        return;
    scan_reply(scan, record->field);
    if (hash->parts & RECORD_VALUE) scan_reply(scan, record->value);
}

static uint64_t scan_step(struct scan *scan) {
    struct hash_scan *hash = (struct hash_scan *)scan;
    return hash_scan(hash->entry, scan->cursor, scan_visit, hash);
}

void hscan_command(struct call *call) {
    struct hash_scan hash = {.parts = RECORD_FIELD | RECORD_VALUE};
    struct keyref ref;
    if (!scan_begin(&hash.scan, call, 2)) return;
    if (!hash_find_read(call, call->argv[1], &ref)) return;
    hash.entry = ref.entry;
    if (!ref.entry) {
        scan_reply_empty(call);
        return;
    }
    for (size_t i = 3; i < call->argc; i++) {
        if (slice_is(call->argv[i], "novalues"))
            hash.parts = RECORD_FIELD;
        else if (!scan_parse_option(&hash.scan, i++))
            return;
    }
    scan_run(&hash.scan, scan_step);
}
