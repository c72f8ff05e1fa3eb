/* HEXPIRE HPEXPIRE HEXPIREAT HPEXPIREAT HPERSIST, HTTL HPTTL HEXPIRETIME HPEXPIRETIME: when fields
 * of a hash expire; HGETEX HGETDEL HSETEX: values read or set together with that. */
#include "base/memory/alloc.h"
#include "base/text/number.h"
#include "commands/commands.h"
#include "commands/common.h"
#include "commands/hashes/hash_common.h"

/* --- Arguments --- */

/* FIELDS count field …: a part of the call's arguments. */
struct field_list {
    const struct slice *first;
    size_t count;
    size_t width; /* arguments of each: 2 in HSETEX, where the value follows the field */
};

/* Parses such a part, which is all that follows the key. Otherwise replies the error and returns
 * false. */
static bool field_list_parse(struct call *call, struct field_list *fields) {
    int64_t count;
    if (call->argc < 4) return call_wrong_arity(call);
    if (!slice_is(call->argv[2], "fields"))
        return reply_error(call->reply,
                           "ERR Mandatory argument FIELDS is missing or not at the right position");
    if (!call_integer_in(call, 3, 1, INT64_MAX, &count,
                         "ERR Number of fields must be a positive integer"))
        return false;
    *fields = (struct field_list){call->argv + 4, call->argc - 4, 1};
    return (uint64_t)count == fields->count ||
           reply_error(call->reply,
                       "ERR The `numfields` parameter must match the number of arguments");
}

/* Parses "FIELDS count field …" where options may stand before and behind it, as in Redis 8.6.
 * argv[*index] is FIELDS; *index is moved to the last argument of this part. After an error, which
 * it replies (`count_error` as above), returns false. fields->first must be NULL before the first
 * call; a second FIELDS is an error. */
static bool field_list_take(struct call *call, size_t *index, size_t width, const char *count_error,
                            struct field_list *fields) {
    int64_t count;
    size_t first = *index + 2;
    if (fields->first)
        return reply_error(call->reply, "ERR FIELDS keyword specified multiple times");
    if (first > call->argc) return call_wrong_arity(call);
    if (!call_integer_in(call, *index + 1, 1, INT32_MAX, &count, count_error)) return false;
    if ((uint64_t)count > (call->argc - first) / width)
        return reply_error(call->reply, "ERR wrong number of arguments");
    *fields = (struct field_list){call->argv + first, (size_t)count, width};
    *index = first + (size_t)count * width - 1;
    return true;
}

/* Replies that argv[index] is no option; returns false. */
static bool option_unknown(struct call *call, size_t index) {
    struct slice option = call->argv[index];
    return reply_error_format(call->reply, "ERR unknown argument: %.*s", slice_precision(option),
                              option.ptr);
}

/* Parses the time at argv[index], in units of `unit_ms` milliseconds, counted from `base_ms`;
 * otherwise replies the error and returns false. An expiry after HASH_EXPIRY_MAX_MS is an error of
 * a client; where the command is repeated it becomes HASH_EXPIRY_MAX_MS. */
static bool field_expiry_parse(struct call *call, size_t index, int64_t unit_ms, int64_t base_ms,
                               int64_t *expiry_ms) {
    int64_t time;
    if (!call_integer(call, index, &time)) return false;
    if (time < 0) return reply_error(call->reply, "ERR invalid expire time, must be >= 0");
    bool is_late =
        time > HASH_EXPIRY_MAX_MS / unit_ms || time * unit_ms > HASH_EXPIRY_MAX_MS - base_ms;
    if (is_late && !call_is_repeated(call)) return call_bad_expiry(call);
    *expiry_ms = is_late ? HASH_EXPIRY_MAX_MS : base_ms + time * unit_ms;
    return true;
}

/* Parses the time behind argv[index], which is `option`; else replies the error and returns
 * false. */
static bool field_expiry_option(struct call *call, size_t index, enum expiry_option option,
                                int64_t *expiry_ms) {
    if (index + 1 == call->argc) return reply_error(call->reply, "ERR missing expire time");
    return field_expiry_parse(call, index + 1, expiry_unit_ms(option), expiry_base_ms(call, option),
                              expiry_ms);
}

