/* HEXPIRE HPEXPIRE HEXPIREAT HPEXPIREAT HPERSIST, HTTL HPTTL HEXPIRETIME HPEXPIRETIME: when fields
 * of a hash expire; HGETEX HGETDEL HSETEX: values read or set together with that. */
#include "base/memory/alloc.h"
#include "base/text/number.h"
#include "commands/commands.h"
#include "commands/hashes/hash_common.h"

/* --- Arguments --- */

#define FIELD_COUNT_ERROR "ERR Number of fields must be a positive integer"

/* FIELDS count field …: a part of the call's arguments. */
struct field_list {
    const struct slice *first;
    size_t count;
};

/* Parses such a part: FIELDS stands at argv[index], the last field at the end. Otherwise replies
 * the error (`count_error` for a count that is not a number above 0) and returns false. */
static bool field_list_parse(struct call *call, size_t index, const char *count_error,
                             struct field_list *fields) {
    int64_t count;
    if (index + 1 >= call->argc) return call_wrong_arity(call);
    if (!slice_is(call->argv[index], "fields"))
        return reply_error(call->reply,
                           "ERR Mandatory argument FIELDS is missing or not at the right position");
    if (!call_integer_in(call, index + 1, 1, INT64_MAX, &count, count_error)) return false;
    *fields = (struct field_list){call->argv + index + 2, call->argc - index - 2};
    if ((uint64_t)count == fields->count) return true;
    return reply_error(call->reply,
                       "ERR The `numfields` parameter must match the number of arguments");
}

/* Parses "FIELDS count field …" where options may stand before and behind it, as in Redis 8.6.
 * argv[*index] is FIELDS; *index is moved to the last argument of this part. A field takes `width`
 * arguments: 2 in HSETEX, where its value follows it. After an error, which it replies
 * (`count_error` as above), returns false. fields->first must be NULL before the first call; a
 * second FIELDS is an error. */
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
    *fields = (struct field_list){call->argv + first, (size_t)count};
    *index = first + (size_t)count * width - 1;
    return true;
}

