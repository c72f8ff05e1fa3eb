/* execute_commands: the commands of transactions. Each is called as engine/call.h says. */
#ifndef PACKLIST_EXECUTE_EXECUTE_COMMANDS_H
#define PACKLIST_EXECUTE_EXECUTE_COMMANDS_H

#include "engine/call.h"

void discard_command(struct call *call);
void exec_command(struct call *call);
void multi_command(struct call *call);
void unwatch_command(struct call *call);
void watch_command(struct call *call);

#endif
