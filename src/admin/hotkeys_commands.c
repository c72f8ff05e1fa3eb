/* hotkeys_commands: HOTKEYS START STOP GET RESET (of Redis 8.6). */
#include "admin/admin_commands.h"
#include "admin/cluster_common.h"
#include "engine/engine.h"
#include "engine/slow.h"
#include "resp/reply.h"
#include "stats/hotkeys.h"

#include <assert.h>

/* A collection may have to end by itself. */
static struct hotkeys *current(struct call *call) {
    slow_follow_hotkeys(call->engine);
    return call->engine->hotkeys;
}

/* --- START METRICS count [CPU] [NET] [COUNT count] [DURATION seconds] [SAMPLE ratio]
 *           [SLOTS count slot …] --- */

/* Parses METRICS at *index and moves *index to its last argument. */
static bool parse_metrics(struct call *call, size_t *index, struct hotkeys *wanted) {
    int64_t announced, found = 0;
    if (*index + 1 == call->argc) return call_syntax_error(call);
    if (!call_integer_in(call, ++*index, 1, HOTKEYS_METRICS, &announced,
                         "ERR METRICS count must be between 1 and 2"))
        return false;
    for (; *index + 1 < call->argc; ++*index, found++) {
        struct slice word = call->argv[*index + 1];
        bool is_cpu = slice_is(word, "cpu");
        if (!is_cpu && !slice_is(word, "net")) break;
        bool *has = &wanted->has[is_cpu ? HOTKEYS_CPU : HOTKEYS_NET];
        if (*has) return reply_error(call->reply, "ERR a metric is given twice");
        *has = true;
    }
    return found == announced ||
           reply_error(call->reply,
                       "ERR METRICS count does not match number of metric types provided");
}

/* Selects a slot, which this node must serve. */
static bool select_slot(struct call *call, size_t index, struct hotkeys *wanted) {
    static_assert((int)HOTKEYS_SLOTS == (int)KEY_SLOTS, "one for each slot");
    const struct cluster *cluster = call->engine->cluster;
    unsigned slot;
    if (!cluster_slot_argument(call, index, &slot)) return false;
    if (cluster->owners[slot] != cluster->myself)
        return reply_error_format(call->reply, "ERR slot %u not handled by this node", slot);
    if (wanted->slots[slot]) return reply_error(call->reply, "ERR duplicate slot number");
    return wanted->slots[slot] = true;
}

/* Parses SLOTS count slot … as parse_metrics does METRICS. */
static bool parse_slots(struct call *call, size_t *index, struct hotkeys *wanted) {
    int64_t count;
    if (!call->engine->cluster)
        return reply_error(call->reply, "ERR SLOTS parameter cannot be used in non-cluster mode");
    if (*index + 1 == call->argc) return call_syntax_error(call);
    if (wanted->has_slots) return reply_error(call->reply, "ERR SLOTS parameter already specified");
    if (!call_integer_in(call, ++*index, 1, KEY_SLOTS, &count,
                         "ERR SLOTS count must be between 1 and 16384"))
        return false;
    if ((size_t)count >= call->argc - *index)
        return reply_error(call->reply, "ERR not enough slot numbers provided");
    wanted->has_slots = true;
    for (; count > 0; count--)
        if (!select_slot(call, ++*index, wanted)) return false;
    return true;
}

static bool parse_option(struct call *call, size_t *index, struct hotkeys *wanted) {
    struct slice option = call->argv[*index];
    int64_t number;
    if (slice_is(option, "metrics")) return parse_metrics(call, index, wanted);
    if (slice_is(option, "slots")) return parse_slots(call, index, wanted);
    if (++*index == call->argc) return call_syntax_error(call);
    if (slice_is(option, "count")) {
        if (!call_integer_in(call, *index, 1, HOTKEYS_COUNT_MAX, &number,
                             "ERR COUNT must be between 1 and 64"))
            return false;
        wanted->wanted = (size_t)number;
    } else if (slice_is(option, "duration")) {
        if (!call_integer_in(call, *index, 0, INT32_MAX, &number,
                             "ERR DURATION must be a number of seconds"))
            return false;
        wanted->end_ms = number ? call->now_ms + number * 1000 : 0;
    } else if (slice_is(option, "sample")) {
        if (!call_integer_in(call, *index, 1, INT32_MAX, &number,
                             "ERR SAMPLE ratio must be at least 1"))
            return false;
        wanted->ratio = (uint64_t)number;
    } else {
        return call_syntax_error(call);
    }
    return true;
}

void hotkeys_start_command(struct call *call) {
    struct hotkeys *hotkeys = current(call);
    struct hotkeys wanted = {.wanted = 10, .ratio = 1, .begin_ms = call->now_ms};
    for (size_t i = 2; i < call->argc; i++)
        if (!parse_option(call, &i, &wanted)) return;
    if (!wanted.has[HOTKEYS_CPU] && !wanted.has[HOTKEYS_NET]) {
        reply_error(call->reply, "ERR METRICS parameter is required");
        return;
    }
    if (hotkeys->is_active) {
        reply_error(call->reply, "ERR hotkeys tracking session already in progress");
        return;
    }
    hotkeys_begin(hotkeys, &wanted);
    slow_configure(call->engine);
    reply_ok(call->reply);
}

/* --- STOP, RESET --- */

void hotkeys_stop_command(struct call *call) {
    struct hotkeys *hotkeys = current(call);
    if (!hotkeys->is_active) {
        reply_null(call->reply);
        return;
    }
    hotkeys_end(hotkeys, call->now_ms);
    slow_configure(call->engine);
    reply_ok(call->reply);
}

