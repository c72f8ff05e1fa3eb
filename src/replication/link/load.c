/* Receives all data from the primary, and puts it in the place of the own.
 *
 *  repl-diskless-load  disabled            receive a file, delete the data, load the file
 *                      flush-before-load   delete the data, load what comes
 *                      on-empty-db         load what comes if there is no data; else as disabled
 *                      swapdb              load what comes beside the data, then exchange them
 *
 * While the data is deleted and loaded, clients get -LOADING. With swapdb they go on reading the
 * old data if it is an earlier state of the same history. When loading fails, all of the old data
 * is there, or none. */
#include "snapshot/load.h"
#include "aof/aof.h"
#include "base/log/log.h"
#include "base/memory/alloc.h"
#include "engine/blocking.h"
#include "engine/changes.h"
#include "engine/engine.h"
#include "engine/functions.h"
#include "engine/lazyfree.h"
#include "execute/blocking_serve.h"
#include "net/connections/conn.h"
#include "net/net.h"
#include "replication/link/link.h"
#include "replication/primary/replicas.h"
#include "snapshot/data_lock.h"
#include "snapshot/disk_file.h"
#include "snapshot/save.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

enum { LOAD_FLAGS = LOAD_SERVE | LOAD_EXPIRED | LOAD_HISTORY };

/* --- Receiving --- */

static bool has_keys(const struct engine *engine) {
    for (int i = 0; i < engine->databases; i++)
        if (keyspace_count(engine->keyspaces[i]) > 0) return true;
    return false;
}

/* Returns whether the payload must be received into a file before it is loaded. O(databases). */
static bool needs_file(const struct engine *engine) {
    switch ((enum diskless_load)engine->config.repl_diskless_load) {
    case DISKLESS_LOAD_OFF: return true;
    case DISKLESS_LOAD_EMPTY: return has_keys(engine);
    default: return false;
    }
}

/* Reads no more than the payload can take. */
static void note_received(struct link *link) {
    const struct link_payload *payload = &link->payload;
    if (payload->is_whole || link_payload_is_full(payload)) link_pause(link);
    if (payload->is_whole && !payload->file) link->state = LINK_LOADS;
}

void link_load_begin(struct link *link, const char *mark, uint64_t total) {
    bool to_disk = needs_file(link->engine);
    link->state = LINK_RECEIVES;
    if (mark)
        log_notice("MASTER <-> REPLICA sync: receiving streamed RDB from master with EOF to %s",
                   to_disk ? "disk" : "parser");
    else
        log_notice("MASTER <-> REPLICA sync: receiving %llu bytes from master to %s",
                   (unsigned long long)total, to_disk ? "disk" : "parser");
    if (!link_payload_begin(&link->payload, mark, total, to_disk)) {
        link_fail(link, "Opening the temp file needed for MASTER <-> REPLICA synchronization: %s",
                  strerror(errno));
        return;
    }
    note_received(link);
    if (!to_disk) net_stop(link->engine->net); /* link_work follows */
}

size_t link_load_take(struct link *link, char *bytes, size_t len) {
    size_t taken = link_payload_take(&link->payload, bytes, len);
    note_received(link);
    return taken;
}

void link_load_moved(struct engine *engine) {
    struct link *link = engine->link;
    const struct link_payload *payload = &link->payload;
    int error = link_payload_error(payload);
    if (error) {
        link_fail(link,
                  "Write error writing to the DB dump file needed for MASTER <-> REPLICA "
                  "synchronization: %s",
                  strerror(error));
    } else if (payload->file && link_payload_is_whole(payload)) {
        link->state = LINK_LOADS;
        net_stop(engine->net); /* link_work follows */
    } else if (!payload->is_whole) {
        link_resume(link);
    }
}

/* --- The append-only file --- */

/* Turns the append-only file on again if that was not possible when the data was loaded. */
static void resume_aof(struct engine *engine) {
    sds error = NULL;
    if (!engine->config.appendonly || engine->aof->state != AOF_OFF) return;
    if (data_lock_take(engine, &error) && aof_configure(engine, &error)) return;
    log_warning("The append-only file cannot be begun anew: %s", error ? error : "");
    sds_free(error);
}

