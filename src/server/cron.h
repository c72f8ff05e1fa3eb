/* cron: regular work, done `hz` times per second. */
#ifndef PACKLIST_SERVER_CRON_H
#define PACKLIST_SERVER_CRON_H

struct engine;

/* Start the timer, in engine->net; stop and free it. */
void cron_start(struct engine *engine);
void cron_stop(void);

/* Applies a changed hz. */
void cron_reschedule(struct engine *engine);

#endif
