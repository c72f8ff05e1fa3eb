/* function_reports: FUNCTION LIST and FUNCTION STATS. */
#include "base/glob.h"
#include "engine/call.h"
#include "engine/engine.h"
#include "engine/functions.h"
#include "resp/reply.h"
#include "script/function_commands.h"
#include "script/script.h"
#include "script/script_busy.h"
#include "script/script_run.h"
#include "script/shebang.h"

/* --- FUNCTION LIST [LIBRARYNAME pattern] [WITHCODE] --- */

struct list_options {
    struct slice pattern; /* ptr NULL: all libraries */
    bool with_code;
};

static bool parse_list(struct call *call, struct list_options *options) {
    for (size_t i = 2; i < call->argc; i++) {
        struct slice option = call->argv[i];
        if (!options->with_code && slice_is(option, "withcode")) {
            options->with_code = true;
        } else if (!options->pattern.ptr && slice_is(option, "libraryname")) {
            if (++i == call->argc)
                return reply_error(call->reply, "ERR library name argument was not given");
            options->pattern = call->argv[i];
        } else {
            return reply_error_format(call->reply, "ERR Unknown argument %.*s",
                                      slice_precision(option), option.ptr);
        }
    }
    return true;
}

static void reply_flags(struct reply *reply, uint32_t flags) {
    size_t mark = reply_begin(reply), count = 0;
    const char *name;
    for (uint32_t flag = 1; (name = script_flag_name(flag)); flag <<= 1) {
        if (!(flags & flag)) continue;
        reply_status(reply, slice_of_cstr(name));
        count++;
    }
    reply_set_end(reply, mark, count);
}

static void reply_function(struct reply *reply, const struct function *function) {
    reply_map(reply, 3);
    reply_bulk_cstr(reply, "name");
    reply_bulk(reply, sds_slice(function->name));
    reply_bulk_cstr(reply, "description");
    if (function->description)
        reply_bulk(reply, sds_slice(function->description));
    else
        reply_null(reply);
    reply_bulk_cstr(reply, "flags");
    reply_flags(reply, function->flags);
}

static void reply_library(struct reply *reply, const struct function_library *library,
                          bool with_code) {
    reply_map(reply, with_code ? 4 : 3);
    reply_bulk_cstr(reply, "library_name");
    reply_bulk(reply, sds_slice(library->name));
    reply_bulk_cstr(reply, "engine");
    reply_bulk_cstr(reply, library->language->name);
    reply_bulk_cstr(reply, "functions");
    reply_array(reply, library->function_count);
    for (size_t i = 0; i < library->function_count; i++)
        reply_function(reply, library->functions[i]);
    if (!with_code) return;
    reply_bulk_cstr(reply, "library_code");
    reply_bulk(reply, sds_slice(library->code));
}

void function_list_command(struct call *call) {
    const struct function_set *set = call->engine->functions->set;
    struct list_options options = {0};
    if (!parse_list(call, &options)) return;
    size_t mark = reply_begin(call->reply), count = 0;
    for (size_t i = 0; i < set->library_count; i++) {
        const struct function_library *library = set->libraries[i];
        bool matches =
            !options.pattern.ptr || glob_match(options.pattern, sds_slice(library->name), true);
        if (matches) reply_library(call->reply, library, options.with_code);
        count += matches;
    }
    reply_array_end(call->reply, mark, count);
}

/* --- FUNCTION STATS --- */

/* Replies the function that is running, with the client's command. */
static void reply_running(struct reply *reply, const struct script_run *run) {
    const struct call *call = run->call;
    reply_map(reply, 3);
    reply_bulk_cstr(reply, "name");
    reply_bulk_cstr(reply, run->program->name);
    reply_bulk_cstr(reply, "command");
    reply_array(reply, call->argc);
    for (size_t i = 0; i < call->argc; i++) reply_bulk(reply, call->argv[i]);
    reply_bulk_cstr(reply, "duration_ms");
    reply_integer(reply, script_busy_duration(run));
}

void function_stats_command(struct call *call) {
    struct engine *engine = call->engine;
    const struct function_set *set = engine->functions->set;
    const struct script_run *run = engine->scripts->run;
    struct reply *reply = call->reply;
    if (run && !run->program->is_function) {
        script_busy_refuse(call, run);
        return;
    }
    reply_map(reply, 2);
    reply_bulk_cstr(reply, "running_script");
    if (run)
        reply_running(reply, run);
    else
        reply_null(reply);
    reply_bulk_cstr(reply, "engines");
    reply_map(reply, 1);
    reply_bulk_cstr(reply, engine->functions->language->name);
    reply_map(reply, 2);
    reply_bulk_cstr(reply, "libraries_count");
    reply_integer(reply, (int64_t)set->library_count);
    reply_bulk_cstr(reply, "functions_count");
    reply_integer(reply, (int64_t)function_set_count(set));
}
