#include "engine/slow.h"

#include "base/clock.h"
#include "base/text/number.h"
#include "engine/call_struct.h"
#include "engine/client.h"
#include "engine/engine.h"
#include "net/connections/conn.h"
#include "stats/hotkeys.h"
#include "stats/slowlog.h"
#include "store/key_slot.h"
#include "table/command.h"
#include "table/command_keys.h"

static uint64_t monitor_threshold_us(struct engine *engine) {
    uint64_t ms = (uint64_t)engine->config.latency_monitor_threshold;
    if (ms == 0) return UINT64_MAX;
    return ms > UINT64_MAX / 1000 ? UINT64_MAX : ms * 1000;
}

static uint64_t log_threshold_us(struct engine *engine) {
    int64_t us = engine->config.slowlog_log_slower_than;
    return us < 0 ? UINT64_MAX : (uint64_t)us;
}

/* A reply of more than SLOW_LARGE_REPLY bytes announces itself (slow_look). Smaller ones are found
 * only if all commands are looked at. */
static void configure_ticks(struct engine *engine) {
    uint64_t log_us = log_threshold_us(engine), monitor_us = monitor_threshold_us(engine);
    uint64_t us = log_us < monitor_us ? log_us : monitor_us;
    int64_t reply_bytes = engine->config.large_reply_bytes;
    bool looks_at_all =
        engine->hotkeys->is_active || (reply_bytes >= 0 && reply_bytes < SLOW_LARGE_REPLY);
    engine->slow_ticks = looks_at_all ? 0 : us == UINT64_MAX ? UINT64_MAX : clock_us_to_ticks(us);
}

void slow_configure(struct engine *engine) {
    int64_t bytes = engine->config.large_request_bytes;
    configure_ticks(engine);
    engine->large_request =
        bytes < 0 || bytes > SLOW_LARGE_REQUEST ? SLOW_LARGE_REQUEST : (size_t)bytes;
}

void slow_look(struct engine *engine) {
    engine->slow_ticks = 0;
}

static void note_latency(struct engine *engine, enum latency_kind kind, uint64_t us) {
    if (us < monitor_threshold_us(engine)) return;
    uint64_t ms = us / 1000;
    latency_note(engine->latency, kind, clock_wall_ms() / 1000,
                 ms > UINT32_MAX ? UINT32_MAX : (uint32_t)ms);
}

/* Adds an entry to the log of that kind. `session` is NULL when no client is to be named. */
static void add_entry(struct engine *engine, enum slowlog_kind kind, struct session *session,
                      struct slowlog_call *entry) {
    const struct config *config = &engine->config;
    const int64_t entries[SLOWLOG_KINDS] = {config->slowlog_max_len, config->large_request_max_len,
                                            config->large_reply_max_len};
    struct slowlog_limits limits = {.entries = (size_t)entries[kind],
                                    .arguments = (size_t)config->slowlog_max_argc,
                                    .bytes = (size_t)config->slowlog_entry_max_string_len};
    char peer[CONN_NAME_MAX];
    entry->time_s = engine->now_ms / 1000;
    entry->peer = entry->name = SLICE("");
    if (session) {
        entry->peer = slice_of_cstr(conn_peer_name(conn_of_session(session), peer));
        if (session->name) entry->name = sds_slice(session->name);
    }
    slowlog_add(&engine->slowlogs[kind], entry, limits);
}

/* Bytes of the request in RESP. */
static size_t request_bytes(const struct slice *argv, size_t argc) {
    enum { AROUND_COUNT = 3, AROUND_ARGUMENT = 5 }; /* *…CRLF and $…CRLF…CRLF */
    size_t bytes = AROUND_COUNT + number_uint64_length(argc);
    for (size_t i = 0; i < argc; i++)
        bytes += AROUND_ARGUMENT + number_uint64_length(argv[i].len) + argv[i].len;
    return bytes;
}

/* --- Hot keys --- */

void slow_follow_hotkeys(struct engine *engine) {
    struct hotkeys *hotkeys = engine->hotkeys;
    if (!hotkeys->is_active || !hotkeys->end_ms || engine->now_ms < hotkeys->end_ms) return;
    hotkeys_end(hotkeys, engine->now_ms);
    configure_ticks(engine);
}

/* The keys of a command share what it costs. */
struct shares {
    struct hotkeys *hotkeys;
    const struct slice *argv;
    uint64_t of_key[HOTKEYS_METRICS];
};

