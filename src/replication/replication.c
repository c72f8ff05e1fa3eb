#include "replication/replication.h"

#include "base/log.h"
#include "base/random.h"
#include "engine/engine.h"
#include "net/wake.h"
#include "persist/rdb_file.h"
#include "replication/link.h"
#include "snapshot/load.h"

#include <assert.h>
#include <string.h>

enum { TICK_EVERY_MS = 1000 };

/* --- Ids --- */

static void forget_second_id(struct replication *replication) {
    memset(replication->second_id, '0', REPLICATION_ID_LEN);
    replication->second_id[REPLICATION_ID_LEN] = 0;
    replication->second_offset = -1;
}

/* The second id is valid for a request of the byte that comes next, hence the 1. */
static void keep_as_second_id(struct engine *engine) {
    struct replication *replication = engine->replication;
    memcpy(replication->second_id, replication->id, sizeof(replication->id));
    replication->second_offset = (int64_t)replication_offset(engine) + 1;
}

static void set_id(struct replication *replication, struct slice id) {
    assert(id.len == REPLICATION_ID_LEN);
    memcpy(replication->id, id.ptr, REPLICATION_ID_LEN);
    replication->id[REPLICATION_ID_LEN] = 0;
}

void replication_draw_id(struct engine *engine) {
    random_hex(engine->replication->id, REPLICATION_ID_LEN);
    forget_second_id(engine->replication);
}

void replication_shift_id(struct engine *engine) {
    struct replication *replication = engine->replication;
    keep_as_second_id(engine);
    random_hex(replication->id, REPLICATION_ID_LEN);
    replicas_close_all(engine);
    log_notice("Setting secondary replication ID to %s, valid up to offset: %lld. New replication "
               "ID is %s",
               replication->second_id, (long long)replication->second_offset, replication->id);
}

void replication_adopt(struct engine *engine, struct slice id, uint64_t offset) {
    struct replication *replication = engine->replication;
    bool had_backlog = replication->backlog;
    replicas_close_all(engine);
    replication_close_stream(engine);
    set_id(replication, id);
    forget_second_id(replication);
    replication->offset = offset;
    if (had_backlog) replication_open_stream(engine);
}

void replication_rename(struct engine *engine, struct slice id) {
    struct replication *replication = engine->replication;
    if (slice_equal(id, slice_of_cstr(replication->id))) return;
    keep_as_second_id(engine);
    set_id(replication, id);
    replicas_close_all(engine);
}

void replication_set_role(struct engine *engine, bool is_replica) {
    struct replication *replication = engine->replication;
    if (replication->is_replica == is_replica) return;
    command_log_end_unit(&engine->command_log);
    if (replication->backlog && is_replica) {
        replication_feed(engine);
        command_log_remove_reader(&engine->command_log, &replication->reader);
    }
    replication->is_replica = engine->is_replica = is_replica;
    if (replication->backlog && !is_replica)
        command_log_add_reader(&engine->command_log, &replication->reader);
    replication->replicas_left_ms = replication->ping_ms = engine->steady_ms;
}

/* --- Restarts --- */

/* In the middle of a unit, or while other data is being loaded, the data is that of no offset. */
bool replication_describe(const struct engine *engine, struct rdb_history *history) {
    const struct replication *replication = engine->replication;
    const struct link *link = replication->link;
    int database = engine->command_log.database;
    if (command_log_is_inside_unit(&engine->command_log)) return false;
    if (link && link->state == LINK_STREAMS)
        database = link->stream.requester.database;
    else if (link)
        database = link->database;
    if (link ? !link->has_position : !replication->backlog) return false;
    *history = (struct rdb_history){.id = slice_of_cstr(replication->id),
                                    .offset = replication_offset(engine),
                                    .database = database > 0 ? (uint64_t)database : 0};
    return true;
}

bool replication_take_loaded(struct engine *engine, int *database) {
    struct replication *replication = engine->replication;
    const struct load_history *loaded = &engine->load->history;
    bool is_known = strlen(loaded->id) == REPLICATION_ID_LEN && loaded->offset >= 0 &&
                    loaded->database >= 0 && loaded->database < engine->config.databases;
    if (!is_known || replication->backlog) return false;
    replication->offset = (uint64_t)loaded->offset;
    *database = (int)loaded->database;
    if (replication->is_replica) {
        set_id(replication, slice_of_cstr(loaded->id));
        return true;
    }
    memcpy(replication->second_id, loaded->id, sizeof(replication->second_id));
    replication->second_offset = loaded->offset + 1;
    replication_open_stream(engine);
    return true;
}

/* --- The stream --- */

uint64_t replication_offset(const struct engine *engine) {
    const struct replication *replication = engine->replication;
    if (!replication->backlog) return replication->offset;
    uint64_t unread = replication->is_replica
                          ? 0
                          : command_log_end(&engine->command_log) - replication->reader.offset;
    return replication->backlog->end + unread;
}

/* Returns how many bytes were inserted behind an offset of the log, as far as it is known. */
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
    uint64_t behind = command_log_end(&engine->command_log) - log_offset +
                      inserted_behind(replication, log_offset);
    uint64_t offset = replication_offset(engine);
    return behind < offset ? offset - behind : 0;
}

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
    engine->replicas_memory = 0;
    reply_free(&replication->messages);
}

/* Appends the units that have ended. */
static void feed_units(struct engine *engine) {
    struct replication *replication = engine->replication;
    struct slice unread = command_log_unread(&engine->command_log, &replication->reader);
    backlog_append(replication->backlog, unread);
    if (unread.len > 0) command_log_pass(&engine->command_log, &replication->reader);
}

