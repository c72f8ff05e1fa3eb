#define _GNU_SOURCE /* for accept4 */
#include "net/connections/listener.h"

#include "base/log/log.h"
#include "base/memory/alloc.h"
#include "net/connections/conn_state.h"

#include <errno.h>
#include <grp.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

struct listener {
    union net_socket uv;
    const struct transport *transport; /* of the accepted connections */
    const struct conn_events *events;
    void *owner;
    struct listener *next_full; /* in net->full_first */
    bool is_full;
};

static void accept_one(struct listener *listener) {
    struct net *net = listener->uv.stream.loop->data;
    net->accepts++;
    conn_accept(net, listener->transport, &listener->uv.stream, listener->events, listener->owner);
}

/* libuv calls it until no client waits, or one was not accepted: then when listener_go_on has
 * accepted that one. */
static void on_connection(uv_stream_t *stream, int status) {
    struct listener *listener = (struct listener *)stream;
    struct net *net = stream->loop->data;
    net_note_awake(net);
    if (status < 0) {
        log_warning("Accepting client connection: %s", uv_strerror(status));
        return;
    }
    if (net->accepts < CONN_ACCEPTS_MAX) {
        accept_one(listener);
        return;
    }
    listener->is_full = true;
    listener->next_full = net->full_first;
    net->full_first = listener;
}

void listener_go_on(struct net *net) {
    while (net->full_first) {
        struct listener *listener = net->full_first;
        net->full_first = listener->next_full;
        listener->is_full = false;
        accept_one(listener);
    }
}

