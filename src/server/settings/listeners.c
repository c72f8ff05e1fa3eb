#include "server/settings/listeners.h"

#include "base/log/log.h"
#include "base/memory/alloc.h"
#include "engine/engine.h"
#include "net/connections/listener.h"
#include "requests/session_input.h"
#include "server/settings/tls_watch.h"

#include <assert.h>

enum { LISTENERS_MAX = 64 };

/* A TCP listener with the address and port that it was opened for. */
struct endpoint {
    struct listener *listener;
    sds address; /* as in bind, without the leading minus */
    int port;
    bool is_tls;
};

struct endpoints {
    struct endpoint items[LISTENERS_MAX];
    size_t count;
};

struct listeners {
    struct endpoints tcp;
    struct listener *unix_socket; /* NULL: none */
};

/* --- TCP --- */

/* Returns the configured port for plain connections or for TLS; 0: none. */
static int port_for(struct engine *engine, bool is_tls) {
    return (int)(is_tls ? engine->config.tls_port : engine->config.port);
}

/* Returns the address of an entry of bind, without the minus that makes it optional. */
static const char *bind_address(struct engine *engine, size_t index, bool *optional) {
    const char *address = engine->config.bind[index];
    *optional = address[0] == '-';
    return address + *optional;
}

static enum listen_status open_address(struct engine *engine, struct endpoints *endpoints,
                                       const char *address, bool is_tls, sds *error) {
    char reason[256];
    int port = port_for(engine, is_tls);
    if (endpoints->count == LISTENERS_MAX) {
        *error = sds_format("Too many bind addresses (at most %d)", LISTENERS_MAX);
        return LISTEN_FAILED;
    }
    struct endpoint *endpoint = &endpoints->items[endpoints->count];
    enum listen_status status =
        listener_open_tcp(engine->net, address, port, (int)engine->config.tcp_backlog,
                          &session_events, engine, &endpoint->listener, reason, sizeof(reason));
    if (status == LISTEN_OK) {
        endpoint->address = sds_new(slice_of_cstr(address));
        endpoint->port = port;
        endpoint->is_tls = is_tls;
        if (is_tls) listener_use(endpoint->listener, &transport_tls);
        endpoints->count++;
    } else {
        *error = sds_format("Could not create server TCP listening socket %s:%d: %s%s", address,
                            port, reason,
                            status != LISTEN_IN_USE ? ""
                            : is_tls                ? " (choose another port with --tls-port)"
                                                    : " (choose another port with --port)");
    }
    return status;
}

static void close_endpoint(struct endpoint *endpoint) {
    listener_close(endpoint->listener);
    sds_free(endpoint->address);
}

static void close_all(struct endpoints *endpoints) {
    while (endpoints->count > 0) close_endpoint(&endpoints->items[--endpoints->count]);
}

/* Returns whether the endpoint is open on the configured port. */
static bool is_on_port(struct engine *engine, const struct endpoint *endpoint) {
    return endpoint->port == port_for(engine, endpoint->is_tls);
}

static bool contains(struct engine *engine, const struct endpoints *endpoints, const char *address,
                     bool is_tls) {
    for (size_t i = 0; i < endpoints->count; i++) {
        const struct endpoint *endpoint = &endpoints->items[i];
        if (endpoint->is_tls == is_tls && is_on_port(engine, endpoint) &&
            strcmp(endpoint->address, address) == 0)
            return true;
    }
    return false;
}

/* Returns whether the configuration names the endpoint. */
static bool is_wanted(struct engine *engine, const struct endpoint *endpoint) {
    if (!is_on_port(engine, endpoint)) return false;
    for (size_t i = 0; i < engine->config.bind_count; i++) {
        bool optional;
        if (strcmp(bind_address(engine, i, &optional), endpoint->address) == 0) return true;
    }
    return false;
}

/* Opens the endpoints for one port that the configuration names and `tcp` lacks; as
 * open_missing. */
static enum listen_status open_port(struct engine *engine, struct endpoints *fresh, bool is_tls,
                                    sds *error) {
    const struct endpoints *tcp = &engine->listeners->tcp;
    if (port_for(engine, is_tls) == 0) return LISTEN_OK;
    for (size_t i = 0; i < engine->config.bind_count; i++) {
        bool optional;
        const char *address = bind_address(engine, i, &optional);
        if (contains(engine, tcp, address, is_tls) || contains(engine, fresh, address, is_tls))
            continue;
        enum listen_status status = open_address(engine, fresh, address, is_tls, error);
        if (status == LISTEN_OK) continue;
        if (!optional || status != LISTEN_UNAVAILABLE) {
            close_all(fresh);
            return status;
        }
        log_warning("%s", *error);
        sds_free(*error);
        *error = NULL;
    }
    return LISTEN_OK;
}

