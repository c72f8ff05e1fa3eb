/* dial: see dial.h.
 *
 *      resolving ──→ connecting to an address ──→ opened
 *          └─ failed        └─ the next one, or failed
 *
 * A numeric address is connected to at once.
 *
 * A dial lives until the request that is under way has called back, also when it was cancelled. */
#include "net/connections/dial.h"

#include "base/checked.h"
#include "base/memory/alloc.h"
#include "net/connections/conn_state.h"
#include "net/loop/timer.h"

#include <stdio.h>

struct dial {
    uv_getaddrinfo_t resolving;
    uv_connect_t connecting;
    struct net *net;
    struct dial_order order; /* without host, expected_name and from */
    sds host;
    sds expected_name;
    struct sockaddr_storage from; /* of the family AF_UNSPEC: from any address */
    struct sockaddr_storage numeric;
    struct addrinfo numeric_info; /* of it */
    struct addrinfo *found;       /* NULL: not looked up */
    const struct addrinfo *next;  /* to be tried next */
    bool has_tried;               /* an address */
    struct conn *conn;            /* that is being connected, or NULL */
    bool is_cancelled;
    struct net_timer *timer; /* of fail_later */
    int status;
};

static void end(struct dial *dial) {
    uv_freeaddrinfo(dial->found);
    sds_free(dial->host);
    sds_free(dial->expected_name);
    mem_free(dial);
}

/* `reason`: NULL if the status says it. */
static void fail(struct dial *dial, int status, const char *reason) {
    struct dial_order order = dial->order;
    bool is_cancelled = dial->is_cancelled;
    bool is_refused =
        dial->has_tried && !reason && status != UV_ETIMEDOUT && status != UV_EHOSTUNREACH;
    end(dial);
    if (!is_cancelled) order.failed(order.owner, is_refused, reason ? reason : uv_strerror(status));
}

static void on_connected(uv_connect_t *request, int status);

/* Begins to connect to one of the addresses that are left. Returns 0, or a status: of the last one,
 * or the given one when none is left. */
static int connect_next(struct dial *dial, int status) {
    while (dial->next) {
        const struct addrinfo *info = dial->next;
        const struct destination to = {.address = info->ai_addr,
                                       .from = &dial->from,
                                       .host = dial->host,
                                       .expected_name = dial->expected_name};
        dial->next = info->ai_next;
        dial->has_tried = true;
        dial->conn = conn_make(dial->net, dial->order.transport, dial->order.events);
        status = dial->order.transport->connect(dial->conn, &dial->connecting, &to, on_connected);
        if (status == 0) return 0;
        conn_close(dial->conn);
        dial->conn = NULL;
    }
    return status;
}

/* The connection that was tried stays valid until this callback ends, with its reason. */
static void on_connected(uv_connect_t *request, int status) {
    struct dial *dial = request->data;
    struct conn *conn = dial->conn;
    net_note_awake(dial->net);
    if (dial->is_cancelled || conn_is_closing(conn)) {
        end(dial);
    } else if (status != 0) {
        const struct transport *transport = dial->order.transport;
        const char *reason = transport->failure ? transport->failure(conn) : NULL;
        bool is_last = !dial->next;
        conn_close(conn);
        status = connect_next(dial, status);
        if (status != 0) fail(dial, status, is_last ? reason : NULL);
    } else {
        void *owner = dial->order.owner;
        end(dial);
        conn_begin(conn, owner);
    }
}

static void on_resolved(uv_getaddrinfo_t *request, int status, struct addrinfo *found) {
    struct dial *dial = request->data;
    net_note_awake(dial->net);
    dial->next = dial->found = found;
    if (!dial->is_cancelled && status == 0) status = connect_next(dial, UV_EAI_NODATA);
    if (dial->is_cancelled || status != 0) fail(dial, status, NULL);
}

/* Only to report an error that was there at once. */
static void on_timer(void *arg) {
    struct dial *dial = arg;
    net_timer_free(dial->timer);
    fail(dial, dial->status, NULL);
}

static void fail_later(struct dial *dial, int status) {
    dial->status = status;
    dial->timer = net_timer_new(dial->net, on_timer, dial);
    net_timer_start(dial->timer, 0, 0);
}

/* Returns false when the text is no numeric address. */
static bool parse_numeric(struct sockaddr_storage *address, const char *text, int port) {
    return uv_ip4_addr(text, port, (struct sockaddr_in *)address) == 0 ||
           uv_ip6_addr(text, port, (struct sockaddr_in6 *)address) == 0;
}

static int resolve(struct dial *dial) {
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    char service[16];
    snprintf(service, sizeof(service), "%d", dial->order.port);
    return uv_getaddrinfo(&dial->net->loop.uv, &dial->resolving, on_resolved, dial->host, service,
                          &hints);
}

static int connect_numeric(struct dial *dial) {
    dial->numeric_info = (struct addrinfo){.ai_addr = (struct sockaddr *)&dial->numeric};
    dial->next = &dial->numeric_info;
    return connect_next(dial, UV_EINVAL);
}

struct dial *dial_start(struct net *net, const struct dial_order *order) {
    CHECKED_ASSERT(order->transport->connect);
    struct dial *dial = mem_alloc_zeroed(sizeof(*dial));
    dial->net = net;
    dial->order = *order;
    dial->host = sds_new(slice_of_cstr(order->host));
    dial->expected_name = sds_new(slice_of_cstr(order->expected_name ? order->expected_name : ""));
    dial->order.host = dial->order.expected_name = dial->order.from = NULL;
    dial->resolving.data = dial->connecting.data = dial;
    dial->from.ss_family = AF_UNSPEC;
    bool is_from_any = !order->from || !*order->from;
    int status = UV_EINVAL;
    if (is_from_any || parse_numeric(&dial->from, order->from, 0))
        status = parse_numeric(&dial->numeric, order->host, order->port) ? connect_numeric(dial)
                                                                         : resolve(dial);
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
