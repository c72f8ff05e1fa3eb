/* XPENDING XCLAIM XAUTOCLAIM XNACK XACK */
#include "base/memory/alloc.h"
#include "commands/commands.h"
#include "commands/streams/stream_common.h"

/* --- XPENDING key group --- */

static void reply_summary(struct reply *reply, const struct consumer_group *group) {
    struct pending_entry first, last;
    size_t mark, count = 0;
    reply_array(reply, 4);
    reply_integer(reply, (int64_t)group->pending.length);
    if (!pendinglist_edge(&group->pending, false, &first)) {
        reply_null(reply);
        reply_null(reply);
        reply_null_array(reply);
        return;
    }
    pendinglist_edge(&group->pending, true, &last);
    stream_reply_id(reply, first.id);
    stream_reply_id(reply, last.id);
    mark = reply_begin(reply);
    for (size_t i = 0; i < group->consumers.count; i++) {
        const struct consumer *consumer = consumer_group_at(group, i);
        if (consumer->ids.length == 0) continue;
        count++;
        reply_array(reply, 2);
        reply_bulk(reply, consumer->name);
        reply_bulk_integer(reply, (int64_t)consumer->ids.length);
    }
    reply_array_end(reply, mark, count);
}

/* --- XPENDING key group [IDLE min-idle-time] start end count [consumer] --- */

struct listing {
    int64_t min_idle_ms;
    struct stream_id first, last;
    int64_t count;
    bool has_consumer;
    struct slice consumer;
};

static bool parse_listing(struct call *call, struct listing *listing) {
    size_t at = 3;
    *listing = (struct listing){0};
    if (call->argc < 6 || call->argc > 9) return call_syntax_error(call);
    if (slice_is(call->argv[3], "idle")) {
        if (!call_integer(call, 4, &listing->min_idle_ms)) return false;
        if (call->argc < 8) return call_syntax_error(call);
        at = 5;
    }
    if (!call_integer(call, at + 2, &listing->count) ||
        !stream_parse_bound(call, at, false, &listing->first) ||
        !stream_parse_bound(call, at + 1, true, &listing->last))
        return false;
    listing->has_consumer = call->argc > at + 3; /* what follows it without IDLE is ignored */
    if (listing->has_consumer) listing->consumer = call->argv[at + 3];
    return true;
}

static void reply_pending(struct reply *reply, const struct consumer_group *group,
                          const struct pending_entry *entry, int64_t idle_ms) {
    const struct consumer *consumer = consumer_group_numbered(group, entry->consumer);
    reply_array(reply, 4);
    stream_reply_id(reply, entry->id);
    reply_bulk(reply, consumer ? consumer->name : SLICE(""));
    reply_integer(reply, !consumer ? -1 : idle_ms < 0 ? 0 : idle_ms);
    reply_integer(reply, (int64_t)entry->deliveries);
}

/* The next pending entry of the group from this id on that was delivered at `latest_ms` or
 * before. */
static bool next_of_group(const struct consumer_group *group, struct stream_id from,
                          int64_t latest_ms, struct pending_entry *entry) {
    struct pending_iter iter;
    pending_iter_start(&iter, &group->pending, from);
    return pending_iter_next_old(&iter, latest_ms, entry);
}

/* The same of a consumer, whose ids have no times: from its next id the group goes on to what is
 * old, and from there it to its next id. So neither what others have nor what is young is looked
 * through one by one. */
static bool next_of_consumer(const struct consumer_group *group, const struct consumer *consumer,
                             const struct listing *listing, int64_t latest_ms,
                             struct pending_entry *entry) {
    struct pending_iter iter;
    struct pending_entry id = {.id = listing->first};
    do {
        pending_iter_start(&iter, &consumer->ids, id.id);
        if (!pending_iter_next(&iter, &id) || stream_id_compare(id.id, listing->last) > 0 ||
            !next_of_group(group, id.id, latest_ms, entry))
            return false;
        id = *entry;
    } while (entry->consumer != consumer->number);
    return true;
}

