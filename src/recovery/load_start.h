/* load_start: which files the data is loaded from when the server starts. */
#ifndef PACKLIST_RECOVERY_LOAD_START_H
#define PACKLIST_RECOVERY_LOAD_START_H

#include "snapshot/load.h"

struct engine;

/* Loads the append-only file or the snapshot, as the configuration says. Once at start. */
enum load_status load_at_start(struct engine *engine);

#endif
