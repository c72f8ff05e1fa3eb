/* migrate: connections to other servers, which MIGRATE keeps for some time after use, because
 * clients often move keys one by one. */
#ifndef PACKLIST_SERVER_MIGRATE_H
#define PACKLIST_SERVER_MIGRATE_H

#include <stddef.h>

struct engine;

/* Closes those that were not used for ten seconds; called by cron. */
void migrate_tick(struct engine *engine);

/* Returns their number. */
size_t migrate_kept_count(void);

/* Closes all of them. No client may wait any more. */
void migrate_stop(void);

#endif
