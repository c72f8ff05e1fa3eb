/* flush_commands: FLUSHDB FLUSHALL SWAPDB: commands on whole databases. */
#include "admin/admin_commands.h"
#include "engine/blocking.h"
#include "engine/engine.h"
#include "engine/lazyfree.h"
#include "engine/own_expiry.h"
#include "execute/flush.h"
#include "resp/reply.h"
#include "snapshot/incremental.h"
#include "snapshot/save.h"

/* Parses [ASYNC | SYNC]. */
static bool parse_mode(struct call *call, bool *async) {
    *async = call->engine->config.lazyfree_user_flush;
    if (call->argc == 1) return true;
    *async = slice_is(call->argv[1], "async");
    if (call->argc == 2 && (*async || slice_is(call->argv[1], "sync"))) return true;
    call_syntax_error(call);
    return false;
}

/* Empties a database. `number` is the flush's if a client waits until its keys are freed, or 0.
 * Returns true if the client has to wait. A few small keys are freed at once. So is everything
 * while a file is loaded, because old and new data may not fit into memory together. */
static bool flush(const struct call *call, int database, bool async, uint64_t number) {
    struct engine *engine = call->engine;
    struct keyspace *keyspace = engine->keyspaces[database];
    watch_touch_database(&engine->watches, database, keyspace, NULL, engine->now_ms);
    engine->dirty += keyspace_count(keyspace);
    bool in_pool = async || (!call_is_loading(call) && !lazyfree_is_little(keyspace));
    return incremental_flush_keyspace(engine, keyspace, in_pool, number);
}

/* With SYNC only the client waits until the memory is free. In a transaction it cannot wait. */
static uint64_t number_for(const struct call *call, bool async) {
    return async || !call_may_block(call) ? 0 : flush_number();
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
    reply_when_free(call, number, flush(call, call->database, async, number));
}

/* Ends a snapshot that is being written first, because it would keep the flushed data in memory. */
void flushall_command(struct call *call) {
    struct engine *engine = call->engine;
    bool async;
    if (!parse_mode(call, &async)) return;
    uint64_t number = number_for(call, async);
    size_t keyspaces = 0;
    save_cancel(engine);
    own_expiry_forget_all(engine);
    for (int i = 0; i < engine->config.databases; i++) keyspaces += flush(call, i, async, number);
    engine->dirty++;
    save_after_flush(engine);
    reply_when_free(call, number, keyspaces);
}

/* --- SWAPDB index1 index2 --- */

/* Watchers of the keys that change are touched before the swap; waiting clients are served after
 * it. */
static void swap(struct engine *engine, int a, int b) {
    struct keyspace *first = engine->keyspaces[a], *second = engine->keyspaces[b];
    watch_touch_database(&engine->watches, a, first, second, engine->now_ms);
    watch_touch_database(&engine->watches, b, second, first, engine->now_ms);
    keyspace_swap(first, second);
    own_expiry_swap(engine, a, b);
    blocking_signal_database(engine, engine->blocking, a);
    blocking_signal_database(engine, engine->blocking, b);
}

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
    if (a != b) swap(engine, (int)a, (int)b);
    engine->dirty++;
    reply_ok(call->reply);
}
