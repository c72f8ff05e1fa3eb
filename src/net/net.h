/* net: the event loop, its timers and signals. Together with net/conn.h and net/listener.h the only
 * face of libuv.
 *
 * Single-threaded: every callback comes from net_run, one at a time. */
#ifndef PACKLIST_NET_NET_H
#define PACKLIST_NET_NET_H

#include <stdbool.h>
#include <stdint.h>

struct net;

/* A loop with its shared read buffer. NULL with *error set (static text) when the system refuses.
 * Makes the process ignore SIGPIPE: a write to a closed connection is an error, not a signal. */
struct net *net_new(const char **error);

/* Closes and frees everything of this loop: connections (without a callback), listeners, timers,
 * and the loop itself. Not from inside a callback. */
void net_free(struct net *net);

/* Runs until net_stop. */
void net_run(struct net *net);
void net_stop(struct net *net);

/* One turn of the loop, without sleeping: for who has much to do before net_run. From outside any
 * callback only. A net_stop in it ends nothing but this turn: who asked for it must be heard. */
void net_poll(struct net *net);

/* Called once per turn of the loop, after all callbacks of that turn and before it sleeps: the
 * place to send what is still to be sent and to resume who was waiting. One only. If it returns
 * true the loop does not sleep. */
void net_on_before_poll(struct net *net, bool (*callback)(void *arg), void *arg);

/* Calls callback(signum, arg) from the loop (not from a signal handler) when the signal arrives.
 * False when refused. */
bool net_on_signal(struct net *net, int signum, void (*callback)(int signum, void *arg), void *arg);

/* Iterations of the loop since the start or the last net_reset_totals, and the clock_ticks in which
 * they were active: from the first callback of a socket, a timer or the pool to the end of
 * before_poll. */
struct net_totals {
    uint64_t iterations;
    uint64_t active_ticks;
};
struct net_totals net_totals(const struct net *net);

/* Zeroes these totals and conn_totals. */
void net_reset_totals(struct net *net);

/* --- Timers --- */

struct net_timer;

/* A stopped timer. Freed with net_timer_free (also from inside its callback). */
struct net_timer *net_timer_new(struct net *net, void (*callback)(void *arg), void *arg);
void net_timer_free(struct net_timer *timer);

/* Fires after `delay_ms`, then every `repeat_ms` unless that is 0. Starting a running timer resets
 * it. O(log timers). */
void net_timer_start(struct net_timer *timer, uint64_t delay_ms, uint64_t repeat_ms);
void net_timer_stop(struct net_timer *timer);

#endif
