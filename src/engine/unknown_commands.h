/* unknown_commands: logs commands that clients send and that this server does not have, so that an
 * operator who moves clients here sees what they miss. */
#ifndef PACKLIST_ENGINE_UNKNOWN_COMMANDS_H
#define PACKLIST_ENGINE_UNKNOWN_COMMANDS_H

#include "base/slice.h"

#include <stddef.h>

struct session;

enum { UNKNOWN_NAMES_MAX = 16, UNKNOWN_WORD_MAX = 64 };

/* The names that were logged. All zero at first. */
struct unknown_commands {
    struct unknown_name {
        char text[UNKNOWN_WORD_MAX + 1 + UNKNOWN_WORD_MAX];
        size_t len;
    } names[UNKNOWN_NAMES_MAX];
    unsigned count;
};

/* Logs the name of an unknown command, or "container subcommand" where `subcommand` is not NULL.
 * Each name is logged once, in whatever case, and only the first 16 names since the start; each
 * word is cut to 64 bytes and quoted. Logs nothing for clients that have not authenticated, which
 * could fill the log, nor with hide-user-data-from-log, nor for what clients send only to find out
 * what a server can do (CLIENT MAINT_NOTIFICATIONS). O(names logged). */
void unknown_command_note(const struct session *session, struct slice name,
                          const struct slice *subcommand);

#endif
