/* pool: work in other threads.
 *
 * The threads are libuv's (four, or as many as UV_THREADPOOL_SIZE says); they start with the first
 * piece of work. The system is told that they do batch work, so that they do not take the loop's
 * place on the processor. */
#ifndef PACKLIST_NET_POOL_H
#define PACKLIST_NET_POOL_H

struct net;

/* Runs work(arg) in a thread of the pool, beside the loop; then done(arg) as a callback from the
 * loop. What `arg` points to belongs to the work until `done` is called: that is after all that
 * work() wrote. Pieces of work may run at the same time and end in any order. net_free waits for
 * those that were begun, and calls their `done`, which may begin no other. */
void net_pool_run(struct net *net, void (*work)(void *arg), void (*done)(void *arg), void *arg);

#endif
