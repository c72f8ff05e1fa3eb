/* link: connecting, closing, times. See the drawing in link.h. */
#include "replication/link.h"

#include "aof/aof.h"
#include "base/alloc.h"
#include "base/log.h"
#include "base/number.h"
#include "base/secret.h"
#include "engine/blocking.h"
#include "engine/engine.h"
#include "engine/engine_clock.h"
#include "execute/blocking_serve.h"
#include "net/conn.h"
#include "net/dial.h"
#include "net/net.h"
#include "replication/history/history.h"
#include "replication/primary/replicas.h"
#include "session/clients.h"
#include "session/pause.h"
#include "session/session.h"
#include "snapshot/load.h"
#include "table/command.h"

#include <assert.h>
#include <stdarg.h>
#include <string.h>

enum {
    SECOND_MS = 1000,
    REFUSED_AGAIN_MS = 60 * SECOND_MS, /* between synchronizations because of one refused command */
    ABSENT_MS = 3 * SECOND_MS,
    LINE_MAX_LEN = 4096,
    DELAY_DOUBLINGS_MAX = 6 /* after mishaps: up to 64 seconds */
};

/* The memory of its connection. The session makes it a client, which CLIENT LIST shows and CLIENT
 * KILL closes, while it streams. */
struct link_session {
    struct session session;
    struct link *link;
};

static struct session *session_of(const struct link *link) {
    struct link_session *own = conn_session(link->conn);
    return &own->session;
}

bool link_is_up(const struct engine *engine) {
    const struct link *link = link_of(engine);
    return link && link->state == LINK_STREAMS;
}

/* --- What clients may do --- */

void link_restrict(struct engine *engine) {
    const struct config *config = &engine->config;
    const uint32_t own = RESTRICTED_READONLY | RESTRICTED_STALE;
    uint32_t now = 0;
    if (engine->is_replica && config->replica_read_only) now |= RESTRICTED_READONLY;
    if (engine->is_replica && !config->replica_serve_stale_data && !link_is_up(engine))
        now |= RESTRICTED_STALE;
    engine->restrictions = (engine->restrictions & ~own) | now;
}

static void set_state(struct link *link, enum link_state state) {
    link->state = state;
    link_restrict(link->engine);
}

/* --- Closing --- */

/* Closes the connection, or gives up the attempt. Its session may be in the list of clients. */
static void hang_up(struct link *link) {
    if (link->dial) dial_cancel(link->dial);
    link->dial = NULL;
    struct conn *conn = link->conn;
    if (!conn) return;
    struct session *session = session_of(link);
    link->conn = NULL;
    if (session->id)
        session_close(session);
    else
        conn_close(conn);
}

/* Returns to waiting. The stream's position stays: the primary is asked for what comes after it. */
static void reset(struct link *link) {
    struct engine *engine = link->engine;
    bool streamed = link->state == LINK_STREAMS;
    bool had_id = link->has_id;
    if (streamed) link->database = link_stream_database(&link->stream);
    link_stream_end(&link->stream);
    hang_up(link);
    link_payload_end(&link->payload);
    link->is_paused = link->auth_awaited = false;
    link->awaited = 0;
    link->retry_ms = engine->steady_ms + (streamed ? 0 : SECOND_MS);
    if (streamed) {
        link->down_ms = engine->steady_ms;
        link->has_position = had_id;
    }
    set_state(link, LINK_WAITS);
}

static void log_reason(const char *format, va_list args) {
    sds text = sds_append_vformat(sds_new(SLICE("")), format, args);
    log_warning("%s", text);
    sds_free(text);
}

void link_fail(struct link *link, const char *format, ...) {
    va_list args;
    va_start(args, format);
    log_reason(format, args);
    va_end(args);
    reset(link);
}

static void give_up(struct link *link, const char *format, va_list args) {
    log_reason(format, args);
    reset(link);
    link->has_position = false;
    unsigned doublings = link->mishaps < DELAY_DOUBLINGS_MAX ? link->mishaps : DELAY_DOUBLINGS_MAX;
    link->mishaps++;
    link->retry_ms = link->engine->steady_ms + ((int64_t)SECOND_MS << doublings);
}

void link_give_up(struct link *link, const char *format, ...) {
    va_list args;
    va_start(args, format);
    give_up(link, format, args);
    va_end(args);
}

