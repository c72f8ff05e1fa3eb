/* SET SETNX SETEX PSETEX GETSET MSET MSETNX: storing whole values. */
#include "base/alloc.h"
#include "commands/commands.h"
#include "commands/string_common.h"
#include "types/value.h"

/* Stores the value argv[index] and reports the change. The key has no expiry then. */
static void set_plain(struct call *call, struct keyref *ref, struct slice key, size_t index) {
    uint32_t clock = string_make_way(call, ref);
    string_set_argument(call, ref, key, index, false);
    string_came(ref, clock);
    call_touched(call, ref, key, EVENT_STRING, "set", 1);
}

static void set_expiring(struct call *call, struct keyref *ref, struct slice key, size_t index,
                         int64_t expiry_ms) {
    char buffer[INT64_TEXT_MAX];
    uint32_t clock = string_make_way(call, ref);
    string_set_argument(call, ref, key, index, true);
    string_came(ref, clock);
    call_set_expiry(call, ref, expiry_ms);
    call_touched(call, ref, key, EVENT_STRING, "set", 1);
    call_notify(call, EVENT_GENERIC, "expire", key);
    CALL_PROPAGATE(call, SLICE("SET"), key, call->argv[index], SLICE("PXAT"),
                   number_text(buffer, expiry_ms));
}

static void set_keeping_expiry(struct call *call, struct keyref *ref, struct slice key,
                               size_t index) {
    int64_t expiry_ms = ref->entry ? entry_expiry(ref->entry) : -1;
    uint32_t clock = string_make_way(call, ref);
    string_set_argument(call, ref, key, index, true);
    string_came(ref, clock);
    if (entry_expiry(ref->entry) != expiry_ms)
        keyspace_set_expiry(ref, expiry_ms, value_size(ref->entry)); /* it gets no other one */
    call_touched(call, ref, key, EVENT_STRING, "set", 1);
}

/* --- SET key value [NX | XX] [GET] [EX s | PX ms | EXAT time | PXAT time | KEEPTTL] --- */

struct set_options {
    bool only_new, only_existing, get;
    enum expiry_option expiry;
    size_t expiry_index; /* argv index of the time */
};

/* Parses the option at *index and moves *index to its last argument. Returns false when it is not
 * valid here. A time may be given again in the same unit. */
static bool parse_option(const struct call *call, size_t *index, struct set_options *options) {
    struct slice option = call->argv[*index];
    enum expiry_option expiry = string_expiry_option(option);
    if (slice_is(option, "nx")) {
        options->only_new = true;
        return !options->only_existing;
    }
    if (slice_is(option, "xx")) {
        options->only_existing = true;
        return !options->only_new;
    }
    if (slice_is(option, "get")) return options->get = true;
    if (slice_is(option, "keepttl"))
        expiry = EXPIRY_KEEP;
    else if (expiry == EXPIRY_NONE || ++*index == call->argc)
        return false;
    bool contradicts = options->expiry != EXPIRY_NONE && options->expiry != expiry;
    options->expiry = expiry;
    options->expiry_index = *index;
    return !contradicts;
}

/* Propagates the command without GET. */
static void propagate_without_get(struct call *call) {
    struct slice *argv = mem_alloc(call->argc * sizeof(*argv));
    size_t count = 0;
    for (size_t i = 0; i < call->argc; i++)
        if (i < 3 || !slice_is(call->argv[i], "get")) argv[count++] = call->argv[i];
    call_propagate_as(call, argv, count);
    mem_free(argv);
}

