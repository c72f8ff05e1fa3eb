/* cron: what is to be done `hz` times a second. */
#ifndef PACKLIST_SERVER_CRON_H
#define PACKLIST_SERVER_CRON_H

/* Starts the timer. */
void cron_start(void);
void cron_stop(void);

/* hz has changed. */
void cron_reschedule(void);

#endif
