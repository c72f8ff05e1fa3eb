/* flush_commands: emptying databases. */
#include "server/server.h"
#include "server/server_commands.h"

/* [ASYNC | SYNC]: both empty the database before they answer. */
static bool check_mode(struct call *call) {
    bool fine =
        call->argc == 1 ||
        (call->argc == 2 && (slice_is(call->argv[1], "async") || slice_is(call->argv[1], "sync")));
    if (!fine) call_syntax_error(call);
    return fine;
}

static void flush(int database) {
    struct keyspace *keyspace = server.keyspaces[database];
    watch_touch_database(&server.watches, database, keyspace, NULL, server.now_ms);
    server.dirty += keyspace_count(keyspace);
    keyspace_clear(keyspace);
}

void flushdb_command(struct call *call) {
    if (!check_mode(call)) return;
    flush(call->database);
    reply_ok(call->reply);
}

void flushall_command(struct call *call) {
    if (!check_mode(call)) return;
    for (int i = 0; i < server.config.databases; i++) flush(i);
    server.dirty++;
    reply_ok(call->reply);
}
