/* loopback: connections to a server of this machine. */
#ifndef PACKLIST_BENCH_LOOPBACK_H
#define PACKLIST_BENCH_LOOPBACK_H

#include <arpa/inet.h>
#include <err.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <sys/socket.h>

/* Returns a socket that is connected to 127.0.0.1 and sends small pieces at once; ends the program with
 * status 1 when there is none. */
static inline int connect_loopback(uint16_t port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int on = 1, fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0)
        err(1, "cannot connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    return fd;
}

#endif
