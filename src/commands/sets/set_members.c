/* SADD SREM SMOVE, SISMEMBER SMISMEMBER SCARD SMEMBERS SSCAN, SRANDMEMBER: members of one set. */
#include "base/memory/alloc.h"
#include "base/text/sds.h"
#include "commands/choice.h"
#include "commands/commands.h"
#include "commands/common.h"
#include "commands/deferred_records.h"
#include "commands/sets/set_common.h"
#include "engine/call.h"
#include "types/set.h"

/* --- Changing --- */

void sadd_command(struct call *call) {
    const struct set_limits *limits = &call->limits->set;
    struct slice key = call->argv[1];
    size_t expected = call->argc - 2, at = 2;
    uint64_t added = 0;
    struct keyref ref;
    if (!call_find_typed_write(call, key, VALUE_SET, &ref)) return;
    if (ref.entry) {
        set_expect(&ref, expected, limits);
    } else {
        set_create(&ref, key, call->argv[at++], expected, limits);
        added++;
    }
    for (; at < call->argc; at++) added += set_add(&ref, call->argv[at], limits);
    reply_integer(call->reply, (int64_t)added);
    if (added) CALL_CHANGED(call, &ref, key, EVENT_SET, "sadd", added);
}

void srem_command(struct call *call) {
    struct slice key = call->argv[1];
    uint64_t removed = 0;
    struct keyref ref;
    if (!call_find_typed_write(call, key, VALUE_SET, &ref)) return;
    for (size_t i = 2; ref.entry && i < call->argc && set_length(ref.entry); i++)
        removed += set_remove(&ref, call->argv[i]);
    reply_integer(call->reply, (int64_t)removed);
    if (removed) CALL_CHANGED(call, &ref, key, EVENT_SET, "srem", removed);
}

/* The member is not in the source any more. */
static void add_to_destination(struct call *call, struct slice key, struct slice member) {
    const struct set_limits *limits = &call->limits->set;
    struct keyref ref;
    call_find_write(call, key, &ref);
    if (!ref.entry)
        set_create(&ref, key, member, 1, limits);
    else if (!set_add(&ref, member, limits))
        return;
    CALL_CHANGED(call, &ref, key, EVENT_SET, "sadd", 1);
}

void smove_command(struct call *call) {
    struct slice key = call->argv[1], destination = call->argv[2], member = call->argv[3];
    struct keyref ref;
    call_find_write(call, key, &ref);
    if (!ref.entry) {
        reply_integer(call->reply, 0);
        return;
    }
    const struct entry *target = call_find_write(call, destination, NULL);
    if (!call_check_type(call, ref.entry, VALUE_SET)) return;
    if (target && !call_check_type(call, target, VALUE_SET)) return;
    call_find_write(call, key, &ref); /* an expired destination may have been deleted */
    if (slice_equal(key, destination)) {
        reply_integer(call->reply, set_contains(ref.entry, member));
        return;
    }
    bool moves = set_remove(&ref, member);
    reply_integer(call->reply, moves);
    if (!moves) return;
    CALL_CHANGED(call, &ref, key, EVENT_SET, "srem", 1);
    add_to_destination(call, destination, member);
}

/* --- Reading --- */

/* Not inlined because the one without an option would cost more. */
static __attribute__((noinline)) void sismember_with_option(struct call *call) {
    struct keyref ref;
    if (call->argc > 4 || !slice_is(call->argv[3], "xx"))
        call_syntax_error(call);
    else if (call_find_typed_read(call, call->argv[1], VALUE_SET, &ref))
        reply_integer(call->reply, ref.entry ? set_contains(ref.entry, call->argv[2]) : -1);
}

/* SISMEMBER key member [XX]: with XX, -1 says that there is no key. */
void sismember_command(struct call *call) {
    struct keyref ref;
    if (__builtin_expect(call->argc > 3, 0)) {
        sismember_with_option(call);
        return;
    }
    if (!call_find_typed_read(call, call->argv[1], VALUE_SET, &ref)) return;
    reply_integer(call->reply, ref.entry && set_contains(ref.entry, call->argv[2]));
}

