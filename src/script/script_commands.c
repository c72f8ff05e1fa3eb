/* script_commands: EVAL script numkeys [key …] [argument …] and its variants, FCALL and FCALL_RO,
 * which run a function of a library in the same way, and SCRIPT. */
#include "script/script_commands.h"

#include "engine/call.h"
#include "engine/engine.h"
#include "engine/functions.h"
#include "resp/reply.h"
#include "script/script_busy.h"
#include "script/script_machine.h"
#include "script/script_run.h"
#include "session/monitor.h"

/* Parses the number of keys, argv[2], whose keys follow. `not_a_number` is the error for what is
 * not an integer; NULL: the usual one. */
static bool parse_key_count(struct call *call, const char *not_a_number, size_t *key_count) {
    int64_t count;
    if (!call_integer_in(call, 2, INT64_MIN, INT64_MAX, &count, not_a_number)) return false;
    if (count > (int64_t)call->argc - 3)
        return reply_error(call->reply, "ERR Number of keys can't be greater than number of args");
    if (count < 0) return reply_error(call->reply, "ERR Number of keys can't be negative");
    *key_count = (size_t)count;
    return true;
}

static void run_script(struct call *call, const struct script *script, size_t key_count) {
    const struct script_program program = {.machine = call->engine->scripts->machine,
                                           .function = script->function,
                                           .flags = script->flags,
                                           .name = script->sha};
    script_run_program(call, &program, key_count);
}

static struct script_cache *cache_of(const struct call *call) {
    return &call->engine->scripts->cache;
}

/* Returns the script with this text, which may be a new one; NULL: it is bad, which was replied. */
static struct script *find_or_add(struct call *call, struct slice text, bool is_loaded) {
    struct script *script = script_cache_find_text(cache_of(call), text);
    sds error;
    if (!script) script = script_cache_add(cache_of(call), text, is_loaded, &error);
    if (script) return script;
    reply_error_text(call->reply, sds_slice(error));
    sds_free(error);
    return NULL;
}

/* EVAL, EVAL_RO */
void eval_command(struct call *call) {
    size_t key_count;
    monitor_feed(call);
    if (!parse_key_count(call, NULL, &key_count)) return;
    struct script *script = find_or_add(call, call->argv[1], false);
    if (script) run_script(call, script, key_count);
}

/* EVALSHA, EVALSHA_RO */
void evalsha_command(struct call *call) {
    size_t key_count = 0;
    monitor_feed(call);
    bool is_sha = call->argv[1].len == SCRIPT_SHA_LENGTH;
    if (is_sha && !parse_key_count(call, NULL, &key_count)) return;
    struct script *script = script_cache_find_sha(cache_of(call), call->argv[1]);
    if (script)
        run_script(call, script, key_count);
    else
        reply_error(call->reply, "NOSCRIPT No matching script. Please use EVAL.");
}

/* The run has a share of the library: the function may delete its own. */
static void run_function(struct call *call, const struct function *function) {
    size_t key_count;
    const struct script_program program = {
        .machine = call->engine->scripts->functions->machine,
        .function = function->reference,
        .flags = function->flags,
        .name = function->name,
        .is_function = true,
    };
    if (!parse_key_count(call, "ERR Bad number of keys provided", &key_count)) return;
    struct function_library *library = function_library_share(function->library);
    script_run_program(call, &program, key_count);
    function_library_release(library);
}

/* FCALL, FCALL_RO */
void fcall_command(struct call *call) {
    monitor_feed(call);
    const struct function *function =
        function_set_function(call->engine->functions->set, call->argv[1]);
    if (function)
        run_function(call, function);
    else
        reply_error(call->reply, "ERR Function not found");
}

/* --- SCRIPT: looks at the cache of scripts and changes it --- */

/* SCRIPT LOAD script */
void script_load_command(struct call *call) {
    struct script *script = find_or_add(call, call->argv[2], true);
    if (!script) return;
    script_cache_keep(cache_of(call), script);
    reply_bulk(call->reply, slice_make(script->sha, SCRIPT_SHA_LENGTH));
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
        reply_error(call->reply, "NOSCRIPT No matching script.");
}

bool script_parse_flush(struct call *call, const char *error, bool *async) {
    bool is_last = call->argc == 3;
    *async = is_last ? slice_is(call->argv[2], "async") : call->engine->config.lazyfree_user_flush;
    if (call->argc == 2 || (is_last && (*async || slice_is(call->argv[2], "sync")))) return true;
    return reply_error(call->reply, error);
}

/* SCRIPT FLUSH [ASYNC|SYNC] */
void script_flush_command(struct call *call) {
    bool async;
    if (!script_parse_flush(call, "ERR SCRIPT FLUSH only support SYNC|ASYNC option", &async))
        return;
    script_machine_flush(call->engine, async);
    reply_ok(call->reply);
}

/* SCRIPT KILL */
COMMAND_FORM(script_kill_command, script_busy_kill, false)

/* SCRIPT DEBUG YES|SYNC|NO: there is no debugger. */
void script_debug_command(struct call *call) {
    if (slice_is(call->argv[2], "no"))
        reply_ok(call->reply);
    else if (slice_is(call->argv[2], "yes") || slice_is(call->argv[2], "sync"))
        reply_error(call->reply, "ERR This server has no debugger for scripts");
    else
        reply_error(call->reply, "ERR Use SCRIPT DEBUG YES/SYNC/NO");
}

COMMAND_FORM(script_help_command, call_help,
             "DEBUG (YES|SYNC|NO)\n"
             "    Set the debug mode for subsequent scripts executed. Only NO is supported.\n"
             "EXISTS <sha1> [<sha1> ...]\n"
             "    Return information about the existence of the scripts in the script cache.\n"
             "FLUSH [ASYNC|SYNC]\n"
             "    Flush the Lua scripts cache.\n"
             "    When called without the optional mode argument, the behavior is determined by "
             "the\n"
             "    lazyfree-lazy-user-flush configuration directive. Valid modes are:\n"
             "    * ASYNC: Asynchronously flush the scripts cache.\n"
             "    * SYNC: Synchronously flush the scripts cache.\n"
             "KILL\n"
             "    Kill the currently executing Lua script.\n"
             "LOAD <script>\n"
             "    Load a script into the scripts cache without executing it.\n"
             "SHOW <sha1>\n"
             "    Return the text of a script of the scripts cache.\n")
