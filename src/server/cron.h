/* cron: what is to be done `hz` times a second. */
#ifndef PACKLIST_SERVER_CRON_H
#define PACKLIST_SERVER_CRON_H

struct engine;

/* Starts the timer, in engine->net; and stops and frees it. */
void cron_start(struct engine *engine);
void cron_stop(void);

/* Takes over a changed hz. */
void cron_reschedule(struct engine *engine);

#endif
