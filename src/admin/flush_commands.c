/* flush_commands: FLUSHDB FLUSHALL SWAPDB: commands on whole databases. */
#include "admin/admin_commands.h"
#include "engine/changes.h"
#include "engine/engine.h"
#include "execute/flush.h"
#include "resp/reply.h"
#include "snapshot/save.h"

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
    for (int i = 0; i < engine->config.databases; i++)
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
    if (!call_integer_in(call, 1, INT32_MIN, INT32_MAX, &a, "ERR invalid first DB index")) return;
    if (!call_integer_in(call, 2, INT32_MIN, INT32_MAX, &b, "ERR invalid second DB index")) return;
    int64_t count = engine->config.databases;
    if (a < 0 || a >= count || b < 0 || b >= count) {
        call_bad_database(call);
        return;
    }
    if (a != b) changes_swap_databases(engine, (int)a, (int)b);
    engine->dirty++;
    reply_ok(call->reply);
}
