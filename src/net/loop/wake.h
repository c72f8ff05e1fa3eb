/* wake: wakes the event loop from another thread. */
#ifndef PACKLIST_NET_LOOP_WAKE_H
#define PACKLIST_NET_LOOP_WAKE_H

struct net;
struct net_wake;

/* Returns a wake for net_wake; NULL when the system refuses. net_free frees it. */
struct net_wake *net_wake_new(struct net *net, void (*callback)(void *arg), void *arg);

/* Makes the loop call callback(arg) soon, at least once after this call. May be called from any
 * thread, until net_free. */
void net_wake(struct net_wake *wake);

#endif
