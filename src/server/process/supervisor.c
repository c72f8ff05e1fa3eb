#include "server/process/supervisor.h"

#include "base/log/log.h"
#include "base/text/number.h"
#include "engine/engine.h"
#include "net/net.h"
#include "snapshot/load.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { STATUS_MAX = 200, STATUS_EVERY_MS = 1000, SEND_TIMEOUT_S = 1 };

/* --- Messages to systemd --- */

static void note_failure(struct supervisor *supervisor, const char *what) {
    if (!supervisor->has_failed) log_warning("systemd supervision: %s: %s", what, strerror(errno));
    supervisor->has_failed = true;
}

/* Sends a message. Without MSG_DONTWAIT in `flags` it waits up to a second. */
static void send_message(struct supervisor *supervisor, const char *text, int flags) {
    if (supervisor->kind != SUPERVISED_SYSTEMD) return;
    ssize_t sent;
    do {
        sent = sendto(supervisor->fd, text, strlen(text), flags | MSG_NOSIGNAL,
                      (struct sockaddr *)&supervisor->address, supervisor->address_len);
    } while (sent < 0 && errno == EINTR);
    if (sent < 0) note_failure(supervisor, "a message to NOTIFY_SOCKET was not sent");
}

/* Parses an absolute path, or "@" and a name in the abstract namespace, which has no NUL at its
 * end. */
static bool parse_address(struct supervisor *supervisor, const char *text) {
    size_t len = strlen(text);
    struct sockaddr_un *address = &supervisor->address;
    if ((text[0] != '/' && text[0] != '@') || text[1] == '\0' || len >= sizeof(address->sun_path)) {
        errno = EINVAL;
        return false;
    }
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    memcpy(address->sun_path, text, len);
    if (text[0] == '@') address->sun_path[0] = '\0';
    supervisor->address_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
    return true;
}

static bool open_socket(struct supervisor *supervisor, const char *address) {
    if (!parse_address(supervisor, address)) return false;
    supervisor->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (supervisor->fd < 0) return false;
    struct timeval patience = {.tv_sec = SEND_TIMEOUT_S};
    setsockopt(supervisor->fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    return true;
}

/* --- Finding the supervisor --- */

/* Returns the interval within which the watchdog expects a message from this process, in
 * microseconds; 0: no watchdog. */
static uint64_t watchdog_interval(void) {
    const char *interval = getenv("WATCHDOG_USEC"), *process = getenv("WATCHDOG_PID");
    int64_t us, pid;
    if (!interval || !number_parse_int64(slice_of_cstr(interval), &us) || us <= 0) return 0;
    if (process && (!number_parse_int64(slice_of_cstr(process), &pid) || pid != getpid())) return 0;
    return (uint64_t)us;
}

static void find_systemd(struct supervisor *supervisor, const char *address) {
    if (!address) {
        log_warning("systemd supervision requested, but NOTIFY_SOCKET is not set");
        return;
    }
    if (!open_socket(supervisor, address)) {
        note_failure(supervisor, "NOTIFY_SOCKET cannot be used");
        return;
    }
    supervisor->kind = SUPERVISED_SYSTEMD;
    supervisor->watchdog_us = watchdog_interval();
    log_notice("supervised by systemd: it is notified when the server is ready");
}

static void find_upstart(struct supervisor *supervisor, const char *job) {
    if (!job) {
        log_warning("upstart supervision requested, but UPSTART_JOB is not set");
        return;
    }
    supervisor->kind = SUPERVISED_UPSTART;
    log_notice("supervised by upstart: the server stops itself when it is ready");
}

void supervisor_find(struct engine *engine) {
    const char *address = getenv("NOTIFY_SOCKET"), *job = getenv("UPSTART_JOB");
    enum supervision wanted = (enum supervision)engine->config.supervised;
    if (wanted == SUPERVISED_AUTO)
        wanted = job ? SUPERVISED_UPSTART : address ? SUPERVISED_SYSTEMD : SUPERVISED_NO;
    if (wanted == SUPERVISED_SYSTEMD) find_systemd(engine->supervisor, address);
    if (wanted == SUPERVISED_UPSTART) find_upstart(engine->supervisor, job);
}

const char *supervisor_name(const struct engine *engine) {
    enum supervision kind = engine->supervisor->kind;
    return kind == SUPERVISED_SYSTEMD ? "systemd" : kind == SUPERVISED_UPSTART ? "upstart" : "no";
}

/* --- The messages --- */

static void feed_watchdog(void *arg) {
    send_message(arg, "WATCHDOG=1", MSG_DONTWAIT);
}

void supervisor_watchdog_start(struct engine *engine) {
    struct supervisor *supervisor = engine->supervisor;
    if (supervisor->watchdog_us == 0) return;
    uint64_t period_ms = supervisor->watchdog_us / 2000;
    if (period_ms == 0) period_ms = 1;
    net_timer_start(net_timer_new(engine->net, feed_watchdog, supervisor), 0, period_ms);
}

void supervisor_ready(struct engine *engine) {
    send_message(engine->supervisor, "READY=1\nSTATUS=Ready to accept connections", 0);
    if (engine->supervisor->kind == SUPERVISED_UPSTART) raise(SIGSTOP);
}

void supervisor_status(struct engine *engine, const char *format, ...) {
    char text[sizeof("STATUS=") + STATUS_MAX] = "STATUS=";
    size_t head = strlen(text);
    va_list args;
    if (engine->supervisor->kind != SUPERVISED_SYSTEMD) return;
    va_start(args, format);
    vsnprintf(text + head, sizeof(text) - head, format, args);
    va_end(args);
    for (char *c = text + head; *c; c++)
        if ((unsigned char)*c < ' ') *c = '?'; /* a line end would begin another assignment */
    send_message(engine->supervisor, text, MSG_DONTWAIT);
}

void supervisor_tick(struct engine *engine) {
    const struct load *load = engine->load;
    struct supervisor *supervisor = engine->supervisor;
    if (!load->running || supervisor->kind != SUPERVISED_SYSTEMD) return;
    if (supervisor->status_ms && engine->steady_ms - supervisor->status_ms < STATUS_EVERY_MS)
        return;
    supervisor->status_ms = engine->steady_ms;
    supervisor_status(engine, "Loading %s: %.0f%%", load->name, load_percent(engine));
}

void supervisor_stopping(struct engine *engine) {
    send_message(engine->supervisor, "STOPPING=1\nSTATUS=Stopping", 0);
}
