/* admission: what is asked before a command runs, whatever its origin.
 *
 *      call ── admission_closed: what is closed to all ───────┬─ both 0: the command runs
 *              admission_is_restricted: and to this user ─────┴─ else: admit
 *
 * Both are one word, the sum of the words that close anything to the caller:
 *
 *      session->flags        what the client does, or must do first (engine/client.h)
 *      engine->restrictions  what the server cannot do now (engine/engine.h)
 *      config.maxmemory      the limit, for commands that need memory
 *      user->restricted      0: it may do everything (only set_rights of users/users.c sets it)
 *      script_scope          what script_run has found when the script began
 *
 * They are added up before each command: a load each, and one test. A sum that is kept would have
 * to be made anew when one of them changes, for all clients; where that was forgotten, it would let
 * through what must be refused. CHECKED builds ask the gates also where the word is 0.
 *
 * admit() asks for the user's rights (users/access.h) and walks a list of gates, each a function
 * with one reason to refuse; the table in admission.c shows which gates each origin passes. A
 * command that is refused has run nothing; its error is written where the origin reads it: a
 * client's reply, a script's, or requester->error for files and the primary. */
#ifndef PACKLIST_EXECUTE_ADMISSION_H
#define PACKLIST_EXECUTE_ADMISSION_H

#include "base/checked.h"
#include "base/slice.h"
#include "engine/call.h"
#include "engine/client.h"
#include "engine/engine.h"
#include "journal/command_log.h"
#include "resp/reply.h"
#include "table/command.h"
#include "users/users.h"

#include <assert.h>
#include <stddef.h>

/* What the commands of one run of a script have in common. */
struct script_scope {
    struct requester requester; /* the client that runs the script, with a database of its own */
    uint64_t ticks;             /* clock_ticks at the end of its last command */
    bool is_readonly;           /* commands that write or propagate are refused */
    bool lacks_memory; /* so are commands that need memory, until the first one that writes */
    bool has_written;  /* a command that writes was admitted */
    int slot; /* in a cluster, of all its keys; -1: not known yet, or they may be in several */
    bool may_cross_slots;
    enum command_log_audience audience; /* who gets its changes (redis.set_repl) */
};

/* Returns the scope to which a script's call belongs. */
static inline const struct script_scope *script_scope_of(const struct call *call) {
    static_assert(offsetof(struct script_scope, requester) == 0, "the scope is its requester");
    return (const struct script_scope *)call->requester;
}

enum admission {
    ADMISSION_GRANTED,
    ADMISSION_REFUSED,  /* the error has been written */
    ADMISSION_POSTPONED /* CLIENT PAUSE holds a client's command back */
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

/* Returns 0 if nothing but the rights of its user stands in the way of the call. That a client
 * tracks keys closes nothing. Inlined where the origin is known. */
static inline __attribute__((always_inline)) uint64_t admission_closed(const struct call *call) {
    const struct engine *engine = call->engine;
    const struct script_scope *scope;
    switch ((enum call_origin)call->origin) {
    case ORIGIN_CLIENT:
        return (call->requester->session->flags & ~(uint32_t)SESSION_TRACKING) |
               engine->restrictions | engine->config.maxmemory;
    case ORIGIN_SCRIPT:
        scope = script_scope_of(call);
        return engine->restrictions | scope->is_readonly | scope->lacks_memory |
               (call->command->flags & COMMAND_NOSCRIPT);
    case ORIGIN_FILE:
    case ORIGIN_PRIMARY: return !command_may_be_in_file(call->command);
    default: return 0;
    }
}

/* Returns 0 if the call's user may do everything. A client has a user. */
static inline __attribute__((always_inline)) uint64_t
admission_is_restricted(const struct call *call) {
    const struct user *user = call->requester->user;
    CHECKED_ASSERT(user || call->origin != ORIGIN_CLIENT);
    return call->origin == ORIGIN_CLIENT ? user->restricted : !user_is_unrestricted(user);
}

/* Returns whether the command may run now; `closed` is what admission_closed returned. Where it may
 * not, writes the error to call->reply, or to requester->error. Keys may be evicted to make room
 * for a command that needs memory. O(gates). */
enum admission admit(const struct call *call, uint64_t closed);

/* Returns whether no gate refuses the call: what both words say with 0. Only CHECKED builds ask. */
bool admission_gates_are_open(const struct call *call);

/* Returns the flags with which a client's command is admitted: its own; for EXEC those of the
 * commands that it will run; for EVAL, FCALL and the like what the script or function declares. */
uint32_t admission_flags(const struct session *session, const struct command *command,
                         const struct slice *argv);

/* Errors of replicas: read-only ones, and those without their primary. */
#define READONLY_REFUSAL "READONLY You can't write against a read only replica."
#define MASTERDOWN_REFUSAL                                                                         \
    "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'."

#endif
