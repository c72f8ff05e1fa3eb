/* start_load: loads the data of the files into the server. */
#ifndef PACKLIST_SERVER_START_START_LOAD_H
#define PACKLIST_SERVER_START_START_LOAD_H

#include "snapshot/load.h"

struct engine;

/* Loads the append-only file or the snapshot, as the configuration says. Call once at the start.
 * O(file). */
enum load_status start_load(struct engine *engine);

/* Loads the files of the manifest, oldest first. If the last one ends inside a command and
 * aof-load-truncated allows it, truncates the file there. `flags`: enum load_flag. O(files). */
enum load_status start_load_aof(struct engine *engine, unsigned flags);

#endif
