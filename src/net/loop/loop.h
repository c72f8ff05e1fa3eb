/* loop: libuv's event loop of one thread, with its timers and signals (timer.c), wake-ups by other
 * threads (wake.c) and libuv's pool of threads (pool.c). It knows no connections: net.c has the
 * order of an iteration, and calls the other families.
 *
 *      net.c, nested_poll.c     one iteration: each family has its part in it
 *      threads/                 connections whose sockets other threads have
 *      tls/                     connections whose bytes are encrypted
 *      connections/             listeners, connections, their input and output
 *      loop/
 *
 * Each calls those below it, all in the thread of the loop; what runs in other threads is marked in
 * threads/io_state.h and loop/pool.h. Only this header includes <uv.h>. */
#ifndef PACKLIST_NET_LOOP_LOOP_H
#define PACKLIST_NET_LOOP_LOOP_H

#include "base/clock.h"
#include "base/threads/owner.h"

#include <stdint.h>

#include <uv.h>

struct net;
struct net_timer;

/* Also each I/O thread has one. Handles are the first member of their struct, so a handle can be
 * freed as the struct. The `data` of a stream's handle is its connection, or NULL for a
 * listener. */
struct loop {
    uv_loop_t uv; /* its `data` is this loop, with which the net begins */
    struct owner owner;
    uv_prepare_t prepare;    /* the end of an iteration */
    uv_idle_t idle;          /* active while the loop must not sleep */
    uint64_t awake_ticks;    /* clock_ticks at this iteration's first callback; 0 = none yet */
    uint64_t released_ticks; /* clock_ticks at its last net_release_late; at first awake_ticks */
};

/* Call it at the beginning of a callback: the first one of an iteration begins its active time. */
static inline void loop_note_awake(struct loop *loop) {
    if (loop->awake_ticks == 0) loop->awake_ticks = loop->released_ticks = clock_ticks();
}

static inline struct loop *loop_of(struct net *net) {
    return (struct loop *)net;
}

/* Begins a loop, which calls `prepare` at the end of each iteration. Returns a status of libuv. */
int loop_begin(struct loop *loop, uv_prepare_cb prepare);

/* Closes the handles of this struct: a loop without handles ends. */
void loop_end(struct loop *loop);

/* Has the bell, which stays where it is, wake the loop until `poll` is closed. Returns a status. */
struct bell;
int loop_watch_bell(struct loop *loop, uv_poll_t *poll, struct bell *bell);

/* The loop does not sleep from now on, or may. */
void loop_stay_awake(struct loop *loop, bool on);

/* As net_timer_new (timer.h), for the loop of any thread. */
struct net_timer *loop_timer_new(struct loop *loop, void (*callback)(void *arg), void *arg);

/* Frees the struct that begins with the handle; a uv_close_cb. */
void loop_free_handle(uv_handle_t *handle);

/* Closes and frees the net_wake of this handle. net_free takes all handles of type UV_POLL for one:
 * those of I/O threads are closed before. */
void loop_close_wake(uv_handle_t *handle);

#endif
