/* slow: notes what took long: commands in the slow log, and commands and other work for the latency
 * monitor.
 *
 * Dispatch compares a command's duration with engine->slow_ticks, the lower of the two thresholds;
 * everything else is asked only of what has passed it. */
#ifndef PACKLIST_ENGINE_SLOW_H
#define PACKLIST_ENGINE_SLOW_H

#include "base/slice.h"
#include "stats/latency.h"
#include "table/command.h"

#include <stddef.h>
#include <stdint.h>

struct engine;
struct session;

/* A threshold has changed. */
void slow_configure(struct engine *engine);

/* A command took `ticks` of clock_ticks, which are not less than engine->slow_ticks. */
void slow_note_command(const struct session *session, const struct command *command,
                       const struct slice *argv, size_t argc, uint64_t ticks);

/* Work that is no command: what slow_begin returned goes to slow_end when it is done. Next to
 * nothing while latency-monitor-threshold is 0. */
uint64_t slow_begin(struct engine *engine);
void slow_end(struct engine *engine, enum latency_kind kind, uint64_t begin);

#endif