static void reply_listing(struct call *call, const struct consumer_group *group,
                          struct listing listing) {
    struct pending_entry entry;
    size_t mark = reply_begin(call->reply);
    int64_t count = 0;
    const struct consumer *consumer = NULL;
    if (listing.has_consumer) consumer = consumer_group_find(group, listing.consumer);
    bool has_more = consumer || !listing.has_consumer;
    int64_t latest_ms = listing.min_idle_ms > 0 ? call->now_ms - listing.min_idle_ms : INT64_MAX;
    while (has_more && count < listing.count &&
           (consumer ? next_of_consumer(group, consumer, &listing, latest_ms, &entry)
                     : next_of_group(group, listing.first, latest_ms, &entry)) &&
           stream_id_compare(entry.id, listing.last) <= 0) {
        reply_pending(call->reply, group, &entry, call->now_ms - entry.delivered_ms);
        count++;
        listing.first = entry.id;
        has_more = stream_id_increment(&listing.first);
    }
    reply_array_end(call->reply, mark, (size_t)count);
}

void xpending_command(struct call *call) {
    struct listing listing;
    struct group_ref ref;
    bool is_summary = call->argc == 3;
    if (!is_summary && !parse_listing(call, &listing)) return;
    if (!group_need(call, 1, 2, false, &ref)) return;
    if (is_summary)
        reply_summary(call->reply, ref.group);
    else
        reply_listing(call, ref.group, listing);
}

/* --- Claiming --- */

struct claim {
    struct call *call;
    struct group_ref ref;
    bool is_moved; /* the last id, and that is not propagated yet */
    int64_t min_idle_ms;
    int64_t delivered_ms;
    int64_t deliveries; /* -1: one more, unless only ids are replied */
    bool only_ids;      /* JUSTID */
    bool forces;
    bool has_last_id;
    struct stream_id last_id;
    struct id_range ids;
};

static bool parse_min_idle(struct claim *claim, const char *error) {
    struct call *call = claim->call;
    if (!number_parse_int64(call->argv[4], &claim->min_idle_ms))
        return reply_error(call->reply, error);
    if (claim->min_idle_ms < 0) claim->min_idle_ms = 0;
    return true;
}

static bool is_idle_enough(const struct claim *claim, const struct pending_entry *pending) {
    return claim->min_idle_ms == 0 ||
           claim->call->now_ms - pending->delivered_ms >= claim->min_idle_ms;
}

/* Gives the consumer the pending entry. */
static void claim_entry(struct claim *claim, struct pending_entry pending) {
    if (claim->deliveries >= 0)
        pending.deliveries = (uint64_t)claim->deliveries;
    else if (!claim->only_ids)
        pending_note_delivery(&pending, claim->delivered_ms);
    pending.delivered_ms = claim->delivered_ms;
    group_assign(claim->call, &claim->ref, pending);
    claim->is_moved = false;
}

static void reply_claimed(const struct claim *claim, struct stream_entry *entry) {
    if (claim->only_ids)
        stream_reply_id(claim->call->reply, entry->id);
    else
        stream_reply_entry(claim->call->reply, entry);
}

/* `changes` pending entries were changed, or the last id. */
static void end_claims(struct claim *claim, uint64_t changes) {
    struct call *call = claim->call;
    group_changed(call, &claim->ref, NULL, changes, CHANGE_UNSEEN);
    group_propagate_consumer(call, &claim->ref);
    if (claim->is_moved) group_propagate_position(call, &claim->ref);
}

/* --- XCLAIM key group consumer min-idle-time id … [IDLE ms] [TIME ms] [RETRYCOUNT n] [FORCE]
 * [JUSTID] [LASTID id] --- */

/* An integer after an option; the error names the option. */
static bool parse_number(struct call *call, size_t at, const char *option, int64_t *value) {
    return number_parse_int64(call->argv[at], value) ||
           reply_error_format(call->reply, "ERR Invalid %s option argument for XCLAIM", option);
}

