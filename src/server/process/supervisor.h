/* supervisor: messages to the program that started the server and supervises it.
 *
 *      systemd    one datagram for each message to the socket in NOTIFY_SOCKET: READY=1, STATUS=…,
 *                 WATCHDOG=1, STOPPING=1, as sd_notify(3) describes it
 *      upstart    the process stops itself once (SIGSTOP), when it is about to serve
 *
 * The directive `supervised` selects the supervisor; without it nothing is sent, as in Redis. An
 * error is logged once and has no other effect. */
#ifndef PACKLIST_SERVER_PROCESS_SUPERVISOR_H
#define PACKLIST_SERVER_PROCESS_SUPERVISOR_H

#include "config/config.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

struct engine;

struct supervisor {
    enum supervision kind; /* never SUPERVISED_AUTO; with one, the server stays in the foreground */
    int fd;                /* the next two: with SUPERVISED_SYSTEMD */
    struct sockaddr_un address;
    socklen_t address_len;
    uint64_t watchdog_us; /* 0: no watchdog */
    int64_t status_ms;    /* steady clock of cron's last message about the progress */
    bool has_failed;      /* an error was logged */
};

/* Finds the configured supervisor in the environment. If it is not there, that is logged. Call it
 * once, before the server starts. */
void supervisor_find(struct engine *engine);

/* Returns "no", "upstart" or "systemd": a static text. */
const char *supervisor_name(const struct engine *engine);

/* Starts a timer that tells systemd's watchdog, if there is one, that the event loop runs, twice as
 * often as required. */
void supervisor_watchdog_start(struct engine *engine);

/* The data is loaded and the server listens. Upstart then starts the jobs that wait for it. */
void supervisor_ready(struct engine *engine);

/* Sends the server's status, which the supervisor shows: one line of text without control
 * characters, cut to 200 bytes. Dropped if the supervisor reads too slowly. */
void supervisor_status(struct engine *engine, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Called by cron: while data is loaded, sends the progress once per second. */
void supervisor_tick(struct engine *engine);

/* The server is about to end and cannot go back. */
void supervisor_stopping(struct engine *engine);

#endif
