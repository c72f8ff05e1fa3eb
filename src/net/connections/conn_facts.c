#include "base/memory/alloc.h"
#include "net/connections/conn.h"
#include "net/connections/conn_state.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

/* Returns the address of either side; AF_UNSPEC when there is none, or not any more. */
static struct sockaddr_storage address_of(const struct conn *conn, bool peer) {
    struct sockaddr_storage address;
    memset(&address, 0, sizeof(address));
    socklen_t len = sizeof(address);
    int fd = conn_fd(conn);
    int status = peer ? getpeername(fd, (struct sockaddr *)&address, &len)
                      : getsockname(fd, (struct sockaddr *)&address, &len);
    if (status != 0) address.ss_family = AF_UNSPEC;
    return address;
}

static const char *name_of(const struct conn *conn, bool peer, char buffer[CONN_NAME_MAX]) {
    /* The client's end of a Unix socket has no name of its own. */
    struct sockaddr_storage address = address_of(conn, peer && !conn_is_unix(conn));
    char text[INET6_ADDRSTRLEN];
    if (address.ss_family == AF_INET) {
        const struct sockaddr_in *in = (const struct sockaddr_in *)&address;
        inet_ntop(AF_INET, &in->sin_addr, text, sizeof(text));
        snprintf(buffer, CONN_NAME_MAX, "%s:%d", text, ntohs(in->sin_port));
    } else if (address.ss_family == AF_INET6) {
        const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)&address;
        inet_ntop(AF_INET6, &in6->sin6_addr, text, sizeof(text));
        snprintf(buffer, CONN_NAME_MAX, "[%s]:%d", text, ntohs(in6->sin6_port));
    } else if (address.ss_family == AF_UNIX) {
        const struct sockaddr_un *un = (const struct sockaddr_un *)&address;
        snprintf(buffer, CONN_NAME_MAX, "%.*s:0", (int)sizeof(un->sun_path), un->sun_path);
    } else {
        snprintf(buffer, CONN_NAME_MAX, "?:0");
    }
    return buffer;
}

const char *conn_peer_name(const struct conn *conn, char buffer[CONN_NAME_MAX]) {
    return name_of(conn, true, buffer);
}

const char *conn_local_name(const struct conn *conn, char buffer[CONN_NAME_MAX]) {
    return name_of(conn, false, buffer);
}

size_t conn_peer_network(const struct conn *conn, unsigned char network[CONN_NETWORK_MAX]) {
    struct sockaddr_storage address = address_of(conn, true);
    if (address.ss_family == AF_INET) {
        const struct sockaddr_in *in = (const struct sockaddr_in *)&address;
        memcpy(network, &in->sin_addr, sizeof(in->sin_addr));
        return sizeof(in->sin_addr);
    }
    if (address.ss_family != AF_INET6) return 0;
    const struct in6_addr *in6 = &((const struct sockaddr_in6 *)&address)->sin6_addr;
    bool is_mapped = IN6_IS_ADDR_V4MAPPED(in6); /* the last four bytes are an IPv4 address */
    size_t size = is_mapped ? sizeof(struct in_addr) : CONN_NETWORK_MAX;
    memcpy(network, in6->s6_addr + (is_mapped ? sizeof(*in6) - size : 0), size);
    return size;
}

uint16_t conn_peer_port(const struct conn *conn) {
    struct sockaddr_storage address = address_of(conn, true);
    if (address.ss_family == AF_INET) return ntohs(((struct sockaddr_in *)&address)->sin_port);
    if (address.ss_family == AF_INET6) return ntohs(((struct sockaddr_in6 *)&address)->sin6_port);
    return 0;
}

int conn_fd(const struct conn *conn) {
    return conn->transport->fd(conn);
}

bool conn_is_unix(const struct conn *conn) {
    return conn->transport->is_unix;
}

bool conn_is_local(const struct conn *conn) {
    if (conn_is_unix(conn)) return true;
    struct sockaddr_storage address = address_of(conn, true);
    if (address.ss_family == AF_INET) {
        const struct sockaddr_in *in = (const struct sockaddr_in *)&address;
        return ntohl(in->sin_addr.s_addr) >> 24 == 127;
    }
    if (address.ss_family != AF_INET6) return false;
    const struct in6_addr *in6 = &((const struct sockaddr_in6 *)&address)->sin6_addr;
    return IN6_IS_ADDR_LOOPBACK(in6) || (IN6_IS_ADDR_V4MAPPED(in6) && in6->s6_addr[12] == 127);
}

/* A dead peer is noticed after `seconds` of silence and three probes without an answer, a third of
 * that apart. */
void conn_set_keepalive(struct conn *conn, unsigned seconds) {
    if (conn_is_unix(conn)) return;
    int fd = conn_fd(conn);
    int on = seconds > 0, idle = (int)seconds, interval = idle / 3 > 0 ? idle / 3 : 1, count = 3;
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
    if (!on) return;
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof(interval));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof(count));
}

void conn_set_nodelay(struct conn *conn, bool on) {
    int value = on;
    if (!conn_is_unix(conn))
        setsockopt(conn_fd(conn), IPPROTO_TCP, TCP_NODELAY, &value, sizeof(value));
}

size_t conn_transport_allocated(const struct conn *conn) {
    const struct transport *transport = conn->transport;
    return transport->allocated ? transport->allocated(conn) : 0;
}

size_t conn_allocated(const struct conn *conn) {
    size_t size = conn->transport->state_size + sizeof(struct conn) + conn->events->session_size;
    return mem_good_size(size) + conn_transport_allocated(conn);
}

void conn_count_as(struct conn *conn, enum conn_kind kind) {
    conn->kind = (uint16_t)kind;
}

struct conn_totals conn_totals(const struct net *net) {
    struct conn_totals all = {0};
    for (int kind = 0; kind < CONN_KINDS; kind++) {
        all.input_bytes += net->totals[kind].input_bytes;
        all.output_bytes += net->totals[kind].output_bytes;
    }
    return all;
}

struct conn_totals conn_traffic(const struct conn *conn) {
    return conn->traffic;
}

struct conn_totals conn_totals_of(const struct net *net, enum conn_kind kind) {
    return net->totals[kind];
}