/* Replies that argv[index] is no option; returns false. */
static bool option_unknown(struct call *call, size_t index) {
    sds error = sds_append(sds_new(SLICE("ERR unknown argument: ")), call->argv[index]);
    reply_error(call->reply, error);
    sds_free(error);
    return false;
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

/* Returns whether the word is EX, PX, EXAT or PXAT. */
static bool field_expiry_is_option(struct slice word) {
    return slice_is(word, "ex") || slice_is(word, "px") || slice_is(word, "exat") ||
           slice_is(word, "pxat");
}

/* Parses such a word at argv[index] with its time after it; else replies the error and returns
 * false. */
static bool field_expiry_option(struct call *call, size_t index, int64_t *expiry_ms) {
    struct slice option = call->argv[index];
    bool relative = slice_is(option, "ex") || slice_is(option, "px");
    bool seconds = slice_is(option, "ex") || slice_is(option, "exat");
    if (index + 1 == call->argc) return reply_error(call->reply, "ERR missing expire time");
    return field_expiry_parse(call, index + 1, seconds ? 1000 : 1, relative ? call->now_ms : 0,
                              expiry_ms);
}

/* --- What follows a change --- */

/* The fields whose expiry a command has set (HGETEX PERSIST: taken away), and those that it has
 * deleted: HGETDEL any field, other commands a field whose new expiry had already passed. Each
 * array has space for the `capacity` of field_changes_begin. The fields are views. */
struct field_changes {
    struct slice *expiring;
    struct slice *deleted;
    size_t expiring_count;
    size_t deleted_count;
};

static void field_changes_begin(struct field_changes *changes, size_t capacity) {
    *changes = (struct field_changes){.expiring = mem_alloc(capacity * sizeof(*changes->expiring)),
                                      .deleted = mem_alloc(capacity * sizeof(*changes->deleted))};
}

static void field_changes_note(struct field_changes *changes, struct slice field,
                               enum hash_expiry_result result) {
    if (result == HASH_EXPIRY_SET) changes->expiring[changes->expiring_count++] = field;
    if (result == HASH_FIELD_DELETED) changes->deleted[changes->deleted_count++] = field;
}

static void field_changes_end(struct field_changes *changes) {
    mem_free(changes->expiring);
    mem_free(changes->deleted);
}

/* Propagates the words, the number of fields, and the fields, as `words FIELDS count field …`. */
static void field_propagate(struct call *call, const struct slice *words, size_t word_count,
                            const struct slice *fields, size_t count) {
    if (!call->propagates) return;
    char digits[INT64_TEXT_MAX];
    struct slice *argv = mem_alloc((word_count + 2 + count) * sizeof(*argv));
    memcpy(argv, words, word_count * sizeof(*argv));
    argv[word_count] = SLICE("FIELDS");
    argv[word_count + 1] = number_text(digits, (int64_t)count);
    memcpy(argv + word_count + 2, fields, count * sizeof(*argv));
    call_propagate_as(call, argv, word_count + 2 + count);
    mem_free(argv);
}

/* Propagates HDEL of the fields. */
static void field_propagate_deleted(struct call *call, const struct slice *fields, size_t count) {
    if (!call->propagates) return;
    struct slice *argv = mem_alloc((2 + count) * sizeof(*argv));
    argv[0] = SLICE("HDEL");
    argv[1] = call->argv[1];
    memcpy(argv + 2, fields, count * sizeof(*argv));
    call_propagate_as(call, argv, 2 + count);
    mem_free(argv);
}

/* Reports what was noted of the hash under argv[1]: events, propagation as HPEXPIREAT and HDEL. */
static void field_changes_report(struct call *call, struct keyref *ref,
                                 const struct field_changes *changes, int64_t expiry_ms) {
    struct slice key = call->argv[1];
    if (changes->expiring_count) {
        char digits[INT64_TEXT_MAX];
        struct slice words[] = {SLICE("HPEXPIREAT"), key, number_text(digits, expiry_ms)};
        field_propagate(call, words, 3, changes->expiring, changes->expiring_count);
        CALL_CHANGED(call, ref, key, EVENT_HASH, "hexpire", changes->expiring_count,
                     .fields =
                         &(struct event_fields){changes->expiring, changes->expiring_count, 1});
    }
    if (changes->deleted_count) {
        field_propagate_deleted(call, changes->deleted, changes->deleted_count);
        CALL_CHANGED(call, ref, key, EVENT_HASH, "hdel", changes->deleted_count,
                     .fields = &(struct event_fields){changes->deleted, changes->deleted_count, 1});
    }
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

/* Replies for each field what became of it, and reports the change. */
static void set_expiries(struct call *call, struct keyref *ref, const struct field_list *fields,
                         int64_t expiry_ms, enum hash_condition condition) {
    struct field_changes changes;
    field_changes_begin(&changes, fields->count);
    reply_array(call->reply, fields->count);
    for (size_t i = 0; i < fields->count; i++) {
        enum hash_expiry_result result = HASH_NO_FIELD;
        if (ref->entry)
            result = hash_set_expiry(ref, fields->first[i], expiry_ms, condition, hash_past(call));
        field_changes_note(&changes, fields->first[i], result);
        reply_integer(call->reply, result);
    }
    field_changes_report(call, ref, &changes, expiry_ms);
    field_changes_end(&changes);
}

static void expire(struct call *call, int64_t unit_ms, int64_t base_ms) {
    struct expire_options options;
    int64_t expiry_ms;
    struct keyref ref;
    if (!hash_find_write(call, call->argv[1], &ref)) return;
    if (!field_expiry_parse(call, 2, unit_ms, base_ms, &expiry_ms)) return;
    if (!parse_expire(call, &options)) return;
    set_expiries(call, &ref, &options.fields, expiry_ms, options.condition);
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

static void report_persisted(struct call *call, struct keyref *ref,
                             const struct field_changes *changes) {
    CALL_CHANGED(call, ref, call->argv[1], EVENT_HASH, "hpersist", changes->expiring_count,
                 .fields = &(struct event_fields){changes->expiring, changes->expiring_count, 1});
}

void hpersist_command(struct call *call) {
    struct slice key = call->argv[1];
    struct field_list fields;
    struct field_changes changes;
    struct keyref ref;
    if (!hash_find_write(call, key, &ref)) return;
    if (!field_list_parse(call, 2, FIELD_COUNT_ERROR, &fields)) return;
    hash_expire_named(call, &ref, key, fields.first, fields.count, 1);
    field_changes_begin(&changes, fields.count);
    reply_array(call->reply, fields.count);
    for (size_t i = 0; i < fields.count; i++) {
        enum hash_expiry_result result = HASH_NO_FIELD;
        if (ref.entry) result = hash_persist(&ref, fields.first[i], hash_now(call));
        field_changes_note(&changes, fields.first[i], result);
        reply_integer(call->reply, result);
    }
    if (changes.expiring_count) report_persisted(call, &ref, &changes);
    field_changes_end(&changes);
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
            reply = record.expiry_ms == RECORD_NEVER ? HASH_NO_EXPIRY
                    : record.expiry_ms <= base_ms
                        ? 0 /* call_sees_expired */
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

/* --- HGETDEL key FIELDS count field … --- */

void hgetdel_command(struct call *call) {
    struct slice key = call->argv[1];
    struct field_list fields;
    struct field_changes changes;
    struct keyref ref;
    if (!hash_find_write(call, key, &ref)) return;
    if (!field_list_parse(call, 2, FIELD_COUNT_ERROR, &fields)) return;
    hash_expire_named(call, &ref, key, fields.first, fields.count, 1);
    field_changes_begin(&changes, fields.count);
    reply_array(call->reply, fields.count);
    for (size_t i = 0; i < fields.count; i++) {
        hash_reply_value(call, ref.entry, fields.first[i]);
        if (ref.entry && hash_delete(&ref, fields.first[i]))
            field_changes_note(&changes, fields.first[i], HASH_FIELD_DELETED);
    }
    field_changes_report(call, &ref, &changes, 0);
    field_changes_end(&changes);
}

/* --- HGETEX key [EX s | PX ms | EXAT s | PXAT ms | PERSIST] FIELDS count field … --- */

#define SETEX_COUNT_ERROR "ERR invalid number of fields" /* HSETEX's, too */

enum getex_mode { GETEX_READ, GETEX_EXPIRE, GETEX_PERSIST };

/* Reads the option at *index, and moves *index to its last argument. */
static bool parse_getex_option(struct call *call, size_t *index, enum getex_mode *mode,
                               int64_t *expiry_ms, struct field_list *fields) {
    struct slice option = call->argv[*index];
    bool expires = field_expiry_is_option(option);
    if (slice_is(option, "fields"))
        return field_list_take(call, index, 1, SETEX_COUNT_ERROR, fields);
    if (!expires && !slice_is(option, "persist")) return option_unknown(call, *index);
    if (*mode != GETEX_READ)
        return reply_error(
            call->reply,
            "ERR Only one of EX, PX, EXAT, PXAT or PERSIST arguments can be specified");
    *mode = expires ? GETEX_EXPIRE : GETEX_PERSIST;
    return !expires || field_expiry_option(call, (*index)++, expiry_ms);
}

/* Gives one field that was read its new expiry, or takes it away. */
static void change_expiry(struct call *call, struct keyref *ref, struct slice field,
                          enum getex_mode mode, int64_t expiry_ms, struct field_changes *changes) {
    enum hash_expiry_result result =
        mode == GETEX_PERSIST
            ? hash_persist(ref, field, hash_now(call))
            : hash_set_expiry(ref, field, expiry_ms, HASH_ALWAYS, hash_past(call));
    field_changes_note(changes, field, result);
}

static void propagate_persisted(struct call *call, struct keyref *ref,
                                const struct field_changes *changes) {
    struct slice words[] = {SLICE("HPERSIST"), call->argv[1]};
    if (!changes->expiring_count) return;
    field_propagate(call, words, 2, changes->expiring, changes->expiring_count);
    report_persisted(call, ref, changes);
}

static void getex(struct call *call, struct keyref *ref, const struct field_list *fields,
                  enum getex_mode mode, int64_t expiry_ms) {
    struct field_changes changes;
    field_changes_begin(&changes, fields->count);
    reply_array(call->reply, fields->count);
    for (size_t i = 0; i < fields->count; i++) {
        hash_reply_value(call, ref->entry, fields->first[i]);
        if (ref->entry && mode != GETEX_READ)
            change_expiry(call, ref, fields->first[i], mode, expiry_ms, &changes);
    }
    if (mode == GETEX_PERSIST)
        propagate_persisted(call, ref, &changes);
    else
        field_changes_report(call, ref, &changes, expiry_ms);
    field_changes_end(&changes);
}

void hgetex_command(struct call *call) {
    enum getex_mode mode = GETEX_READ;
    int64_t expiry_ms = 0;
    struct field_list fields = {.count = 0};
    struct keyref ref;
    if (!hash_find_write(call, call->argv[1], &ref)) return;
    for (size_t i = 2; i < call->argc; i++)
        if (!parse_getex_option(call, &i, &mode, &expiry_ms, &fields)) return;
    if (!fields.first) {
        call_wrong_arity(call);
        return;
    }
    if (mode == GETEX_EXPIRE)
        hash_expire_named(call, &ref, call->argv[1], fields.first, fields.count, 1);
    getex(call, &ref, &fields, mode, expiry_ms);
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

/* KEEPTTL, or a word with a time (`expires`). Moves *index to its last argument. */
static bool parse_expiry(struct call *call, size_t *index, bool expires, struct setex *setex) {
    if (setex->expires || setex->keeps_expiry)
        return reply_error(
            call->reply,
            "ERR Only one of EX, PX, EXAT, PXAT or KEEPTTL arguments can be specified");
    setex->expires = expires;
    setex->keeps_expiry = !expires;
    return !expires || field_expiry_option(call, (*index)++, &setex->expiry_ms);
}

/* Reads the option at *index, and moves *index to its last argument. */
static bool parse_setex_option(struct call *call, size_t *index, struct setex *setex) {
    struct slice option = call->argv[*index];
    bool is_new = slice_is(option, "fnx");
    bool expires = field_expiry_is_option(option);
    bool is_new_key = slice_is(option, "nx");
    if (slice_is(option, "fields"))
        return field_list_take(call, index, 2, SETEX_COUNT_ERROR, &setex->pairs);
    if (is_new_key || slice_is(option, "xx")) return parse_key_condition(call, is_new_key, setex);
    if (is_new || slice_is(option, "fxx")) return parse_condition(call, is_new, setex);
    if (expires || slice_is(option, "keepttl")) return parse_expiry(call, index, expires, setex);
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
    enum { HSET_WORDS = 2, KEEPING_WORDS = 5 };
    bool keeps = setex->keeps_expiry;
    if (!call->propagates || (keeps && !setex->only_new_key && !setex->only_old_key)) return;
    size_t words = keeps ? KEEPING_WORDS : HSET_WORDS, argc = words + 2 * setex->pairs.count;
    struct slice *argv = mem_alloc(argc * sizeof(*argv));
    argv[0] = keeps ? SLICE("HSETEX") : SLICE("HSET");
    argv[1] = call->argv[1];
    if (keeps) {
        argv[2] = SLICE("KEEPTTL");
        argv[3] = setex->pairs.first[-2]; /* FIELDS count */
        argv[4] = setex->pairs.first[-1];
    }
    memcpy(argv + words, setex->pairs.first, 2 * setex->pairs.count * sizeof(*argv));
    call_propagate_as(call, argv, argc);
    mem_free(argv);
}

/* Lets the fields that were just set expire. */
static void expire_set_fields(struct call *call, struct keyref *ref, const struct setex *setex) {
    struct field_changes changes;
    field_changes_begin(&changes, setex->pairs.count);
    for (size_t i = 0; i < setex->pairs.count; i++) {
        struct slice field = setex->pairs.first[2 * i];
        field_changes_note(
            &changes, field,
            hash_set_expiry(ref, field, setex->expiry_ms, HASH_ALWAYS, hash_past(call)));
    }
    field_changes_report(call, ref, &changes, setex->expiry_ms);
    field_changes_end(&changes);
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
    if (setex.expires) expire_set_fields(call, &ref, &setex);
}
