/* dial: opens connections to other servers while the loop goes on. Their bytes then come and go as
 * those of any connection (net/connections/conn.h). A connection is opened when its transport is:
 * with TLS after the handshake. */
#ifndef PACKLIST_NET_CONNECTIONS_DIAL_H
#define PACKLIST_NET_CONNECTIONS_DIAL_H

#include "net/connections/conn.h"

struct dial;
struct net;

struct dial_order {
    const char *host; /* an address, or a name, which a thread looks up */
    int port;
    const struct transport *transport; /* one that can connect */
    const char *expected_name;         /* with TLS: net/tls/tls.h */
    const char *from; /* the numeric address of this machine to connect from; NULL or "": any */
    const struct conn_events *events; /* of the connection */
    void *owner;                      /* passed to `opened` of these, and to `failed` */

    /* No address of the host could be connected to; `reason` is a text that is valid during the
     * call, about the last one. is_refused: the host answered, or this system did; otherwise it has
     * no address, did not answer, or is not the one that it should be. */
    void (*failed)(void *owner, bool is_refused, const char *reason);
};

/* Begins to connect; the addresses of a name are tried one after another. Then calls
 * events->opened or `failed`, once and never before it returns; either ends the attempt. There is
 * no time limit but that of a handshake: the caller cancels. Copies what `order` points to, except
 * the events. */
struct dial *dial_start(struct net *net, const struct dial_order *order);

/* Gives the attempt up: nothing is called any more. Not after it has ended. */
void dial_cancel(struct dial *dial);

#endif
