/* slow: records what took long: commands in the slow log, commands and other work in the latency
 * monitor.
 *
 * The executor compares a command's duration with engine->slow_ticks, the lower of the two
 * thresholds. Only a command above it costs more. */
#ifndef PACKLIST_ENGINE_SLOW_H
#define PACKLIST_ENGINE_SLOW_H

#include "stats/latency.h"
#include "table/command.h"

#include <stddef.h>
#include <stdint.h>

struct call;
struct engine;
struct session;

/* Computes engine->slow_ticks anew; call it when a threshold has changed. */
void slow_configure(struct engine *engine);

/* Records a command that `session` has sent, or whose script runs it; NULL: neither. It took
 * `ticks` of clock_ticks, which are not less than engine->slow_ticks. */
void slow_note_command(const struct call *call, struct session *session, uint64_t ticks);

/* Measure work that is not a command: slow_end takes what slow_begin returned. They cost two tests
 * while latency-monitor-threshold is 0. */
uint64_t slow_begin(struct engine *engine);
void slow_end(struct engine *engine, enum latency_kind kind, uint64_t begin);

#endif
