/* ZREM ZREMRANGEBYRANK ZREMRANGEBYSCORE ZREMRANGEBYLEX */
#include "commands/commands.h"
#include "commands/zset_common.h"

void zrem_command(struct call *call) {
    struct keyref ref;
    uint64_t removed = 0;
    if (!call_find_typed_write(call, call->argv[1], VALUE_ZSET, &ref)) return;
    for (size_t i = 2; ref.entry && i < call->argc; i++) {
        struct zset_place place = zset_find(ref.entry, call->argv[i]);
        if (!place.found) continue;
        zset_remove(&ref, &place);
        removed++;
        if (zset_length(ref.entry) == 0) break;
    }
    reply_integer(call->reply, (int64_t)removed);
    if (removed) call_touched(call, &ref, call->argv[1], EVENT_SORTED_SET, "zrem", removed);
}

static void remove_range(struct call *call, enum zset_range_by by, const char *event) {
    struct zset_range range;
    struct zset_span span = {0};
    struct keyref ref;
    if (!zset_range_parse(call, by, 2, 3, &range)) return;
    if (!call_find_typed_write(call, call->argv[1], VALUE_ZSET, &ref)) return;
    if (ref.entry) span = zset_range_find(ref.entry, &range, true);
    reply_integer(call->reply, (int64_t)span.count);
    if (span.count == 0) return;
    zset_remove_span(call, &ref, call->argv[1], span, event);
}

void zremrangebyrank_command(struct call *call) {
    remove_range(call, ZSET_BY_RANK, "zremrangebyrank");
}

void zremrangebyscore_command(struct call *call) {
    remove_range(call, ZSET_BY_SCORE, "zremrangebyscore");
}

void zremrangebylex_command(struct call *call) {
    remove_range(call, ZSET_BY_MEMBER, "zremrangebylex");
}
