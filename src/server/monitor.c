#include "server/monitor.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "server/call.h"
#include "server/server.h"
#include "server/server_commands.h"

/* --- Lines --- */

static bool is_secret(const struct command *command, const struct slice *argv, size_t index) {
    if (command->run == auth_command) return index > 0;
    if (command->run != hello_command) return false;
    for (size_t i = 2; i < index; i++) /* HELLO protocol … AUTH user password … */
        if (slice_is(argv[i], "auth") && index <= i + 2) return true;
    return false;
}

static sds append_origin(sds line, const struct session *session) {
    char peer[CONN_NAME_MAX];
    if (session->marks & SESSION_UNIX)
        return sds_append_format(line, "unix:%s", server.config.unixsocket);
    return sds_append_cstr(line, conn_peer_name(conn_of_session((struct session *)session), peer));
}

static sds make_line(const struct session *session, const struct command *command,
                     const struct slice *argv, size_t argc) {
    long long now_us = clock_wall_us();
    sds line = sds_append_format(sds_new(SLICE("+")), "%lld.%06lld [%d ", now_us / 1000000,
                                 now_us % 1000000, (int)session->database);
    line = sds_append_cstr(append_origin(line, session), "]");
    for (size_t i = 0; i < argc; i++) {
        line = sds_append_cstr(line, " ");
        line = is_secret(command, argv, i) ? sds_append_cstr(line, "\"(redacted)\"")
                                           : sds_append_quoted(line, argv[i]);
    }
    return sds_append_cstr(line, "\r\n");
}

void monitor_feed(const struct session *session, const struct command *command,
                  const struct slice *argv, size_t argc) {
    if (command->flags & COMMAND_ADMIN) return;
    sds line = make_line(session, command, argv, argc);
    /* Backwards: who is too slow is closed, and the last one takes his place. */
    for (size_t i = server.monitors.count; i-- > 0;)
        session_tell(server.monitors.sessions[i], sds_slice(line));
    sds_free(line);
}

/* --- Who is shown them --- */

static void join(struct session *session) {
    struct monitors *monitors = &server.monitors;
    if (monitors->count == monitors->capacity) {
        size_t capacity = monitors->capacity ? monitors->capacity * 2 : 4;
        monitors->sessions =
            mem_realloc(monitors->sessions, capacity * sizeof(*monitors->sessions));
        monitors->capacity = capacity;
    }
    monitors->sessions[monitors->count++] = session;
    session->flags |= SESSION_MONITOR;
}

void monitor_leave(struct session *session) {
    struct monitors *monitors = &server.monitors;
    if (!(session->flags & SESSION_MONITOR)) return;
    size_t i = 0;
    while (monitors->sessions[i] != session) i++;
    monitors->sessions[i] = monitors->sessions[--monitors->count];
    session->flags &= ~(uint32_t)SESSION_MONITOR;
}

void monitor_command(struct call *call) {
    if (!call->may_block) {
        reply_error(call->reply, "ERR MONITOR isn't allowed for DENY BLOCKING client");
    } else if (!(call->session->flags & SESSION_MONITOR)) { /* a second one is not answered */
        join(call->session);
        reply_ok(call->reply);
    }
}
