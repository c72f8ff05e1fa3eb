/* link_load: puts all data that the primary has sent in the place of the own.
 *
 *  repl-diskless-load  disabled            receive a file, delete the data, load the file
 *                      flush-before-load   delete the data, load what comes
 *                      on-empty-db         load what comes if there is no data; else as disabled
 *                      swapdb              load what comes beside the data, then exchange them
 *
 * While the data is deleted and loaded, clients get -LOADING. With swapdb they go on reading the
 * old data if it is an earlier state of the same history. When loading fails, the old data is still
 * there, or all data is deleted: there is never a part of it. */
#ifndef PACKLIST_REPLICATION_LINK_LOAD_H
#define PACKLIST_REPLICATION_LINK_LOAD_H

#include <stdbool.h>

struct engine;

/* Returns whether the payload must be received into a file before it is loaded. O(databases). */
bool link_load_needs_file(const struct engine *engine);

/* Turns the append-only file on again if that was not possible when the data was loaded. */
void link_load_resume_aof(struct engine *engine);

#endif
