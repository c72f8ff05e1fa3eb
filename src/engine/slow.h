/* slow: records what took long: commands in the slow log, commands and other work in the latency
 * monitor.
 *
 * The executor compares a command's duration with engine->slow_ticks, the lower of the two
 * thresholds. Only a command above it costs more.
 *
 * The commands with large requests and replies are noted, too (COMMANDLOG). So that others need not
 * be measured, what serves a large request (engine->large_request) or makes room for a large reply
 * calls slow_look; the executor itself sees the large reply of a script's command. */
#ifndef PACKLIST_ENGINE_SLOW_H
#define PACKLIST_ENGINE_SLOW_H

#include "stats/latency.h"
#include "table/command.h"

#include <stddef.h>
#include <stdint.h>

struct call;
struct engine;
struct session;

/* Computes engine->slow_ticks and engine->large_request anew. Call it when a directive of the slow
 * log, the command log or the latency monitor has changed, or a collection of hot keys begins or
 * ends. O(1). */
void slow_configure(struct engine *engine);

/* Records a command that `session` has sent, or whose script runs it; NULL: neither. It took
 * `ticks` of clock_ticks, which are not less than engine->slow_ticks; its reply begins after
 * `begin` bytes of call->reply. Hot keys are counted here, too. O(arguments). */
void slow_note_command(const struct call *call, struct session *session, uint64_t ticks,
                       size_t begin);

/* Makes slow_note_command look at the command that ends next, even if it has not taken long: it has
 * a large request or perhaps a large reply. O(1). */
void slow_look(struct engine *engine);

enum {
    /* engine->large_request is at most this: requests of so many bytes are looked at anyway. */
    SLOW_LARGE_REQUEST = 32 * 1024,
    /* A larger reply needs a larger buffer than is kept, so it is always announced. */
    SLOW_LARGE_REPLY = 1024 * 1024
};

/* Ends the collection of hot keys (stats/hotkeys.h) when its time is up. O(1). */
void slow_follow_hotkeys(struct engine *engine);

/* Measure work that is not a command: slow_end takes what slow_begin returned. They cost two tests
 * while latency-monitor-threshold is 0. */
uint64_t slow_begin(struct engine *engine);
void slow_end(struct engine *engine, enum latency_kind kind, uint64_t begin);

#endif