int listener_accept_now(const uv_handle_t *handle, unsigned most) {
    const struct listener *listener = (const struct listener *)handle;
    uv_os_fd_t waiting_at;
    if (uv_fileno(handle, &waiting_at) != 0) return EBADF;
    for (; most > 0; most--) {
        int fd = accept4(waiting_at, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        bool is_none = fd < 0 && (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED);
        if (fd < 0) return is_none ? 0 : errno;
        conn_accept(handle->loop->data, listener->transport->counterpart, &fd, listener->events,
                    listener->owner);
    }
    return 0;
}

static struct listener *listener_new(const struct transport *transport,
                                     const struct conn_events *events, void *owner) {
    struct listener *listener = mem_alloc_zeroed(sizeof(*listener));
    listener->transport = transport;
    listener->events = events;
    listener->owner = owner;
    return listener;
}

/* Returns the status and the system's error text for a libuv status, a negative errno. */
static enum listen_status refused(struct listener *listener, int status, char *error,
                                  size_t error_size) {
    snprintf(error, error_size, "%s", strerror(-status));
    listener_close(listener);
    switch (-status) {
    case EADDRNOTAVAIL:
    case EAFNOSUPPORT:
    case EPFNOSUPPORT:
    case EPROTONOSUPPORT:
    case ESOCKTNOSUPPORT:
    case ENOPROTOOPT: return LISTEN_UNAVAILABLE;
    case EADDRINUSE: return LISTEN_IN_USE;
    default: return LISTEN_FAILED;
    }
}

/* --- TCP --- */

/* Converts a text to an address; looks up names. Returns 0 or a status of getaddrinfo. */
static int resolve(const char *address, int port, struct sockaddr_storage *result) {
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    if (strcmp(address, "*") == 0) {
        address = NULL;
        hints.ai_family = AF_INET;
    } else if (strcmp(address, "::*") == 0) {
        address = NULL;
        hints.ai_family = AF_INET6;
    }
    char service[16];
    snprintf(service, sizeof(service), "%d", port);
    struct addrinfo *found;
    int status = getaddrinfo(address, service, &hints, &found);
    if (status != 0) return status;
    memcpy(result, found->ai_addr, found->ai_addrlen);
    freeaddrinfo(found);
    return 0;
}

enum listen_status listener_open_tcp(struct net *net, const char *address, int port, int backlog,
                                     const struct conn_events *events, void *owner,
                                     struct listener **result, char *error, size_t error_size) {
    struct sockaddr_storage where;
    int status = resolve(address, port, &where);
    if (status != 0) {
        snprintf(error, error_size, "%s", gai_strerror(status));
        return status == EAI_FAMILY ? LISTEN_UNAVAILABLE : LISTEN_FAILED;
    }
    struct listener *listener = listener_new(&transport_tcp, events, owner);
    uv_tcp_init(&net->loop.uv, &listener->uv.tcp);
    unsigned flags = where.ss_family == AF_INET6 ? UV_TCP_IPV6ONLY : 0;
    status = uv_tcp_bind(&listener->uv.tcp, (const struct sockaddr *)&where, flags);
    if (status == 0) status = uv_listen(&listener->uv.stream, backlog, on_connection);
    if (status != 0) return refused(listener, status, error, error_size);
    *result = listener;
    return LISTEN_OK;
}

void listener_use(struct listener *listener, const struct transport *transport) {
    listener->transport = transport;
}

/* --- Unix sockets --- */

/* Returns 0 if the directory of `path` exists, otherwise a negative errno. libuv reports a missing
 * directory as a lack of permission. */
static int check_folder(const char *path) {
    struct sockaddr_un address;
    char folder[sizeof(address.sun_path)];
    const char *slash = strrchr(path, '/');
    if (slash == NULL) return 0;
    snprintf(folder, sizeof(folder), "%.*s", (int)(slash + 1 - path), path);
    return access(folder, F_OK) == 0 ? 0 : -errno;
}

/* Removes an old socket at `path`. Returns 0 or a negative errno. */
static int clear_path(const char *path) {
    struct sockaddr_un address;
    if (strlen(path) >= sizeof(address.sun_path)) return -ENAMETOOLONG;
    struct stat old;
    if (lstat(path, &old) != 0) return errno == ENOENT ? check_folder(path) : -errno;
    if (!S_ISSOCK(old.st_mode)) return -EEXIST;
    return unlink(path) == 0 ? 0 : -errno;
}

/* Binds the socket and sets its permissions and group. Returns 0 or a negative errno. */
static int bind_path(struct listener *listener, const struct unix_place *place, gid_t group) {
    int status = clear_path(place->path);
    if (status == 0) status = uv_pipe_bind(&listener->uv.pipe, place->path);
    if (status != 0) return status;
    if (place->group[0] && chown(place->path, (uid_t)-1, group) != 0) return -errno;
    if (place->permissions && chmod(place->path, place->permissions) != 0) return -errno;
    return 0;
}

/* Looks up the group's number; returns false when there is no such group. */
static bool find_group(const char *name, gid_t *number) {
    if (!name[0]) return true;
    const struct group *group = getgrnam(name);
    if (!group) return false;
    *number = group->gr_gid;
    return true;
}

enum listen_status listener_open_unix(struct net *net, const struct unix_place *place, int backlog,
                                      const struct conn_events *events, void *owner,
                                      struct listener **result, char *error, size_t error_size) {
    gid_t group = 0;
    if (!find_group(place->group, &group)) {
        snprintf(error, error_size, "there is no group %s", place->group);
        return LISTEN_FAILED;
    }
    struct listener *listener = listener_new(&transport_unix, events, owner);
    uv_pipe_init(&net->loop.uv, &listener->uv.pipe, 0);
    int status = bind_path(listener, place, group);
    if (status == 0) status = uv_listen(&listener->uv.stream, backlog, on_connection);
    if (status != 0) return refused(listener, status, error, error_size);
    *result = listener;
    return LISTEN_OK;
}

/* --- Both --- */

void listener_close(struct listener *listener) {
    struct net *net = listener->uv.stream.loop->data;
    struct listener **link = &net->full_first;
    while (listener->is_full && *link != listener) link = &(*link)->next_full;
    if (listener->is_full) *link = listener->next_full;
    uv_close(&listener->uv.handle, loop_free_handle);
}
