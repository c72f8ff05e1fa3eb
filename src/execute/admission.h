/* admission: all that is asked before a command runs. What a client may not run is answered with an
 * error; a rule that concerns all commands (an access-control list) belongs here. */
#ifndef PACKLIST_EXECUTE_ADMISSION_H
#define PACKLIST_EXECUTE_ADMISSION_H

#include "base/slice.h"
#include "resp/reply.h"
#include "session/session.h"
#include "table/command.h"

enum admission {
    ADMISSION_GRANTED,
    ADMISSION_REFUSED,  /* the error is answered */
    ADMISSION_POSTPONED /* CLIENT PAUSE holds such commands back */
};

/* The rare half of admission_find: for a container, or where an error is to be answered. `command`:
 * what the first word names, or NULL. */
const struct command *admission_find_other(struct requester *who, struct reply *reply,
                                           const struct command *command, const struct slice *argv,
                                           size_t argc);

/* The command that the arguments name, which becomes who->last_command. NULL when there is none, or
 * when it does not take so many arguments: who->error says which. The error is answered, but not to
 * a file, which nobody reads the reply of. */
static inline const struct command *admission_find(struct requester *who, struct reply *reply,
                                                   const struct slice *argv, size_t argc) {
    const struct command *command = command_find_cached(who->last_command, argv[0]);
    if (command && !(command->flags & COMMAND_CONTAINER) && command_accepts(command, argc))
        return who->last_command = command;
    return admission_find_other(who, reply, command, argv, argc);
}

/* May the session run the command now? Asked in this order: authentication and other states of the
 * session; loading, and errors of the disk; CLIENT PAUSE; memory, for which keys may be evicted. */
enum admission admission_check(struct session *session, struct reply *reply,
                               const struct command *command);

/* May the command stand in an append-only file? Only what changes data may, and SELECT; else
 * who->error is CALL_ERROR_NOT_FOR_FILE. */
enum admission admission_check_file(struct requester *who, const struct command *command);

#endif