static bool parse_claim_option(struct claim *claim, size_t *at) {
    struct call *call = claim->call;
    struct slice word = call->argv[*at];
    bool has_more = *at + 1 < call->argc;
    if (slice_is(word, "force")) {
        claim->forces = true;
    } else if (slice_is(word, "justid")) {
        claim->only_ids = true;
    } else if (slice_is(word, "idle") && has_more) {
        if (!parse_number(call, ++*at, "IDLE", &claim->delivered_ms)) return false;
        if (__builtin_sub_overflow(call->now_ms, claim->delivered_ms, &claim->delivered_ms))
            claim->delivered_ms = call->now_ms;
    } else if (slice_is(word, "time") && has_more) {
        return parse_number(call, ++*at, "TIME", &claim->delivered_ms);
    } else if (slice_is(word, "retrycount") && has_more) {
        return parse_number(call, ++*at, "RETRYCOUNT", &claim->deliveries);
    } else if (slice_is(word, "lastid") && has_more) {
        claim->has_last_id = true;
        return stream_parse_id(call, ++*at, 0, &claim->last_id);
    } else {
        return reply_error_format(call->reply, "ERR Unrecognized XCLAIM option '%.*s'",
                                  slice_precision(word), word.ptr);
    }
    return true;
}

static bool parse_claim(struct claim *claim) {
    struct call *call = claim->call;
    struct stream_id id;
    if (!parse_min_idle(claim, "ERR Invalid min-idle-time argument for XCLAIM")) return false;
    claim->ids = (struct id_range){5, 5};
    while (claim->ids.end < call->argc && stream_is_id(call->argv[claim->ids.end], 0, &id))
        claim->ids.end++;
    for (size_t at = claim->ids.end; at < call->argc; at++)
        if (!parse_claim_option(claim, &at)) return false;
    if (claim->delivered_ms < 0 || claim->delivered_ms > call->now_ms)
        claim->delivered_ms = call->now_ms;
    return true;
}

/* Claims an entry, if it is pending or FORCE is given. Sets *claimed to whether its reply was
 * written. Returns whether anything was changed. */
static bool claim_id(struct claim *claim, struct stream_id id, bool *claimed) {
    const struct group_ref *ref = &claim->ref;
    struct pending_entry pending = {.id = id, .deliveries = 1};
    struct stream_entry entry;
    bool is_pending = pendinglist_find(&ref->group->pending, id, &pending);
    *claimed = false;
    if (!is_pending && !claim->forces) return false;
    if (!stream_find(ref->entry, id, &entry)) {
        if (is_pending) group_forget(claim->call, ref, &pending);
        /* A rewritten file has the pending entries of deleted ones, too. */
        if (!is_pending && call_is_loading(claim->call)) claim_entry(claim, pending);
        return is_pending;
    }
    *claimed = !is_pending || is_idle_enough(claim, &pending);
    if (!*claimed) return false;
    claim_entry(claim, pending);
    reply_claimed(claim, &entry);
    return true;
}

void xclaim_command(struct call *call) {
    struct claim claim = {.call = call, .delivered_ms = call->now_ms, .deliveries = -1};
    uint64_t changes = 0, count = 0;
    if (!group_need(call, 1, 2, true, &claim.ref) || !parse_claim(&claim)) return;
    struct consumer_group *group = claim.ref.group;
    claim.is_moved = claim.has_last_id && stream_id_compare(claim.last_id, group->last_id) > 0;
    changes = claim.is_moved;
    if (claim.is_moved) group->last_id = claim.last_id;
    group_need_consumer(call, &claim.ref, call->argv[3]);
    size_t mark = reply_begin(call->reply);
    for (size_t i = claim.ids.from; i < claim.ids.end; i++) {
        bool claimed;
        changes += claim_id(&claim, stream_id_at(call, i), &claimed);
        count += claimed;
    }
    reply_array_end(call->reply, mark, count);
    end_claims(&claim, changes);
}

/* --- XAUTOCLAIM key group consumer min-idle-time start [COUNT count] [JUSTID] --- */