/* --- Deleting the data --- */

/* Deletes all keys and functions; a thread frees them. */
static void clear(struct engine *engine) {
    changes_replace_all(engine, &(struct replacement){.functions = function_set_new(),
                                                      .freeing = CHANGES_FREE_IN_POOL});
}

/* Without replica-lazy-flush the new data waits until the old one is freed, because both may not
 * fit into memory. Clients are served during the wait. */
static void await_freed(struct engine *engine) {
    if (engine->config.replica_lazy_flush) return;
    while (lazyfree_pending_objects(engine->lazyfree) > 0 && !engine->shutting_down)
        net_wait(engine->net);
}

/* The data is about to be replaced: nobody may continue from it, or write it to the disk. */
static void leave_history(struct link *link) {
    struct engine *engine = link->engine;
    replicas_close(engine, NULL);
    history_close_stream(engine);
    history_draw_id(engine);
    link->has_position = false;
    save_cancel(engine);
    aof_suspend(engine);
}

/* --- Loading --- */

/* The snapshot ends at `end`: it must be all that there was before the end mark. Waits for it. */
static bool ends_at(struct link *link, uint64_t end) {
    const struct link_payload *payload = &link->payload;
    char rest[4096];
    while (link_payload_read(&link->payload, rest, sizeof(rest)) > 0) continue;
    uint64_t len = payload->received - (payload->is_marked ? PAYLOAD_MARK_LEN : 0);
    return !payload->is_failed && payload->is_whole && len == end;
}

/* Loads what comes, into the databases of the order. */
static enum load_status load_stream(struct link *link, struct load_order order) {
    struct engine *engine = link->engine;
    struct rdb_source source = {.read = link_payload_read, .arg = &link->payload};
    uint64_t end;
    order.name = "the payload of the primary";
    order.total_bytes = link->payload.total;
    order.flags |= LOAD_FLAGS;
    enum load_status status = load_rdb_source(engine, source, &order, &end);
    /* Clients are served while the end is waited for, too: link_work ends the restriction. */
    engine->restrictions |=
        order.flags & LOAD_BESIDE ? RESTRICTED_LOADING_BESIDE : RESTRICTED_LOADING;
    if (status != LOAD_DONE || ends_at(link, end)) return status;
    return engine->shutting_down ? LOAD_STOPPED : LOAD_FAILED;
}

/* In the place of the data, which is deleted before. */
static enum load_status load_in_place(struct link *link) {
    struct engine *engine = link->engine;
    const char *path = link_payload_path(&link->payload);
    leave_history(link);
    engine->restrictions |= RESTRICTED_LOADING;
    log_notice("MASTER <-> REPLICA sync: Flushing old data");
    clear(engine);
    await_freed(engine);
    log_notice("MASTER <-> REPLICA sync: Loading DB in memory");
    enum load_status status =
        path ? load_rdb_file(engine, path, LOAD_FLAGS) : load_stream(link, (struct load_order){0});
    if (status == LOAD_DONE)
        changes_note_loaded(engine);
    else
        clear(engine);
    return status;
}

/* Makes the loaded keyspaces and functions the server's. The old ones are freed by a thread. */
static void exchange(struct link *link, struct keyspace **loaded, struct function_set *functions) {
    struct engine *engine = link->engine;
    leave_history(link);
    changes_replace_all(engine, &(struct replacement){.with = loaded,
                                                      .functions = functions,
                                                      .freeing = CHANGES_FREE_IN_POOL});
}

