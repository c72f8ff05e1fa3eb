/* What a replica says before it gets the stream, and which answers it accepts. */
#include "base/text/number.h"
#include "base/text/secret.h"
#include "engine/engine.h"
#include "net/connections/conn.h"
#include "net/net.h"
#include "replication/link/link.h"
#include "replication/primary/failover.h"
#include "replication/primary/replicas.h"
#include "session/clients.h"

#include <string.h>

/* --- Requests --- */

static void send_words(struct link *link, const char *a, const char *b, const char *c) {
    const struct slice argv[] = {slice_of_cstr(a), slice_of_cstr(b), slice_of_cstr(c)};
    link_send(link, argv, 3);
    link->awaited++;
}

void link_greet(struct link *link) {
    link_send(link, (const struct slice[]){SLICE("PING")}, 1);
    link->state = LINK_PINGS;
}

static void send_auth(struct link *link) {
    const struct config *config = &link->engine->config;
    struct slice argv[3] = {SLICE("AUTH")};
    size_t argc = 1;
    if (sds_len(config->masteruser) > 0) argv[argc++] = sds_slice(config->masteruser);
    argv[argc++] = sds_slice(config->masterauth);
    conn_clear_output(link->conn, true);
    link_send(link, argv, argc);
    conn_clear_output(link->conn, false);
    link->awaited++;
    link->auth_awaited = true;
}

/* The port at which clients, and a Sentinel, find this server. */
static int64_t announced_port(const struct config *config) {
    if (config->replica_announce_port) return config->replica_announce_port;
    return config->tls_replication && config->tls_port ? config->tls_port : config->port;
}

/* The version is one of Valkey, whose form of files is read here: to a replica that tells none, or
 * one before 9.0.0, Valkey streams an older form, and fails when fields of hashes expire. Redis
 * refuses the word, after it has taken those before it; redis-fields makes a primary that is
 * Packlist ignore it. Does not tell that more than one connection could be used. */
static void configure(struct link *link) {
    const struct config *config = &link->engine->config;
    char port[INT64_TEXT_MAX + 1] = "";
    number_format_int64(port, announced_port(config));
    link->awaited = 0;
    if (sds_len(config->masterauth) > 0) send_auth(link);
    send_words(link, "REPLCONF", "listening-port", port);
    if (sds_len(config->replica_announce_ip) > 0)
        send_words(link, "REPLCONF", "ip-address", config->replica_announce_ip);
    static const struct slice abilities[] = {
        SLICE("REPLCONF"), SLICE("capa"),         SLICE("eof"),     SLICE("capa"), SLICE("psync2"),
        SLICE("capa"),     SLICE("redis-fields"), SLICE("version"), SLICE("9.0.0")};
    link_send(link, abilities, sizeof(abilities) / sizeof(*abilities));
    link->awaited++;
    link->state = LINK_CONFIGURES;
}

/* Asks for what comes after the data that is there, or for everything. */
static void ask(struct link *link) {
    struct engine *engine = link->engine;
    char text[INT64_TEXT_MAX];
    int64_t offset = link->has_position ? (int64_t)history_offset(engine) + 1 : -1;
    const char *id = link->has_position ? engine->history->id : "?";
    if (link->has_position)
        log_notice("Trying a partial resynchronization (request %s:%lld).", id, (long long)offset);
    else
        log_notice("Partial resynchronization not possible (no cached master)");
    const struct slice argv[] = {SLICE("PSYNC"), slice_of_cstr(id), number_text(text, offset),
                                 SLICE("FAILOVER")};
    link_send(link, argv, failover_asks(engine) ? 4 : 3);
    link->state = LINK_ASKS;
}

/* --- Answers --- */

static bool is_error(struct slice line) {
    return line.ptr[0] == '-';
}

/* A primary that wants a password first refuses PING, too. */
static void take_pong(struct link *link, struct slice line) {
    bool is_alive = line.ptr[0] == '+' || slice_begins(line, SLICE("-NOAUTH")) ||
                    slice_begins(line, SLICE("-NOPERM")) ||
                    slice_begins(line, SLICE("-ERR operation not permitted"));
    if (!is_alive) {
        link_fail(link, "Error reply to PING from master: '%.*s'", slice_precision(line), line.ptr);
        return;
    }
    log_notice("Master replied to PING, replication can continue...");
    configure(link);
}

static void take_setting(struct link *link, struct slice line) {
    bool is_auth = link->auth_awaited;
    link->auth_awaited = false;
    if (is_auth && is_error(line)) {
        sds text = secret_append_without(sds_new(SLICE("")), line,
                                         sds_slice(link->engine->config.masterauth));
        link_fail(link, "Unable to AUTH to MASTER: %s", text);
        sds_free(text);
        return;
    }
    if (is_error(line))
        log_notice("(Non critical) Master does not understand REPLCONF: %.*s",
                   slice_precision(line), line.ptr);
    if (--link->awaited == 0) ask(link);
}

/* An id is 40 hexadecimal digits. */
static bool is_id(struct slice text) {
    if (text.len != HISTORY_ID_LEN) return false;
    for (size_t i = 0; i < text.len; i++)
        if (!strchr("0123456789abcdefABCDEF", text.ptr[i]) || text.ptr[i] == 0) return false;
    return true;
}