static void add_share(void *arg, size_t index, uint32_t use) {
    struct shares *shares = arg;
    (void)use;
    for (int metric = 0; metric < HOTKEYS_METRICS; metric++)
        hotkeys_add(shares->hotkeys, metric, shares->argv[index], shares->of_key[metric]);
}

static void add_amounts(uint64_t amounts[HOTKEYS_METRICS], uint64_t ns, uint64_t bytes) {
    amounts[HOTKEYS_CPU] += ns;
    amounts[HOTKEYS_NET] += bytes;
}

/* What a script runs is a part of what the script costs. In a cluster all keys of a command are in
 * one slot. */
static void note_hot_keys(const struct call *call, uint64_t ns, uint64_t bytes) {
    struct engine *engine = call->engine;
    struct hotkeys *hotkeys = engine->hotkeys;
    struct key_ranges keys;
    slow_follow_hotkeys(engine);
    if (!hotkeys->is_active || call->origin == ORIGIN_SCRIPT) return;
    add_amounts(hotkeys->total, ns, bytes);
    bool is_sampled = hotkeys->ratio <= 1 || random_below(&engine->random, hotkeys->ratio) == 0;
    if (!is_sampled && !hotkeys->has_slots) return;
    if (!command_keys(call->command, call->argv, call->argc, &keys)) return;
    size_t count = key_ranges_count(&keys);
    if (count == 0) return;
    if (hotkeys->has_slots) {
        if (!hotkeys->slots[key_slot(call->argv[key_ranges_first(&keys)])]) return;
        add_amounts(hotkeys->selected, ns, bytes);
        if (!is_sampled) return;
        add_amounts(hotkeys->sampled, ns, bytes);
    }
    struct shares shares = {hotkeys, call->argv, {ns / count, bytes / count}};
    key_ranges_each(&keys, add_share, &shares);
}

/* --- Commands --- */

/* Notes a request or a reply, if it has at least as many bytes as the directive says. */
static void note_size(struct engine *engine, enum slowlog_kind kind, struct session *session,
                      struct slowlog_call *entry, size_t bytes) {
    int64_t threshold = kind == SLOWLOG_LARGE_REPLY ? engine->config.large_reply_bytes
                                                    : engine->config.large_request_bytes;
    if (threshold < 0 || bytes < (uint64_t)threshold) return;
    entry->amount = bytes;
    add_entry(engine, kind, session, entry);
}

void slow_note_command(const struct call *call, struct session *session, uint64_t ticks,
                       size_t begin) {
    struct engine *engine = call->engine;
    const struct command *command = call->command;
    bool is_of_script = call->origin == ORIGIN_SCRIPT;
    uint64_t us = clock_ticks_to_us(ticks);
    size_t request = request_bytes(call->argv, call->argc);
    size_t reply = reply_size_from(call->reply, begin);
    struct slowlog_call entry = {.command = command, .argv = call->argv, .argc = call->argc};
    if (engine->hotkeys->is_active) note_hot_keys(call, clock_ticks_to_ns(ticks), request + reply);
    note_latency(engine, command->flags & COMMAND_FAST ? LATENCY_FAST_COMMAND : LATENCY_COMMAND,
                 us);
    /* What announced itself may be a script's request, whose commands come first. */
    if (!is_of_script) configure_ticks(engine);
    if (command->flags & COMMAND_SKIP_SLOWLOG) return;
    if (us >= log_threshold_us(engine)) {
        entry.amount = us;
        /* As in Redis, a script's command names no client. */
        add_entry(engine, SLOWLOG_SLOW, is_of_script ? NULL : session, &entry);
    }
    if (!session) return;
    /* As in Valkey, what a script's command replies is noted, in the name of the script's client,
     * whatever that wants to hear; what the command is given is not. */
    if (!is_of_script) note_size(engine, SLOWLOG_LARGE_REQUEST, session, &entry, request);
    if (is_of_script || !(session->flags & (SESSION_REPLY_OFF | SESSION_REPLY_SKIP)))
        note_size(engine, SLOWLOG_LARGE_REPLY, session, &entry, reply);
}

/* --- Other work --- */

uint64_t slow_begin(struct engine *engine) {
    return engine->config.latency_monitor_threshold ? clock_ticks() : 0;
}

void slow_end(struct engine *engine, enum latency_kind kind, uint64_t begin) {
    if (begin) note_latency(engine, kind, clock_ticks_to_us(clock_ticks() - begin));
}
