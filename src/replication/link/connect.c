/* The connection of the link: it is made, what comes is given to those who take it in the state of
 * the link, and time is watched. */
#include "base/memory/alloc.h"
#include "engine/engine.h"
#include "net/connections/dial.h"
#include "net/net.h"
#include "replication/link/link.h"
#include "session/clients.h"

#include <string.h>

enum {
    SECOND_MS = 1000,
    ABSENT_MS = 3 * SECOND_MS,
    GOOD_AFTER_MS = 60 * SECOND_MS, /* a stream that lasts so long ends a series of mishaps */
    LINE_MAX_LEN = 4096
};

/* --- What comes --- */

static size_t take_line(struct link *link, char *bytes, size_t len) {
    const char *end = memchr(bytes, '\n', len);
    if (!end) {
        if (len > LINE_MAX_LEN)
            link_fail(link, "MASTER sends a line of more than %d bytes. Closing the connection.",
                      LINE_MAX_LEN);
        return 0;
    }
    struct slice line = slice_make(bytes, (size_t)(end - bytes));
    if (line.len > 0 && line.ptr[line.len - 1] == '\r') line.len--;
    size_t taken = (size_t)(end - bytes) + 1;
    if (line.len > 0) link_take_line(link, line); /* an empty one says that it is alive */
    return taken;
}

/* Takes nothing while the stream is held back. */
static size_t take_stream(struct link *link, char *bytes, size_t len) {
    if (link_session(link)->flags & SESSION_PAUSED) return 0;
    link->is_held_back = false;
    link_resume(link);
    return link_stream_take(link, bytes, len);
}

/* Takes what it can of the bytes. Returns how many; 0 when it must wait for more. */
static size_t take(struct link *link, char *bytes, size_t len) {
    switch (link->state) {
    case LINK_PINGS:
    case LINK_CONFIGURES:
    case LINK_ASKS:
    case LINK_HEADER: return take_line(link, bytes, len);
    case LINK_RECEIVES: return link_load_take(link, bytes, len);
    case LINK_STREAMS: return take_stream(link, bytes, len);
    default: return 0;
    }
}

/* What CLIENT LIST shows of the stream. */
static void show_stream(struct link *link) {
    struct requester *requester = &link_session(link)->requester;
    requester->database = link->stream.requester.database;
    requester->last_command = link->stream.requester.last_command;
    requester->commands = link->stream.requester.commands;
}

static size_t on_data(struct conn *conn, char *bytes, size_t len) {
    struct link_session *own = conn_session(conn);
    struct link *link = own->link;
    struct engine *engine = link->engine;
    if (engine->shutting_down) return 0;
    engine_update_clock(engine);
    link->io_ms = own->session.active_ms = engine->steady_ms;
    size_t done = 0, taken;
    while (done < len && link->conn == conn && (taken = take(link, bytes + done, len - done)) > 0)
        done += taken;
    if (link->conn == conn && link->state == LINK_STREAMS) show_stream(link);
    return done;
}

/* --- The connection --- */

static void on_ended(struct conn *conn, const char *reason) {
    struct link_session *own = conn_session(conn);
    struct link *link = own->link;
    if (link->state == LINK_LOADS && link_payload_is_whole(&link->payload)) {
        /* The payload is there: what comes after it is asked for when it is loaded. */
        link->conn = NULL;
        conn_close(conn);
        return;
    }
    link_fail(link, "Connection with master lost: %s.", reason);
}

static void on_opened(struct conn *conn, void *owner) {
    struct link *link = owner;
    struct link_session *own = conn_session(conn);
    own->link = link;
    own->session.requester = (struct requester){.engine = link->engine, .session = &own->session};
    link->dial = NULL;
    link->conn = conn;
    conn_count_as(conn, CONN_PRIMARY);
    engine_update_clock(link->engine);
    link->io_ms = link->engine->steady_ms;
    log_notice("Non blocking connect for SYNC fired the event.");
    link_greet(link);
}

static const struct conn_events link_events = {
    .session_size = sizeof(struct link_session),
    .opened = on_opened,
    .data = on_data,
    .ended = on_ended,
};

