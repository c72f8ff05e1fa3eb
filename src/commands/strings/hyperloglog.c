/* PFADD PFCOUNT PFMERGE PFDEBUG PFSELFTEST: strings as HyperLogLogs. PFCOUNT and PFMERGE of many
 * keys are works (engine/work.h). */
#include "types/hyperloglog.h"
#include "base/memory/alloc.h"
#include "commands/commands.h"
#include "commands/common.h"
#include "commands/strings/captured_texts.h"
#include "commands/strings/string_common.h"
#include "engine/work.h"

static bool corrupt_error(struct call *call) {
    return reply_error(call->reply, "INVALIDOBJ Corrupted HLL object detected");
}

/* Returns whether it is done; otherwise replies the error. */
static bool is_done(struct call *call, enum hyperloglog_outcome outcome) {
    if (outcome == HYPERLOGLOG_CORRUPT) corrupt_error(call);
    if (outcome == HYPERLOGLOG_NO_MEMORY) call_too_long(call);
    return outcome == HYPERLOGLOG_DONE;
}

/* Returns whether the value is a HyperLogLog, and sets *value to its bytes. */
static bool is_usable(const struct entry *entry, struct slice *value) {
    return entry_type(entry) == VALUE_STRING && hyperloglog_bytes(entry, value);
}

/* Replies why a value is not usable. */
static bool fail_unusable(struct call *call, const struct entry *entry) {
    return call_check_type(call, entry, VALUE_STRING) &&
           reply_error(call->reply, "WRONGTYPE Key is not a valid HyperLogLog string value.");
}

/* Returns whether the value is a HyperLogLog, and sets *value to its bytes; otherwise replies the
 * error. */
static bool read_value(struct call *call, const struct entry *entry, struct slice *value) {
    return is_usable(entry, value) || fail_unusable(call, entry);
}

/* Finds a key to change it. Returns whether it holds a HyperLogLog, or does not exist. */
static bool find_write(struct call *call, struct slice key, struct keyref *ref) {
    struct slice value;
    return !call_find_write(call, key, ref) || read_value(call, ref->entry, &value);
}

/* --- PFADD key [element …] --- */

void pfadd_command(struct call *call) {
    struct slice key = call->argv[1];
    struct keyref ref;
    uint64_t changes;
    if (!find_write(call, key, &ref)) return;
    if (!is_done(call, hyperloglog_add(&ref, key, call->argv + 2, call->argc - 2,
                                       &call->limits->hyperloglog, &changes)))
        return;
    reply_integer(call->reply, changes > 0);
    if (changes) CALL_CHANGED(call, &ref, key, EVENT_STRING, "pfadd", changes);
}

/* --- Values of several keys --- */

/* The values of argv[1] and all that follow, without those of missing keys. */
struct values {
    struct value {
        struct slice bytes;
        struct entry *entry;
        bool is_dense;
    } * at;
    size_t count;
    size_t dense;                 /* values */
    size_t sparse_bytes;          /* of all others */
    const struct entry *unusable; /* the first that is no HyperLogLog; then none follows it */
};

static void count_values(struct values *values) {
    for (size_t i = 0; i < values->count; i++) {
        const struct value *value = &values->at[i];
        values->dense += value->is_dense;
        values->sparse_bytes += value->is_dense ? 0 : value->bytes.len;
    }
}

/* Finds the values, which last until one of them changes. Those that were named before change no
 * union, and are left out. The caller frees values->at. Replies nothing yet: which error is
 * reported depends on the order of the values. */
static void find_values(struct call *call, struct values *values) {
    *values = (struct values){.at = mem_alloc((call->argc - 1) * sizeof(*values->at))};
    for (size_t i = 1; i < call->argc && !values->unusable; i++) {
        struct value *value = &values->at[values->count];
        value->entry = call_find_read(call, call->argv[i], NULL);
        if (!value->entry) continue;
        if (!is_usable(value->entry, &value->bytes)) {
            values->unusable = value->entry;
            break;
        }
        value->is_dense = hll_kind(value->bytes) == HLL_IS_DENSE;
        values->count++;
    }
    bool of_first;
    if (values->count > 1)
        values->count = repeats_drop(values->at, sizeof(*values->at),
                                     offsetof(struct value, bytes.ptr), values->count, &of_first);
    count_values(values);
}