/* The name as it is kept: cut, and without bytes that INFO cannot show. */
static struct link_refusal refusal_make(struct slice name) {
    struct link_refusal refusal = {.name = ""};
    size_t len = name.len < LINK_REFUSED_NAME_MAX ? name.len : LINK_REFUSED_NAME_MAX;
    for (size_t i = 0; i < len; i++) {
        char c = ascii_lower(name.ptr[i]);
        refusal.name[i] = c;
        if (c <= ' ' || c > '~') refusal.name[i] = '?';
    }
    return refusal;
}

/* Puts the refusal in front of the others, in place of an older one of that name or of the oldest.
 * Returns whether there was one of that name; then *refusal gets its time. */
static bool refusals_note(struct link_refusals *refusals, struct link_refusal *refusal) {
    struct link_refusal *recent = refusals->recent;
    size_t at = 0;
    while (at < LINK_REFUSED_NAMES - 1 && strcmp(recent[at].name, refusal->name) != 0) at++;
    bool is_known = strcmp(recent[at].name, refusal->name) == 0;
    if (is_known) refusal->retry_ms = recent[at].retry_ms;
    memmove(recent + 1, recent, at * sizeof(*recent));
    recent[0] = *refusal;
    refusals->count++;
    return is_known;
}

void link_refuse(struct link *link, struct slice name, const char *format, ...) {
    /* The name may lie in memory that goes with the stream. */
    struct link_refusal refusal = refusal_make(name);
    struct link_refusals *refusals = &link->refusals;
    va_list args;
    va_start(args, format);
    give_up(link, format, args);
    va_end(args);
    if (refusals_note(refusals, &refusal) && link->retry_ms < refusal.retry_ms + REFUSED_AGAIN_MS)
        link->retry_ms = refusal.retry_ms + REFUSED_AGAIN_MS;
    refusals->recent[0].retry_ms = link->retry_ms;
    log_notice("The command '%s' of MASTER makes it necessary to ask for all data, in %lld "
               "seconds. Such commands so far: %llu.",
               refusal.name, (long long)(link->retry_ms - link->engine->steady_ms) / 1000,
               (unsigned long long)refusals->count);
}

/* CLIENT KILL, or another part of the server, has closed the session of the link. */
static void on_session_closed(struct session *session) {
    struct engine *engine = session->requester.engine;
    struct link *link = link_of(engine);
    engine->clients->primary = NULL;
    if (!link || link->conn != conn_of_session(session)) return;
    link->conn = NULL;
    if (engine->shutting_down) return;
    link_fail(link, "Connection with master was closed by this server. Connecting again.");
}

/* --- The connection --- */

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
    if (session_of(link)->flags & SESSION_PAUSED) return 0;
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
    case LINK_RECEIVES: return link_payload_take(link, bytes, len);
    case LINK_STREAMS: return take_stream(link, bytes, len);
    default: return 0;
    }
}

