/* net: the event loop and its connections. Only net/ uses libuv; net/loop/loop.h draws its parts.
 *
 * Single-threaded: every callback comes from net_run, one at a time. */
#ifndef PACKLIST_NET_NET_H
#define PACKLIST_NET_NET_H

#include "net/loop/timer.h"

#include <stdbool.h>
#include <stdint.h>

struct net;

/* Returns a loop with its shared read buffer; freed with net_free. NULL with *error set (static
 * text) when the system refuses. Makes the process ignore SIGPIPE, so that a write to a closed
 * connection is an error, not a signal. */
struct net *net_new(const char **error);

/* Closes and frees everything of this loop: connections (without a callback), listeners, timers,
 * and the loop itself. Do not call it inside a callback. */
void net_free(struct net *net);

/* Runs until net_stop. */
void net_run(struct net *net);
void net_stop(struct net *net);

/* Runs one iteration of the loop, without sleeping, for work that takes long before net_run. Call
 * it outside all callbacks only. A net_stop in the iteration ends only the iteration; its caller
 * must act on the reason for it. */
void net_poll(struct net *net);

/* As net_poll, but sleeps until there is something to do. */
void net_wait(struct net *net);

/* What the net calls of its owner; each may be NULL. */
struct net_upward {
    /* Called once per iteration, after all its callbacks and before the loop sleeps: to send
     * remaining output and to resume sessions. If it returns true, the loop does not sleep. */
    bool (*before_poll)(void *owner);

    /* Called when a step of nested polling begins (nested_poll.h). What it sends to connections
     * that are served leaves in that step. */
    void (*nested_step)(void *owner);
};
void net_set_upward(struct net *net, const struct net_upward *upward, void *owner);

/* The loop's iterations since the start or the last net_reset_totals, and the clock_ticks in which
 * they were active: from the first callback of a socket, a timer or the pool to the end of
 * before_poll; what I/O threads have carried meanwhile. */
struct net_totals {
    uint64_t iterations;
    uint64_t active_ticks;
    uint64_t thread_reads;  /* times that an I/O thread has brought input of a connection … */
    uint64_t thread_writes; /* … and was given output */
};
struct net_totals net_totals(const struct net *net);

/* Sets these totals and conn_totals to zero. */
void net_reset_totals(struct net *net);

/* Sends what all connections hold (conn_hold) if `ticks` (of clock_ticks, which is `now`) have
 * passed since this loop iteration began, or since the last time. Does nothing inside
 * nested polling, which sends by itself. Returns whether it has sent. */
bool net_release_late(struct net *net, uint64_t now, uint64_t ticks);

#endif