/* Opens the endpoints that the configuration names and `tcp` lacks. When one that is not optional
 * fails, none stays open, and *error says why. */
static enum listen_status open_missing(struct engine *engine, struct endpoints *fresh, sds *error) {
    fresh->count = 0;
    enum listen_status status = open_port(engine, fresh, false, error);
    return status == LISTEN_OK ? open_port(engine, fresh, true, error) : status;
}

/* Returns whether an endpoint is open on the configured port that the configuration names, or that
 * only the old one names. */
static bool has_endpoint(struct engine *engine, bool wanted) {
    const struct endpoints *tcp = &engine->listeners->tcp;
    for (size_t i = 0; i < tcp->count; i++)
        if (is_on_port(engine, &tcp->items[i]) && is_wanted(engine, &tcp->items[i]) == wanted)
            return true;
    return false;
}

static void close_unwanted(struct engine *engine) {
    struct endpoints *tcp = &engine->listeners->tcp;
    size_t kept = 0;
    for (size_t i = 0; i < tcp->count; i++) {
        if (is_wanted(engine, &tcp->items[i]))
            tcp->items[kept++] = tcp->items[i];
        else
            close_endpoint(&tcp->items[i]);
    }
    tcp->count = kept;
}

/* Opens the new sockets before it closes the old ones. Only * and an address on the same port
 * cannot be open at once; then it closes the old ones first. */
bool listeners_reopen(struct engine *engine, sds *error) {
    struct endpoints fresh, *tcp = &engine->listeners->tcp;
    enum listen_status status = open_missing(engine, &fresh, error);
    if (status == LISTEN_IN_USE && has_endpoint(engine, false)) {
        close_unwanted(engine);
        sds_free(*error);
        *error = NULL;
        status = open_missing(engine, &fresh, error);
    }
    if (status != LISTEN_OK) return false;
    bool is_asked =
        (port_for(engine, false) || port_for(engine, true)) && engine->config.bind_count > 0;
    if (is_asked && fresh.count == 0 && !has_endpoint(engine, true)) {
        *error = sds_format("None of the bind addresses is available on port %d",
                            port_for(engine, engine->config.port == 0));
        return false;
    }
    close_unwanted(engine);
    for (size_t i = 0; i < fresh.count; i++) tcp->items[tcp->count++] = fresh.items[i];
    return true;
}

/* --- All --- */

static bool open_unix(struct engine *engine, sds *error) {
    if (sds_len(engine->config.unixsocket) == 0) return true;
    char reason[256];
    struct unix_place place = {.path = engine->config.unixsocket,
                               .permissions = (unsigned)engine->config.unixsocketperm,
                               .group = engine->config.unixsocketgroup};
    enum listen_status status =
        listener_open_unix(engine->net, &place, (int)engine->config.tcp_backlog, &session_events,
                           engine, &engine->listeners->unix_socket, reason, sizeof(reason));
    if (status == LISTEN_OK) return true;
    *error = sds_format("Failed opening Unix socket %s: %s", engine->config.unixsocket, reason);
    return false;
}

bool listeners_open(struct engine *engine, sds *error) {
    assert(!engine->listeners);
    struct listeners *listeners = engine->listeners = mem_alloc_zeroed(sizeof(*listeners));
    if (!tls_watch_configure(engine, error) || !listeners_reopen(engine, error)) return false;
    if (!open_unix(engine, error)) {
        close_all(&listeners->tcp);
        return false;
    }
    if (listeners->tcp.count > 0 || listeners->unix_socket) return true;
    *error = sds_new(SLICE("Configured to listen nowhere: port and tls-port are 0 or bind empty, "
                           "and there is no unixsocket"));
    return false;
}

void listeners_close(struct engine *engine) {
    close_all(&engine->listeners->tcp);
    if (engine->listeners->unix_socket) {
        log_notice("Removing the unix socket file.");
        listener_close(engine->listeners->unix_socket);
    }
    mem_free(engine->listeners);
}

/* Test programs wait for the lines "Ready to accept connections …", which are Redis's own. */
void listeners_announce(struct engine *engine) {
    bool has_tcp = engine->listeners->tcp.count > 0;
    if (has_tcp && engine->config.port) {
        log_notice("Connect with: redis-cli -p %d", port_for(engine, false));
        log_notice("Ready to accept connections tcp");
    }
    if (has_tcp && engine->config.tls_port) {
        log_notice("Connect with: redis-cli --tls -p %d", port_for(engine, true));
        log_notice("Ready to accept connections tls");
    }
    if (engine->listeners->unix_socket) {
        log_notice("Connect with: redis-cli -s %s", engine->config.unixsocket);
        log_notice("Ready to accept connections unix");
    }
}
