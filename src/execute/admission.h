/* admission: what is asked before a command runs, whatever its origin. admit() walks a list of
 * gates, each a function with one reason to refuse; the table in admission.c shows which gates each
 * origin passes.
 *
 * A command that is refused has run nothing; its error is written where the origin reads it: a
 * client's reply, a script's, or requester->error for files and the primary. */
#ifndef PACKLIST_EXECUTE_ADMISSION_H
#define PACKLIST_EXECUTE_ADMISSION_H

#include "base/slice.h"
#include "engine/call.h"
#include "engine/engine.h"
#include "engine/transaction.h"
#include "journal/command_log.h"
#include "resp/reply.h"
#include "session/session.h"
#include "table/command.h"
#include "users/access.h"

/* What the commands of one run of a script have in common. */
struct script_scope {
    struct requester requester; /* the client that runs the script, with a database of its own */
    uint64_t ticks;             /* clock_ticks at the end of its last command */
    bool is_readonly;           /* commands that write or propagate are refused */
    bool lacks_memory; /* so are commands that need memory, until the first one that writes */
    bool has_written;  /* a command that writes was admitted */
    enum command_log_audience audience; /* who gets its changes (redis.set_repl) */
};

enum admission {
    ADMISSION_GRANTED,
    ADMISSION_REFUSED,  /* the error has been written */
    ADMISSION_POSTPONED /* CLIENT PAUSE holds a client's command back */
};

/* A command that asks to be run. */
struct applicant {
    enum call_origin origin;
    struct requester *requester;
    struct script_scope *scope; /* of ORIGIN_SCRIPT; else NULL */
    const struct command *command;
    const struct slice *argv;
    size_t argc;
};

/* The slow path of admission_find, for COMMAND_FOUND_SLOWLY and for errors. `command`: the one that
 * the first word names, or NULL. */
const struct command *admission_find_other(enum call_origin origin, struct requester *requester,
                                           struct reply *reply, const struct command *command,
                                           const struct slice *argv, size_t argc);

/* Returns the command that the arguments name, and notes it in requester->last_command. Returns
 * NULL when the command does not exist or its arity is wrong: requester->error says which. The
 * error is replied to clients and scripts; a client that must authenticate first gets NOAUTH in
 * either case. Files and the primary know commands by their own names. O(1). */
static inline const struct command *admission_find(enum call_origin origin,
                                                   struct requester *requester, struct reply *reply,
                                                   const struct slice *argv, size_t argc) {
    const struct command *last = requester->last_command;
    const struct command *command = origin_is_repeated(origin) ? command_find_written(last, argv[0])
                                                               : command_find_cached(last, argv[0]);
    if (command && !(command->flags & COMMAND_FOUND_SLOWLY) && command_accepts(command, argc))
        return requester->last_command = command;
    return admission_find_other(origin, requester, reply, command, argv, argc);
}

/* Returns whether the command may run now. Where it may not, writes the error to `reply`, or to
 * requester->error. Keys may be evicted to make room for a command that needs memory. O(gates). */
enum admission admit(const struct applicant *applicant, struct reply *reply);

/* Returns whether the requester's user has the rights to the command; otherwise *denial says which
 * one it lacks. */
bool admission_has_rights(const struct applicant *applicant, struct denial *denial);

/* Returns whether no gate of the origin but that of the user's rights is closed to anyone, as
 * nearly always. No gate is closed to a client because it tracks keys. Inlined where the origin is
 * known. */
static inline __attribute__((always_inline)) bool
admission_asks_rights_only(enum call_origin origin, const struct requester *requester,
                           const struct script_scope *scope, const struct command *command) {
    const struct engine *engine = requester->engine;
    switch (origin) {
    case ORIGIN_CLIENT:
        return !((requester->session->flags & ~(uint32_t)SESSION_TRACKING) |
                 engine->restrictions) &&
               !engine->config.maxmemory;
    case ORIGIN_SCRIPT:
        return !engine->restrictions && !scope->is_readonly && !scope->lacks_memory &&
               !(command->flags & COMMAND_NOSCRIPT);
    case ORIGIN_FILE:
    case ORIGIN_PRIMARY: return command_may_be_in_file(command);
    default: return true;
    }
}

/* Returns whether no gate of the origin is closed to anyone; admit would grant the command then. As
 * admission_asks_rights_only, but with the user's rights; for a client they are one more bit of one
 * test, which a client that tracks keys fails. */
static inline __attribute__((always_inline)) bool
admission_is_open(enum call_origin origin, const struct requester *requester,
                  const struct script_scope *scope, const struct command *command) {
    const struct engine *engine = requester->engine;
    if (origin == ORIGIN_CLIENT)
        return !(requester->session->flags | engine->restrictions | requester->user->restricted) &&
               !engine->config.maxmemory;
    if (!admission_asks_rights_only(origin, requester, scope, command)) return false;
    return origin == ORIGIN_FILE || origin == ORIGIN_PRIMARY ||
           user_is_unrestricted(requester->user) ||
           (origin == ORIGIN_TRANSACTION && transaction_keeps_rights(requester->session));
}

/* Returns the flags with which a client's command is admitted: its own; for EXEC those of the
 * commands that it will run; for EVAL, FCALL and the like what the script or function declares. */
uint32_t admission_flags(const struct session *session, const struct command *command,
                         const struct slice *argv);

/* Errors of replicas: read-only ones, and those without their primary. */
#define READONLY_REFUSAL "READONLY You can't write against a read only replica."
#define MASTERDOWN_REFUSAL                                                                         \
    "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'."

#endif
