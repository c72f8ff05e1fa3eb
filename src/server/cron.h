/* cron: what is to be done `hz` times a second. */
#ifndef PACKLIST_SERVER_CRON_H
#define PACKLIST_SERVER_CRON_H

/* Starts the timer, in server.net; and stops and frees it. */
void cron_start(void);
void cron_stop(void);

/* Takes over a changed hz. */
void cron_reschedule(void);

#endif
