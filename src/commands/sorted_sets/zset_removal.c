/* Members of a sorted set that are removed by a work (engine/work.h): for ZREMRANGEBY…, ZPOP… and
 * ZMPOP. */
#include "base/text/number.h"
#include "commands/sorted_sets/zset_common.h"
#include "engine/claim.h"
#include "engine/work.h"
#include "resp/made_reply.h"

struct removing {
    struct work work;
    struct zset_removal removal;
    struct made_reply popped;
};

static void reply_popped(struct removing *removing, const struct entry *entry) {
    const struct zset_removal *removal = &removing->removal;
    struct zset_span span = removal->span;
    struct reply *reply = &removing->popped.reply;
    struct zset_iter iter;
    struct zset_member member;
    if (removal->with_key) {
        reply_array(reply, 2);
        reply_bulk(reply, removing->work.claim->key.name);
    }
    zset_reply_header(reply, span.count, removal->form);
    zset_iter_start(&iter, entry, removal->forward ? span.from : span.from + span.count - 1,
                    removal->forward);
    for (uint64_t i = 0; i < span.count && zset_iter_next(&iter, &member); i++) {
        zset_reply_member(reply, &member, removal->form);
        made_reply_grow(&removing->popped);
    }
    made_reply_end(&removing->popped);
}

static void run_removing(struct work *work) {
    struct removing *removing = (struct removing *)work;
    struct keyref ref = claim_value(work->claim);
    if (removing->removal.pops) reply_popped(removing, ref.entry);
    zset_remove_range(&ref, removing->removal.span.from, removing->removal.span.count);
}

static void answer_removing(struct call *call, struct work *work) {
    struct removing *removing = (struct removing *)work;
    const struct zset_removal *removal = &removing->removal;
    struct slice key = work->claim->key.name;
    struct keyref ref = claim_value(work->claim);
    char count[INT64_TEXT_MAX];
    if (removal->pops)
        made_reply_pass(&removing->popped, call->reply);
    else
        reply_integer(call->reply, (int64_t)removal->span.count);
    CALL_CHANGED(call, &ref, key, EVENT_SORTED_SET, removal->event, removal->span.count);
    if (removal->command.len)
        CALL_PROPAGATE(call, removal->command, key,
                       number_text(count, (int64_t)removal->span.count));
}

static void free_removing(struct work *work) {
    made_reply_free(&((struct removing *)work)->popped);
}

/* Freeing large members takes time by their bytes. Those that are popped are left to the reply
 * (zset_defer_span), and freed later in any case. */
static uint64_t steps_of(const struct entry *entry, const struct zset_removal *removal) {
    enum { STEPS = 3, BYTES_PER_STEP = 128 }; /* for each member; that are freed */
    uint64_t count = removal->span.count;
    const struct skiplist *list = zset_skiplist(entry);
    if (removal->pops || !list) return STEPS * count;
    double part = (double)count / (double)skiplist_count(list);
    uint64_t freeing = (uint64_t)(part * (double)skiplist_allocated(list)) / BYTES_PER_STEP;
    return freeing > STEPS * count ? freeing : STEPS * count;
}

bool zset_remove_later(struct call *call, const struct entry *entry, struct slice key,
                       const struct zset_removal *removal) {
    static const struct work_kind kind = {run_removing, answer_removing, free_removing};
    bool is_part = removal->span.count < zset_length(entry);
    if (!is_part || !work_pays_changing(call, entry, steps_of(entry, removal))) return false;
    struct removing *removing = work_new(&kind, sizeof(*removing));
    removing->removal = *removal;
    made_reply_begin(&removing->popped, call->reply->protocol);
    work_begin_changing(call, &removing->work, key);
    return true;
}
