/* SET SETNX SETEX PSETEX GETSET MSET MSETNX MSETEX: storing whole values. */
#include "base/memory/alloc.h"
#include "commands/commands.h"
#include "commands/strings/string_common.h"
#include "types/value.h"

static inline void note_overwritten(struct call *call, const struct keyref *ref, struct slice key) {
    if (ref->entry) call_notify_overwritten(call, key, entry_type(ref->entry), VALUE_STRING);
}

/* Stores the value argv[index], or a copy: else it may be taken over (string_set_argument). */
static inline void store(struct call *call, struct keyref *ref, struct slice key, size_t index,
                         bool keeps_expiry, bool copies) {
    note_overwritten(call, ref, key);
    uint32_t clock = string_make_way(call, ref);
    if (!copies)
        string_set_argument(call, ref, key, index, keeps_expiry);
    else if (keeps_expiry)
        string_set_keep_expiry(ref, key, call->argv[index]);
    else
        string_set(ref, key, call->argv[index]);
    string_came(ref, clock);
}

/* Stores the value and reports the change. The key has no expiry then. */
static inline void set_plain(struct call *call, struct keyref *ref, struct slice key,
                             size_t index) {
    store(call, ref, key, index, false, false);
    CALL_CHANGED(call, ref, key, EVENT_STRING, "set", 1);
}

/* The value is stored: gives it the expiry and reports the change. */
static void end_expiring(struct call *call, struct keyref *ref, struct slice key, size_t index,
                         int64_t expiry_ms) {
    char buffer[INT64_TEXT_MAX];
    call_set_expiry(call, ref, expiry_ms);
    CALL_CHANGED(call, ref, key, EVENT_STRING, "set", 1);
    call_notify(call, EVENT_GENERIC, "expire", key);
    CALL_PROPAGATE(call, SLICE("SET"), key, call->argv[index], SLICE("PXAT"),
                   number_text(buffer, expiry_ms));
}

static void set_expiring(struct call *call, struct keyref *ref, struct slice key, size_t index,
                         int64_t expiry_ms) {
    store(call, ref, key, index, true, false);
    end_expiring(call, ref, key, index, expiry_ms);
}

static void set_keeping_expiry(struct call *call, struct keyref *ref, struct slice key,
                               size_t index, bool copies) {
    int64_t expiry_ms = ref->entry ? entry_expiry(ref->entry) : -1;
    store(call, ref, key, index, true, copies);
    if (entry_expiry(ref->entry) != expiry_ms)
        keyspace_set_expiry(ref, expiry_ms, value_size(ref->entry)); /* it gets no other one */
    CALL_CHANGED(call, ref, key, EVENT_STRING, "set", 1);
}

/* --- SET key value [NX | XX | IFEQ value | IFNE value | IFDEQ digest | IFDNE digest] [GET]
 *             [EX s | PX ms | EXAT time | PXAT time | KEEPTTL] ---
 * As in Redis 8.6, "NX IFEQ value" is an error, but "IFEQ value NX" is not: it sets the key if both
 * hold. A condition may be given again; the last operand counts. */

struct set_options {
    bool only_new, only_existing, get;
    enum condition condition;
    struct slice operand; /* of the condition */
    enum expiry_option expiry;
    size_t expiry_index; /* argv index of the time */
};

/* Parses a condition with its operand, as parse_option. */
static bool parse_condition(const struct call *call, size_t *index, struct set_options *options) {
    enum condition condition = string_condition(call->argv[*index]);
    if (condition == CONDITION_NONE || ++*index == call->argc) return false;
    if (options->only_new || options->only_existing) return false;
    if (options->condition != CONDITION_NONE && options->condition != condition) return false;
    options->condition = condition;
    options->operand = call->argv[*index];
    return true;
}

/* Parses the option at *index and moves *index to its last argument. Returns false when it is not
 * valid here. A time may be given again in the same unit. */
