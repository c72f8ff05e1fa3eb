/* latency_commands: LATENCY, except for its reports in words: latency_report.c. */
#include "admin/admin_commands.h"
#include "admin/command_info.h"
#include "base/clock.h"
#include "engine/engine.h"
#include "resp/reply.h"
#include "stats/latency.h"
#include "table/command.h"

/* --- The monitor's samples --- */

static const struct latency_event *event_named(struct engine *engine, struct slice name) {
    int kind = latency_kind_named(name);
    return kind < 0 ? NULL : engine->latency->events[kind];
}

void latency_history_command(struct call *call) {
    const struct latency_event *event = event_named(call->engine, call->argv[2]);
    reply_array(call->reply, event ? event->count : 0);
    for (unsigned i = 0; event && i < event->count; i++) {
        const struct latency_sample *sample = latency_sample_at(event, i);
        reply_array(call->reply, 2);
        reply_integer(call->reply, sample->time_s);
        reply_integer(call->reply, sample->ms);
    }
}

void latency_latest_command(struct call *call) {
    size_t mark = reply_begin(call->reply), count = 0;
    for (int kind = 0; kind < LATENCY_KINDS; kind++) {
        const struct latency_event *event = call->engine->latency->events[kind];
        if (!event) continue;
        const struct latency_sample *last = latency_sample_at(event, event->count - 1);
        count++;
        reply_array(call->reply, 4);
        reply_bulk_cstr(call->reply, latency_kind_name((enum latency_kind)kind));
        reply_integer(call->reply, last->time_s);
        reply_integer(call->reply, last->ms);
        reply_integer(call->reply, event->max_ms);
    }
    reply_array_end(call->reply, mark, count);
}

void latency_reset_command(struct call *call) {
    struct engine *engine = call->engine;
    int64_t forgotten = 0;
    for (int kind = 0; call->argc == 2 && kind < LATENCY_KINDS; kind++)
        forgotten += latency_forget(engine->latency, (enum latency_kind)kind);
    for (size_t i = 2; i < call->argc; i++) {
        int kind = latency_kind_named(call->argv[i]);
        if (kind >= 0) forgotten += latency_forget(engine->latency, (enum latency_kind)kind);
    }
    reply_integer(call->reply, forgotten);
}

/* --- Histograms of commands --- */

/* Returns the end of a step in nanoseconds. Steps double, from about a microsecond. They are not
 * round numbers, as in Redis: 1, 2, 4, 8, 16, 33, 66, … in microseconds. */
static uint64_t step_end_ns(unsigned step) {
    return (UINT64_C(1024) << step) + (UINT64_C(8) << step) - 1;
}

/* Replies pairs of a duration in microseconds and the number of calls that took no longer, one for
 * each step in which that number grows. */
static void answer_steps(struct reply *reply, const struct tick_histogram *histogram) {
    size_t mark = reply_begin(reply), pairs = 0;
    uint64_t counted = 0, shown = 0;
    unsigned bucket = 0;
    for (unsigned step = 0; bucket < TICK_HISTOGRAM_BUCKETS; step++) {
        uint64_t end_ns = step_end_ns(step);
        while (bucket < TICK_HISTOGRAM_BUCKETS &&
               clock_ticks_to_ns(tick_histogram_end(bucket)) <= end_ns)
            counted += histogram->counts[bucket++];
        if (counted == shown) continue;
        shown = counted;
        pairs++;
        reply_integer(reply, (int64_t)(end_ns / 1000));
        reply_integer(reply, (int64_t)counted);
    }
    reply_map_end(reply, mark, pairs);
}

/* Replies one command's histogram; returns false when it has none. */
static bool answer_histogram(struct engine *engine, struct reply *reply,
                             const struct command *command) {
    const struct command_stats *stats = &engine->stats.by_command[command_index(command)];
    if (!stats->latency) return false;
    reply_bulk_cstr(reply, command->name);
    reply_map(reply, 2);
    reply_bulk_cstr(reply, "calls");
    reply_integer(reply, (int64_t)tick_histogram_total(stats->latency));
    reply_bulk_cstr(reply, "histogram_usec");
    answer_steps(reply, stats->latency);
    return true;
}

/* Replies the histograms of a command and its subcommands; returns their number. */
static size_t answer_family(struct engine *engine, struct reply *reply,
                            const struct command *command) {
    size_t subcommands = command->flags & COMMAND_CONTAINER ? command_subcommand_count(command) : 0;
    size_t answered = 0;
    for (size_t i = 0; i <= subcommands; i++)
        answered += answer_histogram(engine, reply, command + i);
    return answered;
}

void latency_histogram_command(struct call *call) {
    struct engine *engine = call->engine;
    size_t mark = reply_begin(call->reply), answered = 0, count;
    const struct command *all = command_all(&count);
    for (size_t i = 0; call->argc == 2 && i < count; i++)
        answered += answer_histogram(engine, call->reply, &all[i]);
    for (size_t i = 2; i < call->argc; i++) {
        const struct command *command = command_find_full(call->argv[i]);
        if (command) answered += answer_family(engine, call->reply, command);
    }
    reply_map_end(call->reply, mark, answered);
}

void latency_help_command(struct call *call) {
    static const char *const lines[] = {
        "DOCTOR",
        "    What was noted, in words, with advice.",
        "GRAPH <event>",
        "    The samples of <event> as a drawing.",
        "HISTOGRAM [<command> ...]",
        "    How long calls of all commands, or of some, took: for durations in microseconds, how",
        "    many calls took no longer.",
        "HISTORY <event>",
        "    The samples of <event>: time in seconds and duration in milliseconds.",
        "LATEST",
        "    Of each event the newest sample and the longest duration ever.",
        "RESET [<event> ...]",
        "    Forget all samples, or those of some events.",
        NULL,
    };
    call_help(call, lines);
}
