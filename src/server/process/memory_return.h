/* memory_return: returns pages that were freed a while ago to the system. */
#ifndef PACKLIST_SERVER_PROCESS_MEMORY_RETURN_H
#define PACKLIST_SERVER_PROCESS_MEMORY_RETURN_H

#include <stdbool.h>
#include <stdint.h>

struct engine;

struct memory_return {
    bool is_returning;   /* a thread of the pool returns memory to the system */
    int64_t returned_ms; /* steady_ms when memory was last returned, or that work was begun */
};

/* Applies jemalloc-bg-thread: without such a thread, logs that and sets the directive to no. Call
 * it after daemon_begin, because a fork ends the thread. */
void memory_return_configure(struct engine *engine);

/* To be called often: works once a second. With jemalloc-bg-thread, a thread of the pool returns
 * the pages of large blocks; without it, the event loop what has been free for long enough. */
void memory_return_tick(struct engine *engine);

#endif
