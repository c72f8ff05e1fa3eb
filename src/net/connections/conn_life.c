/* How connections are made, and how they are closed: now, or a limited number in each iteration.
 * What they have is freed by conn_closed (conn_input.c). */
#include "net/connections/conn.h"

#include "base/log/log.h"
#include "base/memory/alloc.h"
#include "net/connections/nested.h"

void *conn_session(struct conn *conn) {
    return conn->session;
}

struct conn *conn_of_session(void *session) {
    return (struct conn *)((char *)session - offsetof(struct conn, session));
}

void *transport_state(const struct conn *conn) {
    return (char *)conn - conn->transport->state_size;
}

/* --- Close --- */

bool conn_is_closing(const struct conn *conn) {
    return (conn->flags & (CONN_CLOSING | CONN_DRAINING)) != 0;
}

static void close_socket(struct conn *conn) {
    net_of(conn)->closes++;
    conn->transport->close(conn);
}

static void close_first_socket(struct net *net) {
    struct conn *conn = net->unclosed_first;
    net->unclosed_first = conn->next_unclosed;
    if (net->unclosed_first == NULL) net->unclosed_last = NULL;
    close_socket(conn);
}

bool conn_close_sockets(struct net *net) {
    net->closes = 0;
    while (net->unclosed_first != NULL && net->closes < CONN_CLOSES_MAX) close_first_socket(net);
    return net->unclosed_first != NULL;
}

void conn_close_all_sockets(struct net *net) {
    while (net->unclosed_first != NULL) close_first_socket(net);
}

/* Closes the socket later, but stops reading now. */
static void close_socket_later(struct conn *conn) {
    struct net *net = net_of(conn);
    conn->transport->stop_reading(conn);
    if (net->unclosed_last != NULL)
        net->unclosed_last->next_unclosed = conn;
    else
        net->unclosed_first = conn;
    net->unclosed_last = conn;
}

void conn_close(struct conn *conn) {
    if (conn->flags & CONN_CLOSING) return;
    conn->flags |= CONN_CLOSING;
    struct net *net = net_of(conn);
    if (net->nested != NULL) nested_forget(conn);
    if (net->closes < CONN_CLOSES_MAX && net->unclosed_first == NULL)
        close_socket(conn);
    else
        close_socket_later(conn);
}

/* --- Open --- */

struct conn *conn_make(struct net *net, const struct transport *transport,
                       const struct conn_events *events) {
    if (net->unclosed_first != NULL)
        close_first_socket(net); /* so that the number of descriptors does not grow */
    char *block =
        mem_alloc_zeroed(transport->state_size + sizeof(struct conn) + events->session_size);
    struct conn *conn = (struct conn *)(block + transport->state_size);
    conn->transport = transport;
    conn->net = net;
    conn->events = events;
    return conn;
}

void conn_begin(struct conn *conn, void *owner) {
    conn->events->opened(conn, owner);
    if (!conn_is_closing(conn)) conn->transport->start_reading(conn);
}

void conn_accept(struct net *net, const struct transport *transport, void *from,
                 const struct conn_events *events, void *owner) {
    struct conn *conn = conn_make(net, transport, events);
    int status = transport->accept(conn, from);
    if (status == 0) {
        conn_begin(conn, owner);
        return;
    }
    log_warning("Accepting client connection: %s", uv_strerror(status));
    conn_close(conn);
}