static void on_failed(void *owner, bool is_refused, const char *reason) {
    struct link *link = owner;
    (void)is_refused;
    const char *from = link->engine->config.bind_source_addr;
    link->dial = NULL;
    if (*from)
        link_fail(link, "Error condition on socket for SYNC: %s (bind-source-addr is '%s')", reason,
                  from);
    else
        link_fail(link, "Error condition on socket for SYNC: %s", reason);
}

void link_connect(struct link *link) {
    struct engine *engine = link->engine;
    log_notice("Connecting to MASTER %s:%d", link->host, link->port);
    link->io_ms = link->second_ms = engine->steady_ms;
    link->after_pause = false;
    net_timer_start(link->timer, SECOND_MS, SECOND_MS);
    link_set_state(link, LINK_CONNECTS);
    const struct config *config = &engine->config;
    link->dial = dial_start(
        engine->net,
        &(struct dial_order){.host = link->host,
                             .port = link->port,
                             .transport = config->tls_replication ? &transport_tls : &transport_tcp,
                             .expected_name = config->tls_expected_peer_name,
                             .from = config->bind_source_addr,
                             .events = &link_events,
                             .owner = link,
                             .failed = on_failed});
    log_notice("MASTER <-> REPLICA sync started");
}

/* --- Times --- */

static bool is_overdue(const struct link *link) {
    int64_t limit_ms = link->engine->config.repl_timeout * SECOND_MS;
    return !link->is_paused && link->engine->steady_ms - link->io_ms > limit_ms;
}

static void connect_if_due(struct link *link) {
    struct engine *engine = link->engine;
    if (engine->steady_ms < link->retry_ms || link->payload.is_loading) return;
    if (!link->after_pause || !link_pause_goes_on(engine)) link_connect(link);
}

/* What has come while a script was busy is not read yet: that time is not the primary's. */
static void note_absence(struct link *link) {
    int64_t now_ms = link->engine->steady_ms;
    if (now_ms - link->second_ms >= ABSENT_MS) link->io_ms = now_ms;
    link->second_ms = now_ms;
}

static void check_time(struct link *link) {
    if (!is_overdue(link)) return;
    if (link->state == LINK_STREAMS)
        link_fail(link, "MASTER timeout: no data nor PING received...");
    else if (link->state == LINK_RECEIVES)
        link_fail(link, "Timeout receiving bulk data from MASTER... If the problem persists try to "
                        "set the 'repl-timeout' parameter in redis.conf to a larger value.");
    else
        link_fail(link, "Timeout connecting to the MASTER...");
}

static void on_second(void *arg) {
    struct link *link = arg;
    struct engine *engine = link->engine;
    engine_update_clock(engine);
    note_absence(link);
    switch (link->state) {
    case LINK_WAITS: connect_if_due(link); break;
    case LINK_LOADS: /* a primary that hears nothing would close the connection */
        if (link->conn) conn_hold(link->conn, "\n", 1);
        break;
    case LINK_STREAMS:
        link_send_ack(link);
        if (engine->steady_ms - link->stream.begun_ms >= GOOD_AFTER_MS) link->mishaps = 0;
        check_time(link);
        break;
    default: check_time(link); break;
    }
}

/* --- Life --- */

void link_session_closed(struct session *session) {
    struct engine *engine = session->requester.engine;
    struct link *link = engine->link;
    engine->clients->primary = NULL;
    if (!link || link->conn != conn_of_session(session)) return;
    link->conn = NULL;
    if (engine->shutting_down) return;
    link_fail(link, "Connection with master was closed by this server. Connecting again.");
}

struct link *link_new(struct engine *engine, struct slice host, int port) {
    struct link *link = mem_alloc_zeroed(sizeof(*link));
    link->engine = engine;
    link->host = sds_new(host);
    link->port = port;
    link->down_ms = -1;
    link_payload_init(&link->payload, engine, link_load_moved);
    link->timer = net_timer_new(engine->net, on_second, link);
    engine->link = link;
    return link;
}

void link_free(struct link *link) {
    if (!link) return;
    link->engine->link = NULL;
    link_close(link);
    net_timer_free(link->timer);
    sds_free(link->host);
    mem_free(link);
}
