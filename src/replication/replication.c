#include "replication/replication.h"

#include "base/text/number.h"
#include "engine/engine.h"
#include "engine/put_off.h"
#include "execute/blocking_serve.h"
#include "persist/rdb_file.h"
#include "replication/history/history.h"
#include "replication/link/link.h"
#include "replication/primary/failover.h"
#include "replication/primary/primary.h"
#include "replication/primary/replicas.h"
#include "snapshot/load.h"

#include <string.h>

/* --- The role --- */

/* What every change of the role or the primary has in common. */
static void note_role(struct engine *engine) {
    history_set_role(engine, engine->link != NULL);
    replicas_count_good(engine); /* min-replicas-to-write is about primaries */
    link_restrict(engine);
}

static void follow(struct engine *engine, struct slice host, int port) {
    struct link *old = engine->link;
    bool has_position = old ? old->has_position || old->state == LINK_STREAMS : true;
    int database = old ? link_database(old) : engine->command_log.database;
    link_free(old);
    struct link *link = link_new(engine, host, port);
    link->has_position = has_position;
    link->database = database > 0 ? database : 0;
    note_role(engine);
    link_connect(link);
}

static void unfollow(struct engine *engine) {
    if (!engine->link) return;
    link_free(engine->link);
    replicas_close(engine, NULL);
    history_shift_id(engine);
    note_role(engine);
}

/* Splits the directive "host port", which was checked; empty: there is none. */
static struct slice parse_directive(const struct engine *engine, int *port) {
    struct slice text = sds_slice(engine->config.replicaof), host = slice_take_until(&text, ' ');
    int64_t number = 0;
    number_parse_int64(text, &number);
    *port = (int)number;
    return host;
}

bool replication_is_wanted(const struct engine *engine) {
    return sds_len(engine->config.replicaof) > 0;
}

bool replication_is_wanted_to(const struct engine *engine, struct slice host, int port) {
    int wanted_port = 0;
    struct slice wanted = parse_directive(engine, &wanted_port);
    return replication_is_wanted(engine) && wanted_port == port && slice_equal_nocase(wanted, host);
}

void replication_follow_directive(struct engine *engine) {
    const struct link *link = engine->link;
    int port = 0;
    struct slice host = parse_directive(engine, &port);
    if (!replication_is_wanted(engine))
        unfollow(engine);
    else if (!link || !replication_is_wanted_to(engine, sds_slice(link->host), link->port))
        follow(engine, host, port);
}

/* Sets the directive; takes ownership of the text. The role follows at once, unless a transaction
 * runs. */
static void change_role(struct engine *engine, sds text) {
    sds_free(engine->config.replicaof);
    engine->config.replicaof = text;
    bool cuts = replication_is_wanted(engine) || command_log_is_inside_unit(&engine->command_log);
    if (!cuts || !put_off_add(engine, PUT_OFF_ROLE)) replication_follow_directive(engine);
}

void replication_follow(struct engine *engine, struct slice host, int port) {
    if (!engine->link) blocking_end_all(engine->blocking);
    change_role(engine, sds_format("%.*s %d", slice_precision(host), host.ptr, port));
}

void replication_unfollow(struct engine *engine) {
    change_role(engine, sds_new(SLICE("")));
}

/* --- When --- */

static __attribute__((noinline)) void go_on_with_failover(struct engine *engine) {
    const struct failover *failover = engine->failover;
    enum failover_role role = failover_step(engine);
    if (role == FAILOVER_ROLE_REPLICA)
        replication_follow(engine, sds_slice(failover->host), failover->port);
    else if (role == FAILOVER_ROLE_PRIMARY)
        replication_unfollow(engine);
}

static inline void step_failover(struct engine *engine) {
    if (engine->failover->state != FAILOVER_NONE) go_on_with_failover(engine);
}

bool replication_step(struct engine *engine) {
    step_failover(engine);
    return engine->history->backlog && primary_step(engine);
}

void replication_tick(struct engine *engine) {
    step_failover(engine);
    primary_tick(engine);
}

/* --- Restarts --- */

bool replication_describe(const struct engine *engine, struct rdb_history *description) {
    const struct link *link = engine->link;
    int database = link ? link_database(link) : engine->command_log.database;
    if (command_log_is_inside_unit(&engine->command_log)) return false;
    if (link ? !link->has_position : !engine->history->backlog) return false;
    *description = (struct rdb_history){.id = slice_of_cstr(engine->history->id),
                                        .offset = history_offset(engine),
                                        .database = database > 0 ? (uint64_t)database : 0};
    return true;
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

void replication_note_loaded(struct engine *engine) {
    struct link *link = engine->link;
    int database = 0;
    bool has_position = take_loaded(engine, &database);
    if (!link) return;
    link->has_position = has_position;
    link->database = database;
    note_role(engine);
    link_connect(link);
}

/* --- Life --- */

void replication_take_role(struct engine *engine) {
    int port = 0;
    struct slice host = parse_directive(engine, &port);
    link_payload_remove_leftovers();
    if (host.len == 0) return;
    link_new(engine, host, port);
    note_role(engine);
}

void replication_stop(struct engine *engine) {
    link_free(engine->link);
}
