/* server_commands: the commands that need modules which only server/ may use. Each is called as
 * engine/call.h says. */
#ifndef PACKLIST_SERVER_SERVER_COMMANDS_H
#define PACKLIST_SERVER_SERVER_COMMANDS_H

#include "engine/call.h"

void migrate_command(struct call *call);

#endif
