/* latency_commands: LATENCY: what took long. */
#include "admin/admin_commands.h"
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
    reply_named_integer(reply, "calls", (int64_t)tick_histogram_total(stats->latency));
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

COMMAND_FORM(latency_help_command, call_help,
             "DOCTOR\n"
             "    What was noted, in words, with advice.\n"
             "GRAPH <event>\n"
             "    The samples of <event> as a drawing.\n"
             "HISTOGRAM [<command> ...]\n"
             "    How long calls of all commands, or of some, took: for durations in "
             "microseconds, how\n"
             "    many calls took no longer.\n"
             "HISTORY <event>\n"
             "    The samples of <event>: time in seconds and duration in milliseconds.\n"
             "LATEST\n"
             "    Of each event the newest sample and the longest duration ever.\n"
             "RESET [<event> ...]\n"
             "    Forget all samples, or those of some events.\n")

/* --- The graph --- */

enum { GRAPH_ROWS = 5, GRAPH_COLUMNS = 80, AGE_ROWS = 4 };

/* Writes the age of a sample in the largest unit that fits: "15s", "3m", "7h", "12d". */
static void write_age(int64_t seconds, char text[AGE_ROWS + 1]) {
    static const struct {
        int64_t seconds;
        char letter;
    } units[] = {{86400, 'd'}, {3600, 'h'}, {60, 'm'}, {1, 's'}};
    unsigned unit = 0;
    if (seconds < 0) seconds = 0;
    while (unit < 3 && seconds < units[unit].seconds) unit++;
    int64_t number = seconds / units[unit].seconds;
    char digits[AGE_ROWS + 1] = {0};
    unsigned len = 0;
    for (; number && len < AGE_ROWS - 1; number /= 10) digits[len++] = (char)('0' + number % 10);
    if (len == 0) digits[len++] = '0';
    for (unsigned i = 0; i < AGE_ROWS; i++)
        text[i] = i < len ? digits[len - 1 - i] : i == len ? units[unit].letter : ' ';
    text[AGE_ROWS] = 0;
}

/* Returns the height of a sample's bar in half rows, at least one. */
static unsigned bar_height(uint32_t ms, uint32_t max_ms) {
    unsigned halves = (unsigned)((uint64_t)ms * GRAPH_ROWS * 2 / (max_ms ? max_ms : 1));
    return halves ? halves : 1;
}

static char bar_character(unsigned halves, unsigned row_from_ground) {
    if (halves >= 2 * row_from_ground + 2) return '#';
    return halves == 2 * row_from_ground + 1 ? '_' : ' ';
}

/* Appends a line without the blanks at its end. */
static sds append_line(sds out, const char *text, unsigned len) {
    while (len && text[len - 1] == ' ') len--;
    return sds_append_cstr(sds_append(out, slice_make(text, len)), "\n");
}

static sds append_graph(sds out, const struct latency_event *event, int64_t now_s) {
    unsigned columns = event->count < GRAPH_COLUMNS ? event->count : GRAPH_COLUMNS;
    unsigned first = event->count - columns;
    char rows[GRAPH_ROWS][GRAPH_COLUMNS], ages[AGE_ROWS][GRAPH_COLUMNS];
    uint32_t max_ms = 0;
    for (unsigned i = 0; i < columns; i++) {
        uint32_t ms = latency_sample_at(event, first + i)->ms;
        if (ms > max_ms) max_ms = ms;
    }
    for (unsigned i = 0; i < columns; i++) {
        const struct latency_sample *sample = latency_sample_at(event, first + i);
        unsigned halves = bar_height(sample->ms, max_ms);
        for (unsigned row = 0; row < GRAPH_ROWS; row++)
            rows[row][i] = bar_character(halves, GRAPH_ROWS - 1 - row);
        char age[AGE_ROWS + 1];
        write_age(now_s - sample->time_s, age);
        for (unsigned row = 0; row < AGE_ROWS; row++) ages[row][i] = age[row];
    }
    for (unsigned row = 0; row < GRAPH_ROWS; row++) out = append_line(out, rows[row], columns);
    out = sds_append_cstr(out, "\n");
    for (unsigned row = 0; row < AGE_ROWS; row++) out = append_line(out, ages[row], columns);
    return out;
}

void latency_graph_command(struct call *call) {
    struct slice name = call->argv[2];
    const struct latency_event *event = event_named(call->engine, name);
    if (!event) {
        reply_error_format(call->reply, "ERR No samples available for event '%.*s'",
                           slice_precision(name), name.ptr);
        return;
    }
    struct latency_summary summary = latency_summarize(event, call->now_ms / 1000);
    sds out =
        sds_format("%.*s - high %u ms, low %u ms (all time high %u ms)\n", slice_precision(name),
                   name.ptr, summary.max_ms, summary.min_ms, event->max_ms);
    for (int i = 0; i < GRAPH_COLUMNS; i++) out = sds_append_cstr(out, "-");
    out = append_graph(sds_append_cstr(out, "\n"), event, call->now_ms / 1000);
    call_answer_text(call, out);
}