static void note_id(struct link *link, struct slice id) {
    memcpy(link->next_id, id.ptr, HISTORY_ID_LEN);
    link->next_id[HISTORY_ID_LEN] = 0;
    link->has_id = true;
}

/* +FULLRESYNC id offset */
static void take_full(struct link *link, struct slice rest) {
    int64_t offset;
    struct slice id = slice_make(rest.ptr, HISTORY_ID_LEN);
    const size_t head = HISTORY_ID_LEN + 1;
    bool is_valid = rest.len > head && rest.ptr[HISTORY_ID_LEN] == ' ' && is_id(id) &&
                    number_parse_int64(slice_make(rest.ptr + head, rest.len - head), &offset) &&
                    history_is_offset(offset);
    if (!is_valid) {
        link_fail(link, "Master replied with wrong +FULLRESYNC syntax.");
        return;
    }
    if (link_waits_with_all(link)) return;
    note_id(link, id);
    link->next_offset = (uint64_t)offset;
    link->state = LINK_HEADER;
    log_notice("Full resync from master: %s:%lld", link->next_id, (long long)offset);
}

/* +CONTINUE [id] */
static void take_continue(struct link *link, struct slice rest) {
    if (!link->has_position) {
        link_fail(link, "Master continues although all data was asked for.");
        return;
    }
    if (rest.len > 0 && !is_id(rest)) {
        link_fail(link, "Master replied with wrong +CONTINUE syntax.");
        return;
    }
    if (rest.len > 0 && !slice_equal(rest, slice_of_cstr(link->engine->history->id))) {
        log_notice("Master replication ID changed to %.*s", slice_precision(rest), rest.ptr);
        replicas_close(link->engine, NULL);
        history_rename(link->engine, rest);
    }
    link->has_id = true;
    log_notice("Successful partial resynchronization with master.");
    link_go_online(link, link->database);
}

/* A server that knows no PSYNC. */
static void ask_old_way(struct link *link, struct slice line) {
    log_notice("Master does not support PSYNC or is in error state (reply: %.*s)",
               slice_precision(line), line.ptr);
    if (link_waits_with_all(link)) return;
    log_notice("Retrying with SYNC...");
    link_send(link, (const struct slice[]){SLICE("SYNC")}, 1);
    link->has_id = false;
    link->state = LINK_HEADER;
}

static bool take_word(struct slice *line, struct slice word) {
    if (!slice_begins(*line, word)) return false;
    *line = slice_make(line->ptr + word.len, line->len - word.len);
    if (line->len > 0 && line->ptr[0] == ' ') *line = slice_make(line->ptr + 1, line->len - 1);
    return true;
}

/* Returns false when the primary was asked to take over, and refuses. */
static bool is_taken_over(struct link *link, struct slice line) {
    struct engine *engine = link->engine;
    bool was_asked = failover_asks(engine);
    bool accepts =
        slice_begins(line, SLICE("+FULLRESYNC")) || slice_begins(line, SLICE("+CONTINUE"));
    if (was_asked) failover_note_answer(engine, accepts);
    if (accepts || !was_asked) return true;
    link_fail(link, "The replica does not take over: %.*s", slice_precision(line), line.ptr);
    return false;
}

static void take_psync(struct link *link, struct slice line) {
    struct slice rest = line;
    if (!is_taken_over(link, line)) return;
    if (take_word(&rest, SLICE("+FULLRESYNC")))
        take_full(link, rest);
    else if (take_word(&rest, SLICE("+CONTINUE")))
        take_continue(link, rest);
    else if (slice_begins(line, SLICE("-NOMASTERLINK")) || slice_begins(line, SLICE("-LOADING")))
        link_fail(link, "Master is currently unable to PSYNC but should be in the future: %.*s",
                  slice_precision(line), line.ptr);
    else if (is_error(line))
        ask_old_way(link, line);
    else
        link_fail(link, "Unexpected reply to PSYNC from master: %.*s", slice_precision(line),
                  line.ptr);
}

/* $EOF:mark or $length */
static void take_header(struct link *link, struct slice line) {
    static const char eof[] = "$EOF:";
    int64_t len = 0;
    if (is_error(line)) {
        link_fail(link, "MASTER aborted replication with an error: %.*s", slice_precision(line),
                  line.ptr);
    } else if (slice_begins(line, SLICE("$EOF:")) &&
               line.len == sizeof(eof) - 1 + PAYLOAD_MARK_LEN) {
        link_load_begin(link, line.ptr + sizeof(eof) - 1, 0);
    } else if (line.ptr[0] == '$' &&
               number_parse_int64(slice_make(line.ptr + 1, line.len - 1), &len) && len >= 0) {
        link_load_begin(link, NULL, (uint64_t)len);
    } else {
        link_fail(link,
                  "Bad protocol from MASTER, the first byte is not '$' (we received '%.*s'), are "
                  "you sure the host and port are right?",
                  (int)(line.len < 50 ? line.len : 50), line.ptr);
    }
}

void link_take_line(struct link *link, struct slice line) {
    switch (link->state) {
    case LINK_PINGS: take_pong(link, line); break;
    case LINK_CONFIGURES: take_setting(link, line); break;
    case LINK_ASKS: take_psync(link, line); break;
    default: take_header(link, line); break;
    }
}