/* Appends messages behind the units that have ended, and empties them. */
static void feed_messages(struct replication *replication, struct reply *messages) {
    if (messages->len == 0) return;
    replication->insertions[replication->insertion_count++ % REPLICATION_INSERTIONS] =
        (struct replication_insertion){replication->reader.offset, messages->len};
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

/* A PING belongs to no unit, so it does not wait for the end of one: a script may run for minutes.
 * */
static void send_ping(struct engine *engine) {
    struct replication *replication = engine->replication;
    struct reply ping;
    replication->ping_ms = engine->steady_ms;
    if (replication->is_replica) return;
    reply_init(&ping, 0);
    write_message(&ping, (const struct slice[]){SLICE("PING")}, 1);
    feed_units(engine);
    feed_messages(replication, &ping);
}

static void send_getack(struct engine *engine) {
    engine->replication->replicas.wants_acks = false;
    const struct slice words[] = {SLICE("REPLCONF"), SLICE("GETACK"), SLICE("*")};
    replication_send(engine, words, 3);
}

/* --- Memory --- */

size_t replication_memory(const struct engine *engine) {
    const struct backlog *backlog = engine->replication->backlog;
    return backlog ? backlog_allocated(backlog) + full_sync_allocated(engine) : 0;
}

/* What replicas that are behind need does not count for maxmemory, or each evicted key would lead
 * to the next. */
static void note_memory(struct engine *engine) {
    size_t keep = (size_t)engine->config.repl_backlog_size + 2 * sizeof(struct backlog_block);
    size_t backlog = backlog_allocated(engine->replication->backlog);
    engine->replicas_memory = (backlog > keep ? backlog - keep : 0) + full_sync_allocated(engine);
}

/* --- Each loop iteration --- */

static bool step(struct engine *engine) {
    struct replication *replication = engine->replication;
    bool more = false;
    replication_feed(engine);
    /* A replica that may take over has all of the stream: nothing may be added to it. */
    if (replication->replicas.wants_acks && !engine->pause_for_failover) send_getack(engine);
    if (replication->replicas.first) {
        more = full_sync_step(engine);
        replicas_send(engine);
    }
    more |= backlog_trim(replication->backlog);
    note_memory(engine);
    return more;
}

bool replication_step(struct engine *engine) {
    if (!engine->replication->backlog) return false;
    if (engine->replication->failover.state != FAILOVER_NONE) failover_step(engine);
    return step(engine);
}

void replication_send_rest(struct engine *engine) {
    if (!engine->replication->backlog) return;
    replication_feed(engine);
    replicas_send(engine);
}

/* --- Each second --- */

/* Without replicas for that long, nobody is expected to continue; and the next history must not be
 * mistaken for this one, of which changes are then missing. */
static void close_unused_stream(struct engine *engine) {
    struct replication *replication = engine->replication;
    int64_t lifetime_ms = engine->config.repl_backlog_ttl * 1000;
    if (replication->replicas.first || replication->is_replica || lifetime_ms == 0) return;
    if (command_log_is_inside_unit(&engine->command_log)) return;
    if (engine->steady_ms - replication->replicas_left_ms <= lifetime_ms) return;
    replication_close_stream(engine);
    replication_draw_id(engine);
    log_notice("Replication backlog freed after %lld seconds without connected replicas.",
               (long long)engine->config.repl_backlog_ttl);
}

/* Returns whether the loop has polled all sockets since the last tick, so that a replica that was
 * not heard of is silent. While a script is busy, some connections are not served; and after a
 * callback that took long, timers fire before the sockets are polled. */
static bool sockets_were_polled(struct engine *engine) {
    struct replication *replication = engine->replication;
    if (engine->restrictions & RESTRICTED_BUSY) return false;
    int64_t since_ms = engine->steady_ms - replication->polled_ms;
    replication->polled_ms = engine->steady_ms;
    return since_ms <= 2 * TICK_EVERY_MS;
}

void replication_tick(struct engine *engine) {
    struct replication *replication = engine->replication;
    if (!replication->backlog) return;
    if (replication->failover.state != FAILOVER_NONE) failover_step(engine);
    if (engine->steady_ms - replication->second_ms < TICK_EVERY_MS) return;
    replication->second_ms = engine->steady_ms;
    int64_t ping_every_ms = engine->config.repl_ping_replica_period * 1000;
    bool is_paused = engine->restrictions & RESTRICTED_PAUSED;
    if (replication->replicas.first && !is_paused &&
        engine->steady_ms - replication->ping_ms >= ping_every_ms)
        send_ping(engine);
    replicas_keep_alive(engine);
    if (sockets_were_polled(engine)) replicas_check_time(engine);
    close_unused_stream(engine);
}

void replication_configure(struct engine *engine) {
    struct replication *replication = engine->replication;
    if (replication->backlog) replication->backlog->keep = (size_t)engine->config.repl_backlog_size;
    replicas_count_good(engine);
}

/* --- Life --- */

/* Only makes the loop run: replication_step then looks for what has happened. */
static void on_wake(void *arg) {
    (void)arg;
}

void replication_start(struct engine *engine) {
    struct replication *replication = engine->replication;
    replication->engine = engine;
    engine->describe_history = replication_describe;
    reply_init(&replication->messages, 0);
    replication->sync.wake = net_wake_new(engine->net, on_wake, NULL);
    replication_draw_id(engine);
    replicas_count_good(engine);
}

void replication_stop(struct engine *engine) {
    sds_free(engine->replication->failover.host);
    replication_close_stream(engine);
}
