/* The port of a listener, for tests that let the system choose one. */
#ifndef PACKLIST_TESTS_UNIT_LISTENER_PORT_H
#define PACKLIST_TESTS_UNIT_LISTENER_PORT_H

#include "net/connections/conn_state.h"
#include "net/connections/listener.h"

#include <netinet/in.h>

/* Returns the TCP port; 0 for a Unix socket. A listener begins with its handle. */
static inline int listener_port(struct listener *listener) {
    union net_socket *uv = (union net_socket *)(void *)listener;
    struct sockaddr_storage address = {0};
    int len = sizeof(address);
    if (uv->handle.type != UV_TCP) return 0;
    if (uv_tcp_getsockname(&uv->tcp, (struct sockaddr *)&address, &len) != 0) return 0;
    return address.ss_family == AF_INET6 ? ntohs(((struct sockaddr_in6 *)&address)->sin6_port)
                                         : ntohs(((struct sockaddr_in *)&address)->sin_port);
}

#endif