static bool parse_option(const struct call *call, size_t *index, struct set_options *options) {
    struct slice option = call->argv[*index];
    enum expiry_option expiry = expiry_option_of(option);
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
    else if (expiry == EXPIRY_NONE)
        return parse_condition(call, index, options);
    else if (++*index == call->argc)
        return false;
    bool contradicts = options->expiry != EXPIRY_NONE && options->expiry != expiry;
    options->expiry = expiry;
    options->expiry_index = *index;
    return !contradicts;
}

/* Propagates the command without GET, and without a condition, which was met: servers that do not
 * know it read the command log, too. For options without a time. */
static void propagate_as_done(struct call *call) {
    struct slice *argv = mem_alloc(call->argc * sizeof(*argv));
    size_t count = 0;
    for (size_t i = 0; i < call->argc; i++) {
        bool is_condition = i >= 3 && string_condition(call->argv[i]) != CONDITION_NONE;
        if (is_condition)
            i++;
        else if (i < 3 || !slice_is(call->argv[i], "get"))
            argv[count++] = call->argv[i];
    }
    call_propagate_as(call, argv, count);
    mem_free(argv);
}

/* Finds the key, and replies the old value with GET. Returns false after an error. */
static bool find_to_set(struct call *call, const struct set_options *options, struct keyref *ref) {
    bool compares =
        options->condition != CONDITION_NONE && !options->only_new && !call_is_repeated(call);
    if (options->get)
        call_find_read(call, call->argv[1], ref);
    else
        call_find_write(call, call->argv[1], ref);
    if ((options->get || compares) && ref->entry &&
        !call_check_type(call, ref->entry, VALUE_STRING))
        return false;
    if (!options->get) return true;
    string_reply(call->reply, ref->entry);
    if (ref->entry) keyspace_before_change(ref);
    return true;
}

/* Returns whether a value is to be set in place of `entry`, which may be NULL. A command that
 * repeats a change has met its condition where it was first run. */