/* Returns whether all values can be used; otherwise replies what is wrong with the first that can
 * not. */
static bool check_values(struct call *call, const struct values *values) {
    for (size_t i = 0; i < values->count; i++)
        if (!hll_is_whole(values->at[i].bytes)) return corrupt_error(call);
    return !values->unusable || fail_unusable(call, values->unusable);
}

/* Makes the union of the values. Returns false when one is corrupt. */
static bool unite(const struct values *values, const struct hll_limits *limits,
                  struct hll_union *all) {
    struct slice some[HLL_UNION_GROUP];
    hll_union_begin(all, limits);
    for (size_t i = 0; i < values->count;) {
        size_t count = 0;
        while (i < values->count && count < HLL_UNION_GROUP) some[count++] = values->at[i++].bytes;
        if (!hll_union_add(all, some, count)) return false;
    }
    hll_union_end(all);
    return true;
}

/* As work_pays wants them: a dense value takes 2 µs, and so does a sparse one of 1,200 bytes. */
static uint64_t uniting_steps(const struct values *values) {
    enum { DENSE_PER_STEP = 320, SPARSE_PER_STEP = 30 };
    return values->dense * HLL_DENSE / DENSE_PER_STEP + values->sparse_bytes / SPARSE_PER_STEP;
}

/* --- In another thread --- */

struct uniting {
    struct work work;
    struct captured_texts values;
    struct hll_limits limits;
    struct hll_union all;
    bool has_dense;
    bool is_whole;     /* no value is corrupt */
    int64_t expiry_ms; /* of the destination */
};

/* Adds the next values, from *next on. Captured ones are copied to `buffer`. Returns false when one
 * is corrupt. */
enum { SOME = 8 }; /* so that copies are still in the cache when they are merged */
static bool add_some(struct uniting *uniting, size_t *next, char buffer[SOME * HLL_VALUE_MAX]) {
    const struct captured_texts *values = &uniting->values;
    struct slice some[SOME];
    size_t count = 0;
    for (; *next < values->count && count < SOME; ++*next) {
        struct slice value = values->texts[*next];
        struct capture *capture = values->captures[*next];
        if (capture && value.len > HLL_VALUE_MAX) return false;
        if (capture) {
            text_capture_read(capture, 0, buffer, value.len);
            value.ptr = buffer;
            buffer += value.len;
        }
        some[count++] = value;
    }
    return hll_union_add(&uniting->all, some, count);
}

static void run_uniting(struct work *work) {
    struct uniting *uniting = (struct uniting *)work;
    char *buffer = mem_alloc(SOME * HLL_VALUE_MAX);
    size_t next = 0;
    hll_union_begin(&uniting->all, &uniting->limits);
    do {
        uniting->is_whole = add_some(uniting, &next, buffer);
    } while (uniting->is_whole && next < uniting->values.count && !work_is_cancelled(work));
    hll_union_end(&uniting->all);
    mem_free(buffer);
}

static void free_uniting(struct work *work) {
    captured_texts_end(work, &((struct uniting *)work)->values);
}

static struct uniting *uniting_new(const struct work_kind *kind, struct call *call,
                                   const struct values *values) {
    struct uniting *uniting = work_new(kind, sizeof(*uniting));
    uniting->limits = call->limits->hyperloglog;
    uniting->has_dense = values->dense > 0;
    captured_texts_begin(&uniting->values, values->count);
    for (size_t i = 0; i < values->count; i++)
        captured_texts_add(call, &uniting->values, values->at[i].entry, values->at[i].bytes);
    return uniting;
}

/* --- PFCOUNT key [key …] --- */

static void reply_count(struct call *call, const struct hll_union *all) {
    struct hll_tally tally;
    uint64_t count;
    if (hll_registers_tally(all->registers, &tally, all->plain) && hll_estimate(&tally, &count))
        reply_integer(call->reply, (int64_t)count);
    else
        corrupt_error(call);
}

