/* listener: a listening socket, TCP or Unix. */
#ifndef PACKLIST_NET_CONNECTIONS_LISTENER_H
#define PACKLIST_NET_CONNECTIONS_LISTENER_H

#include "net/connections/conn.h"

struct listener;

/* Why a listener could not be opened. */
enum listen_status {
    LISTEN_OK,
    LISTEN_UNAVAILABLE, /* the address does not exist here, or its family is not supported */
    LISTEN_IN_USE,      /* another socket listens there */
    LISTEN_FAILED       /* anything else: no permission, malformed */
};

/* Listens on an IPv4 or IPv6 address in text form, or on the first address of a host name ("*" is
 * every IPv4 and "::*" every IPv6 address). With port 0 the system chooses one. On success
 * *listener is set; otherwise `error` (`error_size` bytes) gets the system's reason. Connections
 * get `events`, and `owner` is passed to `opened`. `events` must outlive the listener and its
 * connections. */
enum listen_status listener_open_tcp(struct net *net, const char *address, int port, int backlog,
                                     const struct conn_events *events, void *owner,
                                     struct listener **listener, char *error, size_t error_size);

/* The file of a Unix socket. */
struct unix_place {
    const char *path;
    unsigned permissions; /* 0: those of the umask */
    const char *group;    /* its name; "": the group of the process */
};

/* Listens on a Unix socket, as listener_open_tcp. An old socket file is replaced, any other file is
 * not. */
enum listen_status listener_open_unix(struct net *net, const struct unix_place *place, int backlog,
                                      const struct conn_events *events, void *owner,
                                      struct listener **listener, char *error, size_t error_size);

/* Accepts with another transport from now on: at first it is the plain one of its kind. */
void listener_use(struct listener *listener, const struct transport *transport);

/* Stops accepting and frees the listener; removes the file of a Unix socket. Accepted connections
 * stay open. */
void listener_close(struct listener *listener);

#endif
