#include "admin/debug_reload.h"

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

/* Clients do not see the keys go, but those who wait for some are served if they are there now. */
static enum load_status reload(int options) {
    int64_t databases = server.config.databases;
    if (!(options & RELOAD_NOFLUSH))
        for (int64_t i = 0; i < databases; i++) keyspace_clear(server.keyspaces[i]);
    enum load_status status =
        load_rdb_file(server.config.dbfilename, options & RELOAD_MERGE ? LOAD_REPLACE : 0);
    for (int64_t i = 0; i < databases; i++) blocking_signal_database(server.blocking, (int)i);
    return status;
}

void debug_reload(struct call *call) {
    int options = parse_options(call);
    if (options < 0) return;
    if (server.refusing & REFUSING_LOADING) {
        reply_error(call->reply, "LOADING Redis is loading the dataset in memory");
    } else if (!(options & RELOAD_NOSAVE) && !save_now()) {
        reply_error(call->reply, "ERR");
    } else if (reload(options) != LOAD_DONE) {
        reply_error(call->reply, "ERR Error trying to load the RDB dump, check server logs.");
    } else {
        log_warning("DB reloaded by DEBUG RELOAD");
        reply_ok(call->reply);
    }
}
