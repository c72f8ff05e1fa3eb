/* nested_poll: serves connections while one callback of the loop takes long: a script may run for
 * minutes.
 *
 * libuv's loop cannot run inside one of its callbacks, and must not: its timers and what other
 * threads have done would come at a moment for which nothing is prepared. So this polls sockets
 * only, with an epoll instance of its own: clients are accepted, bytes are read and presented, and
 * output is sent. All else waits for the loop. A socket that libuv has not met yet, because its
 * client was accepted here, is given to libuv at the end (transport_socket.c).
 *
 * A connection is not served whose output libuv is writing already, as only libuv can go on with
 * that: the client reads slowly. */
#ifndef PACKLIST_NET_NESTED_POLL_H
#define PACKLIST_NET_NESTED_POLL_H

#include <stdbool.h>

struct conn;
struct net;

/* Starts polling inside a callback of the loop, at first only for new connections. With
 * `holds_output`, what a connection holds that is not served at that moment stays held until the
 * loop iteration ends, and the connection is not served any more; without it the next step sends
 * it. Returns false when the system refuses; then nothing has changed. O(listeners). */
bool nested_poll_begin(struct net *net, bool holds_output);

/* Returns whether it has begun, and has not ended. O(1). */
bool nested_poll_is_on(const struct net *net);

/* Serves this connection, too, from the next step on; sends what it holds now. Not a connection
 * whose `data` callback is running. A few system calls. */
void nested_poll_add(struct net *net, struct conn *conn);

/* Accepts and serves what is there, for NESTED_POLL_MS or a little longer, without waiting. Calls
 * the callbacks of the connections, and net_upward's nested_step (net.h) before. */
enum { NESTED_POLL_MS = 10 };
void nested_poll_step(struct net *net);

/* Ends it: from now on the loop serves all connections. O(clients accepted since it began). */
void nested_poll_end(struct net *net);

#endif
