/* SPOP key [count]: takes random members out of a set. Many are taken by a work (engine/work.h). */
#include "base/hash/random.h"
#include "base/text/number.h"
#include "base/text/sds.h"
#include "commands/commands.h"
#include "commands/common.h"
#include "commands/sets/set_common.h"
#include "engine/call.h"
#include "engine/claim.h"
#include "engine/work.h"
#include "resp/made_reply.h"
#include "types/list.h"
#include "types/set.h"

/* --- One, or all --- */

static void pop_one(struct call *call, struct keyref *ref) {
    struct slice key = call->argv[1];
    sds member = set_take_one(ref, call_random(call));
    reply_bulk(call->reply, sds_slice(member));
    CALL_CHANGED(call, ref, key, EVENT_SET, "spop", 1);
    CALL_PROPAGATE(call, SLICE("SREM"), key, sds_slice(member));
    sds_free(member);
}

static void pop_all(struct call *call, struct keyref *ref) {
    struct slice key = call->argv[1];
    uint64_t length = set_length(ref->entry);
    reply_set(call->reply, length);
    set_reply_members(call, ref->entry);
    CALL_CHANGED(call, ref, key, EVENT_SET, "spop", length - 1);
    call_remove(call, ref, key, REMOVAL_POPPED);
}

/* --- Many --- */

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
    if (popped->count == 0) return;
    struct slice argv[2 + BATCH];
    argv[0] = SLICE("SREM");
    argv[1] = call->argv[1];
    for (size_t i = 0; i < popped->count; i++) argv[2 + i] = sds_slice(popped->members[i]);
    if (call->propagates) call_propagate_as(call, argv, 2 + popped->count);
    for (size_t i = 0; i < popped->count; i++) sds_free(popped->members[i]);
    popped->count = popped->bytes = 0;
}

/* Takes ownership of the member. */
static void add_popped(struct popped *popped, sds member) {
    popped->members[popped->count++] = member;
    popped->bytes += sds_len(member);
    if (popped->count == BATCH || popped->bytes >= BATCH_BYTES) propagate_popped(popped);
}

static void reply_popped(sds member, void *arg) {
    struct popped *popped = arg;
    reply_bulk(popped->call->reply, sds_slice(member));
    add_popped(popped, member);
}

static void pop_here(struct call *call, struct keyref *ref, uint64_t count) {
    struct popped popped; /* not zeroed: the members are many */
    popped.call = call;
    popped.count = popped.bytes = 0;
    reply_set(call->reply, count);
    set_take(ref, call_random(call), count, reply_popped, &popped);
    propagate_popped(&popped);
    CALL_CHANGED(call, ref, call->argv[1], EVENT_SET, "spop", count);
}

/* --- In another thread --- */

struct popping {
    struct work work;
    uint64_t count;
    struct random random;
    struct quicklist_limits limits;
    struct made_reply reply;
    struct quicklist *list; /* of the members that were taken out: for the command log */
    struct entry *taken;    /* in the end */
};

static void keep_taken(sds member, void *arg) {
    struct popping *popping = arg;
    struct listpack_element element;
    listpack_prepare(&element, sds_slice(member));
    quicklist_push(popping->list, LIST_TAIL, &element);
    reply_bulk(&popping->reply.reply, sds_slice(member));
    made_reply_grow(&popping->reply);
    sds_free(member);
}

static void run_popping(struct work *work) {
    struct popping *popping = (struct popping *)work;
    struct keyref ref = claim_value(work->claim);
    popping->list = quicklist_new(popping->limits);
    reply_set(&popping->reply.reply, popping->count);
    set_take(&ref, &popping->random, popping->count, keep_taken, popping);
    made_reply_end(&popping->reply);
    popping->taken = list_from_quicklist(SLICE(""), popping->list, &popping->limits);
}

static void propagate_taken(struct call *call, const struct entry *taken) {
    struct popped popped;
    struct quicklist_iter iter;
    const uint8_t *element;
    popped.call = call;
    popped.count = popped.bytes = 0;
    list_iter_start(&iter, taken, 0, LIST_FORWARD);
    while ((element = quicklist_iter_next(&iter))) {
        char digits[INT64_TEXT_MAX];
        struct listpack_value value;
        listpack_get(element, &value);
        add_popped(&popped, sds_new(listpack_value_text(&value, digits)));
    }
    quicklist_iter_end(&iter);
    propagate_popped(&popped);
}

static void answer_popping(struct call *call, struct work *work) {
    struct popping *popping = (struct popping *)work;
    struct keyref ref = claim_value(work->claim);
    made_reply_pass(&popping->reply, call->reply);
    if (call->propagates) propagate_taken(call, popping->taken);
    CALL_CHANGED(call, &ref, call->argv[1], EVENT_SET, "spop", popping->count);
}

static void free_popping(struct work *work) {
    struct popping *popping = (struct popping *)work;
    if (popping->taken) work_free_value(work, popping->taken);
    made_reply_free(&popping->reply);
}

static void pop_later(struct call *call, uint64_t count) {
    static const struct work_kind kind = {run_popping, answer_popping, free_popping};
    struct popping *popping = work_new(&kind, sizeof(*popping));
    popping->count = count;
    made_reply_begin(&popping->reply, call->reply->protocol);
    popping->limits = call->limits->list;
    popping->limits.compress_depth = 0; /* the list is read once */
    random_seed(&popping->random, random_next(call_random(call)));
    work_begin_changing(call, &popping->work, call->argv[1]);
}

/* --- SPOP key [count] --- */

static void pop_many(struct call *call, struct keyref *ref, uint64_t count) {
    enum { STEPS = 8 }; /* for each member */
    if (count >= WORK_MIN / STEPS && work_pays_changing(call, ref->entry, STEPS * count))
        pop_later(call, count);
    else
        pop_here(call, ref, count);
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
