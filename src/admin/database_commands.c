/* database_commands: SAVE BGSAVE LASTSAVE BGREWRITEAOF FLUSHDB FLUSHALL SWAPDB: commands on whole
 * databases. */
#include "admin/admin_commands.h"
#include "aof/aof.h"
#include "engine/changes.h"
#include "engine/engine.h"
#include "execute/flush.h"
#include "resp/reply.h"
#include "snapshot/incremental.h"
#include "snapshot/save.h"

static bool is_saving(struct call *call) {
    if (!save_is_running(call->engine)) return false;
    reply_error(call->reply, "ERR Background save already in progress");
    return true;
}

void save_command(struct call *call) {
    struct engine *engine = call->engine;
    if (is_saving(call)) return;
    engine->save->saves++;
    if (save_now(engine))
        reply_ok(call->reply);
    else
        reply_error(call->reply, "ERR");
}

/* A snapshot for replicas is not cancelled: they would begin anew. */
static void cancel(struct call *call) {
    struct engine *engine = call->engine;
    if (save_is_running(engine)) {
        log_notice("Background saving will be aborted due to user request");
        save_cancel(engine);
        reply_status(call->reply, SLICE("Background saving cancelled"));
    } else if (save_unschedule(engine)) {
        log_notice("Scheduled background saving will be cancelled due to user request");
        reply_status(call->reply, SLICE("Scheduled background saving cancelled"));
    } else {
        reply_error(call->reply, "ERR Background saving is currently not in progress or scheduled");
    }
}

/* In a transaction the snapshot begins after its end. */
void bgsave_command(struct call *call) {
    struct engine *engine = call->engine;
    bool scheduled = call->argc == 2 && slice_is(call->argv[1], "schedule");
    if (call->argc == 2 && slice_is(call->argv[1], "cancel")) {
        cancel(call);
    } else if (call->argc > 1 && !scheduled) {
        call_syntax_error(call);
    } else if (is_saving(call)) {
        return;
    } else if (!call_may_block(call) || (incremental_is_busy(engine) && scheduled)) {
        save_schedule(engine);
        reply_status(call->reply, SLICE("Background saving scheduled"));
    } else if (incremental_is_busy(engine)) {
        reply_error(call->reply,
                    "ERR Another child process is active (AOF?): can't BGSAVE right now. Use "
                    "BGSAVE SCHEDULE in order to schedule a BGSAVE whenever possible.");
    } else if (save_begin(engine)) {
        reply_status(call->reply, SLICE("Background saving started"));
    } else {
        reply_error(call->reply, "ERR");
    }
}

void lastsave_command(struct call *call) {
    reply_integer(call->reply, call->engine->save->saved_s);
}

void bgrewriteaof_command(struct call *call) {
    struct engine *engine = call->engine;
    if (aof_rewrite_is_running(engine)) {
        reply_error(call->reply, "ERR Background append only file rewriting already in progress");
    } else if (!call_may_block(call) || incremental_is_busy(engine)) {
        engine->aof->rewrite.scheduled = true;
        reply_status(call->reply, SLICE("Background append only file rewriting scheduled"));
    } else if (aof_rewrite_begin(engine)) {
        reply_status(call->reply, SLICE("Background append only file rewriting started"));
    } else {
        reply_error(call->reply, "ERR Can't execute an AOF background rewriting. Please check the "
                                 "server logs for more information.");
    }
}

/* --- FLUSHDB FLUSHALL --- */

/* Parses [ASYNC | SYNC]. */
static bool parse_mode(struct call *call, bool *async) {
    *async = call->engine->config.lazyfree_user_flush;
    if (call->argc == 1) return true;
    *async = slice_is(call->argv[1], "async");
    if (call->argc == 2 && (*async || slice_is(call->argv[1], "sync"))) return true;
    return call_syntax_error(call);
}

/* While a file is loaded everything is freed at once, because old and new data may not fit into
 * memory together. */
static enum changes_freeing freeing_of(const struct call *call, bool async) {
    if (async) return CHANGES_FREE_IN_POOL;
    return call_is_loading(call) ? CHANGES_FREE_NOW : CHANGES_FREE_SMALL_NOW;
}

/* With SYNC only the client waits until the memory is free. In a transaction it cannot wait. */
static uint64_t number_for(const struct call *call, bool async) {
    return async || !call_may_block(call) ? 0 : flush_number(call->engine);
}

static void reply_when_free(struct call *call, uint64_t number, size_t keyspaces) {
    if (keyspaces > 0)
        flush_wait(call, number, keyspaces);
    else
        reply_ok(call->reply);
}

/* An empty database is flushed elsewhere, too: clients of a writable replica may have added keys
 * there. */
void flushdb_command(struct call *call) {
    bool async;
    if (!parse_mode(call, &async)) return;
    if (call->propagates) call_propagate_as(call, call->argv, call->argc);
    uint64_t number = number_for(call, async);
    call->engine->dirty += keyspace_count(call->keyspace);
    reply_when_free(
        call, number,
        changes_empty_database(call->engine, call->database, freeing_of(call, async), number));
}

/* Ends a snapshot that is being written first, because it would keep the flushed data in memory. */
void flushall_command(struct call *call) {
    struct engine *engine = call->engine;
    bool async;
    if (!parse_mode(call, &async)) return;
    uint64_t number = number_for(call, async);
    save_cancel(engine);
    for (int i = 0; i < engine->databases; i++)
        engine->dirty += keyspace_count(engine->keyspaces[i]);
    engine->dirty++;
    size_t keyspaces = changes_replace_all(
        engine, &(struct replacement){.freeing = freeing_of(call, async), .number = number});
    save_after_flush(engine);
    reply_when_free(call, number, keyspaces);
}

/* --- SWAPDB index1 index2 --- */

void swapdb_command(struct call *call) {
    struct engine *engine = call->engine;
    int64_t a, b;
    if (engine->cluster) {
        reply_error(call->reply, "ERR SWAPDB is not allowed in cluster mode");
        return;
    }
    if (!call_integer_in(call, 1, INT32_MIN, INT32_MAX, &a, "ERR invalid first DB index")) return;
    if (!call_integer_in(call, 2, INT32_MIN, INT32_MAX, &b, "ERR invalid second DB index")) return;
    int64_t count = engine->databases;
    if (a < 0 || a >= count || b < 0 || b >= count) {
        call_bad_database(call);
        return;
    }
    if (a != b) changes_swap_databases(engine, (int)a, (int)b);
    engine->dirty++;
    reply_ok(call->reply);
}
