/* dial: see dial.h.
 *
 *      resolving ──→ connecting to an address ──→ opened
 *          └─ failed        └─ the next one, or failed
 *
 * A dial lives until the request that is under way has called back, also when it was cancelled. */
#include "net/dial.h"

#include "base/alloc.h"
#include "base/checked.h"
#include "net/net_internal.h"

#include <stdio.h>

struct dial {
    uv_getaddrinfo_t resolving;
    uv_connect_t connecting;
    struct net *net;
    struct dial_order order;      /* without host and from */
    struct sockaddr_storage from; /* of the family AF_UNSPEC: from any address */
    struct addrinfo *found;
    struct addrinfo *next; /* of them: to be tried next */
    struct conn *conn;     /* that is being connected, or NULL */
    bool is_cancelled;
    struct net_timer *timer; /* of fail_later */
    int status;
};

static void end(struct dial *dial) {
    uv_freeaddrinfo(dial->found);
    mem_free(dial);
}

static void fail(struct dial *dial, int status) {
    struct dial_order order = dial->order;
    bool is_cancelled = dial->is_cancelled;
    bool is_refused = dial->found && status != UV_ETIMEDOUT && status != UV_EHOSTUNREACH;
    end(dial);
    if (!is_cancelled) order.failed(order.owner, is_refused, uv_strerror(status));
}

static void on_connected(uv_connect_t *request, int status);

/* Tries the addresses that are left. `status`: why the one before failed. */
static void try_next(struct dial *dial, int status) {
    while (dial->next) {
        const struct addrinfo *address = dial->next;
        dial->next = address->ai_next;
        dial->conn = conn_make(dial->net, dial->order.transport, dial->order.events);
        status = dial->order.transport->connect(dial->conn, &dial->connecting, &dial->from,
                                                address->ai_addr, on_connected);
        if (status == 0) return;
        conn_close(dial->conn);
    }
    fail(dial, status);
}

static void on_connected(uv_connect_t *request, int status) {
    struct dial *dial = request->data;
    struct conn *conn = dial->conn;
    net_note_awake(dial->net);
    if (dial->is_cancelled || conn_is_closing(conn)) {
        end(dial);
    } else if (status != 0) {
        conn_close(conn);
        try_next(dial, status);
    } else {
        void *owner = dial->order.owner;
        end(dial);
        conn_begin(conn, owner);
    }
}

static void on_resolved(uv_getaddrinfo_t *request, int status, struct addrinfo *found) {
    struct dial *dial = request->data;
    net_note_awake(dial->net);
    dial->found = dial->next = found;
    if (dial->is_cancelled || status != 0)
        fail(dial, status);
    else
        try_next(dial, UV_EAI_NODATA);
}

/* Only to report an error that was there at once. */
static void on_timer(void *arg) {
    struct dial *dial = arg;
    net_timer_free(dial->timer);
    fail(dial, dial->status);
}

static void fail_later(struct dial *dial, int status) {
    dial->status = status;
    dial->timer = net_timer_new(dial->net, on_timer, dial);
    net_timer_start(dial->timer, 0, 0);
}

/* Returns false when `from` is not an address. */
static bool set_from(struct dial *dial, const char *from) {
    dial->from.ss_family = AF_UNSPEC;
    if (!from || !*from) return true;
    return uv_ip4_addr(from, 0, (struct sockaddr_in *)&dial->from) == 0 ||
           uv_ip6_addr(from, 0, (struct sockaddr_in6 *)&dial->from) == 0;
}

struct dial *dial_start(struct net *net, const struct dial_order *order) {
    CHECKED_ASSERT(order->transport->connect);
    struct dial *dial = mem_alloc_zeroed(sizeof(*dial));
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    char service[16];
    snprintf(service, sizeof(service), "%d", order->port);
    dial->net = net;
    dial->order = *order;
    dial->order.host = dial->order.from = NULL;
    bool is_from = set_from(dial, order->from);
    dial->resolving.data = dial->connecting.data = dial;
    int status = UV_EINVAL;
    if (is_from)
        status =
            uv_getaddrinfo(&net->loop, &dial->resolving, on_resolved, order->host, service, &hints);
    if (status != 0) fail_later(dial, status);
    return dial;
}

void dial_cancel(struct dial *dial) {
    dial->is_cancelled = true;
    if (dial->conn)
        conn_close(dial->conn);
    else
        uv_cancel((uv_req_t *)&dial->resolving);
}