enum { DEFAULT_COUNT = 100, LOOKS = 10 };

static bool parse_autoclaim(struct claim *claim, struct stream_id *start, int64_t *count) {
    struct call *call = claim->call;
    if (!parse_min_idle(claim, "ERR Invalid min-idle-time argument for XAUTOCLAIM") ||
        !stream_parse_bound(call, 5, false, start))
        return false;
    *count = DEFAULT_COUNT;
    for (size_t at = 6; at < call->argc; at++) {
        if (slice_is(call->argv[at], "count") && at + 1 < call->argc) {
            if (!call_integer_in(call, ++at, 1, INT64_MAX / 16, count, "ERR COUNT must be > 0"))
                return false;
        } else if (slice_is(call->argv[at], "justid")) {
            claim->only_ids = true;
        } else {
            return call_syntax_error(call);
        }
    }
    return true;
}

/* Claims what is idle, from *next on, and forgets what the stream has lost. *next is set to where
 * the next call should begin. */
static void claim_idle(struct claim *claim, struct stream_id *next, int64_t count,
                       struct pending_selection *claimed, struct pending_selection *lost) {
    const struct group_ref *ref = &claim->ref;
    struct stream_finder finder = {.stream = ref->entry};
    struct pending_iter iter;
    struct pending_entry pending;
    struct stream_entry entry;
    bool has_more;
    pending_iter_start(&iter, &ref->group->pending, *next);
    for (int64_t looks = count * LOOKS;; looks--) {
        has_more = pending_iter_next(&iter, &pending);
        if (!has_more || looks == 0 || count == 0) break;
        bool exists = stream_finder_next(&finder, pending.id, &entry);
        if (exists && !is_idle_enough(claim, &pending)) continue;
        pending_select(exists ? claimed : lost, &pending);
        if (exists)
            claim_entry(claim, pending);
        else
            group_forget(claim->call, ref, &pending);
        count--;
        has_more = stream_id_increment(&pending.id);
        if (!has_more) break;
        pending_iter_start(&iter, &ref->group->pending, pending.id);
    }
    *next = has_more ? pending.id : STREAM_ID_MIN;
}

static void reply_autoclaim(const struct claim *claim, struct stream_id next,
                            const struct pending_selection *claimed,
                            const struct pending_selection *lost) {
    struct reply *reply = claim->call->reply;
    struct stream_finder finder = {.stream = claim->ref.entry};
    struct stream_entry entry;
    reply_array(reply, 3);
    stream_reply_id(reply, next);
    reply_array(reply, claimed->count);
    for (size_t i = 0; i < claimed->count; i++) {
        stream_finder_next(&finder, claimed->entries[i].id, &entry);
        reply_claimed(claim, &entry);
    }
    reply_array(reply, lost->count);
    for (size_t i = 0; i < lost->count; i++) stream_reply_id(reply, lost->entries[i].id);
}

void xautoclaim_command(struct call *call) {
    struct claim claim = {.call = call, .delivered_ms = call->now_ms, .deliveries = -1};
    struct pending_selection claimed = {0}, lost = {0};
    struct stream_id next;
    int64_t count;
    if (!parse_autoclaim(&claim, &next, &count) || !group_need(call, 1, 2, true, &claim.ref))
        return;
    group_need_consumer(call, &claim.ref, call->argv[3]);
    claim_idle(&claim, &next, count, &claimed, &lost);
    reply_autoclaim(&claim, next, &claimed, &lost);
    end_claims(&claim, claimed.count + lost.count);
    mem_free(claimed.entries);
    mem_free(lost.entries);
}

/* --- XNACK key group SILENT | FAIL | FATAL IDS count id … [RETRYCOUNT count] [FORCE], the options
 * in any order ---
 *
 * A consumer gives back what it cannot do: the entries stay pending, but nobody has them, and they
 * count as idle since ever. SILENT takes the delivery back, FATAL marks what no one can do. */

enum refusal { REFUSAL_SILENT, REFUSAL_FAIL, REFUSAL_FATAL };

