/* start_load: chooses the files from which the server loads its data at the start. */
#ifndef PACKLIST_SERVER_START_START_LOAD_H
#define PACKLIST_SERVER_START_START_LOAD_H

#include "snapshot/load.h"

struct engine;

/* Loads the append-only file or the snapshot, as the configuration says. Call once at the start.
 * O(file). */
enum load_status start_load(struct engine *engine);

#endif
