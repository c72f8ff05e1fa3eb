#include "server/listeners.h"

#include "base/log.h"
#include "server/server.h"

#include <stdio.h>

enum { LISTENERS_MAX = 64 };

static struct listener *tcp[LISTENERS_MAX];
static size_t tcp_count;
static struct listener *unix_listener;
static char error_text[512];

static bool open_address(const char *address, bool optional) {
    char reason[256];
    enum listen_status status = listener_open_tcp(server.net, address, (int)server.config.port,
                                                  (int)server.config.tcp_backlog, &session_events,
                                                  NULL, &tcp[tcp_count], reason, sizeof(reason));
    if (status == LISTEN_OK) {
        tcp_count++;
        return true;
    }
    snprintf(error_text, sizeof(error_text),
             "Could not create server TCP listening socket %s:%d: %s%s", address,
             (int)server.config.port, reason,
             status == LISTEN_IN_USE ? " (choose another port with --port)" : "");
    if (!optional || status != LISTEN_UNAVAILABLE) return false;
    log_warning("%s", error_text);
    return true;
}

static void close_tcp(void) {
    while (tcp_count > 0) listener_close(tcp[--tcp_count]);
}

static bool open_tcp(void) {
    if (server.config.port == 0) return true;
    for (size_t i = 0; i < server.config.bind_count; i++) {
        const char *address = server.config.bind[i];
        bool optional = address[0] == '-';
        if (tcp_count == LISTENERS_MAX) {
            snprintf(error_text, sizeof(error_text), "Too many bind addresses (at most %d)",
                     LISTENERS_MAX);
        } else if (open_address(address + optional, optional)) {
            continue;
        }
        close_tcp();
        return false;
    }
    if (tcp_count > 0) return true;
    snprintf(error_text, sizeof(error_text), "None of the bind addresses is available on port %d",
             (int)server.config.port);
    return server.config.bind_count == 0;
}

static bool open_unix(void) {
    if (sds_len(server.config.unixsocket) == 0) return true;
    char reason[256];
    enum listen_status status =
        listener_open_unix(server.net, server.config.unixsocket,
                           (unsigned)server.config.unixsocketperm, (int)server.config.tcp_backlog,
                           &session_events, NULL, &unix_listener, reason, sizeof(reason));
    if (status == LISTEN_OK) return true;
    snprintf(error_text, sizeof(error_text), "Failed opening Unix socket %s: %s",
             server.config.unixsocket, reason);
    return false;
}

bool listeners_open(const char **error) {
    *error = error_text;
    if (!open_tcp()) return false;
    if (!open_unix()) {
        close_tcp();
        return false;
    }
    if (tcp_count > 0 || unix_listener) return true;
    snprintf(error_text, sizeof(error_text),
             "Configured to listen nowhere: port is 0 or bind empty, and there is no unixsocket");
    return false;
}

bool listeners_reopen(const char **error) {
    *error = error_text;
    close_tcp();
    return open_tcp();
}

void listeners_close(void) {
    close_tcp();
    if (!unix_listener) return;
    log_notice("Removing the unix socket file.");
    listener_close(unix_listener);
    unix_listener = NULL;
}

/* Test harnesses wait for the lines "Ready to accept connections …", which are those of Redis. */
void listeners_announce(void) {
    if (tcp_count > 0) {
        log_notice("Connect with: redis-cli -p %d", (int)server.config.port);
        log_notice("Ready to accept connections tcp");
    }
    if (unix_listener) {
        log_notice("Connect with: redis-cli -s %s", server.config.unixsocket);
        log_notice("Ready to accept connections unix");
    }
}
