/* timer: timers and signals of the event loop. */
#ifndef PACKLIST_NET_LOOP_TIMER_H
#define PACKLIST_NET_LOOP_TIMER_H

#include <stdbool.h>
#include <stdint.h>

struct net;
struct net_timer;

/* Returns a stopped timer; freed with net_timer_free (also inside its callback). */
struct net_timer *net_timer_new(struct net *net, void (*callback)(void *arg), void *arg);
void net_timer_free(struct net_timer *timer);

/* Fires after `delay_ms`, then every `repeat_ms` unless that is 0. Starting a running timer resets
 * it. O(log timers). */
void net_timer_start(struct net_timer *timer, uint64_t delay_ms, uint64_t repeat_ms);
void net_timer_stop(struct net_timer *timer);

/* Calls callback(signum, arg) from the loop (not from a signal handler) when the signal arrives.
 * Returns false when the system refuses. */
bool net_on_signal(struct net *net, int signum, void (*callback)(int signum, void *arg), void *arg);

#endif