void hotkeys_reset_command(struct call *call) {
    struct hotkeys *hotkeys = current(call);
    if (hotkeys->is_active) {
        reply_error(call->reply, "ERR hotkeys tracking session in progress, stop tracking first");
        return;
    }
    hotkeys_reset(hotkeys);
    reply_ok(call->reply);
}

/* --- GET --- */

/* Keys and their amounts in the unit that the name tells, largest first. */
static void reply_keys(struct reply *reply, const char *name, struct hotkeys_table *table,
                       size_t wanted, uint64_t unit) {
    hotkeys_sort(table);
    size_t count = table->count < wanted ? table->count : wanted;
    reply_bulk_cstr(reply, name);
    reply_array(reply, 2 * count);
    for (size_t i = 0; i < count; i++) {
        reply_bulk(reply, sds_slice(table->keys[i].key));
        reply_integer(reply, (int64_t)(table->keys[i].amount / unit));
    }
}

/* [first, last] of each range of selected slots, or [slot]; all of them where none were named, and
 * nothing without a cluster. */
static void reply_selected(struct call *call, const struct hotkeys *hotkeys) {
    struct reply *reply = call->reply;
    bool has_all = call->engine->cluster && !hotkeys->has_slots;
    reply_bulk_cstr(reply, "selected-slots");
    size_t mark = reply_begin(reply), count = 0;
    for (unsigned slot = 0, end; slot < HOTKEYS_SLOTS; slot = end) {
        bool is_selected = has_all || hotkeys->slots[slot];
        for (end = slot + 1;
             end < HOTKEYS_SLOTS && (has_all || hotkeys->slots[end]) == is_selected;)
            end++;
        if (!is_selected) continue;
        reply_array(reply, end - slot > 1 ? 2 : 1);
        reply_integer(reply, slot);
        if (end - slot > 1) reply_integer(reply, end - 1);
        count++;
    }
    reply_array_end(reply, mark, count);
}

/* One metric's amounts under these names: of selected slots, if there are any, and of all. Returns
 * how many. */
static size_t reply_amounts(struct reply *reply, const struct hotkeys *hotkeys,
                            enum hotkeys_metric metric, uint64_t unit, const char *const names[3]) {
    bool has_samples = hotkeys->has_slots && hotkeys->ratio > 1;
    if (has_samples) reply_named_integer(reply, names[0], hotkeys->sampled[metric] / unit);
    if (hotkeys->has_slots) reply_named_integer(reply, names[1], hotkeys->selected[metric] / unit);
    reply_named_integer(reply, names[2], hotkeys->total[metric] / unit);
    return 1u + hotkeys->has_slots + has_samples;
}

/* As in Redis, one map in an array. */
void hotkeys_get_command(struct call *call) {
    enum { NS_PER_US = 1000 };
    static const char *const cpu_names[] = {"sampled-commands-selected-slots-us",
                                            "all-commands-selected-slots-us",
                                            "all-commands-all-slots-us"};
    static const char *const net_names[] = {"net-bytes-sampled-commands-selected-slots",
                                            "net-bytes-all-commands-selected-slots",
                                            "net-bytes-all-commands-all-slots"};
    struct reply *reply = call->reply;
    const struct hotkeys *hotkeys = current(call);
    uint64_t user_ms, system_ms;
    if (!hotkeys->exists) {
        reply_null_array(reply);
        return;
    }
    bool cpu = hotkeys->has[HOTKEYS_CPU], net = hotkeys->has[HOTKEYS_NET];
    int64_t until_ms = hotkeys->is_active ? call->now_ms : hotkeys->end_ms;
    hotkeys_processor_time(hotkeys, &user_ms, &system_ms);
    reply_array(reply, 1);
    size_t mark = reply_begin(reply), pairs = 5 + (cpu ? 3u : 0u) + (net ? 2u : 0u);
    reply_named_integer(reply, "tracking-active", hotkeys->is_active);
    reply_named_integer(reply, "sample-ratio", hotkeys->ratio);
    reply_selected(call, hotkeys);
    pairs += reply_amounts(reply, hotkeys, HOTKEYS_CPU, NS_PER_US, cpu_names);
    pairs += reply_amounts(reply, hotkeys, HOTKEYS_NET, 1, net_names);
    reply_named_integer(reply, "collection-start-time-unix-ms", hotkeys->begin_ms);
    reply_named_integer(reply, "collection-duration-ms", until_ms - hotkeys->begin_ms);
    if (cpu) {
        reply_named_integer(reply, "total-cpu-time-user-ms", user_ms);
        reply_named_integer(reply, "total-cpu-time-sys-ms", system_ms);
    }
    const uint64_t *amounts = hotkeys->has_slots ? hotkeys->sampled : hotkeys->total;
    if (net) reply_named_integer(reply, "total-net-bytes", (int64_t)amounts[HOTKEYS_NET]);
    size_t wanted = hotkeys->wanted;
    if (cpu) reply_keys(reply, "by-cpu-time-us", hotkeys->tables[HOTKEYS_CPU], wanted, NS_PER_US);
    if (net) reply_keys(reply, "by-net-bytes", hotkeys->tables[HOTKEYS_NET], wanted, 1);
    reply_map_end(reply, mark, pairs);
}

COMMAND_FORM(
    hotkeys_help_command, call_help,
    "GET\n"
    "    What was collected: totals, and the keys that cost most.\n"
    "RESET\n"
    "    Forget it.\n"
    "START METRICS <count> [CPU] [NET] [COUNT <keys>] [DURATION <seconds>] [SAMPLE "
    "<ratio>] [SLOTS <count> <slot> ...]\n"
    "    Collect which keys cost most microseconds (CPU) and bytes (NET); in a cluster those\n"
    "    of certain slots.\n"
    "STOP\n"
    "    End the collection, and keep what was collected.\n")