/* --- What is done to each of several fields --- */

enum field_action { FIELD_READ, FIELD_EXPIRE, FIELD_PERSIST, FIELD_DELETE };
enum field_reply { REPLY_NOTHING, REPLY_RESULTS, REPLY_VALUES };

/* What a command does to fields of the hash `ref` under argv[1], and what it replies of each. */
struct field_work {
    struct call *call;
    struct keyref *ref;
    const struct field_list *fields;
    enum field_action action;
    int64_t expiry_ms; /* FIELD_EXPIRE */
    enum hash_condition condition;
    enum field_reply reply;
};

/* Fields whose expiry has changed, or that were deleted. They are views. */
struct changed_fields {
    struct slice *names;
    size_t count;
};

static enum hash_expiry_result change_field(const struct field_work *work, struct slice field) {
    struct keyref *ref = work->ref;
    if (!ref->entry) return HASH_NO_FIELD;
    switch (work->action) {
    case FIELD_EXPIRE:
        return hash_set_expiry(ref, field, work->expiry_ms, work->condition, hash_past(work->call));
    case FIELD_PERSIST: return hash_persist(ref, field, hash_now(work->call));
    case FIELD_DELETE: return hash_delete(ref, field) ? HASH_FIELD_DELETED : HASH_NO_FIELD;
    default: return HASH_NO_FIELD;
    }
}

/* Publishes what has changed, after propagating it as these words and the names; without words the
 * command is propagated as it came. */
static void report_fields(const struct field_work *work, const struct changed_fields *changed,
                          const char *event, const struct slice *words, size_t word_count) {
    struct call *call = work->call;
    if (changed->count == 0) return;
    if (word_count > 0)
        call_propagate_with(call, words, word_count, changed->names, changed->count);
    CALL_CHANGED(call, work->ref, call->argv[1], EVENT_HASH, event, changed->count,
                 .fields = &(struct event_fields){changed->names, changed->count, 1});
}

static void report_expiries(const struct field_work *work, const struct changed_fields *changed) {
    char count[INT64_TEXT_MAX], time[INT64_TEXT_MAX];
    struct slice key = work->call->argv[1], number = number_text(count, (int64_t)changed->count);
    const struct slice persist[] = {SLICE("HPERSIST"), key, SLICE("FIELDS"), number};
    const struct slice expire[] = {SLICE("HPEXPIREAT"), key, number_text(time, work->expiry_ms),
                                   SLICE("FIELDS"), number};
    bool is_hpersist = work->reply == REPLY_RESULTS;
    if (work->action == FIELD_PERSIST)
        report_fields(work, changed, "hpersist", persist, is_hpersist ? 0 : 4);
    else
        report_fields(work, changed, "hexpire", expire, 5);
}

/* Does it to each field, replies, and reports the changes. A field whose new expiry has passed is
 * deleted. */
static void work_on_fields(const struct field_work *work) {
    struct reply *reply = work->call->reply;
    size_t count = work->fields->count;
    struct changed_fields expiring = {mem_alloc(count * sizeof(struct slice)), 0};
    struct changed_fields deleted = {mem_alloc(count * sizeof(struct slice)), 0};
    if (work->reply != REPLY_NOTHING) reply_array(reply, count);
    for (size_t i = 0; i < count; i++) {
        struct slice field = work->fields->first[i * work->fields->width];
        if (work->reply == REPLY_VALUES) hash_reply_value(work->call, work->ref->entry, field);
        enum hash_expiry_result result = change_field(work, field);
        if (result == HASH_EXPIRY_SET) expiring.names[expiring.count++] = field;
        if (result == HASH_FIELD_DELETED) deleted.names[deleted.count++] = field;
        if (work->reply == REPLY_RESULTS) reply_integer(reply, result);
    }
    const struct slice words[] = {SLICE("HDEL"), work->call->argv[1]};
    report_expiries(work, &expiring);
    report_fields(work, &deleted, "hdel", words, 2);
    mem_free(expiring.names);
    mem_free(deleted.names);
}

/* --- Setting: key time [NX | XX | GT | LT] FIELDS count field …, the options in any order --- */

