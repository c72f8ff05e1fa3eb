/* eval_commands: EVAL script numkeys [key …] [argument …], and its variants. */
#include "engine/engine.h"
#include "script/script.h"
#include "script/script_commands.h"
#include "script/script_run.h"
#include "session/monitor.h"

static void run(struct call *call, const struct script *script,
                const struct script_arguments *arguments, bool is_readonly) {
    const struct script_program program = {.machine = call->engine->scripts->machine,
                                           .function = script->function,
                                           .flags = script->flags,
                                           .name = script->sha,
                                           .is_readonly = is_readonly};
    script_run(call, &program, arguments);
}

static void eval(struct call *call, bool is_readonly) {
    struct script_cache *cache = &call->engine->scripts->cache;
    struct script_arguments arguments;
    monitor_feed(call);
    if (!script_parse_keys(call, NULL, &arguments)) return;
    struct script *script = script_cache_find_text(cache, call->argv[1]);
    sds error = NULL;
    if (!script) script = script_cache_add(cache, call->argv[1], false, &error);
    if (script) {
        run(call, script, &arguments, is_readonly);
    } else {
        reply_error_text(call->reply, sds_slice(error));
        sds_free(error);
    }
}

static void evalsha(struct call *call, bool is_readonly) {
    struct script_cache *cache = &call->engine->scripts->cache;
    struct script_arguments arguments;
    monitor_feed(call);
    bool is_sha = call->argv[1].len == SCRIPT_SHA_LENGTH;
    if (is_sha && !script_parse_keys(call, NULL, &arguments)) return;
    struct script *script = script_cache_find_sha(cache, call->argv[1]);
    if (script)
        run(call, script, &arguments, is_readonly);
    else
        reply_error(call->reply, "NOSCRIPT No matching script. Please use EVAL.");
}

void eval_command(struct call *call) {
    eval(call, false);
}

void eval_ro_command(struct call *call) {
    eval(call, true);
}

void evalsha_command(struct call *call) {
    evalsha(call, false);
}

void evalsha_ro_command(struct call *call) {
    evalsha(call, true);
}
