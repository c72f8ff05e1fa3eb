/* family_scripts: EVAL and related commands, and SCRIPT. */
#include "script/script_commands.h"
#include "table/command_row.h"

/* clang-format off */

#define EVAL_FLAGS (NOSCRIPT | STALE | SKIP_MONITOR | NO_MANDATORY_KEYS | MOVABLE_KEYS)
#define EVAL_SYNTAX(script) script " numkeys:integer [key ...] [arg ...]"

static const struct command rows[] = {

{.name = "eval", .run = eval_command, .arity = -3, .group = "scripting", .since = "2.6.0",
 .flags = EVAL_FLAGS | MAY_REPLICATE, .categories = CATEGORY_SCRIPTING,
 .keys = NOTED_COUNTED_KEYS(2, EXCHANGE, "We cannot tell how the keys will be used so we assume "
                                         "the worst, RW and UPDATE"),
 .complexity = "Depends on the script",
 .summary = "Runs a Lua script.",
 .syntax = EVAL_SYNTAX("script")},
{.name = "eval_ro", .run = eval_ro_command, .arity = -3, .group = "scripting", .since = "7.0.0",
 .flags = EVAL_FLAGS | READONLY, .categories = CATEGORY_SCRIPTING,
 .keys = NOTED_COUNTED_KEYS(2, READ, "We cannot tell how the keys will be used so we assume the "
                                     "worst, RO and ACCESS"),
 .complexity = "Depends on the script",
 .summary = "Runs a Lua script that must not write.",
 .syntax = EVAL_SYNTAX("script")},
{.name = "evalsha", .run = evalsha_command, .arity = -3, .group = "scripting", .since = "2.6.0",
 .flags = EVAL_FLAGS | MAY_REPLICATE, .categories = CATEGORY_SCRIPTING,
 .keys = COUNTED_KEYS(2, EXCHANGE),
 .complexity = "Depends on the script",
 .summary = "Runs a Lua script of the cache.",
 .syntax = EVAL_SYNTAX("sha1")},
{.name = "evalsha_ro", .run = evalsha_ro_command, .arity = -3, .group = "scripting",
 .since = "7.0.0",
 .flags = EVAL_FLAGS | READONLY, .categories = CATEGORY_SCRIPTING,
 .keys = COUNTED_KEYS(2, READ),
 .complexity = "Depends on the script",
 .summary = "Runs a Lua script of the cache that must not write.",
 .syntax = EVAL_SYNTAX("sha1")},
{.name = "script", .arity = -2, .group = "scripting", .since = "2.6.0",
 .flags = CONTAINER,
 .complexity = "Depends on the subcommand",
 .summary = "Looks at the cache of Lua scripts and changes it."},
{.name = "script|debug", .run = script_debug_command, .arity = 3, .group = "scripting",
 .since = "3.2.0",
 .flags = SUBCOMMAND | NOSCRIPT, .categories = CATEGORY_SCRIPTING,
 .complexity = "O(1)",
 .summary = "Accepts only NO, because there is no debugger.",
 .syntax = "<YES | SYNC | NO>:mode"},
{.name = "script|exists", .run = script_exists_command, .arity = -3, .group = "scripting",
 .since = "2.6.0",
 .flags = SUBCOMMAND | NOSCRIPT, .categories = CATEGORY_SCRIPTING,
 .tips = TIP_ALL_SHARDS | TIP_LOGICAL_AND,
 .complexity = "O(N), N being the scripts asked for",
 .summary = "Tells which scripts are in the cache.",
 .syntax = "sha1 [sha1 ...]"},
{.name = "script|flush", .run = script_flush_command, .arity = -2, .group = "scripting",
 .since = "2.6.0",
 .flags = SUBCOMMAND | NOSCRIPT, .categories = CATEGORY_SCRIPTING,
 .tips = TIP_ALL_NODES | TIP_ALL_SUCCEEDED,
 .complexity = "O(N), N being the scripts in the cache",
 .summary = "Empties the cache.",
 .syntax = "[<ASYNC | SYNC>:flush-type@6.2.0]"
           "\n@6.2.0 Takes ASYNC and SYNC."},
{.name = "script|help", .run = script_help_command, .arity = 2, .group = "scripting",
 .since = "5.0.0",
 .flags = SUBCOMMAND | LOADING | STALE, .categories = CATEGORY_SCRIPTING,
 .complexity = "O(1)",
 .summary = "Explains the subcommands."},
{.name = "script|kill", .run = script_kill_command, .arity = 2, .group = "scripting",
 .since = "2.6.0",
 .flags = SUBCOMMAND | NOSCRIPT | ALLOW_BUSY, .categories = CATEGORY_SCRIPTING,
 .tips = TIP_ALL_SHARDS | TIP_ONE_SUCCEEDED,
 .complexity = "O(1)",
 .summary = "Ends the script that is running, unless it has written."},
{.name = "script|load", .run = script_load_command, .arity = 3, .group = "scripting",
 .since = "2.6.0",
 .flags = SUBCOMMAND | NOSCRIPT | STALE, .categories = CATEGORY_SCRIPTING,
 .tips = TIP_ALL_NODES | TIP_ALL_SUCCEEDED,
 .complexity = "O(N), N being the length of the script",
 .summary = "Compiles a script and puts it into the cache.",
 .syntax = "script"},
{.name = "script|show", .run = script_show_command, .arity = 3, .group = "scripting",
 .since = "8.0.0",
 .flags = SUBCOMMAND | NOSCRIPT | STALE, .categories = CATEGORY_SCRIPTING,
 .complexity = "O(1)",
 .summary = "Reads the text of a script of the cache.",
 .syntax = "sha1"},
};

/* clang-format on */

const struct command_family command_family_scripts = FAMILY_OF(rows);
