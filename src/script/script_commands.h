/* script_commands: EVAL, EVALSHA, EVAL_RO, EVALSHA_RO, SCRIPT. Each is called as engine/call.h
 * says. */
#ifndef PACKLIST_SCRIPT_SCRIPT_COMMANDS_H
#define PACKLIST_SCRIPT_SCRIPT_COMMANDS_H

#include "engine/call.h"

void eval_command(struct call *call);
void eval_ro_command(struct call *call);
void evalsha_command(struct call *call);
void evalsha_ro_command(struct call *call);
void script_debug_command(struct call *call);
void script_exists_command(struct call *call);
void script_flush_command(struct call *call);
void script_help_command(struct call *call);
void script_kill_command(struct call *call);
void script_load_command(struct call *call);
void script_show_command(struct call *call);

#endif
