/* PFADD PFCOUNT PFMERGE PFDEBUG PFSELFTEST: strings as HyperLogLogs. */
#include "types/hyperloglog.h"
#include "base/memory/alloc.h"
#include "commands/commands.h"
#include "commands/common.h"
#include "commands/strings/string_common.h"

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
    struct slice *at;
    size_t count;
    bool has_dense;
    const struct entry *unusable; /* the first that is no HyperLogLog; then none follows it */
};

/* Finds the values, which last until one of them changes. Those that were named before change no
 * union, and are left out. The caller frees values->at. Replies nothing yet: which error is
 * reported depends on the order of the values. */
static void find_values(struct call *call, struct values *values) {
    *values = (struct values){.at = mem_alloc((call->argc - 1) * sizeof(*values->at))};
    for (size_t i = 1; i < call->argc && !values->unusable; i++) {
        struct slice *value = &values->at[values->count];
        const struct entry *entry = call_find_read(call, call->argv[i], NULL);
        if (!entry) continue;
        if (!is_usable(entry, value)) {
            values->unusable = entry;
            break;
        }
        values->has_dense = values->has_dense || hll_kind(*value) == HLL_IS_DENSE;
        values->count++;
    }
    bool of_first;
    if (values->count > 1)
        values->count = repeats_drop(values->at, sizeof(*values->at), offsetof(struct slice, ptr),
                                     values->count, &of_first);
}

/* Sets `registers` to the union of all values. Otherwise replies what is wrong with the first one
 * that cannot be used, and returns false. */
static bool read_union(struct call *call, uint8_t registers[HLL_REGISTER_BYTES], bool *has_dense) {
    struct values values;
    find_values(call, &values);
    *has_dense = values.has_dense;
    bool is_whole = hll_union(values.at, values.count, &call->limits->hyperloglog, registers);
    mem_free(values.at);
    if (!is_whole) return corrupt_error(call);
    return !values.unusable || fail_unusable(call, values.unusable);
}

/* --- PFCOUNT key [key …] --- */

static void count_union(struct call *call) {
    uint8_t registers[HLL_REGISTER_BYTES];
    struct hll_tally tally;
    uint64_t count;
    bool has_dense;
    if (!read_union(call, registers, &has_dense)) return;
    if (hll_registers_tally(registers, &tally, call->limits->hyperloglog.plain) &&
        hll_estimate(&tally, &count))
        reply_integer(call->reply, (int64_t)count);
    else
        corrupt_error(call);
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
 * The destination, if it exists, is a source, too. If one of them is dense, so is the result. */

void pfmerge_command(struct call *call) {
    uint8_t registers[HLL_REGISTER_BYTES];
    struct slice key = call->argv[1];
    struct keyref ref;
    bool has_dense;
    if (!read_union(call, registers, &has_dense) || !find_write(call, key, &ref)) return;
    if (!is_done(call,
                 hyperloglog_merge(&ref, key, registers, has_dense, &call->limits->hyperloglog)))
        return;
    CALL_CHANGED(call, &ref, key, EVENT_STRING, "pfadd", 1);
    reply_ok(call->reply);
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
