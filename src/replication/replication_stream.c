#include "engine/engine.h"
#include "replication/replication.h"

#include <assert.h>

/* --- Offsets --- */

uint64_t replication_offset(const struct engine *engine) {
    const struct replication *replication = engine->replication;
    if (!replication->backlog) return replication->offset;
    uint64_t unread = replication->is_replica
                          ? 0
                          : command_log_end_for_replicas(&engine->command_log) -
                                command_log_passed_by_replicas(&replication->reader);
    return replication->backlog->end + unread;
}

/* Returns how many bytes were inserted after an offset of the log, as far as it is known. */
static uint64_t inserted_behind(const struct replication *replication, uint64_t log_offset) {
    uint64_t len = 0, count = replication->insertion_count;
    for (uint64_t i = 0; i < count && i < REPLICATION_INSERTIONS; i++) {
        const struct replication_insertion *one =
            &replication->insertions[(count - 1 - i) % REPLICATION_INSERTIONS];
        if (one->log_offset < log_offset) break;
        len += one->len;
    }
    return len;
}

uint64_t replication_offset_of(const struct engine *engine, uint64_t log_offset) {
    const struct replication *replication = engine->replication;
    if (!replication->backlog) return replication->offset;
    uint64_t behind = command_log_end_for_replicas(&engine->command_log) - log_offset +
                      inserted_behind(replication, log_offset);
    uint64_t offset = replication_offset(engine);
    return behind < offset ? offset - behind : 0;
}

/* --- Beginning and end --- */

void replication_open_stream(struct engine *engine) {
    struct replication *replication = engine->replication;
    if (replication->backlog) return;
    replication->backlog =
        backlog_new(replication->offset, (size_t)engine->config.repl_backlog_size);
    if (replication->is_replica) return;
    command_log_add_reader(&engine->command_log, &replication->reader);
    replication->replicas_left_ms = replication->ping_ms = engine->steady_ms;
}

void replication_close_stream(struct engine *engine) {
    struct replication *replication = engine->replication;
    if (!replication->backlog) return;
    assert(!replication->replicas.first);
    replication->offset = replication_offset(engine);
    command_log_remove_reader(&engine->command_log, &replication->reader);
    backlog_free(replication->backlog);
    replication->backlog = NULL;
    replication->insertion_count = 0;
    engine->uncounted.replicas = 0;
    reply_free(&replication->messages);
}

/* --- Appending --- */

/* Appends the units that have ended. */
static void feed_units(struct engine *engine) {
    struct replication *replication = engine->replication;
    struct command_log *log = &engine->command_log;
    for (struct slice piece; (piece = command_log_unread(log, &replication->reader)).len > 0;) {
        backlog_append(replication->backlog, piece);
        command_log_pass(log, &replication->reader, piece.len);
    }
}

/* Appends messages after the units that have ended, and empties them. */
static void feed_messages(struct replication *replication, struct reply *messages) {
    if (messages->len == 0) return;
    replication->insertions[replication->insertion_count++ % REPLICATION_INSERTIONS] =
        (struct replication_insertion){command_log_passed_by_replicas(&replication->reader),
                                       messages->len};
    backlog_append(replication->backlog, slice_make(messages->data, messages->len));
    reply_free(messages);
}

void replication_feed(struct engine *engine) {
    struct replication *replication = engine->replication;
    if (!replication->backlog || replication->is_replica) return;
    feed_units(engine);
    if (!command_log_is_inside_unit(&engine->command_log))
        feed_messages(replication, &replication->messages);
}

static void write_message(struct reply *messages, const struct slice *argv, size_t argc) {
    reply_array(messages, argc);
    for (size_t i = 0; i < argc; i++) reply_bulk(messages, argv[i]);
}

void replication_send(struct engine *engine, const struct slice *argv, size_t argc) {
    struct replication *replication = engine->replication;
    if (!replication->backlog || replication->is_replica) return;
    replication_feed(engine);
    write_message(&replication->messages, argv, argc);
    replication_feed(engine);
}

/* A PING belongs to no unit. */
void replication_send_ping(struct engine *engine) {
    struct replication *replication = engine->replication;
    struct reply ping;
    replication->ping_ms = engine->steady_ms;
    if (!replication->backlog || replication->is_replica) return;
    reply_init(&ping, 0);
    write_message(&ping, (const struct slice[]){SLICE("PING")}, 1);
    feed_units(engine);
    feed_messages(replication, &ping);
}