/* --- The report --- */

static sds append_findings(struct engine *engine, sds out, int64_t now_s,
                           unsigned numbers[LATENCY_KINDS]) {
    unsigned number = 0;
    for (int kind = 0; kind < LATENCY_KINDS; kind++) {
        const struct latency_event *event = engine->latency->events[kind];
        if (!event) continue;
        struct latency_summary summary = latency_summarize(event, now_s);
        numbers[kind] = ++number;
        out = sds_append_format(
            out,
            "%u. %s: %u latency spikes (average %ums, mean deviation %ums, period %.2f sec). "
            "Worst all time event %ums.\n",
            number, latency_kind_name((enum latency_kind)kind), summary.count, summary.mean_ms,
            summary.deviation_ms, summary.period_s, event->max_ms);
    }
    return out;
}

static sds append_disk_advice(struct engine *engine, sds out, const unsigned found[LATENCY_KINDS]) {
    bool beside_another = found[LATENCY_AOF_WRITE_SYNC] || found[LATENCY_AOF_WRITE_CHILD];
    if (found[LATENCY_AOF_SYNC])
        out = sds_append_cstr(out,
                              "- With appendfsync everysec no client waits for the disk, for the "
                              "price of the last second's changes if the power fails.\n");
    if (beside_another && !engine->config.no_appendfsync_on_rewrite)
        out =
            sds_append_cstr(out, "- With no-appendfsync-on-rewrite yes the append-only file and "
                                 "a snapshot that is being written do not compete for the disk.\n");
    if (found[LATENCY_AOF_WRITE] || found[LATENCY_AOF_RENAME])
        out = sds_append_cstr(out, "- The disk is slow, or busy with other programs' data: a "
                                   "faster one, or one of its own, helps.\n");
    return out;
}

static sds append_advice(struct engine *engine, sds out, const unsigned found[LATENCY_KINDS]) {
    bool commands = found[LATENCY_COMMAND] || found[LATENCY_FAST_COMMAND];
    bool deletes = found[LATENCY_EXPIRE_DELETE] || found[LATENCY_EVICTION_DELETE];
    const struct config *config = &engine->config;
    out = sds_append_cstr(out, "\nWhat can be done:\n\n");
    if (commands && config->slowlog_log_slower_than < 0)
        out = sds_append_cstr(out, "- Set slowlog-log-slower-than, so that SLOWLOG GET names the "
                                   "commands that take long.\n");
    else if (commands)
        out = sds_append_cstr(out, "- Look at SLOWLOG GET: it names the commands that take long. "
                                   "Ask them for less at a time.\n");
    if (found[LATENCY_FAST_COMMAND])
        out = sds_append_cstr(out, "- Commands that are always short took long: the machine itself "
                                   "may be busy, swap, or be a guest that had to wait.\n");
    if (deletes || commands)
        out = sds_append_cstr(out, "- Very large values take time to delete. Split them, or delete "
                                   "them with UNLINK.\n");
    if (found[LATENCY_EXPIRE_CYCLE] && config->active_expire_effort > 1)
        out = sds_append_cstr(out, "- A lower active-expire-effort spends less time on the search "
                                   "for expired keys.\n");
    if (found[LATENCY_EVICTION_CYCLE])
        out = sds_append_cstr(out, "- A lower maxmemory-eviction-tenacity holds commands up for "
                                   "less when memory is short.\n");
    return append_disk_advice(engine, out, found);
}

void latency_doctor_command(struct call *call) {
    struct engine *engine = call->engine;
    unsigned found[LATENCY_KINDS] = {0};
    sds findings = append_findings(engine, sds_new(SLICE("")), call->now_ms / 1000, found);
    sds out = sds_new(SLICE(""));
    if (sds_len(findings) == 0 && engine->config.latency_monitor_threshold == 0) {
        out = sds_append_cstr(out, "The latency monitor is off, so there is nothing to examine. "
                                   "CONFIG SET latency-monitor-threshold <milliseconds> turns it "
                                   "on.\n");
    } else if (sds_len(findings) == 0) {
        out = sds_append_format(out,
                                "Nothing has taken %lld milliseconds or more since the monitor "
                                "was turned on or reset.\n",
                                (long long)engine->config.latency_monitor_threshold);
    } else {
        out = sds_append_cstr(out, "Some work has held this server up:\n\n");
        out = append_advice(engine, sds_append(out, sds_slice(findings)), found);
    }
    sds_free(findings);
    call_answer_text(call, out);
}
