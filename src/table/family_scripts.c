/* family_scripts: EVAL and related commands, and SCRIPT. */
#include "table/command_row.h"

/* clang-format off */

#define EVAL_SYNTAX(script) script " numkeys:integer [key ...] [arg ...]"

static const struct command rows[] = {

{ROW("eval", -3, "scripting", "2.6.0", SCRIPT_FLAGS | MAY_REPLICATE,
     "Depends on the script", "Runs a Lua script."),
 .keys = SCRIPT_KEYS, .syntax = EVAL_SYNTAX("script")},
{ROW("eval_ro", -3, "scripting", "7.0.0", SCRIPT_FLAGS | READONLY,
     "Depends on the script", "Runs a Lua script that must not write."),
 .keys = SCRIPT_KEYS_READ, .syntax = EVAL_SYNTAX("script")},
{ROW("evalsha", -3, "scripting", "2.6.0", SCRIPT_FLAGS | COMMAND_BY_SHA | MAY_REPLICATE,
     "Depends on the script", "Runs a Lua script of the cache."),
 .keys = COUNTED_KEYS(2, EXCHANGE), .syntax = EVAL_SYNTAX("sha1")},
{ROW("evalsha_ro", -3, "scripting", "7.0.0", SCRIPT_FLAGS | COMMAND_BY_SHA | READONLY,
     "Depends on the script", "Runs a Lua script of the cache that must not write."),
 .keys = COUNTED_KEYS(2, READ), .syntax = EVAL_SYNTAX("sha1")},
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
};

/* clang-format on */

const struct command_family command_family_scripts = FAMILY_OF(rows);