struct release {
    struct call *call;
    struct group_ref ref;
    enum refusal refusal;
    int64_t deliveries; /* -1: as the refusal says */
    bool forces;
    struct id_range ids;
};

static bool parse_refusal(struct release *release) {
    static const char *const words[] = {"silent", "fail", "fatal"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (!slice_is(release->call->argv[3], words[i])) continue;
        release->refusal = (enum refusal)i;
        return true;
    }
    return reply_error(release->call->reply, "ERR mode must be SILENT, FAIL, or FATAL");
}

static bool parse_release_option(struct release *release, size_t *at) {
    struct call *call = release->call;
    struct slice word = call->argv[*at];
    bool has_value = *at + 1 < call->argc;
    if (slice_is(word, "ids") && has_value)
        return stream_parse_id_list(call, at, &release->ids, INT32_MAX,
                                    "ERR numids must be a positive integer",
                                    "ERR number of IDs doesn't match numids") &&
               stream_check_ids(call, release->ids);
    ++*at;
    if (slice_is(word, "force")) return release->forces = true;
    if (slice_is(word, "retrycount") && has_value)
        return call_integer(call, (*at)++, &release->deliveries) &&
               (release->deliveries >= 0 ||
                reply_error(call->reply, "ERR Invalid RETRYCOUNT value, must be >= 0"));
    return reply_error_format(call->reply, "ERR Unrecognized XNACK option '%.*s'",
                              slice_precision(word), word.ptr);
}

static bool parse_release(struct release *release) {
    struct call *call = release->call;
    if (!parse_refusal(release)) return false;
    for (size_t at = 4; at < call->argc;)
        if (!parse_release_option(release, &at)) return false;
    return release->ids.end > 0 ||
           reply_error(call->reply, "ERR syntax error, expected IDS keyword");
}

static uint64_t deliveries_after(const struct release *release, uint64_t before) {
    if (release->deliveries >= 0) return (uint64_t)release->deliveries;
    if (release->refusal == REFUSAL_FATAL) return INT64_MAX;
    return release->refusal == REFUSAL_SILENT && before > 0 ? before - 1 : before;
}

/* Returns whether the entry is pending now and has no consumer. */
static bool release_id(const struct release *release, struct stream_id id) {
    const struct group_ref *ref = &release->ref;
    struct pending_entry pending = {.id = id};
    struct stream_entry entry;
    bool is_pending = pendinglist_find(&ref->group->pending, id, &pending);
    if (!is_pending && !(release->forces && stream_find(ref->entry, id, &entry))) return false;
    pending.consumer = CONSUMER_NOBODY;
    pending.delivered_ms = 0;
    pending.deliveries = deliveries_after(release, pending.deliveries);
    consumer_group_assign(ref->group, ref->pieces, &pending);
    return true;
}

void xnack_command(struct call *call) {
    struct release release = {.call = call, .deliveries = -1};
    uint64_t count = 0;
    if (!group_need(call, 1, 2, true, &release.ref) || !parse_release(&release)) return;
    for (size_t i = release.ids.from; i < release.ids.end; i++)
        count += release_id(&release, stream_id_at(call, i));
    reply_integer(call->reply, (int64_t)count);
    if (count == 0) return;
    /* XREADGROUP with CLAIM may take them. */
    group_changed(call, &release.ref, NULL, count, CHANGE_UNWATCHED);
}

/* --- XACK key group id … --- */

void xack_command(struct call *call) {
    struct group_ref ref;
    uint64_t count = 0;
    if (!group_find(call, 1, 2, true, &ref)) return;
    if (ref.group && !stream_check_ids(call, (struct id_range){3, call->argc})) return;
    for (size_t i = 3; ref.group && i < call->argc; i++)
        count += group_acknowledge(&ref, stream_id_at(call, i), true);
    reply_integer(call->reply, (int64_t)count);
    if (count > 0) group_changed(call, &ref, NULL, count, CHANGE_UNSEEN);
}