static enum hash_condition condition_at(const struct call *call, size_t index) {
    struct slice word = call->argv[index];
    if (slice_is(word, "nx")) return HASH_IF_NONE;
    if (slice_is(word, "xx")) return HASH_IF_ANY;
    if (slice_is(word, "gt")) return HASH_IF_GREATER;
    if (slice_is(word, "lt")) return HASH_IF_LESS;
    return HASH_ALWAYS;
}

struct expire_options {
    enum hash_condition condition;
    bool is_contradictory; /* more than one condition; the same may be given again */
    struct field_list fields;
};

/* Reads the option at *index, and moves *index to its last argument. */
static bool parse_expire_option(struct call *call, size_t *index, struct expire_options *options) {
    struct field_list *fields = &options->fields;
    enum hash_condition condition = condition_at(call, *index);
    if (slice_is(call->argv[*index], "fields")) {
        if (!fields->first && *index + 2 >= call->argc)
            return reply_error(call->reply,
                               "ERR FIELDS requires at least numfields and one field argument");
        return field_list_take(call, index, 1, "ERR Parameter `numFields` should be greater than 0",
                               fields);
    }
    if (condition == HASH_ALWAYS) return option_unknown(call, *index);
    if (options->condition != HASH_ALWAYS && options->condition != condition)
        options->is_contradictory = true;
    options->condition = condition;
    return true;
}

static bool parse_expire(struct call *call, struct expire_options *options) {
    *options = (struct expire_options){.condition = HASH_ALWAYS};
    for (size_t i = 3; i < call->argc; i++)
        if (!parse_expire_option(call, &i, options)) return false;
    if (!options->fields.first) return reply_error(call->reply, "ERR missing FIELDS argument");
    if (!options->is_contradictory) return true;
    return reply_error(call->reply, "ERR Multiple condition flags specified");
}

static void expire(struct call *call, int64_t unit_ms, int64_t base_ms) {
    struct expire_options options;
    int64_t expiry_ms;
    struct keyref ref;
    if (!hash_find_write(call, call->argv[1], &ref)) return;
    if (!field_expiry_parse(call, 2, unit_ms, base_ms, &expiry_ms)) return;
    if (!parse_expire(call, &options)) return;
    work_on_fields(&(struct field_work){call, &ref, &options.fields, FIELD_EXPIRE, expiry_ms,
                                        options.condition, REPLY_RESULTS});
}

COMMAND_FORM(hexpire_command, expire, 1000, call->now_ms)
COMMAND_FORM(hpexpire_command, expire, 1, call->now_ms)
COMMAND_FORM(hexpireat_command, expire, 1000, 0)
COMMAND_FORM(hpexpireat_command, expire, 1, 0)

/* --- HPERSIST key FIELDS count field …, HGETDEL key FIELDS count field … --- */

static void change_named(struct call *call, enum field_action action, enum field_reply reply) {
    struct field_list fields;
    struct keyref ref;
    if (!hash_find_write(call, call->argv[1], &ref)) return;
    if (!field_list_parse(call, &fields)) return;
    hash_expire_named(call, &ref, call->argv[1], fields.first, fields.count, 1);
    work_on_fields(&(struct field_work){call, &ref, &fields, action, 0, HASH_ALWAYS, reply});
}

COMMAND_FORM(hpersist_command, change_named, FIELD_PERSIST, REPLY_RESULTS)
COMMAND_FORM(hgetdel_command, change_named, FIELD_DELETE, REPLY_VALUES)

/* --- Reading: key FIELDS count field … --- */

/* Replies for each field its expiry less `base_ms` in units of `unit_ms` milliseconds, rounded up;
 * -1 where it has none, -2 where there is no such field. */
static void reply_expiries(struct call *call, int64_t unit_ms, int64_t base_ms) {
    struct field_list fields;
    struct keyref ref;
    if (!hash_find_read(call, call->argv[1], &ref)) return;
    if (!field_list_parse(call, &fields)) return;
    reply_array(call->reply, fields.count);
    for (size_t i = 0; i < fields.count; i++) {
        struct record record;
        int64_t reply = HASH_NO_FIELD;
        if (ref.entry && hash_find(ref.entry, fields.first[i], hash_now(call), &record))
            reply = record.expiry_ms == RECORD_NEVER ? HASH_NO_EXPIRY
                    : record.expiry_ms <= base_ms
                        ? 0 /* call_sees_expired */
                        : (record.expiry_ms - base_ms + unit_ms - 1) / unit_ms;
        reply_integer(call->reply, reply);
    }
}

