/* wake: how another thread gets the loop's attention. */
#ifndef PACKLIST_NET_WAKE_H
#define PACKLIST_NET_WAKE_H

struct net;
struct net_wake;

/* NULL when the system refuses. net_free frees it. */
struct net_wake *net_wake_new(struct net *net, void (*callback)(void *arg), void *arg);

/* Lets the loop call callback(arg) soon, at least once after this; from any thread, until net_free.
 * */
void net_wake(struct net_wake *wake);

#endif
