/* listener: a listening socket, TCP or unix. */
#ifndef PACKLIST_NET_LISTENER_H
#define PACKLIST_NET_LISTENER_H

#include "net/conn.h"
#include "net/net.h"

struct listener;

/* Why a listener could not be opened. */
enum listen_status {
    LISTEN_OK,
    LISTEN_UNAVAILABLE, /* the address does not exist here, or its family is not supported */
    LISTEN_IN_USE,      /* another socket listens there */
    LISTEN_FAILED       /* anything else: no permission, malformed */
};

/* Listens on an IPv4 or IPv6 address in text form, or on the first address of a host name ("*" is
 * every IPv4 and "::*" every IPv6 address); port 0 lets the system choose. On success *listener is
 * set; else `error` (of `error_size` bytes) has the system's reason. Connections get `events`;
 * `owner` is handed to `opened`. `events` must outlive the listener and its connections. */
enum listen_status listener_open_tcp(struct net *net, const char *address, int port, int backlog,
                                     const struct conn_events *events, void *owner,
                                     struct listener **listener, char *error, size_t error_size);

/* The file of a unix socket. */
struct unix_place {
    const char *path;
    unsigned permissions; /* 0 leaves those of the umask */
    const char *group;    /* its name; "" leaves the group of the process */
};

/* Listens on a unix socket; an old socket file is replaced, any other file is not. */
enum listen_status listener_open_unix(struct net *net, const struct unix_place *place, int backlog,
                                      const struct conn_events *events, void *owner,
                                      struct listener **listener, char *error, size_t error_size);

/* The TCP port it listens on; 0 for unix sockets. */
int listener_port(const struct listener *listener);

/* Stops accepting and frees it; removes the unix socket's file. Accepted connections live on. */
void listener_close(struct listener *listener);

#endif