COMMAND_FORM(httl_command, reply_expiries, 1000, call->now_ms)
COMMAND_FORM(hpttl_command, reply_expiries, 1, call->now_ms)
COMMAND_FORM(hexpiretime_command, reply_expiries, 1000, 0)
COMMAND_FORM(hpexpiretime_command, reply_expiries, 1, 0)

/* --- HGETEX key [EX s | PX ms | EXAT s | PXAT ms | PERSIST] FIELDS count field … --- */

#define SETEX_COUNT_ERROR "ERR invalid number of fields" /* HSETEX's, too */

/* Reads the option at *index, and moves *index to its last argument. */
static bool parse_getex_option(struct call *call, size_t *index, struct field_work *work,
                               struct field_list *fields) {
    struct slice option = call->argv[*index];
    enum expiry_option expiry = expiry_option_of(option);
    if (slice_is(option, "fields"))
        return field_list_take(call, index, 1, SETEX_COUNT_ERROR, fields);
    if (!expiry && !slice_is(option, "persist")) return option_unknown(call, *index);
    if (work->action != FIELD_READ)
        return reply_error(
            call->reply,
            "ERR Only one of EX, PX, EXAT, PXAT or PERSIST arguments can be specified");
    work->action = expiry ? FIELD_EXPIRE : FIELD_PERSIST;
    return !expiry || field_expiry_option(call, (*index)++, expiry, &work->expiry_ms);
}

void hgetex_command(struct call *call) {
    struct field_list fields = {.count = 0};
    struct keyref ref;
    struct field_work work = {.call = call, .ref = &ref, .fields = &fields, .reply = REPLY_VALUES};
    if (!hash_find_write(call, call->argv[1], &ref)) return;
    for (size_t i = 2; i < call->argc; i++)
        if (!parse_getex_option(call, &i, &work, &fields)) return;
    if (!fields.first) {
        call_wrong_arity(call);
        return;
    }
    if (work.action == FIELD_EXPIRE)
        hash_expire_named(call, &ref, call->argv[1], fields.first, fields.count, 1);
    work_on_fields(&work);
}

/* --- HSETEX key [NX | XX] [FNX | FXX] [EX s | PX ms | EXAT s | PXAT ms | KEEPTTL] FIELDS count
 * field value … --- */

struct setex {
    bool only_new_key;  /* NX */
    bool only_old_key;  /* XX */
    bool only_new;      /* FNX: only if none of the fields is there */
    bool only_existing; /* FXX: only if all of them are */
    bool keeps_expiry;
    bool expires;
    int64_t expiry_ms;
    struct field_list pairs; /* fields, each followed by its value */
};

/* NX or XX. Each may be given again, as in Valkey. */
static bool parse_key_condition(struct call *call, bool is_new, struct setex *setex) {
    if (is_new ? setex->only_old_key : setex->only_new_key) return call_syntax_error(call);
    setex->only_new_key = is_new;
    setex->only_old_key = !is_new;
    return true;
}

/* FNX or FXX. */
static bool parse_condition(struct call *call, bool is_new, struct setex *setex) {
    if (setex->only_new || setex->only_existing)
        return reply_error(call->reply, "ERR Only one of FXX or FNX arguments can be specified");
    setex->only_new = is_new;
    setex->only_existing = !is_new;
    return true;
}

/* KEEPTTL (EXPIRY_NONE), or a word with a time. Moves *index to its last argument. */
static bool parse_expiry(struct call *call, size_t *index, enum expiry_option expiry,
                         struct setex *setex) {
    if (setex->expires || setex->keeps_expiry)
        return reply_error(
            call->reply,
            "ERR Only one of EX, PX, EXAT, PXAT or KEEPTTL arguments can be specified");
    setex->expires = expiry;
    setex->keeps_expiry = !expiry;
    return !expiry || field_expiry_option(call, (*index)++, expiry, &setex->expiry_ms);
}