static void answer_count(struct call *call, struct work *work) {
    const struct uniting *uniting = (struct uniting *)work;
    if (uniting->is_whole)
        reply_count(call, &uniting->all);
    else
        corrupt_error(call);
}

static void count_union(struct call *call) {
    static const struct work_kind kind = {run_uniting, answer_count, free_uniting};
    struct values values;
    struct hll_union all;
    find_values(call, &values);
    if (values.unusable)
        check_values(call, &values);
    else if (work_pays(call, uniting_steps(&values)))
        work_begin(call, &uniting_new(&kind, call, &values)->work);
    else if (unite(&values, &call->limits->hyperloglog, &all))
        reply_count(call, &all);
    else
        corrupt_error(call);
    mem_free(values.at);
}

/* Stores the count with the value, and propagates that, so that replicas store it, too. */
static void keep_count(struct call *call, struct keyref *ref, uint64_t count) {
    struct slice key = call->argv[1];
    keyspace_before_change(ref);
    if (hyperloglog_keep_count(ref, key, count) != HYPERLOGLOG_DONE) return;
    CALL_CHANGED(call, ref, key, EVENT_NONE, NULL, 1);
    if (call->propagates) call_propagate_as(call, call->argv, call->argc);
}

static void count_one(struct call *call) {
    struct keyref ref;
    struct slice value;
    uint64_t count = 0;
    if (call_find_read(call, call->argv[1], &ref)) {
        if (!read_value(call, ref.entry, &value)) return;
        if (!hll_cached_count(value, &count)) {
            if (!hll_count(value, &call->limits->hyperloglog, &count)) {
                corrupt_error(call);
                return;
            }
            if (call_may_keep_result(call)) keep_count(call, &ref, count);
        }
    }
    reply_integer(call->reply, (int64_t)count);
}

void pfcount_command(struct call *call) {
    if (call->argc == 2)
        count_one(call);
    else
        count_union(call);
}

/* --- PFMERGE destination [source …] ---
 *
 * The destination, if it exists, is a source, too. If one of them is dense, so is the result. What
 * is corrupt is found before a work begins: the command is in the command log then. */

/* Merges the union into the destination, which gets this expiry unless it is -1. */
static void merge(struct call *call, const struct hll_union *all, bool has_dense,
                  const struct hll_limits *limits, int64_t expiry_ms) {
    struct slice key = call->argv[1];
    struct keyref ref;
    call_find_write(call, key, &ref);
    if (!is_done(call, hyperloglog_merge(&ref, key, all->registers, has_dense, limits))) return;
    if (expiry_ms >= 0) call_set_expiry(call, &ref, expiry_ms);
    CALL_CHANGED(call, &ref, key, EVENT_STRING, "pfadd", 1);
    reply_ok(call->reply);
}

/* The claim has taken the destination's expiry, which is kept, even if it has come: the command log
 * gets the deletion after this command. */
static void answer_merge(struct call *call, struct work *work) {
    const struct uniting *uniting = (struct uniting *)work;
    merge(call, &uniting->all, uniting->has_dense, &uniting->limits, uniting->expiry_ms);
}

static void merge_later(struct call *call, const struct values *values) {
    static const struct work_kind kind = {run_uniting, answer_merge, free_uniting};
    struct keyref ref;
    struct uniting *uniting = uniting_new(&kind, call, values);
    uniting->expiry_ms = call_find(call, call->argv[1], 0, &ref) ? entry_expiry(ref.entry) : -1;
    work_begin_storing(call, &uniting->work, call->argv[1]);
}

static void merge_now(struct call *call, const struct values *values) {
    const struct hll_limits *limits = &call->limits->hyperloglog;
    struct hll_union all;
    if (unite(values, limits, &all))
        merge(call, &all, values->dense > 0, limits, -1);
    else
        corrupt_error(call);
}

void pfmerge_command(struct call *call) {
    struct values values;
    find_values(call, &values);
    if (values.unusable)
        check_values(call, &values);
    else if (!work_pays_writing(call, uniting_steps(&values)))
        merge_now(call, &values);
    else if (check_values(call, &values))
        merge_later(call, &values);
    mem_free(values.at);
}

