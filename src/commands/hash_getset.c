/* HGETEX HGETDEL HSETEX: values read or set together with an expiry or a deletion. */
#include "base/alloc.h"
#include "commands/commands.h"
#include "commands/hash_common.h"
#include "commands/hash_expiry.h"

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

enum getex_mode { GETEX_READ, GETEX_EXPIRE, GETEX_PERSIST };

/* Gives one field that was read its new expiry, or takes it away. */
static void change_expiry(struct call *call, struct keyref *ref, struct slice field,
                          enum getex_mode mode, int64_t expiry_ms, struct field_changes *changes) {
    int64_t now_ms = hash_now(call);
    enum hash_expiry_result result =
        mode == GETEX_PERSIST ? hash_persist(ref, field, now_ms)
                              : hash_set_expiry(ref, field, expiry_ms, HASH_ALWAYS, now_ms);
    field_changes_note(changes, field, result);
}

static void report_persisted(struct call *call, struct keyref *ref,
                             const struct field_changes *changes) {
    struct slice words[] = {SLICE("HPERSIST"), call->argv[1]};
    if (!changes->expiring_count) return;
    field_propagate(call, words, 2, changes->expiring, changes->expiring_count);
    call_touched(call, ref, call->argv[1], EVENT_HASH, "hpersist", changes->expiring_count);
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
        report_persisted(call, ref, &changes);
    else
        field_changes_report(call, ref, &changes, expiry_ms);
    field_changes_end(&changes);
}

void hgetex_command(struct call *call) {
    enum getex_mode mode = GETEX_READ;
    int64_t expiry_ms = 0;
    struct field_list fields;
    struct keyref ref;
    if (!hash_find_write(call, call->argv[1], &ref)) return;
    if (field_expiry_is_option(call->argv[2]))
        mode = GETEX_EXPIRE;
    else if (slice_is(call->argv[2], "persist"))
        mode = GETEX_PERSIST;
    if (mode == GETEX_EXPIRE && !field_expiry_option(call, 2, &expiry_ms)) return;
    size_t index = mode == GETEX_READ ? 2 : mode == GETEX_PERSIST ? 3 : 4;
    if (!field_list_parse(call, index, FIELD_COUNT_ERROR, &fields)) return;
    getex(call, &ref, &fields, mode, expiry_ms);
}

/* --- HSETEX key [FNX | FXX] [EX s | PX ms | EXAT s | PXAT ms | KEEPTTL] FIELDS count
 * field value … --- */

struct setex {
    bool only_new;      /* FNX: only if none of the fields is there */
    bool only_existing; /* FXX: only if all of them are */
    bool keeps_expiry;
    bool expires;
    int64_t expiry_ms;
    const struct slice *pairs;
    size_t count;
};

/* FIELDS count field value …, the word at argv[index]: they end the command. */
static bool parse_pairs(struct call *call, size_t index, struct setex *setex) {
    int64_t count;
    if (index + 3 >= call->argc) return call_wrong_arity(call);
    if (!call_integer_in(call, index + 1, 1, INT32_MAX, &count, "ERR invalid number of fields"))
        return false;
    size_t left = call->argc - index - 2;
    setex->pairs = call->argv + index + 2;
    setex->count = left / 2;
    if (left % 2 == 0 && (uint64_t)count == setex->count) return true;
    return call_wrong_arity(call);
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
    if (is_new || slice_is(option, "fxx")) return parse_condition(call, is_new, setex);
    if (expires || slice_is(option, "keepttl")) return parse_expiry(call, index, expires, setex);
    sds error = sds_append(sds_new(SLICE("ERR unknown argument: ")), option);
    reply_error(call->reply, error);
    sds_free(error);
    return false;
}

static bool parse_setex(struct call *call, struct setex *setex) {
    *setex = (struct setex){.count = 0};
    for (size_t i = 2; i < call->argc; i++) {
        if (slice_is(call->argv[i], "fields")) return parse_pairs(call, i, setex);
        if (!parse_setex_option(call, &i, setex)) return false;
    }
    return call_wrong_arity(call);
}

static bool field_condition_holds(struct call *call, const struct entry *entry,
                                  const struct setex *setex) {
    if (!setex->only_new && !setex->only_existing) return true;
    for (size_t i = 0; i < setex->count; i++) {
        bool exists = entry && hash_find(entry, setex->pairs[2 * i], hash_now(call), NULL);
        if (exists == setex->only_new) return false;
    }
    return true;
}

/* HSET says what was set, unless expiries are kept: then HSETEX can be repeated as it came. */
static void propagate_set(struct call *call, const struct setex *setex) {
    enum { WORDS = 2 };
    if (!call->propagates || setex->keeps_expiry) return;
    size_t argc = WORDS + 2 * setex->count;
    struct slice *argv = mem_alloc(argc * sizeof(*argv));
    argv[0] = SLICE("HSET");
    argv[1] = call->argv[1];
    memcpy(argv + WORDS, setex->pairs, 2 * setex->count * sizeof(*argv));
    call_propagate_as(call, argv, argc);
    mem_free(argv);
}

/* Lets the fields that were just set expire. */
static void expire_set_fields(struct call *call, struct keyref *ref, const struct setex *setex) {
    struct field_changes changes;
    field_changes_begin(&changes, setex->count);
    for (size_t i = 0; i < setex->count; i++) {
        struct slice field = setex->pairs[2 * i];
        field_changes_note(
            &changes, field,
            hash_set_expiry(ref, field, setex->expiry_ms, HASH_ALWAYS, hash_now(call)));
    }
    field_changes_report(call, ref, &changes, setex->expiry_ms);
    field_changes_end(&changes);
}

void hsetex_command(struct call *call) {
    struct slice key = call->argv[1];
    struct setex setex;
    struct keyref ref;
    if (!parse_setex(call, &setex)) return;
    call->refills = !setex.only_existing;
    if (!hash_find_write(call, key, &ref)) return;
    hash_expire_named(call, &ref, key, setex.pairs, setex.count, 2);
    call->refills = false; /* a time that has passed may empty it again */
    bool sets = field_condition_holds(call, ref.entry, &setex);
    reply_integer(call->reply, sets);
    if (!sets) return;
    hash_set_pairs(call, &ref, key, setex.pairs, setex.count,
                   setex.keeps_expiry ? HASH_KEEP_EXPIRY : HASH_DROP_EXPIRY);
    /* With an expiry each field counts as one change, which is reported below. */
    call_touched(call, &ref, key, EVENT_HASH, "hset", setex.expires ? 0 : setex.count);
    propagate_set(call, &setex);
    if (setex.expires) expire_set_fields(call, &ref, &setex);
}