static void set_with_options(struct call *call) {
    struct set_options options = {0};
    int64_t expiry_ms = -1;
    for (size_t i = 3; i < call->argc; i++) {
        if (!parse_option(call, &i, &options)) {
            call_syntax_error(call);
            return;
        }
    }
    if (options.expiry >= EXPIRY_EX &&
        !string_parse_expiry(call, options.expiry, options.expiry_index, &expiry_ms))
        return;
    struct slice key = call->argv[1];
    struct keyref ref;
    if (!options.get) {
        call_find_write(call, key, &ref);
    } else {
        call_find_read(call, key, &ref);
        if (ref.entry && !call_check_type(call, ref.entry, VALUE_STRING)) return;
        string_reply(call->reply, ref.entry);
        if (ref.entry) keyspace_before_change(&ref);
    }
    if (ref.entry ? options.only_new : options.only_existing) {
        if (!options.get) reply_null(call->reply);
        return;
    }
    if (!options.get) reply_ok(call->reply);
    if (options.expiry >= EXPIRY_EX) {
        set_expiring(call, &ref, key, 2, expiry_ms);
        return;
    }
    if (options.expiry == EXPIRY_KEEP) {
        set_keeping_expiry(call, &ref, key, 2);
    } else {
        set_plain(call, &ref, key, 2);
    }
    if (options.get && call->propagates) propagate_without_get(call);
}

void set_command(struct call *call) {
    if (call->argc > 3) {
        set_with_options(call);
        return;
    }
    struct slice key = call->argv[1];
    struct keyref ref;
    call_find_write(call, key, &ref);
    set_plain(call, &ref, key, 2);
    reply_ok(call->reply);
}

void setnx_command(struct call *call) {
    struct slice key = call->argv[1];
    struct keyref ref;
    call_find_write(call, key, &ref);
    reply_integer(call->reply, ref.entry == NULL);
    if (ref.entry == NULL) set_plain(call, &ref, key, 2);
}

/* SETEX and PSETEX key time value. */
static void set_for_a_time(struct call *call, enum expiry_option option) {
    struct slice key = call->argv[1];
    int64_t expiry_ms;
    if (!string_parse_expiry(call, option, 2, &expiry_ms)) return;
    struct keyref ref;
    call_find_write(call, key, &ref);
    set_expiring(call, &ref, key, 3, expiry_ms);
    reply_ok(call->reply);
}

void setex_command(struct call *call) {
    set_for_a_time(call, EXPIRY_EX);
}

void psetex_command(struct call *call) {
    set_for_a_time(call, EXPIRY_PX);
}

void getset_command(struct call *call) {
    struct slice key = call->argv[1];
    struct keyref ref;
    if (!call_find_typed_read(call, key, VALUE_STRING, &ref)) return;
    string_reply(call->reply, ref.entry);
    if (ref.entry) keyspace_before_change(&ref);
    set_plain(call, &ref, key, 2);
    CALL_PROPAGATE(call, SLICE("SET"), key, call->argv[2]);
}

/* --- MSET and MSETNX key value … --- */

static void set_copy(struct call *call, struct keyref *ref, struct slice key, struct slice value) {
    uint32_t clock = string_make_way(call, ref);
    string_set(ref, key, value);
    string_came(ref, clock);
    call_touched(call, ref, key, EVENT_STRING, "set", 1);
}

/* Only the last value is taken over: a later one for the same key would free an earlier one. */
static void set_many(struct call *call) {
    for (size_t i = 1; i < call->argc; i += 2) {
        struct slice key = call->argv[i];
        struct keyref ref;
        call_find_write(call, key, &ref);
        if (i + 2 == call->argc)
            set_plain(call, &ref, key, i + 1);
        else
            set_copy(call, &ref, key, call->argv[i + 1]);
    }
}

void mset_command(struct call *call) {
    if (call->argc % 2 == 0) {
        call_wrong_arity(call);
        return;
    }
    set_many(call);
    reply_ok(call->reply);
}

void msetnx_command(struct call *call) {
    if (call->argc % 2 == 0) {
        call_wrong_arity(call);
        return;
    }
    for (size_t i = 1; i < call->argc; i += 2) {
        if (call_find_write(call, call->argv[i], NULL) == NULL) continue;
        reply_integer(call->reply, 0);
        return;
    }
    set_many(call);
    reply_integer(call->reply, 1);
}