/* What CLIENT LIST shows of the stream. */
static void show_stream(struct link *link) {
    struct requester *requester = &session_of(link)->requester;
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

static void connect_now(struct link *link) {
    struct engine *engine = link->engine;
    log_notice("Connecting to MASTER %s:%d", link->host, link->port);
    link->io_ms = link->second_ms = engine->steady_ms;
    link->after_pause = false;
    net_timer_start(link->timer, SECOND_MS, SECOND_MS);
    set_state(link, LINK_CONNECTS);
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

void link_send(struct link *link, const struct slice *argv, size_t argc) {
    struct reply bytes;
    reply_init_request(&bytes, argv, argc);
    conn_hold(link->conn, bytes.data, bytes.len);
    secret_clear(bytes.data, bytes.len); /* it may be AUTH */
    reply_free(&bytes);
}

/* Finds out up to where the stream is on the disk. */
static void note_synced(struct link *link) {
    struct engine *engine = link->engine;
    if (link->awaits_disk && aof_is_synced(engine, link->unsynced_log_offset)) {
        link->synced_offset = link->unsynced_offset;
        link->awaits_disk = false;
    }
    if (link->awaits_disk) return;
    link->awaits_disk = true;
    link->unsynced_log_offset = command_log_end(&engine->command_log);
    link->unsynced_offset = history_offset(engine);
}

void link_forget_synced(struct link *link) {
    link->synced_offset = 0;
    link->awaits_disk = false;
}

/* With an append-only file, FACK says up to where that is on the disk. */
void link_send_ack(struct link *link) {
    struct engine *engine = link->engine;
    if (!link->has_id || !link->conn) return;
    char offset[INT64_TEXT_MAX], synced[INT64_TEXT_MAX];
    struct slice argv[5] = {SLICE("REPLCONF"), SLICE("ACK")};
    size_t argc = 2;
    argv[argc++] = number_text(offset, (int64_t)history_offset(engine));
    if (engine->aof->state == AOF_ON) {
        note_synced(link);
        argv[argc++] = SLICE("FACK");
        argv[argc++] = number_text(synced, (int64_t)link->synced_offset);
    }
    link_send(link, argv, argc);
}

void link_pause(struct link *link) {
    if (link->is_paused) return;
    link->is_paused = true;
    conn_pause_input(link->conn);
}

void link_resume(struct link *link) {
    if (!link->is_paused || !link->conn) return;
    link->is_paused = false;
    link->io_ms = link->engine->steady_ms;
    conn_resume_input(link->conn);
}

void link_hold_back(struct link *link) {
    pause_hold(session_of(link));
    link->is_held_back = true;
    link_pause(link);
}

static bool pause_goes_on(struct engine *engine) {
    return pause_holds(engine, COMMAND_WRITE);
}

bool link_waits_with_all(struct link *link) {
    if (!link->is_held_back || !pause_goes_on(link->engine)) return false;
    link_fail(link, "MASTER has to send all data, because its stream was lost during CLIENT PAUSE: "
                    "asking for it when the pause has ended.");
    link->after_pause = true;
    return true;
}

/* The connection becomes a client that is listed. */
static void register_session(struct link *link, int database) {
    struct engine *engine = link->engine;
    struct session *session = session_of(link);
    session->id = ++engine->clients->next_session_id;
    session->protocol = 2;
    session->flags = SESSION_PRIMARY;
    session->requester.database = database;
    session->created_ms = session->active_ms = engine->steady_ms;
    session->peer_port = conn_peer_port(link->conn);
    if (conn_is_local(link->conn)) session->marks |= SESSION_LOCAL;
    session_list_add(&engine->clients->sessions, session);
    engine->clients->primary = session;
}

void link_go_online(struct link *link, int database) {
    struct engine *engine = link->engine;
    link->has_position = true;
    link->is_held_back = false;
    if (!link->conn) { /* it was lost while data was loaded */
        reset(link);
        return;
    }
    history_open_stream(engine);
    link_stream_begin(&link->stream, engine, database);
    register_session(link, database);
    set_state(link, LINK_STREAMS);
    link_send_ack(link);
}

/* --- Times --- */

static bool is_overdue(const struct link *link) {
    int64_t limit_ms = link->engine->config.repl_timeout * SECOND_MS;
    return !link->is_paused && link->engine->steady_ms - link->io_ms > limit_ms;
}

static void connect_if_due(struct link *link) {
    struct engine *engine = link->engine;
    if (engine->steady_ms < link->retry_ms || link->payload.is_loading) return;
    if (!link->after_pause || !pause_goes_on(engine)) connect_now(link);
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

/* A primary that hears nothing while the replica loads would close the connection. */
static void keep_alive(struct link *link) {
    if (link->conn) conn_hold(link->conn, "\n", 1);
}

static void on_second(void *arg) {
    struct link *link = arg;
    struct engine *engine = link->engine;
    engine_update_clock(engine);
    note_absence(link);
    switch (link->state) {
    case LINK_WAITS: connect_if_due(link); break;
    case LINK_LOADS: keep_alive(link); break;
    case LINK_STREAMS:
        link_send_ack(link);
        link_stream_tick(link);
        check_time(link);
        break;
    default: check_time(link); break;
    }
}

/* --- The role --- */

static struct link *link_new(struct engine *engine, struct slice host, int port) {
    struct link *link = mem_alloc_zeroed(sizeof(*link));
    link->engine = engine;
    link->host = sds_new(host);
    link->port = port;
    link->down_ms = -1;
    link_payload_init(&link->payload, link);
    link->timer = net_timer_new(engine->net, on_second, link);
    engine->link = link;
    engine->clients->primary_closed = on_session_closed;
    return link;
}

static void link_free(struct link *link) {
    if (!link) return;
    link->engine->link = NULL;
    link_stream_end(&link->stream);
    hang_up(link);
    link_payload_end(&link->payload);
    net_timer_free(link->timer);
    sds_free(link->host);
    mem_free(link);
}

/* What every change of the role or the primary has in common. */
static void note_role(struct engine *engine) {
    history_set_role(engine, link_of(engine) != NULL);
    replicas_count_good(engine); /* min-replicas-to-write is about primaries */
    link_restrict(engine);
}

static void follow(struct engine *engine, struct slice host, int port) {
    struct link *old = link_of(engine);
    bool has_position = old ? old->has_position || old->state == LINK_STREAMS : true;
    int database = old ? old->database : engine->command_log.database;
    if (old && old->state == LINK_STREAMS) database = link_stream_database(&old->stream);
    link_free(old);
    struct link *link = link_new(engine, host, port);
    link->has_position = has_position;
    link->database = database > 0 ? database : 0;
    note_role(engine);
    connect_now(link);
}

static void unfollow(struct engine *engine) {
    if (!link_of(engine)) return;
    link_free(link_of(engine));
    replicas_close_all(engine);
    history_shift_id(engine);
    note_role(engine);
}

/* Splits the directive "host port", which was checked. */
static struct slice parse_directive(const struct engine *engine, int *port) {
    struct slice text = sds_slice(engine->config.replicaof);
    const char *blank = memchr(text.ptr, ' ', text.len);
    if (!blank) return slice_make(text.ptr, 0);
    size_t len = (size_t)(blank - text.ptr);
    int64_t number = 0;
    number_parse_int64(slice_make(blank + 1, text.len - len - 1), &number);
    *port = (int)number;
    return slice_make(text.ptr, len);
}

bool link_is_wanted(const struct engine *engine) {
    return sds_len(engine->config.replicaof) > 0;
}

bool link_is_wanted_to(const struct engine *engine, struct slice host, int port) {
    int wanted_port = 0;
    struct slice wanted = parse_directive(engine, &wanted_port);
    return link_is_wanted(engine) && wanted_port == port && slice_equal_nocase(wanted, host);
}

/* Makes the server a primary, or a replica of the one that the directive names. */
static void follow_directive(struct engine *engine) {
    const struct link *link = link_of(engine);
    int port = 0;
    struct slice host = parse_directive(engine, &port);
    if (!link_is_wanted(engine))
        unfollow(engine);
    else if (!link || !link_is_wanted_to(engine, sds_slice(link->host), link->port))
        follow(engine, host, port);
}

/* Sets the directive; takes ownership of the text. The role follows at once, unless a transaction
 * runs. */
static void change_role(struct engine *engine, sds text) {
    sds_free(engine->config.replicaof);
    engine->config.replicaof = text;
    bool cuts = link_is_wanted(engine) || command_log_is_inside_unit(&engine->command_log);
    if (!cuts || !put_off_add(engine, PUT_OFF_ROLE)) follow_directive(engine);
}

void link_follow(struct engine *engine, struct slice host, int port) {
    sds text = sds_new(SLICE(""));
    if (!link_of(engine)) blocking_end_all(engine->blocking);
    change_role(engine, sds_append_format(text, "%.*s %d", slice_precision(host), host.ptr, port));
}

void link_unfollow(struct engine *engine) {
    change_role(engine, sds_new(SLICE("")));
}

void link_prepare(struct engine *engine) {
    int port = 0;
    struct slice host = parse_directive(engine, &port);
    engine->put_off.work[PUT_OFF_ROLE] = follow_directive;
    link_payload_remove_leftovers();
    if (host.len == 0) return;
    link_new(engine, host, port);
    note_role(engine);
}

/* The data is loaded. If the snapshot has said where its data stands: on a replica, the data
 * belongs to that history; on a primary, that is the second id, so that replicas that had as much
 * can continue. Returns whether it has; *database gets the one that is selected in the stream. */
static bool take_loaded(struct engine *engine, int *database) {
    struct history *history = engine->history;
    const struct load_history *loaded = &engine->load->history;
    bool is_known = strlen(loaded->id) == HISTORY_ID_LEN && history_is_offset(loaded->offset) &&
                    link_has_database(engine, loaded->database);
    if (!is_known || history->backlog) return false;
    *database = (int)loaded->database;
    if (engine->is_replica) {
        history_adopt(engine, slice_of_cstr(loaded->id), (uint64_t)loaded->offset);
        return true;
    }
    history->offset = (uint64_t)loaded->offset;
    memcpy(history->second_id, loaded->id, sizeof(history->second_id));
    history->second_offset = loaded->offset + 1;
    history_open_stream(engine);
    return true;
}

void link_start(struct engine *engine) {
    struct link *link = link_of(engine);
    int database = 0;
    bool has_position = take_loaded(engine, &database);
    if (!link) return;
    link->has_position = has_position;
    link->database = database;
    note_role(engine);
    connect_now(link);
}

void link_stop(struct engine *engine) {
    link_free(link_of(engine));
}
