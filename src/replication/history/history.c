#include "replication/history/history.h"

#include "base/hash/random.h"
#include "base/log/log.h"
#include "engine/claim.h"
#include "engine/engine.h"
#include "engine/own_expiry.h"

#include <assert.h>
#include <string.h>

/* --- Offsets --- */

uint64_t history_offset(const struct engine *engine) {
    const struct history *history = engine->history;
    if (!history->backlog) return history->offset;
    uint64_t unread = engine->is_replica ? 0
                                         : command_log_end_for_replicas(&engine->command_log) -
                                               command_log_passed_by_replicas(&history->reader);
    return history->backlog->end + unread;
}

/* Returns how many bytes were inserted after an offset of the log, as far as it is known. */
static uint64_t inserted_behind(const struct history *history, uint64_t log_offset) {
    uint64_t len = 0, count = history->insertion_count;
    for (uint64_t i = 0; i < count && i < HISTORY_INSERTIONS; i++) {
        const struct history_insertion *one =
            &history->insertions[(count - 1 - i) % HISTORY_INSERTIONS];
        if (one->log_offset < log_offset) break;
        len += one->len;
    }
    return len;
}

uint64_t history_offset_of(const struct engine *engine, uint64_t log_offset) {
    const struct history *history = engine->history;
    if (!history->backlog) return history->offset;
    uint64_t behind = command_log_end_for_replicas(&engine->command_log) - log_offset +
                      inserted_behind(history, log_offset);
    uint64_t offset = history_offset(engine);
    return behind < offset ? offset - behind : 0;
}

/* --- Beginning and end --- */

void history_start(struct engine *engine) {
    engine->history->reader.kind = COMMAND_LOG_REPLICAS;
    reply_init(&engine->history->messages, 0);
    history_draw_id(engine);
}

void history_open_stream(struct engine *engine) {
    struct history *history = engine->history;
    if (history->backlog) return;
    history->backlog = backlog_new(history->offset, (size_t)engine->config.repl_backlog_size);
    if (engine->is_replica) return;
    command_log_add_reader(&engine->command_log, &history->reader);
    history->unused_ms = history->ping_ms = engine->steady_ms;
}

void history_close_stream(struct engine *engine) {
    struct history *history = engine->history;
    if (!history->backlog) return;
    history->offset = history_offset(engine);
    command_log_remove_reader(&engine->command_log, &history->reader);
    backlog_free(history->backlog);
    history->backlog = NULL;
    history->insertion_count = 0;
    engine->uncounted.replicas = 0;
    reply_free(&history->messages);
}

void history_set_role(struct engine *engine, bool is_replica) {
    claims_end_all(engine);
    struct history *history = engine->history;
    if (engine->is_replica == is_replica) return;
    assert(!command_log_is_inside_unit(&engine->command_log));
    if (history->backlog && is_replica) {
        history_feed(engine);
        command_log_remove_reader(&engine->command_log, &history->reader);
    }
    engine->is_replica = is_replica;
    log_set_role(is_replica ? 'S' : 'M');
    own_expiry_forget_all(engine); /* the next primary, or this one, says what has expired */
    if (history->backlog && !is_replica)
        command_log_add_reader(&engine->command_log, &history->reader);
    history->unused_ms = history->ping_ms = engine->steady_ms;
}

/* --- Appending --- */

/* Appends the units that have ended. */
static void feed_units(struct engine *engine) {
    struct history *history = engine->history;
    struct command_log *log = &engine->command_log;
    for (struct slice piece; (piece = command_log_unread(log, &history->reader)).len > 0;) {
        backlog_append(history->backlog, piece);
        command_log_pass(log, &history->reader, piece.len);
    }
}

/* Appends messages after the units that have ended, and empties them. */
static void feed_messages(struct history *history, struct reply *messages) {
    if (messages->len == 0) return;
    history->insertions[history->insertion_count++ % HISTORY_INSERTIONS] =
        (struct history_insertion){command_log_passed_by_replicas(&history->reader), messages->len};
    backlog_append(history->backlog, slice_make(messages->data, messages->len));
    reply_free(messages);
}

/* Returns whether this server's changes go to a stream. */
static bool is_fed(const struct engine *engine) {
    return engine->history->backlog && !engine->is_replica;
}

void history_feed(struct engine *engine) {
    if (!is_fed(engine)) return;
    feed_units(engine);
    if (!command_log_is_inside_unit(&engine->command_log))
        feed_messages(engine->history, &engine->history->messages);
}

void history_append(struct engine *engine, const struct slice *argv, size_t argc) {
    struct reply *messages = &engine->history->messages;
    if (!is_fed(engine)) return;
    history_feed(engine);
    reply_request(messages, argv, argc);
    history_feed(engine);
}

/* A PING belongs to no unit. */
void history_append_ping(struct engine *engine) {
    struct reply ping;
    engine->history->ping_ms = engine->steady_ms;
    if (!is_fed(engine)) return;
    reply_init_request(&ping, (const struct slice[]){SLICE("PING")}, 1);
    feed_units(engine);
    feed_messages(engine->history, &ping);
}

/* --- Ids --- */

static void forget_second_id(struct history *history) {
    memset(history->second_id, '0', HISTORY_ID_LEN);
    history->second_id[HISTORY_ID_LEN] = 0;
    history->second_offset = -1;
}

/* The second id is valid for a request of the byte that comes next, hence the 1. */
static void keep_as_second_id(struct engine *engine) {
    struct history *history = engine->history;
    memcpy(history->second_id, history->id, sizeof(history->id));
    history->second_offset = (int64_t)history_offset(engine) + 1;
}

static void set_id(struct history *history, struct slice id) {
    assert(id.len == HISTORY_ID_LEN);
    memcpy(history->id, id.ptr, HISTORY_ID_LEN);
    history->id[HISTORY_ID_LEN] = 0;
}

void history_draw_id(struct engine *engine) {
    random_hex(engine->history->id, HISTORY_ID_LEN);
    forget_second_id(engine->history);
}

void history_shift_id(struct engine *engine) {
    struct history *history = engine->history;
    keep_as_second_id(engine);
    random_hex(history->id, HISTORY_ID_LEN);
    log_notice("Setting secondary replication ID to %s, valid up to offset: %lld. New replication "
               "ID is %s",
               history->second_id, (long long)history->second_offset, history->id);
}

void history_adopt(struct engine *engine, struct slice id, uint64_t offset) {
    struct history *history = engine->history;
    assert(!history->backlog);
    set_id(history, id);
    forget_second_id(history);
    history->offset = offset;
}

void history_rename(struct engine *engine, struct slice id) {
    keep_as_second_id(engine);
    set_id(engine->history, id);
}
