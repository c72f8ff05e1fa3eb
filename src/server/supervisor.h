/* supervisor: what the server tells the program that started it and watches over it.
 *
 *      systemd    one datagram for each message to the socket in NOTIFY_SOCKET: READY=1, STATUS=…,
 *                 WATCHDOG=1, STOPPING=1, as sd_notify(3) describes it
 *      upstart    the process stops itself once (SIGSTOP), when it is about to serve
 *
 * The protocol of systemd is a few lines, so no library is needed for it, and a server that was
 * built without one does not fall silent. Which of them it is says the directive `supervised`;
 * without it nothing is sent, as in Redis. An error is logged once and changes nothing else. */
#ifndef PACKLIST_SERVER_SUPERVISOR_H
#define PACKLIST_SERVER_SUPERVISOR_H

#include <stdbool.h>

struct engine;

/* Finds the supervisor that the configuration asks for in the environment. The log says when there
 * is none. Once, before the server is started. */
void supervisor_find(struct engine *engine);

/* Is there one? Then the server stays in the foreground. O(1). */
bool supervisor_is_there(void);

/* "no", "upstart" or "systemd": a static text. */
const char *supervisor_name(void);

/* Begins to tell systemd's watchdog that the event loop goes round, if that is asked for: twice as
 * often as it must. After engine->net was made, which owns the timer. */
void supervisor_watchdog_start(struct engine *engine);

/* The data is loaded and the server listens. Upstart goes on with what waits for it. */
void supervisor_ready(void);

/* What the server is about, for those who ask the supervisor; a line of text without controls, cut
 * to 200 bytes. Dropped if the supervisor does not keep up. */
void supervisor_status(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Called by cron: while data is loaded, its progress once a second. */
void supervisor_tick(struct engine *engine);

/* The server will end, whatever comes. */
void supervisor_stopping(void);

#endif
