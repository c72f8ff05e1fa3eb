/* engine_clock: the clocks of struct engine, read at most once per millisecond. */
#ifndef PACKLIST_ENGINE_ENGINE_CLOCK_H
#define PACKLIST_ENGINE_ENGINE_CLOCK_H

struct engine;

/* Reads the clocks into engine->now_us, engine->now_ms, engine->steady_ms and the time in
 * engine->eviction. Within the same millisecond only the wall clock is read. O(1). */
void engine_update_clock(struct engine *engine);

#endif
