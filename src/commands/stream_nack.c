/* XNACK */
#include "commands/commands.h"
#include "commands/stream_group_common.h"

/* XNACK key group SILENT | FAIL | FATAL IDS count id … [RETRYCOUNT count] [FORCE], the options in
 * any order
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
    size_t first_id;
    size_t end_ids;
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

/* IDS count id …; moves *at to the last id. */
static bool parse_ids(struct release *release, size_t *at) {
    struct call *call = release->call;
    struct stream_id id;
    int64_t count;
    if (!call_integer_in(call, *at + 1, 1, INT32_MAX, &count,
                         "ERR numids must be a positive integer"))
        return false;
    release->first_id = *at + 2;
    if ((uint64_t)count > call->argc - release->first_id)
        return reply_error(call->reply, "ERR number of IDs doesn't match numids");
    release->end_ids = release->first_id + (size_t)count;
    for (size_t i = release->first_id; i < release->end_ids; i++)
        if (!stream_parse_id(call, i, 0, &id)) return false;
    *at = release->end_ids - 1;
    return true;
}

static bool parse_option(struct release *release, size_t *at) {
    struct call *call = release->call;
    struct slice word = call->argv[*at];
    bool has_value = *at + 1 < call->argc;
    if (slice_is(word, "force")) {
        release->forces = true;
        return true;
    }
    if (slice_is(word, "ids") && has_value) return parse_ids(release, at);
    if (slice_is(word, "retrycount") && has_value)
        return call_integer(call, ++*at, &release->deliveries) &&
               (release->deliveries >= 0 ||
                reply_error(call->reply, "ERR Invalid RETRYCOUNT value, must be >= 0"));
    return reply_error_format(call->reply, "ERR Unrecognized XNACK option '%.*s'", (int)word.len,
                              word.ptr);
}

static bool parse(struct release *release) {
    struct call *call = release->call;
    if (!parse_refusal(release)) return false;
    for (size_t at = 4; at < call->argc; at++)
        if (!parse_option(release, &at)) return false;
    return release->end_ids > 0 ||
           reply_error(call->reply, "ERR syntax error, expected IDS keyword");
}

static uint64_t deliveries_after(const struct release *release, uint64_t before) {
    if (release->deliveries >= 0) return (uint64_t)release->deliveries;
    if (release->refusal == REFUSAL_FATAL) return INT64_MAX;
    return release->refusal == REFUSAL_SILENT && before > 0 ? before - 1 : before;
}

/* Returns whether the entry is pending now, and nobody's. */
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
    if (!group_need_write(call, 1, 2, &release.ref) || !parse(&release)) return;
    for (size_t i = release.first_id; i < release.end_ids; i++) {
        struct stream_id id;
        stream_parse_id(call, i, 0, &id);
        count += release_id(&release, id);
    }
    reply_integer(call->reply, (int64_t)count);
    if (count == 0) return;
    call_touched_aside(call, release.ref.entry, release.ref.key, EVENT_STREAM, NULL, count);
    call_wake_waiting(call, release.ref.key); /* XREADGROUP with CLAIM may take them */
}
