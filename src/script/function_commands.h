/* function_commands: commands on libraries of functions, and those that call functions. */
#ifndef PACKLIST_SCRIPT_FUNCTION_COMMANDS_H
#define PACKLIST_SCRIPT_FUNCTION_COMMANDS_H

struct call;

void fcall_command(struct call *call);
void fcall_ro_command(struct call *call);
void function_delete_command(struct call *call);
void function_dump_command(struct call *call);
void function_flush_command(struct call *call);
void function_help_command(struct call *call);
void function_kill_command(struct call *call);
void function_list_command(struct call *call);
void function_load_command(struct call *call);
void function_restore_command(struct call *call);
void function_stats_command(struct call *call);

#endif
