/* cluster_slot_stats: CLUSTER SLOT-STATS: how many keys the slots of this node's shard have. */
#include "admin/admin_commands.h"
#include "admin/cluster_common.h"
#include "base/memory/alloc.h"
#include "resp/reply.h"

#include <stdlib.h>

struct slot_keys {
    unsigned slot;
    size_t keys;
};

static void answer_slot(struct reply *reply, unsigned slot, size_t keys) {
    reply_array(reply, 2);
    reply_integer(reply, slot);
    reply_map(reply, 1);
    reply_named_integer(reply, "key-count", (int64_t)keys);
}

/* --- SLOTSRANGE first last --- */

static void answer_range(struct call *call) {
    struct engine *engine = call->engine;
    unsigned first, last;
    size_t count = 0;
    if (!cluster_slot_argument(call, 3, &first) || !cluster_slot_argument(call, 4, &last)) return;
    if (first > last) {
        reply_error_format(call->reply,
                           "ERR Start slot number %u is greater than end slot number %u", first,
                           last);
        return;
    }
    size_t mark = reply_begin(call->reply);
    for (unsigned slot = first; slot <= last; slot++) {
        if (!cluster_has_slot(engine->cluster, slot)) continue;
        answer_slot(call->reply, slot, cluster_count_keys(engine, slot));
        count++;
    }
    reply_array_end(call->reply, mark, count);
}

/* --- ORDERBY metric [LIMIT count] [ASC | DESC] --- */

struct order {
    int64_t limit;
    bool ascends;
};

/* Each option once at most. */
static bool parse_order(struct call *call, struct order *order) {
    bool has_limit = false, has_direction = false;
    *order = (struct order){.limit = KEY_SLOTS};
    if (!slice_is(call->argv[3], "key-count"))
        return reply_error(call->reply, "ERR Unrecognized sort metric for ORDERBY.");
    for (size_t i = 4; i < call->argc; i++) {
        bool is_limit = slice_is(call->argv[i], "limit") && i + 1 < call->argc;
        bool is_asc = slice_is(call->argv[i], "asc");
        if (!is_limit && !is_asc && !slice_is(call->argv[i], "desc"))
            return call_syntax_error(call);
        if (is_limit ? has_limit : has_direction)
            return reply_error(call->reply,
                               "ERR Multiple filters of the same type are disallowed.");
        has_limit |= is_limit;
        has_direction |= !is_limit;
        if (!is_limit) order->ascends = is_asc;
        if (is_limit && !call_integer_in(call, ++i, 1, KEY_SLOTS, &order->limit,
                                         "ERR Limit has to lie in between 1 and 16384 (maximum "
                                         "number of slots)."))
            return false;
    }
    return true;
}

static int by_keys(const void *a, const void *b) {
    const struct slot_keys *one = a, *other = b;
    if (one->keys != other->keys) return one->keys < other->keys ? -1 : 1;
    return one->slot < other->slot ? -1 : 1;
}

/* Of slots with equally many keys, the one with the smaller number comes first here, too. */
static int by_keys_descending(const void *a, const void *b) {
    const struct slot_keys *one = a, *other = b;
    if (one->keys != other->keys) return one->keys > other->keys ? -1 : 1;
    return one->slot < other->slot ? -1 : 1;
}

static void answer_in_order(struct call *call) {
    struct engine *engine = call->engine;
    struct order order;
    if (!parse_order(call, &order)) return;
    struct slot_keys *slots = mem_alloc(KEY_SLOTS * sizeof(*slots));
    size_t count = 0;
    for (unsigned slot = 0; slot < KEY_SLOTS; slot++)
        if (cluster_has_slot(engine->cluster, slot))
            slots[count++] = (struct slot_keys){slot, cluster_count_keys(engine, slot)};
    qsort(slots, count, sizeof(*slots), order.ascends ? by_keys : by_keys_descending);
    if (count > (size_t)order.limit) count = (size_t)order.limit;
    reply_array(call->reply, count);
    for (size_t i = 0; i < count; i++) answer_slot(call->reply, slots[i].slot, slots[i].keys);
    mem_free(slots);
}

void cluster_slot_stats_command(struct call *call) {
    if (!cluster_of(call)) return;
    if (call->argc == 5 && slice_is(call->argv[2], "slotsrange"))
        answer_range(call);
    else if (slice_is(call->argv[2], "orderby"))
        answer_in_order(call);
    else
        call_bad_subcommand(call);
}
