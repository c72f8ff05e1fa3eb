#include "net/connections/nested.h"

#include <sys/epoll.h>

void nested_change(struct conn *conn, int operation, uint32_t events) {
    const struct transport *transport = conn->transport;
    if (transport->is_threaded) return; /* see nested_poll_step */
    if (events == EPOLLIN && transport->wants_turn && transport->wants_turn(conn))
        events |= EPOLLOUT;
    struct epoll_event event = {.events = events, .data.ptr = conn};
    epoll_ctl(net_of(conn)->nested->epoll_fd, operation, transport->fd(conn), &event);
}

void nested_note_held(struct conn *conn) {
    const struct nested *nested = net_of(conn)->nested;
    if (nested->holds_output && !nested->is_serving)
        nested_forget(conn);
    else
        nested_change(conn, EPOLL_CTL_MOD, EPOLLOUT);
}

void nested_forget(struct conn *conn) {
    conn->flags &= (uint16_t)~CONN_NESTED;
    nested_change(conn, EPOLL_CTL_DEL, 0);
}
