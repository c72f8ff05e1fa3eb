/* debug_reload: DEBUG RELOAD and DEBUG LOADAOF. */
#include "admin/debug.h"
#include "aof/aof.h"
#include "base/log/log.h"
#include "base/memory/alloc.h"
#include "engine/changes.h"
#include "engine/engine.h"
#include "engine/functions.h"
#include "resp/reply.h"
#include "server/start/start_load.h"
#include "snapshot/load.h"
#include "snapshot/save.h"
#include "table/command.h"

enum reload_option { RELOAD_MERGE = 1 << 0, RELOAD_NOFLUSH = 1 << 1, RELOAD_NOSAVE = 1 << 2 };

/* Returns the options, or -1 after an error was replied. */
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

/* Deletes the data, which is loaded again. Clients do not notice that, except that watched keys
 * count as changed, and that clients which wait for a key are served if it exists after loading. */
static void clear_data(struct engine *engine) {
    mem_keep_freed(true);
    changes_replace_all(engine, &(struct replacement){.functions = function_set_new(),
                                                      .freeing = CHANGES_FREE_NOW,
                                                      .is_reloaded = true});
}

static void note_loaded(struct engine *engine) {
    mem_keep_freed(false);
    changes_note_loaded(engine);
}

/* Expired keys are loaded too and deleted later, with a command in the log. If they were skipped,
 * they would still be in the append-only file, and later commands for the same name would add to
 * them. */
static enum load_status reload(struct engine *engine, int options) {
    unsigned flags = (options & RELOAD_MERGE ? LOAD_REPLACE : 0) |
                     (engine->command_log.is_on ? LOAD_EXPIRED : 0);
    if (!(options & RELOAD_NOFLUSH)) clear_data(engine);
    enum load_status status = load_rdb_file(engine, engine->config.dbfilename, flags);
    note_loaded(engine);
    return status;
}

static bool is_loading(struct call *call) {
    if (!call->engine->load->running) return false;
    reply_error(call->reply, LOADING_REFUSAL);
    return true;
}

void debug_reload(struct call *call) {
    struct engine *engine = call->engine;
    int options = parse_options(call);
    if (options < 0 || is_loading(call)) return;
    save_cancel(engine); /* a background save must not replace the file that is loaded */
    if (!(options & RELOAD_NOSAVE) && !save_now(engine)) {
        reply_error(call->reply, "ERR");
    } else if (reload(engine, options) != LOAD_DONE) {
        reply_error(call->reply, "ERR Error trying to load the RDB dump, check server logs.");
    } else {
        log_warning("DB reloaded by DEBUG RELOAD");
        reply_ok(call->reply);
    }
}

void debug_loadaof(struct call *call) {
    struct engine *engine = call->engine;
    if (is_loading(call)) return;
    enum load_status status = LOAD_FAILED;
    if (aof_prepare_reload(engine)) {
        clear_data(engine);
        status = start_load_aof(engine, 0);
        note_loaded(engine);
    }
    if (status != LOAD_DONE) {
        reply_error(call->reply, "ERR Error trying to load the AOF files, check server logs.");
        return;
    }
    log_warning("Append Only File loaded by DEBUG LOADAOF");
    reply_ok(call->reply);
}
