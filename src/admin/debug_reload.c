#include "admin/debug_reload.h"

#include "base/alloc.h"
#include "base/log.h"
#include "server/blocking.h"
#include "server/server.h"

enum reload_option { RELOAD_MERGE = 1 << 0, RELOAD_NOFLUSH = 1 << 1, RELOAD_NOSAVE = 1 << 2 };

/* The options, or -1 after an error was answered. */
static int parse_options(struct call *call) {
    static const char *const names[] = {"merge", "noflush", "nosave"};
    int options = 0;
    for (size_t i = 2; i < call->argc; i++) {
        unsigned option = 0;
        while (option < 3 && !slice_is(call->argv[i], names[option])) option++;
        if (option == 3) {
            reply_error(call->reply,
                        "ERR DEBUG RELOAD only supports the MERGE, NOFLUSH and NOSAVE options.");
            return -1;
        }
        options |= 1 << option;
    }
    return options;
}

/* Clients do not see the keys go, but that what they watch may have changed, … */
static void clear_databases(void) {
    mem_keep_freed(true);
    for (int64_t i = 0; i < server.config.databases; i++) {
        struct keyspace *keyspace = server.keyspaces[i];
        watch_touch_database(&server.watches, (int)i, keyspace, NULL, server.now_ms);
        slices_flush(keyspace, false, 0);
    }
}

/* … but those who wait for some are served if they are there now. */
static void signal_databases(void) {
    mem_keep_freed(false);
    for (int64_t i = 0; i < server.config.databases; i++)
        blocking_signal_database(server.blocking, (int)i);
}

/* A key whose time has come goes later, when that is told: left out in silence it would still be in
 * the append-only file, and what follows under its name be added to it. */
static enum load_status reload(int options) {
    unsigned flags =
        (options & RELOAD_MERGE ? LOAD_REPLACE : 0) | (server.command_log.is_on ? LOAD_EXPIRED : 0);
    if (!(options & RELOAD_NOFLUSH)) clear_databases();
    enum load_status status = load_rdb_file(server.config.dbfilename, flags);
    signal_databases();
    return status;
}

static bool is_loading(struct call *call) {
    if (!(server.refusing & REFUSING_LOADING)) return false;
    reply_error(call->reply, LOADING_REFUSAL);
    return true;
}

void debug_reload(struct call *call) {
    int options = parse_options(call);
    if (options < 0 || is_loading(call)) return;
    save_cancel(); /* what it is to load must not be replaced meanwhile */
    if (!(options & RELOAD_NOSAVE) && !save_now()) {
        reply_error(call->reply, "ERR");
    } else if (reload(options) != LOAD_DONE) {
        reply_error(call->reply, "ERR Error trying to load the RDB dump, check server logs.");
    } else {
        log_warning("DB reloaded by DEBUG RELOAD");
        reply_ok(call->reply);
    }
}

void debug_loadaof(struct call *call) {
    if (is_loading(call)) return;
    enum load_status status = LOAD_FAILED;
    if (aof_prepare_reload()) {
        clear_databases();
        status = aof_reload();
        signal_databases();
    }
    if (status != LOAD_DONE) {
        reply_error(call->reply, "ERR Error trying to load the AOF files, check server logs.");
        return;
    }
    log_warning("Append Only File loaded by DEBUG LOADAOF");
    reply_ok(call->reply);
}
