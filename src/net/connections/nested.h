/* nested: what nested polling (nested_poll.h) polls. Only while net->nested is set. */
#ifndef PACKLIST_NET_CONNECTIONS_NESTED_H
#define PACKLIST_NET_CONNECTIONS_NESTED_H

#include "net/connections/conn_state.h"

/* State of a connection whose socket libuv does not know yet: transport_socket.c. */
struct direct {
    struct conn *conn;
    int fd; /* -1: closed */
    struct direct *prev;
    struct direct *next;
};

enum { NESTED_LISTENERS_MAX = 64 };

/* A connection is registered for reading, or, while it holds output, for writing. */
struct nested {
    int epoll_fd;
    bool holds_output; /* see nested_poll_begin */
    bool is_serving;   /* inside nested_poll_step */
    bool is_refused;   /* accepting has failed, which was logged */
    char *read_buffer;
    const uv_handle_t *listeners[NESTED_LISTENERS_MAX];
    size_t listener_count;
    struct direct *open_first; /* connections that libuv does not know, until it gets them */
    struct direct *open_last;
    struct direct *closed_first; /* those that were closed in this step */
    struct direct *closed_last;
};

/* epoll_ctl for the connection. One that is not registered stays so. */
void nested_change(struct conn *conn, int operation, uint32_t events);

/* The connection holds output now. */
void nested_note_held(struct conn *conn);

/* The connection is read no longer, or closes. */
void nested_forget(struct conn *conn);

#endif
