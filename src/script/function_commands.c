/* function_commands: FUNCTION. */
#include "base/text/glob.h"
#include "engine/call.h"
#include "engine/engine.h"
#include "engine/functions.h"
#include "persist/dump.h"
#include "persist/rdb_file.h"
#include "resp/reply.h"
#include "script/function_language.h"
#include "script/script.h"
#include "script/script_busy.h"
#include "script/script_commands.h"
#include "script/shebang.h"

/* Replies an error of the store, and frees it. A file with such a command cannot be loaded. */
static void fail(struct call *call, sds error) {
    sds text = sds_append(sds_new(SLICE("ERR ")), sds_slice(error));
    call_fail(call, CALL_ERROR_PAYLOAD, text);
    sds_free(text);
    sds_free(error);
}

/* Returns how the command loads libraries: enum function_load. */
static unsigned load_flags(const struct call *call, bool replaces) {
    return (replaces ? FUNCTION_REPLACES : 0) | (call_is_repeated(call) ? FUNCTION_ACCEPTED : 0);
}

/* --- FUNCTION LOAD [REPLACE] code --- */

void function_load_command(struct call *call) {
    size_t last = call->argc - 1;
    for (size_t i = 2; i < last; i++) {
        if (slice_is(call->argv[i], "replace")) continue;
        reply_error_format(call->reply, "ERR Unknown option given: %.*s",
                           slice_precision(call->argv[i]), call->argv[i].ptr);
        return;
    }
    sds error;
    struct function_library *library = functions_load(call->engine->functions, call->argv[last],
                                                      load_flags(call, last > 2), &error);
    if (!library) {
        fail(call, error);
        return;
    }
    call->engine->dirty++;
    reply_bulk(call->reply, sds_slice(library->name));
}

/* --- FUNCTION DELETE name, FUNCTION FLUSH [ASYNC | SYNC] --- */

void function_delete_command(struct call *call) {
    if (!function_set_remove(call->engine->functions->set, call->argv[2])) {
        reply_error(call->reply, "ERR Library not found");
        return;
    }
    call->engine->dirty++;
    reply_ok(call->reply);
}

void function_flush_command(struct call *call) {
    bool async;
    if (!call_has_at_most(call, 3)) return;
    if (!script_parse_flush(call, "ERR FUNCTION FLUSH only supports SYNC|ASYNC option", &async))
        return;
    functions_replace(call->engine->functions, function_set_new());
    function_language_flush(call->engine, async);
    call->engine->dirty++;
    reply_ok(call->reply);
}

/* --- FUNCTION DUMP --- */

void function_dump_command(struct call *call) {
    const struct function_set *set = call->engine->functions->set;
    struct rdb_writer writer;
    sds payload = sds_new(SLICE(""));
    dump_start(&writer, &payload, call_compresses_values(call));
    for (size_t i = 0; i < set->library_count; i++)
        rdb_write_function(&writer, sds_slice(set->libraries[i]->code));
    dump_end(&writer);
    reply_bulk(call->reply, sds_slice(payload));
    sds_free(payload);
}

/* --- FUNCTION RESTORE payload [APPEND | FLUSH | REPLACE] --- */

enum restore_policy { RESTORE_APPEND, RESTORE_FLUSH, RESTORE_REPLACE, RESTORE_POLICIES };

static bool parse_policy(struct call *call, enum restore_policy *policy) {
    static const char *const names[] = {"append", "flush", "replace"};
    *policy = RESTORE_APPEND;
    if (call->argc > 4) return call_bad_subcommand(call);
    if (call->argc == 3) return true;
    while (*policy < RESTORE_POLICIES && !slice_is(call->argv[3], names[*policy])) (*policy)++;
    if (*policy < RESTORE_POLICIES) return true;
    return reply_error(call->reply,
                       "ERR Wrong restore policy given, value should be either FLUSH, APPEND "
                       "or REPLACE.");
}

/* The libraries of a payload. */
struct restored {
    struct functions *functions;
    struct function_set *set;
    unsigned flags; /* enum function_load */
    sds error;      /* of a library; NULL: none */
};

static bool add_restored(void *arg, struct slice code) {
    struct restored *restored = arg;
    struct function_library *library = function_library_new(
        restored->functions, restored->set, code, restored->flags, &restored->error);
    if (!library) return false;
    if (function_set_add(restored->set, library, false, &restored->error)) return true;
    function_library_release(library);
    return false;
}

/* Returns a new set with the libraries of the payload; NULL when it is bad, with the error
 * replied. */
static struct function_set *read_payload(struct call *call) {
    struct restored restored = {.functions = call->engine->functions,
                                .set = function_set_new(),
                                .flags = load_flags(call, false)};
    const char *error =
        dump_read_function(call->argv[2], call_skips_checksums(call), add_restored, &restored);
    if (!error && !restored.error) return restored.set;
    function_set_free(restored.set);
    fail(call, restored.error ? restored.error : sds_new(slice_of_cstr(error)));
    return NULL;
}

