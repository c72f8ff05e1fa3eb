/* unknown_commands: the log names commands that clients send and that do not exist here, so that an
 * operator who moves clients to this server sees what they miss. */
#ifndef PACKLIST_ENGINE_UNKNOWN_COMMANDS_H
#define PACKLIST_ENGINE_UNKNOWN_COMMANDS_H

#include "base/slice.h"
#include "session/session.h"

/* Logs the name of an unknown command, or "container subcommand" where `subcommand` is not NULL:
 * once for each name in any case, for the first 16 names since the start, cut to 64 bytes a word
 * and quoted. Logs nothing for clients that still have to authenticate, because anybody could fill
 * the log, nor with hide-user-data-from-log. O(names logged). */
void unknown_command_note(const struct session *session, struct slice name,
                          const struct slice *subcommand);

#endif
