/* SADD SREM SMOVE, SISMEMBER SMISMEMBER SCARD SMEMBERS SSCAN: members of one set by their names. */
#include "commands/commands.h"
#include "commands/scan_common.h"
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
    if (added) call_touched(call, &ref, key, EVENT_SET, "sadd", added);
}

void srem_command(struct call *call) {
    struct slice key = call->argv[1];
    uint64_t removed = 0;
    struct keyref ref;
    if (!call_find_typed_write(call, key, VALUE_SET, &ref)) return;
    for (size_t i = 2; ref.entry && i < call->argc && set_length(ref.entry); i++)
        removed += set_remove(&ref, call->argv[i]);
    reply_integer(call->reply, (int64_t)removed);
    if (removed) call_touched(call, &ref, key, EVENT_SET, "srem", removed);
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
    call_touched(call, &ref, key, EVENT_SET, "sadd", 1);
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
    call_touched(call, &ref, key, EVENT_SET, "srem", 1);
    add_to_destination(call, destination, member);
}

/* --- Reading --- */

void sismember_command(struct call *call) {
    struct keyref ref;
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

void scard_command(struct call *call) {
    struct keyref ref;
    if (!call_find_typed_read(call, call->argv[1], VALUE_SET, &ref)) return;
    reply_integer(call->reply, ref.entry ? (int64_t)set_length(ref.entry) : 0);
}

void smembers_command(struct call *call) {
    struct keyref ref;
    struct set_iter iter;
    struct text_batch batch;
    if (!call_find_typed_read(call, call->argv[1], VALUE_SET, &ref)) return;
    reply_set(call->reply, ref.entry ? set_length(ref.entry) : 0);
    if (!ref.entry) return;
    set_iter_start(&iter, ref.entry);
    while (set_iter_next_batch(&iter, &batch)) reply_bulks(call->reply, batch.texts, batch.count);
}

/* --- SSCAN key cursor [MATCH pattern] [COUNT count] --- */

struct set_scan {
    struct scan scan; /* the first member: steps get its address */
    const struct entry *entry;
};

static void scan_visit(struct slice member, void *arg) {
    struct scan *scan = arg;
    scan->visited++;
    if (scan_matches(scan, member)) scan_reply(scan, member);
}

static uint64_t scan_step(struct scan *scan) {
    const struct set_scan *set = (const struct set_scan *)scan;
    return set_scan(set->entry, scan->cursor, scan_visit, scan);
}

void sscan_command(struct call *call) {
    struct set_scan set;
    struct keyref ref;
    if (!scan_begin(&set.scan, call, 2)) return;
    if (!call_find_typed_read(call, call->argv[1], VALUE_SET, &ref)) return;
    set.entry = ref.entry;
    if (!ref.entry) {
        scan_reply_empty(call);
        return;
    }
    for (size_t i = 3; i < call->argc; i += 2)
        if (!scan_parse_option(&set.scan, i)) return;
    scan_run(&set.scan, scan_step);
}