/* --- PFDEBUG DECODE | ENCODING | GETREG | TODENSE key, SIMD ON | OFF --- */

/* A value that an operator looks at. */
struct inspected {
    struct keyref ref;
    struct slice value;
};

static void reply_encoding(struct call *call, struct inspected *inspected) {
    bool is_dense = hll_kind(inspected->value) == HLL_IS_DENSE;
    reply_status(call->reply, is_dense ? SLICE("dense") : SLICE("sparse"));
}

static void reply_runs(struct call *call, struct inspected *inspected) {
    if (hll_kind(inspected->value) == HLL_IS_DENSE) {
        reply_error(call->reply, "ERR HLL encoding is not sparse");
        return;
    }
    sds text = hll_append_runs(sds_new(SLICE("")), inspected->value);
    if (!text) {
        corrupt_error(call);
        return;
    }
    reply_bulk(call->reply, sds_slice(text));
    sds_free(text);
}

/* Makes the value dense and sets *changed to whether it was not. Returns false after an error. */
static bool make_dense(struct call *call, struct inspected *inspected, bool *changed) {
    struct slice key = call->argv[2];
    if (!is_done(call, hyperloglog_make_dense(&inspected->ref, key, changed))) return false;
    if (*changed) CALL_CHANGED(call, &inspected->ref, key, EVENT_NONE, NULL, 1);
    return true;
}

static void reply_made_dense(struct call *call, struct inspected *inspected) {
    bool changed;
    if (make_dense(call, inspected, &changed)) reply_integer(call->reply, changed);
}

static void reply_registers(struct call *call, struct inspected *inspected) {
    bool changed;
    if (!make_dense(call, inspected, &changed)) return;
    hyperloglog_bytes(inspected->ref.entry, &inspected->value);
    const uint8_t *registers = (const uint8_t *)inspected->value.ptr + HLL_HEADER;
    reply_array(call->reply, HLL_REGISTERS);
    for (size_t i = 0; i < HLL_REGISTERS; i++)
        reply_integer(call->reply, (int64_t)hll_register_get(registers, i));
}

/* Turns the use of special instructions on or off: the results stay the same. */
static void switch_simd(struct call *call) {
    bool is_on = slice_is(call->argv[2], "on");
    if (!is_on && !slice_is(call->argv[2], "off")) {
        reply_error(call->reply, "ERR Argument must be ON or OFF");
        return;
    }
    call_set_plain_hyperloglogs(call, !is_on);
    reply_status(call->reply, is_on ? SLICE("enabled") : SLICE("disabled"));
}

static void unknown_subcommand(struct call *call) {
    struct slice name = call->argv[1];
    sds error = sds_new(SLICE("ERR Unknown PFDEBUG subcommand '"));
    error = sds_append(sds_append(error, name), SLICE("'"));
    reply_error_text(call->reply, sds_slice(error));
    sds_free(error);
}

void pfdebug_command(struct call *call) {
    static const struct {
        const char *name;
        void (*run)(struct call *call, struct inspected *inspected);
    } subcommands[] = {{"decode", reply_runs},
                       {"encoding", reply_encoding},
                       {"getreg", reply_registers},
                       {"todense", reply_made_dense}};
    struct inspected inspected;
    if (slice_is(call->argv[1], "simd")) {
        switch_simd(call);
        return;
    }
    if (!call_find_write(call, call->argv[2], &inspected.ref)) {
        reply_error(call->reply, "ERR The specified key does not exist");
        return;
    }
    if (!read_value(call, inspected.ref.entry, &inspected.value)) return;
    for (size_t i = 0; i < sizeof(subcommands) / sizeof(subcommands[0]); i++) {
        if (!slice_is(call->argv[1], subcommands[i].name)) continue;
        subcommands[i].run(call, &inspected);
        return;
    }
    unknown_subcommand(call);
}

void pfselftest_command(struct call *call) {
    const char *failure = hll_self_test();
    if (failure)
        reply_error_format(call->reply, "TESTFAILED %s", failure);
    else
        reply_ok(call->reply);
}
