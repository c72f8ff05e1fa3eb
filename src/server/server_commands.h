/* server_commands: the commands that need what only the whole server has. Each is run as
 * engine/call.h says. */
#ifndef PACKLIST_SERVER_SERVER_COMMANDS_H
#define PACKLIST_SERVER_SERVER_COMMANDS_H

#include "engine/call.h"

void migrate_command(struct call *call);

#endif
