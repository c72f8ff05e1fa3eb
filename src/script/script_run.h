/* script_run: runs one compiled function for a client. */
#ifndef PACKLIST_SCRIPT_SCRIPT_RUN_H
#define PACKLIST_SCRIPT_SCRIPT_RUN_H

#include "script/script.h"

/* Returns the flags of a command that runs a script: its own, or what the script or the function
 * declares to do, as engine/upward.h asks. O(the script's first line). */
uint32_t script_command_flags(const struct engine *engine, const struct command *command,
                              const struct slice *argv);

/* Runs the program for a command whose argv[3 …] are `key_count` keys and other arguments, and
 * replies its result or its error. Replies an error and runs nothing where
 * its flags do not allow it. No script may run. */
void script_run_program(struct call *call, const struct script_program *program, size_t key_count);

#endif
