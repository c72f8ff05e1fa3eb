/* script_commands: EVAL, FCALL and their variants, SCRIPT, FUNCTION. Each is called as
 * engine/call.h says. */
#ifndef PACKLIST_SCRIPT_SCRIPT_COMMANDS_H
#define PACKLIST_SCRIPT_SCRIPT_COMMANDS_H

#include "engine/call.h"
#include "table/command_body.h"

/* clang-format off */

#define SCRIPT_COMMANDS(BODY)                          \
    BODY("eval", eval_command)                         \
    BODY("eval_ro", eval_command)                      \
    BODY("evalsha", evalsha_command)                   \
    BODY("evalsha_ro", evalsha_command)                \
    BODY("fcall", fcall_command)                       \
    BODY("fcall_ro", fcall_command)                    \
    BODY("function|delete", function_delete_command)   \
    BODY("function|dump", function_dump_command)       \
    BODY("function|flush", function_flush_command)     \
    BODY("function|help", function_help_command)       \
    BODY("function|kill", function_kill_command)       \
    BODY("function|list", function_list_command)       \
    BODY("function|load", function_load_command)       \
    BODY("function|restore", function_restore_command) \
    BODY("function|stats", function_stats_command)     \
    BODY("script|debug", script_debug_command)         \
    BODY("script|exists", script_exists_command)       \
    BODY("script|flush", script_flush_command)         \
    BODY("script|help", script_help_command)           \
    BODY("script|kill", script_kill_command)           \
    BODY("script|load", script_load_command)           \
    BODY("script|show", script_show_command)

/* clang-format on */

SCRIPT_COMMANDS(COMMAND_BODY_DECLARED)

/* Parses what follows SCRIPT FLUSH and FUNCTION FLUSH: [ASYNC | SYNC]. Replies the error to
 * anything else, and returns false. */
bool script_parse_flush(struct call *call, const char *error, bool *async);

#endif
