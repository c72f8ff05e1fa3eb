/* migrate: connections to other servers, which MIGRATE keeps for some time after use, because
 * clients often move keys one by one.
 *
 * A connection that none uses is kept here until nobody has used it for ten seconds, or the other
 * server closes it. */
#ifndef PACKLIST_SERVER_MIGRATE_MIGRATE_H
#define PACKLIST_SERVER_MIGRATE_MIGRATE_H

#include "engine/call.h"
#include "table/command_body.h"

#include <stddef.h>
#include <stdint.h>

#define SERVER_COMMANDS(BODY) BODY("migrate", migrate_command)
SERVER_COMMANDS(COMMAND_BODY_DECLARED)

struct engine;
struct target;

enum { MIGRATE_KEPT_MAX = 16 };

/* The kept connections, the oldest first. */
struct migrate_kept {
    struct target *targets[MIGRATE_KEPT_MAX];
    size_t count;
    uint64_t generation; /* of what is configured: a connection of an older one is not kept */
};

/* Closes those that were not used for ten seconds; called by cron. */
void migrate_tick(struct engine *engine);

/* Closes all of them, and has those in use closed afterwards: the configuration has changed. */
void migrate_close_kept(struct engine *engine);

#endif
