#include "net/connections/nested.h"

#include "base/chain.h"

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

void nested_start_reading(struct conn *conn) {
    nested_change(conn_top(conn), EPOLL_CTL_ADD, EPOLLIN);
}

void nested_keep_open(struct net *net, struct direct *direct) {
    struct nested *nested = net->nested;
    CHAIN_APPEND(nested->open_first, nested->open_last, direct, prev, next);
}

void nested_keep_closed(struct net *net, struct direct *direct) {
    struct nested *nested = net->nested;
    CHAIN_REMOVE(nested->open_first, nested->open_last, direct, prev, next);
    CHAIN_APPEND(nested->closed_first, nested->closed_last, direct, prev, next);
}
