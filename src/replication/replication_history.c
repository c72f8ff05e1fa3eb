#include "base/log.h"
#include "base/random.h"
#include "engine/engine.h"
#include "engine/own_expiry.h"
#include "persist/rdb_file.h"
#include "replication/link.h"
#include "replication/replication.h"
#include "snapshot/load.h"

#include <assert.h>
#include <string.h>

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
    assert(!command_log_is_inside_unit(&engine->command_log));
    if (replication->backlog && is_replica) {
        replication_feed(engine);
        command_log_remove_reader(&engine->command_log, &replication->reader);
    }
    replication->is_replica = engine->is_replica = is_replica;
    log_set_role(is_replica ? 'S' : 'M');
    own_expiry_forget_all(engine); /* the next primary, or this one, says what has expired */
    if (replication->backlog && !is_replica)
        command_log_add_reader(&engine->command_log, &replication->reader);
    replication->replicas_left_ms = replication->ping_ms = engine->steady_ms;
    replicas_count_good(engine); /* min-replicas-to-write is about primaries */
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

bool replication_has_database(const struct engine *engine, int64_t database) {
    return database >= 0 && database < engine->config.databases;
}

bool replication_take_loaded(struct engine *engine, int *database) {
    struct replication *replication = engine->replication;
    const struct load_history *loaded = &engine->load->history;
    bool is_known = strlen(loaded->id) == REPLICATION_ID_LEN &&
                    replication_is_offset(loaded->offset) &&
                    replication_has_database(engine, loaded->database);
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
