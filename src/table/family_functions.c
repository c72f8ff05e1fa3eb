/* family_functions: FUNCTION, FCALL and FCALL_RO. */
#include "script/function_commands.h"
#include "table/command_row.h"

/* clang-format off */

#define FCALL_FLAGS (NOSCRIPT | STALE | SKIP_MONITOR | NO_MANDATORY_KEYS | MOVABLE_KEYS)
#define FCALL_SYNTAX "function numkeys:integer [key ...] [arg ...]"

static const struct command rows[] = {

{.name = "fcall", .run = fcall_command, .arity = -3, .group = "scripting", .since = "7.0.0",
 .flags = FCALL_FLAGS | MAY_REPLICATE, .categories = CATEGORY_SCRIPTING,
 .keys = NOTED_COUNTED_KEYS(2, EXCHANGE, "We cannot tell how the keys will be used so we assume "
                                         "the worst, RW and UPDATE"),
 .complexity = "Depends on the function",
 .summary = "Calls a function of a library.",
 .syntax = FCALL_SYNTAX},
{.name = "fcall_ro", .run = fcall_ro_command, .arity = -3, .group = "scripting", .since = "7.0.0",
 .flags = FCALL_FLAGS | READONLY, .categories = CATEGORY_SCRIPTING,
 .keys = NOTED_COUNTED_KEYS(2, READ, "We cannot tell how the keys will be used so we assume the "
                                     "worst, RO and ACCESS"),
 .complexity = "Depends on the function",
 .summary = "Calls a function that does not write.",
 .syntax = FCALL_SYNTAX},
{.name = "function", .arity = -2, .group = "scripting", .since = "7.0.0",
 .flags = CONTAINER,
 .complexity = "Depends on the subcommand",
 .summary = "Looks at libraries of functions and changes them."},
{.name = "function|delete", .run = function_delete_command, .arity = 3,
 .group = "scripting", .since = "7.0.0",
 .flags = SUBCOMMAND | WRITE | NOSCRIPT, .categories = CATEGORY_SCRIPTING,
 .tips = TIP_ALL_SHARDS | TIP_ALL_SUCCEEDED,
 .complexity = "O(N), N being the libraries",
 .summary = "Deletes a library with its functions.",
 .syntax = "library-name"},
{.name = "function|dump", .run = function_dump_command, .arity = 2,
 .group = "scripting", .since = "7.0.0",
 .flags = SUBCOMMAND | NOSCRIPT, .categories = CATEGORY_SCRIPTING,
 .complexity = "O(N), N being the bytes of their code",
 .summary = "Returns all libraries as a payload for FUNCTION RESTORE."},
{.name = "function|flush", .run = function_flush_command, .arity = -2,
 .group = "scripting", .since = "7.0.0",
 .flags = SUBCOMMAND | WRITE | NOSCRIPT, .categories = CATEGORY_SCRIPTING,
 .tips = TIP_ALL_SHARDS | TIP_ALL_SUCCEEDED,
 .complexity = "O(N), N being the functions",
 .summary = "Deletes all libraries.",
 .syntax = "[<ASYNC | SYNC>:flush-type]"},
{.name = "function|help", .run = function_help_command, .arity = 2,
 .group = "scripting", .since = "7.0.0",
 .flags = SUBCOMMAND | LOADING | STALE, .categories = CATEGORY_SCRIPTING,
 .complexity = "O(1)",
 .summary = "Explains the subcommands."},
{.name = "function|kill", .run = function_kill_command, .arity = 2,
 .group = "scripting", .since = "7.0.0",
 .flags = SUBCOMMAND | NOSCRIPT | ALLOW_BUSY, .categories = CATEGORY_SCRIPTING,
 .tips = TIP_ALL_SHARDS | TIP_ONE_SUCCEEDED,
 .complexity = "O(1)",
 .summary = "Ends the function that is running, unless it has written."},
{.name = "function|list", .run = function_list_command, .arity = -2,
 .group = "scripting", .since = "7.0.0",
 .flags = SUBCOMMAND | NOSCRIPT, .categories = CATEGORY_SCRIPTING,
 .tips = TIP_NONDETERMINISTIC_ORDER,
 .complexity = "O(N), N being the functions",
 .summary = "Describes the libraries and their functions.",
 .syntax = "[LIBRARYNAME library-name-pattern] [WITHCODE]"},
{.name = "function|load", .run = function_load_command, .arity = -3,
 .group = "scripting", .since = "7.0.0",
 .flags = SUBCOMMAND | WRITE | DENYOOM | NOSCRIPT, .categories = CATEGORY_SCRIPTING,
 .tips = TIP_ALL_SHARDS | TIP_ALL_SUCCEEDED,
 .complexity = "Depends on the code, which is run once",
 .summary = "Loads a library.",
 .syntax = "[REPLACE] function-code"},
{.name = "function|restore", .run = function_restore_command, .arity = -3,
 .group = "scripting", .since = "7.0.0",
 .flags = SUBCOMMAND | WRITE | DENYOOM | NOSCRIPT, .categories = CATEGORY_SCRIPTING,
 .tips = TIP_ALL_SHARDS | TIP_ALL_SUCCEEDED,
 .complexity = "Depends on the code of the libraries, which is run once",
 .summary = "Loads the libraries of a payload.",
 .syntax = "serialized-value [<FLUSH | APPEND | REPLACE>:policy]"},
{.name = "function|stats", .run = function_stats_command, .arity = 2,
 .group = "scripting", .since = "7.0.0",
 .flags = SUBCOMMAND | NOSCRIPT | ALLOW_BUSY, .categories = CATEGORY_SCRIPTING,
 .tips = TIP_NONDETERMINISTIC | TIP_ALL_SHARDS | TIP_SPECIAL_RESPONSE,
 .complexity = "O(1)",
 .summary = "Describes the function that is running, and counts libraries and functions."},
};

/* clang-format on */

const struct command_family command_family_functions = FAMILY_OF(rows);
