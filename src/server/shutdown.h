/* shutdown: the end of the server, by SHUTDOWN or a signal.
 *
 *      runs ──┬── waits: clients may not write ──┬── all replicas have confirmed ──┬── ends
 *             │      │                           └── shutdown-timeout is over ─────┤
 *             │      └── SHUTDOWN ABORT: runs                                      │
 *             └── no replicas, NOW, shutdown-timeout 0, loading, a busy script ────┘
 *
 * Before it ends the server saves its data. If it cannot, it runs on. */
#ifndef PACKLIST_SERVER_SHUTDOWN_H
#define PACKLIST_SERVER_SHUTDOWN_H

#include <stdbool.h>
#include <stdint.h>

struct call;
struct engine;

struct shutdown_state {
    /* For replicas. */
    struct shutdown_wait {
        int64_t deadline_ms; /* steady_ms; 0 = it does not wait */
        int options;         /* enum shutdown_option */
        uint64_t offset;     /* of the stream, which the replicas must confirm */
    } wait;
    int pending_signal; /* ends the server once the append-only file is written; 0: none */
};

enum shutdown_result {
    SHUTDOWN_FAILS, /* the data could not be saved: the server runs on */
    SHUTDOWN_WAITS, /* for replicas */
    SHUTDOWN_ENDS   /* the server ends after the current loop iteration */
};

/* Starts the shutdown: waits for replicas if need be; otherwise saves the data as `options` (enum
 * shutdown_option) or the save points say. While it waits, the options of the first call count. */
enum shutdown_result shutdown_begin(struct engine *engine, int options);

/* Replies to a SHUTDOWN that has not ended the server. The second function makes the client wait
 * for that reply, which comes when the server runs on. */
void shutdown_answer_failed(struct call *call);
void shutdown_await(struct call *call);

/* Ends the wait, and the server runs on; revokes a signal that has not ended the server yet.
 * Returns false when there was neither. */
bool shutdown_abort(struct engine *engine);

/* Call in each loop iteration, outside of units: ends the server when the wait is over. O(replicas)
 * while it waits. */
void shutdown_step(struct engine *engine);

/* Ends the server as the directive for the signal (SIGTERM or SIGINT) says. A SIGINT while it waits
 * ends the wait. While the first rewrite of the append-only file prevents the end, a signal is
 * kept: a program that sends one, such as systemd, sends it once and waits. */
void shutdown_by_signal(struct engine *engine, int signum);

/* For cron: begins to end the server if such a signal was kept, and that rewrite has ended. */
void shutdown_try_pending(struct engine *engine);

/* Returns the milliseconds for which the server waits at most; 0: it does not wait. */
int64_t shutdown_wait_ms(const struct engine *engine);

#endif
