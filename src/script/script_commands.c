/* script_commands: SCRIPT: looks at the cache of scripts and changes it. */
#include "script/script_commands.h"

#include "engine/engine.h"
#include "script/script.h"
#include "script/script_busy.h"

static struct script_cache *cache_of(const struct call *call) {
    return &call->engine->scripts->cache;
}

/* SCRIPT LOAD script */
void script_load_command(struct call *call) {
    struct script_cache *cache = cache_of(call);
    struct script *script = script_cache_find_text(cache, call->argv[2]);
    sds error = NULL;
    if (script)
        script_cache_keep(cache, script);
    else
        script = script_cache_add(cache, call->argv[2], true, &error);
    if (script) {
        reply_bulk(call->reply, slice_make(script->sha, SCRIPT_SHA_LENGTH));
    } else {
        reply_error_text(call->reply, sds_slice(error));
        sds_free(error);
    }
}

/* SCRIPT EXISTS sha1 [sha1 …] */
void script_exists_command(struct call *call) {
    reply_array(call->reply, call->argc - 2);
    for (size_t i = 2; i < call->argc; i++)
        reply_integer(call->reply, script_cache_find_sha(cache_of(call), call->argv[i]) != NULL);
}

/* SCRIPT SHOW sha1 (of Valkey) */
void script_show_command(struct call *call) {
    const struct script *script = script_cache_find_sha(cache_of(call), call->argv[2]);
    if (script)
        reply_bulk(call->reply, sds_slice(script->text));
    else
        reply_error(call->reply, "NOSCRIPT No matching script. Please use EVAL.");
}

/* SCRIPT FLUSH [ASYNC|SYNC] */
void script_flush_command(struct call *call) {
    bool in_pool = call->engine->config.lazyfree_user_flush;
    if (call->argc == 3 && slice_is(call->argv[2], "sync")) {
        in_pool = false;
    } else if (call->argc == 3 && slice_is(call->argv[2], "async")) {
        in_pool = true;
    } else if (call->argc > 2) {
        reply_error(call->reply, "ERR SCRIPT FLUSH only support SYNC|ASYNC option");
        return;
    }
    scripts_flush(call->engine->scripts, in_pool);
    reply_ok(call->reply);
}

/* SCRIPT KILL */
void script_kill_command(struct call *call) {
    script_busy_kill(call, false);
}

/* SCRIPT DEBUG YES|SYNC|NO: there is no debugger. */
void script_debug_command(struct call *call) {
    if (slice_is(call->argv[2], "no"))
        reply_ok(call->reply);
    else if (slice_is(call->argv[2], "yes") || slice_is(call->argv[2], "sync"))
        reply_error(call->reply, "ERR This server has no debugger for scripts");
    else
        reply_error(call->reply, "ERR Use SCRIPT DEBUG YES/SYNC/NO");
}

void script_help_command(struct call *call) {
    static const char *const lines[] = {
        "DEBUG (YES|SYNC|NO)",
        "    Set the debug mode for subsequent scripts executed. Only NO is supported.",
        "EXISTS <sha1> [<sha1> ...]",
        "    Return information about the existence of the scripts in the script cache.",
        "FLUSH [ASYNC|SYNC]",
        "    Flush the Lua scripts cache.",
        "    When called without the optional mode argument, the behavior is determined by the",
        "    lazyfree-lazy-user-flush configuration directive. Valid modes are:",
        "    * ASYNC: Asynchronously flush the scripts cache.",
        "    * SYNC: Synchronously flush the scripts cache.",
        "KILL",
        "    Kill the currently executing Lua script.",
        "LOAD <script>",
        "    Load a script into the scripts cache without executing it.",
        "SHOW <sha1>",
        "    Return the text of a script of the scripts cache.",
        NULL};
    call_help(call, lines);
}
