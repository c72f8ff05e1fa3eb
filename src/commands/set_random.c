/* SPOP SRANDMEMBER: members chosen at random. */
#include "base/alloc.h"
#include "base/sds.h"
#include "commands/commands.h"
#include "commands/pop_options.h"
#include "commands/random_repeat.h"
#include "engine/call.h"
#include "types/set.h"

static void reply_member(struct slice member, void *arg) {
    reply_bulk(arg, member);
}

static void reply_all(struct reply *reply, const struct entry *entry) {
    struct set_iter iter;
    struct slice member;
    set_iter_start(&iter, entry);
    while (set_iter_next(&iter, &member)) reply_bulk(reply, member);
}

/* --- SRANDMEMBER key [count] --- */

static void reply_one(struct call *call, const struct entry *entry) {
    struct set_draws draws;
    set_draws_begin(&draws, entry);
    reply_bulk(call->reply, set_draws_next(&draws, call_random(call)));
    set_draws_end(&draws);
}

/* Any member may come more than once. */
static void reply_repeated(struct call *call, const struct entry *entry, uint64_t count) {
    struct set_draws draws;
    struct random_repeat repeat;
    if (!random_repeat_begin(&repeat, call, count)) return;
    reply_array(call->reply, count);
    set_draws_begin(&draws, entry);
    while (random_repeat_next(&repeat))
        reply_bulk(call->reply, set_draws_next(&draws, call_random(call)));
    set_draws_end(&draws);
}

static void reply_different(struct call *call, const struct entry *entry, uint64_t count) {
    uint64_t length = set_length(entry);
    reply_array(call->reply, count < length ? count : length);
    if (count >= length)
        reply_all(call->reply, entry);
    else
        set_sample(entry, call_random(call), count, reply_member, call->reply);
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
    else if (!ref.entry)
        reply_array(call->reply, 0);
    else if (count < 0)
        reply_repeated(call, ref.entry, (uint64_t)-count);
    else
        reply_different(call, ref.entry, (uint64_t)count);
}

/* --- SPOP key [count] --- */

static void pop_one(struct call *call, struct keyref *ref) {
    struct slice key = call->argv[1];
    sds member = set_take_one(ref, call_random(call));
    reply_bulk(call->reply, sds_slice(member));
    call_touched(call, ref, key, EVENT_SET, "spop", 1);
    CALL_PROPAGATE(call, SLICE("SREM"), key, sds_slice(member));
    sds_free(member);
}

static void pop_all(struct call *call, struct keyref *ref) {
    struct slice key = call->argv[1];
    uint64_t length = set_length(ref->entry);
    reply_set(call->reply, length);
    reply_all(call->reply, ref->entry);
    call_touched(call, ref, key, EVENT_SET, "spop", length - 1);
    call_unlink(call, ref, key);
    CALL_PROPAGATE(call, call_deletion_name(call, CALL_EMPTIED), key);
}

/* How many members one SREM names: as many as Redis gives it, but not of many bytes, because they
 * are copied. */
enum { BATCH = 1024, BATCH_BYTES = 1024 * 1024 };

/* Members that were taken out and are not propagated yet. */
struct popped {
    struct call *call;
    size_t count;
    size_t bytes;
    sds members[BATCH];
};

static void propagate_popped(struct popped *popped) {
    struct call *call = popped->call;
    struct slice argv[2 + BATCH];
    argv[0] = SLICE("SREM");
    argv[1] = call->argv[1];
    for (size_t i = 0; i < popped->count; i++) argv[2 + i] = sds_slice(popped->members[i]);
    if (call->propagates) call_propagate_as(call, argv, 2 + popped->count);
    for (size_t i = 0; i < popped->count; i++) sds_free(popped->members[i]);
    popped->count = popped->bytes = 0;
}

static void reply_popped(sds member, void *arg) {
    struct popped *popped = arg;
    reply_bulk(popped->call->reply, sds_slice(member));
    popped->members[popped->count++] = member;
    popped->bytes += sds_len(member);
    if (popped->count == BATCH || popped->bytes >= BATCH_BYTES) propagate_popped(popped);
}

static void pop_many(struct call *call, struct keyref *ref, uint64_t count) {
    struct popped popped; /* not zeroed: the members are many */
    popped.call = call;
    popped.count = popped.bytes = 0;
    reply_set(call->reply, count);
    set_take(ref, call_random(call), count, reply_popped, &popped);
    if (popped.count) propagate_popped(&popped);
    call_touched(call, ref, call->argv[1], EVENT_SET, "spop", count);
}

void spop_command(struct call *call) {
    int64_t count = 0;
    struct keyref ref;
    bool has_count = call->argc == 3;
    if (!pop_count_parse(call, &count)) return;
    if (!call_find_typed_write(call, call->argv[1], VALUE_SET, &ref)) return;
    if (!has_count && !ref.entry)
        reply_null(call->reply);
    else if (!has_count)
        pop_one(call, &ref);
    else if (!ref.entry || count == 0)
        reply_set(call->reply, 0);
    else if ((uint64_t)count >= set_length(ref.entry))
        pop_all(call, &ref);
    else
        pop_many(call, &ref, (uint64_t)count);
}
