/* family_scripts: EVAL and related commands, SCRIPT, FCALL and FUNCTION. */
#include "table/command_row.h"

/* clang-format off */

#define RUN_SYNTAX(what) what " numkeys:integer [key ...] [arg ...]"

static const struct command rows[] = {

/* --- Scripts --- */
{ROW("eval", -3, "scripting", "2.6.0", SCRIPT_FLAGS | MAY_REPLICATE,
     "Depends on the script", "Runs a Lua script."),
 .keys = SCRIPT_KEYS, .syntax = RUN_SYNTAX("script")},
{ROW("eval_ro", -3, "scripting", "7.0.0", SCRIPT_FLAGS | READONLY,
     "Depends on the script", "Runs a Lua script that must not write."),
 .keys = SCRIPT_KEYS_READ, .syntax = RUN_SYNTAX("script")},
{ROW("evalsha", -3, "scripting", "2.6.0", SCRIPT_FLAGS | COMMAND_BY_SHA | MAY_REPLICATE,
     "Depends on the script", "Runs a Lua script of the cache."),
 .keys = COUNTED_KEYS(2, EXCHANGE), .syntax = RUN_SYNTAX("sha1")},
{ROW("evalsha_ro", -3, "scripting", "7.0.0", SCRIPT_FLAGS | COMMAND_BY_SHA | READONLY,
     "Depends on the script", "Runs a Lua script of the cache that must not write."),
 .keys = COUNTED_KEYS(2, READ), .syntax = RUN_SYNTAX("sha1")},
{CONTAINER_ROW("script", "scripting", "2.6.0",
               "Looks at the cache of Lua scripts and changes it.")},
{ROW("script|debug", 3, "scripting", "3.2.0", SUBCOMMAND | NOSCRIPT,
     "O(1)", "Accepts only NO, because there is no debugger."),
 .syntax = "<YES | SYNC | NO>:mode"},
{ROW("script|exists", -3, "scripting", "2.6.0", SUBCOMMAND | NOSCRIPT,
     "O(N), N being the scripts asked for", "Tells which scripts are in the cache."),
 .tips = TIP_ALL_SHARDS | TIP_LOGICAL_AND, .syntax = "sha1 [sha1 ...]"},
{ROW("script|flush", -2, "scripting", "2.6.0", SUBCOMMAND | NOSCRIPT,
     "O(N), N being the scripts in the cache", "Empties the cache."),
 .tips = TIP_ALL_NODES | TIP_ALL_SUCCEEDED,
 .syntax = "[<ASYNC | SYNC>:flush-type@6.2.0]"
           "\n@6.2.0 Takes ASYNC and SYNC."},
{HELP_ROW("script", "scripting", "5.0.0")},
{ROW("script|kill", 2, "scripting", "2.6.0", SUBCOMMAND | NOSCRIPT | ALLOW_BUSY,
     "O(1)", "Ends the script that is running, unless it has written."),
 .tips = TIP_ALL_SHARDS | TIP_ONE_SUCCEEDED},
{ROW("script|load", 3, "scripting", "2.6.0", SUBCOMMAND | NOSCRIPT | STALE,
     "O(N), N being the length of the script", "Compiles a script and puts it into the cache."),
 .tips = TIP_ALL_NODES | TIP_ALL_SUCCEEDED, .syntax = "script"},
{ROW("script|show", 3, "scripting", "8.0.0", SUBCOMMAND | NOSCRIPT | STALE,
     "O(1)", "Reads the text of a script of the cache."),
 .syntax = "sha1"},

/* --- Functions --- */
{ROW("fcall", -3, "scripting", "7.0.0", SCRIPT_FLAGS | COMMAND_BY_NAME | MAY_REPLICATE,
     "Depends on the function", "Calls a function of a library."),
 .keys = SCRIPT_KEYS, .syntax = RUN_SYNTAX("function")},
{ROW("fcall_ro", -3, "scripting", "7.0.0", SCRIPT_FLAGS | COMMAND_BY_NAME | READONLY,
     "Depends on the function", "Calls a function that does not write."),
 .keys = SCRIPT_KEYS_READ, .syntax = RUN_SYNTAX("function")},
{CONTAINER_ROW("function", "scripting", "7.0.0",
               "Looks at libraries of functions and changes them.")},
{ROW("function|delete", 3, "scripting", "7.0.0", SUBCOMMAND | WRITE | NOSCRIPT,
     "O(N), N being the libraries", "Deletes a library with its functions."),
 .tips = TIP_ALL_SHARDS | TIP_ALL_SUCCEEDED, .syntax = "library-name"},
{ROW("function|dump", 2, "scripting", "7.0.0", SUBCOMMAND | NOSCRIPT,
     "O(N), N being the bytes of their code",
     "Returns all libraries as a payload for FUNCTION RESTORE.")},
{ROW("function|flush", -2, "scripting", "7.0.0", SUBCOMMAND | WRITE | NOSCRIPT,
     "O(N), N being the functions", "Deletes all libraries."),
 .tips = TIP_ALL_SHARDS | TIP_ALL_SUCCEEDED, .syntax = "[<ASYNC | SYNC>:flush-type]"},
{HELP_ROW("function", "scripting", "7.0.0")},
{ROW("function|kill", 2, "scripting", "7.0.0", SUBCOMMAND | NOSCRIPT | ALLOW_BUSY,
     "O(1)", "Ends the function that is running, unless it has written."),
 .tips = TIP_ALL_SHARDS | TIP_ONE_SUCCEEDED},
{ROW("function|list", -2, "scripting", "7.0.0", SUBCOMMAND | NOSCRIPT,
     "O(N), N being the functions", "Describes the libraries and their functions."),
 .tips = TIP_NONDETERMINISTIC_ORDER, .syntax = "[LIBRARYNAME library-name-pattern] [WITHCODE]"},
{ROW("function|load", -3, "scripting", "7.0.0", SUBCOMMAND | WRITE | DENYOOM | NOSCRIPT,
     "Depends on the code, which is run once", "Loads a library."),
 .tips = TIP_ALL_SHARDS | TIP_ALL_SUCCEEDED, .syntax = "[REPLACE] function-code"},
{ROW("function|restore", -3, "scripting", "7.0.0", SUBCOMMAND | WRITE | DENYOOM | NOSCRIPT,
     "Depends on the code of the libraries, which is run once",
     "Loads the libraries of a payload."),
 .tips = TIP_ALL_SHARDS | TIP_ALL_SUCCEEDED,
 .syntax = "serialized-value [<FLUSH | APPEND | REPLACE>:policy]"},
{ROW("function|stats", 2, "scripting", "7.0.0", SUBCOMMAND | NOSCRIPT | ALLOW_BUSY,
     "O(1)", "Describes the function that is running, and counts libraries and functions."),
 .tips = TIP_NONDETERMINISTIC | TIP_ALL_SHARDS | TIP_SPECIAL_RESPONSE},
};

/* clang-format on */

const struct command_family command_family_scripts = FAMILY_OF(rows);
