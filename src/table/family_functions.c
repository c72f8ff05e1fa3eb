/* family_functions: FUNCTION, FCALL and FCALL_RO. */
#include "table/command_row.h"

/* clang-format off */

#define FCALL_SYNTAX "function numkeys:integer [key ...] [arg ...]"

static const struct command rows[] = {

{ROW("fcall", -3, "scripting", "7.0.0", SCRIPT_FLAGS | COMMAND_BY_NAME | MAY_REPLICATE,
     "Depends on the function", "Calls a function of a library."),
 .keys = SCRIPT_KEYS, .syntax = FCALL_SYNTAX},
{ROW("fcall_ro", -3, "scripting", "7.0.0", SCRIPT_FLAGS | COMMAND_BY_NAME | READONLY,
     "Depends on the function", "Calls a function that does not write."),
 .keys = SCRIPT_KEYS_READ, .syntax = FCALL_SYNTAX},
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

const struct command_family command_family_functions = FAMILY_OF(rows);
