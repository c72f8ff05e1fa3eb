/* flush_commands: FLUSHDB FLUSHALL SWAPDB: whole databases. */
#include "admin/admin_commands.h"
#include "server/blocking.h"
#include "server/server.h"

/* [ASYNC | SYNC] */
static bool parse_mode(struct call *call, bool *async) {
    *async = server.config.lazyfree_user_flush;
    if (call->argc == 1) return true;
    *async = slice_is(call->argv[1], "async");
    if (call->argc == 2 && (*async || slice_is(call->argv[1], "sync"))) return true;
    call_syntax_error(call);
    return false;
}

static void flush(int database, bool async) {
    struct keyspace *keyspace = server.keyspaces[database];
    watch_touch_database(&server.watches, database, keyspace, NULL, server.now_ms);
    server.dirty += keyspace_count(keyspace);
    slices_flush(keyspace, async);
}

void flushdb_command(struct call *call) {
    bool async;
    if (!parse_mode(call, &async)) return;
    flush(call->database, async);
    reply_ok(call->reply);
}

void flushall_command(struct call *call) {
    bool async;
    if (!parse_mode(call, &async)) return;
    for (int i = 0; i < server.config.databases; i++) flush(i, async);
    server.dirty++;
    save_after_flush();
    reply_ok(call->reply);
}

/* --- SWAPDB index1 index2 --- */

/* Those who watch a key that changes by it are told before; those who wait for a key look after. */
static void swap(int a, int b) {
    struct keyspace *first = server.keyspaces[a], *second = server.keyspaces[b];
    watch_touch_database(&server.watches, a, first, second, server.now_ms);
    watch_touch_database(&server.watches, b, second, first, server.now_ms);
    keyspace_swap(first, second);
    blocking_signal_database(server.blocking, a);
    blocking_signal_database(server.blocking, b);
}

void swapdb_command(struct call *call) {
    int64_t a, b;
    if (!call_integer_in(call, 1, INT32_MIN, INT32_MAX, &a, "ERR invalid first DB index")) return;
    if (!call_integer_in(call, 2, INT32_MIN, INT32_MAX, &b, "ERR invalid second DB index")) return;
    int64_t count = server.config.databases;
    if (a < 0 || a >= count || b < 0 || b >= count) {
        reply_error(call->reply, "ERR DB index is out of range");
        return;
    }
    if (a != b) swap((int)a, (int)b);
    server.dirty++;
    reply_ok(call->reply);
}
