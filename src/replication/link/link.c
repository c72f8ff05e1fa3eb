#include "replication/link/link.h"

#include "aof/aof.h"
#include "base/text/number.h"
#include "base/text/secret.h"
#include "engine/engine.h"
#include "net/connections/dial.h"
#include "session/clients.h"
#include "session/pause.h"
#include "table/command.h"

#include <assert.h>
#include <string.h>

enum {
    SECOND_MS = 1000,
    REFUSED_AGAIN_MS = 60 * SECOND_MS, /* between synchronizations because of one refused command */
    DELAY_DOUBLINGS_MAX = 6            /* after mishaps: up to 64 seconds */
};

/* --- The state, and the stream --- */

void link_restrict(struct engine *engine) {
    const struct config *config = &engine->config;
    const uint32_t own = RESTRICTED_READONLY | RESTRICTED_STALE;
    uint32_t now = 0;
    if (engine->is_replica && config->replica_read_only) now |= RESTRICTED_READONLY;
    if (engine->is_replica && !config->replica_serve_stale_data && !link_is_up(engine))
        now |= RESTRICTED_STALE;
    engine->restrictions = (engine->restrictions & ~own) | now;
}

void link_set_state(struct link *link, enum link_state state) {
    link->state = state;
    link_restrict(link->engine);
}

void link_pass_on(struct link_stream *stream) {
    struct slice *done = &stream->done;
    if (done->len > 0) backlog_append(stream->requester.engine->history->backlog, *done);
    done->len = 0;
}

static void begin_stream(struct link *link, int database) {
    struct link_stream *stream = &link->stream;
    assert(!stream->is_running);
    *stream = (struct link_stream){.is_running = true,
                                   .requester = {.engine = link->engine, .database = database},
                                   .begun_ms = link->engine->steady_ms};
    resp_parser_init(&stream->parser);
    reply_init(&stream->reply, 0);
    reply_init(&stream->unit, 0);
}

/* Forgets an incomplete unit. Does nothing when no stream runs. */
static void end_stream(struct link_stream *stream) {
    if (!stream->is_running) return;
    stream->is_running = false;
    link_pass_on(stream);
    resp_parser_free(&stream->parser);
    reply_free(&stream->reply);
    reply_free(&stream->unit);
}

/* --- Closing --- */

/* Closes the connection, or gives up the attempt. Its session may be in the list of clients. */
static void hang_up(struct link *link) {
    if (link->dial) dial_cancel(link->dial);
    link->dial = NULL;
    struct conn *conn = link->conn;
    if (!conn) return;
    struct session *session = link_session(link);
    link->conn = NULL;
    if (session->id)
        session_close(session);
    else
        conn_close(conn);
}

void link_close(struct link *link) {
    end_stream(&link->stream);
    hang_up(link);
    link_payload_end(&link->payload);
}

/* Returns to waiting. The stream's position stays: the primary is asked for what comes after it. */
void link_reset(struct link *link) {
    struct engine *engine = link->engine;
    bool streamed = link->state == LINK_STREAMS;
    bool had_id = link->has_id;
    link->database = link_database(link);
    link_close(link);
    link->is_paused = link->auth_awaited = false;
    link->awaited = 0;
    link->retry_ms = engine->steady_ms + (streamed ? 0 : SECOND_MS);
    if (streamed) {
        link->down_ms = engine->steady_ms;
        link->has_position = had_id;
    }
    link_set_state(link, LINK_WAITS);
}

void link_reset_history(struct link *link) {
    link_reset(link);
    link->has_position = false;
    unsigned doublings = link->mishaps < DELAY_DOUBLINGS_MAX ? link->mishaps : DELAY_DOUBLINGS_MAX;
    link->mishaps++;
    link->retry_ms = link->engine->steady_ms + ((int64_t)SECOND_MS << doublings);
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

void link_reset_for(struct link *link, struct slice name) {
    /* The name may lie in memory that goes with the stream. */
    struct link_refusal refusal = refusal_make(name);
    struct link_refusals *refusals = &link->refusals;
    link_reset_history(link);
    if (refusals_note(refusals, &refusal) && link->retry_ms < refusal.retry_ms + REFUSED_AGAIN_MS)
        link->retry_ms = refusal.retry_ms + REFUSED_AGAIN_MS;
    refusals->recent[0].retry_ms = link->retry_ms;
    log_notice("The command '%s' of MASTER makes it necessary to ask for all data, in %lld "
               "seconds. Such commands so far: %llu.",
               refusal.name, (long long)(link->retry_ms - link->engine->steady_ms) / 1000,
               (unsigned long long)refusals->count);
}

/* --- What the primary is sent --- */

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

/* --- Reading --- */

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
    pause_hold(link_session(link));
    link->is_held_back = true;
    link_pause(link);
}

bool link_pause_goes_on(struct engine *engine) {
    return pause_holds(engine, COMMAND_WRITE);
}

bool link_waits_with_all(struct link *link) {
    if (!link->is_held_back || !link_pause_goes_on(link->engine)) return false;
    link_fail(link, "MASTER has to send all data, because its stream was lost during CLIENT PAUSE: "
                    "asking for it when the pause has ended.");
    link->after_pause = true;
    return true;
}

/* --- The stream begins --- */

/* The connection becomes a client that is listed. */
static void register_session(struct link *link, int database) {
    struct engine *engine = link->engine;
    struct session *session = link_session(link);
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
        link_reset(link);
        return;
    }
    history_open_stream(engine);
    begin_stream(link, database);
    register_session(link, database);
    link_set_state(link, LINK_STREAMS);
    link_send_ack(link);
}
