/* admission: every check that is made before a command runs. A client gets an error for a command
 * that it may not run. Rules for all commands (an access-control list) belong here. */
#ifndef PACKLIST_EXECUTE_ADMISSION_H
#define PACKLIST_EXECUTE_ADMISSION_H

#include "base/slice.h"
#include "resp/reply.h"
#include "session/session.h"
#include "table/command.h"

enum admission {
    ADMISSION_GRANTED,
    ADMISSION_REFUSED,  /* the error has been replied */
    ADMISSION_POSTPONED /* CLIENT PAUSE holds the command back */
};

/* The slow path of admission_find, for containers and for errors. `command`: the one that the first
 * word names, or NULL. */
const struct command *admission_find_other(struct requester *requester, struct reply *reply,
                                           const struct command *command, const struct slice *argv,
                                           size_t argc);

/* Returns the command that the arguments name, and notes it in requester->last_command. Returns
 * NULL when the command does not exist or its arity is wrong: requester->error says which. The
 * error is replied to a client, but not to a file; a client that must authenticate first gets
 * NOAUTH in either case. O(1). */
static inline const struct command *admission_find(struct requester *requester, struct reply *reply,
                                                   const struct slice *argv, size_t argc) {
    const struct command *command = command_find_cached(requester->last_command, argv[0]);
    if (command && !(command->flags & COMMAND_CONTAINER) && command_accepts(command, argc))
        return requester->last_command = command;
    return admission_find_other(requester, reply, command, argv, argc);
}

/* As admission_find, for a command from a file or from the primary. */
static inline const struct command *admission_find_written(struct requester *requester,
                                                           struct reply *reply,
                                                           const struct slice *argv, size_t argc) {
    const struct command *command = command_find_written(requester->last_command, argv[0]);
    return admission_find_other(requester, reply, command, argv, argc);
}

/* Returns whether the session may run the command now. The checks come in this order:
 * authentication and other states of the session; loading, errors of the disk, and a busy script;
 * CLIENT PAUSE; memory, for which keys may be evicted. */
enum admission admission_check(struct session *session, struct reply *reply,
                               const struct command *command, const struct slice *argv);

/* Returns the flags with which the command is admitted: its own; for EXEC those of the commands
 * that it will run; for EVAL, FCALL and the like what the script or function declares. */
uint32_t admission_flags(const struct session *session, const struct command *command,
                         const struct slice *argv);

/* Returns whether the command may stand in an append-only file: only SELECT and commands that write
 * may. If not, requester->error is CALL_ERROR_NOT_FOR_FILE. */
enum admission admission_check_file(struct requester *requester, const struct command *command);

/* Returns whether the server's primary may send the command: one that writes, SELECT, or a message
 * of a channel. If not, requester->error is CALL_ERROR_NOT_FOR_FILE. */
enum admission admission_check_primary(struct requester *requester, const struct command *command);

/* Errors of replicas: read-only ones, and those without their primary. */
#define READONLY_REFUSAL "READONLY You can't write against a read only replica."
#define MASTERDOWN_REFUSAL                                                                         \
    "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'."

struct script_scope;

/* As admission_find, for a script: `reply` gets the errors that scripts get. */
const struct command *admission_find_for_script(struct script_scope *scope, struct reply *reply,
                                                const struct slice *argv, size_t argc);

/* Returns whether a script may run the command now. If not, `reply` gets the error. Notes commands
 * that write in the scope. */
bool admission_check_script(struct script_scope *scope, struct reply *reply,
                            const struct command *command);

#endif
