/* cron: the timer by which all parts of the server tick, `hz` times per second. */
#ifndef PACKLIST_SERVER_CRON_H
#define PACKLIST_SERVER_CRON_H

#include <stdbool.h>

struct engine;

struct cron {
    struct net_timer *timer;
    bool is_paused; /* DEBUG PAUSE-CRON */
};

/* Makes the timer in engine->net, and starts it. */
void cron_start(struct engine *engine);

/* Frees the timer. */
void cron_stop(struct engine *engine);

/* Applies a changed hz. */
void cron_reschedule(struct engine *engine);

#endif
