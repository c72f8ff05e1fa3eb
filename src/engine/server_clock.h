/* server_clock: the clocks of server.h, read at most once in a millisecond. */
#ifndef PACKLIST_ENGINE_SERVER_CLOCK_H
#define PACKLIST_ENGINE_SERVER_CLOCK_H

struct engine;

/* Reads the clocks again, into engine->now_ms, engine->steady_ms and the time in engine->eviction.
 * Within a millisecond only the wall clock is read. */
void server_update_clock(struct engine *engine);

#endif
