/* cron: regular work, done `hz` times per second. */
#ifndef PACKLIST_SERVER_CRON_H
#define PACKLIST_SERVER_CRON_H

#include <stdbool.h>
#include <stdint.h>

struct engine;

struct cron {
    struct net_timer *timer;
    bool is_paused;     /* DEBUG PAUSE-CRON */
    bool is_returning;  /* a thread of the pool returns memory to the system */
    int64_t decayed_ms; /* steady_ms when memory was last returned, or that work was begun */
};

/* Makes the timer, in engine->net, and starts it. The caller frees it. */
void cron_start(struct engine *engine);

/* Applies a changed hz. */
void cron_reschedule(struct engine *engine);

#endif
