/* aof_commands: every key of every database, as commands that make it (a base without RDB
 * preamble). */
#ifndef PACKLIST_AOF_AOF_COMMANDS_H
#define PACKLIST_AOF_AOF_COMMANDS_H

#include "resp/reply.h"

#include <stdbool.h>
#include <stdint.h>

struct engine;

/* Writes the file at `path` and waits until it has reached the disk. False when that cannot be:
 * errno says why, and what is left of the file is removed. Called in the server or in a child,
 * where it reports. O(data). */
bool aof_commands_write_file(struct engine *engine, const char *path, bool incremental);

/* Appends the annotation of a time, "#TS:<seconds>\r\n", which may precede any command. */
void aof_commands_annotate(struct reply *bytes, int64_t time_s);

#endif