/* Reads the option at *index, and moves *index to its last argument. */
static bool parse_setex_option(struct call *call, size_t *index, struct setex *setex) {
    struct slice option = call->argv[*index];
    bool is_new = slice_is(option, "fnx");
    enum expiry_option expiry = expiry_option_of(option);
    bool is_new_key = slice_is(option, "nx");
    if (slice_is(option, "fields"))
        return field_list_take(call, index, 2, SETEX_COUNT_ERROR, &setex->pairs);
    if (is_new_key || slice_is(option, "xx")) return parse_key_condition(call, is_new_key, setex);
    if (is_new || slice_is(option, "fxx")) return parse_condition(call, is_new, setex);
    if (expiry || slice_is(option, "keepttl")) return parse_expiry(call, index, expiry, setex);
    return option_unknown(call, *index);
}

static bool parse_setex(struct call *call, struct setex *setex) {
    *setex = (struct setex){.pairs = {.count = 0}};
    for (size_t i = 2; i < call->argc; i++)
        if (!parse_setex_option(call, &i, setex)) return false;
    return setex->pairs.first || call_wrong_arity(call);
}

/* A command that repeats a change has met its condition where it was first run. */
static bool key_condition_holds(const struct call *call, const struct entry *entry,
                                const struct setex *setex) {
    if (call_is_repeated(call)) return true;
    return entry ? !setex->only_new_key : !setex->only_old_key;
}

static bool field_condition_holds(struct call *call, const struct entry *entry,
                                  const struct setex *setex) {
    if (!setex->only_new && !setex->only_existing) return true;
    for (size_t i = 0; i < setex->pairs.count; i++) {
        bool exists = entry && hash_find(entry, setex->pairs.first[2 * i], hash_now(call), NULL);
        if (exists == setex->only_new) return false;
    }
    return true;
}

/* HSET says what was set, unless expiries are kept: then it is HSETEX, without the condition on the
 * key, which other servers do not know. */
static void propagate_set(struct call *call, const struct setex *setex) {
    bool keeps = setex->keeps_expiry;
    const struct slice *pairs = setex->pairs.first;
    const struct slice hset[] = {SLICE("HSET"), call->argv[1]};
    const struct slice hsetex[] = {SLICE("HSETEX"), call->argv[1], SLICE("KEEPTTL"),
                                   pairs[-2] /* FIELDS */, pairs[-1] /* count */};
    if (!keeps)
        call_propagate_with(call, hset, 2, pairs, 2 * setex->pairs.count);
    else if (setex->only_new_key || setex->only_old_key)
        call_propagate_with(call, hsetex, 5, pairs, 2 * setex->pairs.count);
}

void hsetex_command(struct call *call) {
    struct slice key = call->argv[1];
    struct setex setex;
    struct keyref ref;
    if (!parse_setex(call, &setex)) return;
    call->refills = !setex.only_existing && !setex.only_old_key;
    if (!hash_find_write(call, key, &ref)) return;
    hash_expire_named(call, &ref, key, setex.pairs.first, setex.pairs.count, 2);
    call->refills = false; /* a time that has passed may empty it again */
    bool sets = key_condition_holds(call, ref.entry, &setex) &&
                field_condition_holds(call, ref.entry, &setex);
    reply_integer(call->reply, sets);
    if (!sets) return;
    hash_set_pairs(call, &ref, key, setex.pairs.first, setex.pairs.count,
                   setex.keeps_expiry ? HASH_KEEP_EXPIRY : HASH_DROP_EXPIRY);
    /* With an expiry each field counts as one change, which is reported below. */
    CALL_CHANGED(call, &ref, key, EVENT_HASH, "hset", setex.expires ? 0 : setex.pairs.count,
                 .fields = &(struct event_fields){setex.pairs.first, setex.pairs.count, 2});
    propagate_set(call, &setex);
    if (setex.expires)
        work_on_fields(&(struct field_work){call, &ref, &setex.pairs, FIELD_EXPIRE, setex.expiry_ms,
                                            HASH_ALWAYS, REPLY_NOTHING});
}