void smismember_command(struct call *call) {
    struct keyref ref;
    if (!call_find_typed_read(call, call->argv[1], VALUE_SET, &ref)) return;
    reply_array(call->reply, call->argc - 2);
    for (size_t i = 2; i < call->argc; i++)
        reply_integer(call->reply, ref.entry && set_contains(ref.entry, call->argv[i]));
}

COMMAND_FORM(scard_command, reply_length, VALUE_SET, set_length)

void set_reply_members(struct call *call, struct entry *entry) {
    struct set_iter iter;
    struct text_batch batch;
    if (deferred_records_reply(call, entry, RECORD_FIELD, 0, set_length(entry))) return;
    set_iter_start(&iter, entry);
    while (set_iter_next_batch(&iter, &batch)) reply_bulks(call->reply, batch.texts, batch.count);
}

void smembers_command(struct call *call) {
    struct keyref ref;
    if (!call_find_typed_read(call, call->argv[1], VALUE_SET, &ref)) return;
    reply_set(call->reply, ref.entry ? set_length(ref.entry) : 0);
    if (ref.entry) set_reply_members(call, ref.entry);
}

/* --- SSCAN key cursor [MATCH pattern] [COUNT count] --- */

static void scan_visit(struct slice member, void *arg) {
    struct scan *scan = arg;
    scan->visited++;
    if (scan_matches(scan, member)) scan_reply(scan, member);
}

static uint64_t scan_step(struct scan *scan) {
    return set_scan(scan->entry, scan->cursor, scan_visit, scan);
}

COMMAND_FORM(sscan_command, scan_value, VALUE_SET, NULL, scan_step)

/* --- SRANDMEMBER key [count] --- */

static void reply_one(struct call *call, const struct entry *entry) {
    struct set_draws draws;
    set_draws_begin(&draws, entry);
    reply_bulk(call->reply, set_draws_next(&draws, call_random(call)));
    set_draws_end(&draws);
}

static void reply_repeated(struct choice *choice) {
    struct set_draws draws;
    reply_array(choice->reply, choice->count);
    set_draws_begin(&draws, choice->value.entry);
    for (uint64_t i = 0; i < choice->count && choice_goes_on(choice); i++)
        reply_bulk(choice->reply, set_draws_next(&draws, choice->random));
    set_draws_end(&draws);
}

static bool reply_member(struct slice member, void *arg) {
    struct choice *choice = arg;
    if (!choice_goes_on(choice)) return false;
    reply_bulk(choice->reply, member);
    return true;
}

static void reply_different(struct choice *choice) {
    reply_array(choice->reply, choice->count);
    set_sample(choice->value.entry, choice->random, choice->count, reply_member, choice);
}

static void reply_all(struct call *call, struct entry *entry) {
    reply_array(call->reply, set_length(entry));
    set_reply_members(call, entry);
}

static void reply_some(struct call *call, struct entry *entry, int64_t count) {
    static const struct choice_type type = {reply_repeated, reply_different};
    struct choice choice = {.type = &type, .value = {.entry = entry}, .length = set_length(entry)};
    choice_reply(call, &choice, count);
}

void srandmember_command(struct call *call) {
    int64_t count = 0;
    struct keyref ref;
    bool has_count = call->argc == 3;
    if (call->argc > 3) {
        call_syntax_error(call);
        return;
    }
    if (has_count && !call_integer_in(call, 2, -INT64_MAX, INT64_MAX, &count, NULL)) return;
    if (!call_find_typed_read(call, call->argv[1], VALUE_SET, &ref)) return;
    if (!has_count && !ref.entry)
        reply_null(call->reply);
    else if (!has_count)
        reply_one(call, ref.entry);
    else if (!ref.entry || count == 0)
        reply_array(call->reply, 0);
    else if (count > 0 && (uint64_t)count >= set_length(ref.entry))
        reply_all(call, ref.entry);
    else
        reply_some(call, ref.entry, count);
}
