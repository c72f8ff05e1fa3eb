/* function_commands: commands on libraries of functions, and those that call functions. */
#ifndef PACKLIST_SCRIPT_FUNCTION_COMMANDS_H
#define PACKLIST_SCRIPT_FUNCTION_COMMANDS_H

#include "table/command_body.h"

/* clang-format off */

#define FUNCTION_COMMANDS(BODY)                        \
    BODY("fcall", fcall_command)                       \
    BODY("fcall_ro", fcall_ro_command)                 \
    BODY("function|delete", function_delete_command)   \
    BODY("function|dump", function_dump_command)       \
    BODY("function|flush", function_flush_command)     \
    BODY("function|help", function_help_command)       \
    BODY("function|kill", function_kill_command)       \
    BODY("function|list", function_list_command)       \
    BODY("function|load", function_load_command)       \
    BODY("function|restore", function_restore_command) \
    BODY("function|stats", function_stats_command)

/* clang-format on */

FUNCTION_COMMANDS(COMMAND_BODY_DECLARED)

#endif
