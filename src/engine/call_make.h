/* call_make: the one place where a struct call is made. */
#ifndef PACKLIST_ENGINE_CALL_MAKE_H
#define PACKLIST_ENGINE_CALL_MAKE_H

#include "engine/call_struct.h"
#include "engine/engine.h"

/* A command with its arguments. */
struct command_line {
    const struct command *command;
    const struct slice *argv;
    size_t argc;
};

/* Returns the call of a command for a requester (NULL: the server itself) in a database, with
 * replies to `reply`. Inlined because every command makes one. */
static inline __attribute__((always_inline)) struct call
call_make(struct engine *engine, enum call_origin origin, struct requester *requester, int database,
          struct reply *reply, struct command_line line) {
    OWNER_ASSERT(engine->owner);
    return (struct call){
        .engine = engine,
        .argv = line.argv,
        .argc = line.argc,
        .reply = reply,
        .keyspace = engine->keyspaces[database],
        .database = database,
        .command = line.command,
        .limits = engine->value_limits,
        .now_ms = engine->now_ms,
        .requester = requester,
        .origin = (uint8_t)origin,
        .propagates = engine->command_log.is_on,
    };
}

#endif
