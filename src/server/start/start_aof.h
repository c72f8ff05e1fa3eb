/* start_aof: reads the append-only file and runs its commands. */
#ifndef PACKLIST_SERVER_START_START_AOF_H
#define PACKLIST_SERVER_START_START_AOF_H

#include "snapshot/load.h"

struct engine;

/* Loads the files of the manifest, oldest first. If the last one ends inside a command and
 * aof-load-truncated allows it, truncates the file there. `flags`: enum load_flag. O(files). */
enum load_status start_aof_load(struct engine *engine, unsigned flags);

#endif