/* Beside the data. */
static enum load_status load_beside(struct link *link) {
    struct engine *engine = link->engine;
    size_t count = (size_t)engine->databases;
    struct keyspace **loaded = mem_alloc(count * sizeof(*loaded));
    struct function_set *functions = function_set_new();
    for (size_t i = 0; i < count; i++) loaded[i] = keyspace_new_like(engine->keyspaces[i]);
    bool is_same = link->has_id && strcmp(link->next_id, engine->history->id) == 0;
    log_notice("MASTER <-> REPLICA sync: Loading DB in memory");
    enum load_status status = load_stream(
        link, (struct load_order){
                  .flags = is_same ? LOAD_BESIDE : 0, .keyspaces = loaded, .functions = functions});
    if (status == LOAD_DONE)
        exchange(link, loaded, functions);
    else
        function_set_free(functions);
    for (size_t i = 0; i < count; i++) lazyfree_keyspace(engine->lazyfree, loaded[i], 0);
    mem_free(loaded);
    return status;
}

/* --- Afterwards --- */

/* The file becomes the server's snapshot, so that a restart can continue from it. If that fails,
 * the old one stays. */
static void adopt_file(struct link *link) {
    struct engine *engine = link->engine;
    const char *path = link_payload_path(&link->payload);
    const struct config *config = &engine->config;
    bool is_kept = !config->rdb_del_sync_files || config->appendonly || sds_len(config->save) > 0;
    sds error = NULL;
    if (!path || !is_kept || !data_lock_take(engine, &error)) {
        sds_free(error);
        return;
    }
    if (disk_file_rename(path, engine->config.dbfilename))
        link_payload_keep_file(&link->payload);
    else
        log_warning("The file of the synchronization cannot be renamed to %s: %s",
                    engine->config.dbfilename, strerror(errno));
}

/* The data is the primary's. A primary that is a replica itself passes on the stream as it is,
 * without another SELECT: the payload says in which database it goes on. */
static void finish(struct link *link) {
    struct engine *engine = link->engine;
    int64_t database = engine->load->history.database;
    bool has_database = link_has_database(engine, database);
    adopt_file(link);
    link->payload.is_loading = false;
    link_payload_end(&link->payload);
    if (link->has_id) history_adopt(engine, slice_of_cstr(link->next_id), link->next_offset);
    link->database = has_database ? (int)database : 0;
    link->synced_offset = 0; /* of this history nothing is known to be on the disk */
    link->awaits_disk = false;
    resume_aof(engine);
    if (blocking_has_ready(engine->blocking)) blocking_serve(engine, engine->blocking);
    log_notice("MASTER <-> REPLICA sync: Finished with success");
    if (!has_database) {
        link_give_up(link, "MASTER writes to database %lld, which is not there: see 'databases'.",
                     (long long)database);
        return;
    }
    link_go_online(link, link->database);
    if (link->state != LINK_STREAMS) return;
    struct conn *conn = link->conn;
    link_resume(link);
    conn_replay(conn);
}

bool link_has_work(const struct engine *engine) {
    const struct link *link = engine->link;
    if (!link || link->payload.is_loading || !link->payload.is_active) return false;
    return link->state == LINK_LOADS || (link->state == LINK_RECEIVES && !link->payload.file);
}

void link_work(struct engine *engine) {
    if (!link_has_work(engine)) return;
    struct link *link = engine->link;
    bool beside = !link->payload.file && engine->config.repl_diskless_load == DISKLESS_LOAD_SWAP;
    engine_update_clock(engine);
    link->payload.is_loading = true;
    enum load_status status = beside ? load_beside(link) : load_in_place(link);
    engine->restrictions &= ~(uint32_t)(RESTRICTED_LOADING | RESTRICTED_LOADING_BESIDE);
    if (status == LOAD_DONE && !link->payload.is_failed) {
        finish(link);
        return;
    }
    bool is_lost = link->payload.is_failed;
    link->payload.is_loading = link->payload.is_failed = false;
    if (!beside) resume_aof(engine);
    if (status == LOAD_STOPPED) return;
    if (is_lost)
        log_warning("MASTER <-> REPLICA sync was lost while data was being loaded.");
    else
        link_give_up(link, "Failed trying to load the MASTER synchronization DB, check server "
                           "logs.");
}
