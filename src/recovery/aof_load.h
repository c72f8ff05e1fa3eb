/* aof_load: reads the append-only file and runs its commands. */
#ifndef PACKLIST_RECOVERY_AOF_LOAD_H
#define PACKLIST_RECOVERY_AOF_LOAD_H

#include "snapshot/load.h"

struct engine;

/* Loads the files of the manifest in force, oldest first. The last one may end inside a command if
 * aof-load-truncated allows it: that is cut off the file. */
enum load_status aof_load(struct engine *engine, unsigned flags);

#endif
