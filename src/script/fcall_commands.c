/* fcall_commands: FCALL function numkeys [key …] [argument …], and FCALL_RO. */
#include "engine/call.h"
#include "engine/engine.h"
#include "engine/functions.h"
#include "resp/reply.h"
#include "script/function_commands.h"
#include "script/function_language.h"
#include "script/script.h"
#include "script/script_run.h"
#include "session/monitor.h"

/* The run has a share of the library: the function may delete its own. */
static void run(struct call *call, const struct function *function, bool is_readonly) {
    struct script_arguments arguments;
    const struct script_program program = {
        .machine = call->engine->scripts->functions->machine,
        .function = function->reference,
        .flags = function->flags,
        .name = function->name,
        .is_function = true,
        .is_readonly = is_readonly,
    };
    if (!script_parse_keys(call, "ERR Bad number of keys provided", &arguments)) return;
    struct function_library *library = function_library_share(function->library);
    script_run(call, &program, &arguments);
    function_library_release(library);
}

static void fcall(struct call *call, bool is_readonly) {
    monitor_feed(call);
    const struct function *function =
        function_set_function(call->engine->functions->set, call->argv[1]);
    if (function)
        run(call, function, is_readonly);
    else
        reply_error(call->reply, "ERR Function not found");
}

void fcall_command(struct call *call) {
    fcall(call, false);
}

void fcall_ro_command(struct call *call) {
    fcall(call, true);
}
