/* pool: work in other threads.
 *
 * The threads are libuv's (four, or as many as UV_THREADPOOL_SIZE says). They start with the first
 * piece of work. They are declared to do batch work, so that the system does not prefer them to the
 * event loop. */
#ifndef PACKLIST_NET_LOOP_POOL_H
#define PACKLIST_NET_LOOP_POOL_H

struct net;

/* Runs work(arg) in a thread of the pool, and then done(arg) as a callback from the loop; NULL:
 * nothing. Until `done` is called, which sees all that work() wrote, what `arg` points to belongs
 * to the work. Pieces of work may run at the same time and end in any order. net_free waits for
 * those that have begun and calls their `done`, which may not start another. */
void net_pool_run(struct net *net, void (*work)(void *arg), void (*done)(void *arg), void *arg);

#endif