/* Returns a copy of the set in force without the libraries that are about to be replaced. */
static struct function_set *set_to_extend(const struct call *call,
                                          const struct function_set *restored,
                                          enum restore_policy policy) {
    if (policy == RESTORE_FLUSH) return function_set_new();
    struct function_set *set = function_set_copy(call->engine->functions->set);
    for (size_t i = 0; policy == RESTORE_REPLACE && i < restored->library_count; i++)
        function_set_remove(set, sds_slice(restored->libraries[i]->name));
    return set;
}

/* Adds all libraries of a set to another one. */
static bool add_all(struct function_set *set, const struct function_set *added, sds *error) {
    for (size_t i = 0; i < added->library_count; i++) {
        struct function_library *library = added->libraries[i];
        if (function_set_library(set, sds_slice(library->name))) {
            *error = sds_format("Library %s already exists", library->name);
            return false;
        }
        if (!function_set_add(set, function_library_share(library), false, error)) {
            function_library_release(library);
            return false;
        }
    }
    return true;
}

void function_restore_command(struct call *call) {
    enum restore_policy policy;
    sds error;
    if (!parse_policy(call, &policy)) return;
    struct function_set *restored = read_payload(call);
    if (!restored) return;
    struct function_set *next = set_to_extend(call, restored, policy);
    if (add_all(next, restored, &error)) {
        functions_replace(call->engine->functions, next);
        call->engine->dirty++;
        reply_ok(call->reply);
    } else {
        function_set_free(next);
        fail(call, error);
    }
    function_set_free(restored);
}

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
    flags &= (1u << SCRIPT_FLAG_COUNT) - 1; /* those that have names */
    reply_set(reply, (size_t)__builtin_popcount(flags));
    for (int i = 0; i < SCRIPT_FLAG_COUNT; i++)
        if (flags >> i & 1) reply_status(reply, slice_of_cstr(script_flag_names[i]));
}

static void reply_function(struct reply *reply, const struct function *function) {
    reply_map(reply, 3);
    reply_named_text(reply, "name", sds_slice(function->name));
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
    reply_named_text(reply, "library_name", sds_slice(library->name));
    reply_named_text(reply, "engine", slice_of_cstr(library->language->name));
    reply_bulk_cstr(reply, "functions");
    reply_array(reply, library->function_count);
    for (size_t i = 0; i < library->function_count; i++)
        reply_function(reply, library->functions[i]);
    if (!with_code) return;
    reply_named_text(reply, "library_code", sds_slice(library->code));
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
    reply_named_text(reply, "name", slice_of_cstr(run->program->name));
    reply_bulk_cstr(reply, "command");
    reply_array(reply, call->argc);
    for (size_t i = 0; i < call->argc; i++) reply_bulk(reply, call->argv[i]);
    reply_named_integer(reply, "duration_ms", script_busy_duration(run));
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
    reply_named_integer(reply, "libraries_count", (int64_t)set->library_count);
    reply_named_integer(reply, "functions_count", (int64_t)function_set_count(set));
}

/* --- FUNCTION KILL --- */

COMMAND_FORM(function_kill_command, script_busy_kill, true)

/* --- FUNCTION HELP --- */

COMMAND_FORM(function_help_command, call_help,
             "LOAD [REPLACE] <FUNCTION CODE>\n"
             "    Create a new library with the given library name and code.\n"
             "DELETE <LIBRARY NAME>\n"
             "    Delete the given library.\n"
             "LIST [LIBRARYNAME PATTERN] [WITHCODE]\n"
             "    Return general information on all the libraries:\n"
             "    * Library name\n"
             "    * The engine used to run the Library\n"
             "    * Functions list\n"
             "    * Library code (if WITHCODE is given)\n"
             "    It also possible to get only function that matches a pattern using LIBRARYNAME "
             "argument.\n"
             "STATS\n"
             "    Return information about the current function running:\n"
             "    * Function name\n"
             "    * Command used to run the function\n"
             "    * Duration in MS that the function is running\n"
             "    If no function is running, return nil\n"
             "    In addition, returns a list of available engines.\n"
             "KILL\n"
             "    Kill the current running function.\n"
             "FLUSH [ASYNC|SYNC]\n"
             "    Delete all the libraries.\n"
             "    When called without the optional mode argument, the behavior is determined by "
             "the\n"
             "    lazyfree-lazy-user-flush configuration directive. Valid modes are:\n"
             "    * ASYNC: Asynchronously flush the libraries.\n"
             "    * SYNC: Synchronously flush the libraries.\n"
             "DUMP\n"
             "    Return a serialized payload representing the current libraries, can be restored "
             "using FUNCTION RESTORE command\n"
             "RESTORE <PAYLOAD> [FLUSH|APPEND|REPLACE]\n"
             "    Restore the libraries represented by the given payload, it is possible to give "
             "a restore policy to\n"
             "    control how to handle existing libraries (default APPEND):\n"
             "    * FLUSH: delete all existing libraries.\n"
             "    * APPEND: appends the restored libraries to the existing libraries. On "
             "collision, abort.\n"
             "    * REPLACE: appends the restored libraries to the existing libraries, On "
             "collision, replace the old\n"
             "      libraries with the new libraries (notice that even on this option there is a "
             "chance of failure\n"
             "      in case of functions name collision with another library).\n")