static bool may_set(const struct call *call, const struct set_options *options,
                    const struct entry *entry) {
    if (entry ? options->only_new : options->only_existing) return false;
    return options->condition == CONDITION_NONE || call_is_repeated(call) ||
           string_meets(entry, options->condition, options->operand);
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
    if (!string_check_condition(call, options.condition, options.operand)) return;
    if (options.expiry >= EXPIRY_EX &&
        !string_parse_expiry(call, options.expiry, options.expiry_index, &expiry_ms))
        return;
    struct slice key = call->argv[1];
    struct keyref ref;
    if (!find_to_set(call, &options, &ref)) return;
    if (!may_set(call, &options, ref.entry)) {
        if (!options.get) reply_null(call->reply);
        return;
    }
    if (!options.get) reply_ok(call->reply);
    if (options.expiry >= EXPIRY_EX) {
        set_expiring(call, &ref, key, 2, expiry_ms);
        return;
    }
    if (options.expiry == EXPIRY_KEEP) {
        set_keeping_expiry(call, &ref, key, 2, false);
    } else {
        set_plain(call, &ref, key, 2);
    }
    if ((options.get || options.condition) && call->propagates) propagate_as_done(call);
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

COMMAND_FORM(setex_command, set_for_a_time, EXPIRY_EX)
COMMAND_FORM(psetex_command, set_for_a_time, EXPIRY_PX)

void getset_command(struct call *call) {
    struct slice key = call->argv[1];
    struct keyref ref;
    if (!call_find_typed_read(call, key, VALUE_STRING, &ref)) return;
    string_reply(call->reply, ref.entry);
    if (ref.entry) keyspace_before_change(&ref);
    set_plain(call, &ref, key, 2);
    CALL_PROPAGATE(call, SLICE("SET"), key, call->argv[2]);
}

/* --- MSET and MSETNX key value …; MSETEX numkeys key value …
 *             [NX | XX] [EX s | PX ms | EXAT time | PXAT time | KEEPTTL] --- */

/* The pairs from argv[begin] to before argv[end], and how they are stored. */
struct pairs {
    size_t begin, end;
    enum expiry_option expiry;
    int64_t expiry_ms; /* where `expiry` has a time */
};

/* Only the last value is taken over: a later one for the same key would free an earlier one, to
 * which argv still refers. */
static void set_pair(struct call *call, const struct pairs *pairs, struct keyref *ref,
                     size_t index) {
    struct slice key = call->argv[index];
    bool copies = index + 2 < pairs->end;
    if (pairs->expiry == EXPIRY_KEEP) {
        set_keeping_expiry(call, ref, key, index + 1, copies);
        CALL_PROPAGATE(call, SLICE("SET"), key, call->argv[index + 1], SLICE("KEEPTTL"));
        return;
    }
    store(call, ref, key, index + 1, pairs->expiry != EXPIRY_NONE, copies);
    if (pairs->expiry == EXPIRY_NONE)
        CALL_CHANGED(call, ref, key, EVENT_STRING, "set", 1);
    else
        end_expiring(call, ref, key, index + 1, pairs->expiry_ms);
}

static void set_all(struct call *call, const struct pairs *pairs) {
    for (size_t i = pairs->begin; i < pairs->end; i += 2) {
        struct keyref ref;
        call_prefetch_keys(call, i, pairs->end, 2);
        call_find_write(call, call->argv[i], &ref);
        set_pair(call, pairs, &ref, i);
    }
}

/* Returns whether each key exists, or none of them. O(keys). */
static bool all_exist(struct call *call, const struct pairs *pairs, bool exist) {
    for (size_t i = pairs->begin; i < pairs->end; i += 2)
        if ((call_find_write(call, call->argv[i], NULL) != NULL) != exist) return false;
    return true;
}

void mset_command(struct call *call) {
    if (call->argc % 2 == 0) {
        call_wrong_arity(call);
        return;
    }
    set_all(call, &(struct pairs){1, call->argc, EXPIRY_NONE, -1});
    reply_ok(call->reply);
}

void msetnx_command(struct call *call) {
    struct pairs pairs = {1, call->argc, EXPIRY_NONE, -1};
    if (call->argc % 2 == 0) {
        call_wrong_arity(call);
        return;
    }
    bool may = all_exist(call, &pairs, false);
    reply_integer(call->reply, may);
    if (may) set_all(call, &pairs);
}

/* Parses the options of MSETEX from argv[pairs->end] on. *exist gets whether all keys must exist
 * (1), none of them (0), or it does not matter (-1). Otherwise replies the error. */
static bool parse_msetex(struct call *call, struct pairs *pairs, int *exist) {
    struct set_options options = {0};
    for (size_t i = pairs->end; i < call->argc; i++) {
        bool is_other = slice_is(call->argv[i], "get") || string_condition(call->argv[i]);
        if (is_other || !parse_option(call, &i, &options)) return call_syntax_error(call);
    }
    pairs->expiry = options.expiry;
    *exist = options.only_new ? 0 : options.only_existing ? 1 : -1;
    if (call_is_repeated(call)) *exist = -1; /* the condition was met where it was first run */
    return options.expiry < EXPIRY_EX ||
           string_parse_expiry(call, options.expiry, options.expiry_index, &pairs->expiry_ms);
}

/* The command log gets older commands, which all servers know. */
void msetex_command(struct call *call) {
    static const char bad_count[] = "ERR invalid numkeys value or out of range";
    int64_t count;
    int exist = -1;
    if (!call_integer_in(call, 1, 1, INT32_MAX, &count, bad_count)) return;
    struct pairs pairs = {2, 2 + 2 * (size_t)count, EXPIRY_NONE, -1};
    if (pairs.end > call->argc) {
        call_syntax_error(call);
        return;
    }
    if (!parse_msetex(call, &pairs, &exist)) return;
    bool may = exist < 0 || all_exist(call, &pairs, exist);
    reply_integer(call->reply, may);
    if (!may) return;
    set_all(call, &pairs);
    if (pairs.expiry == EXPIRY_NONE)
        call_propagate_with(call, &SLICE("MSET"), 1, call->argv + 2, 2 * (size_t)count);
}
