/* aof_commands: writes every key of every database as commands that create it (a base without RDB
 * preamble). */
#ifndef PACKLIST_AOF_AOF_COMMANDS_H
#define PACKLIST_AOF_AOF_COMMANDS_H

#include "resp/reply.h"

#include <stdbool.h>
#include <stdint.h>

struct engine;

/* Writes the file at `path` and waits until it is on the disk. `incremental`: see disk_file_create.
 * Returns false with errno set when that fails, and removes the file. Runs in the server or in a
 * child, where it sends reports. O(data). */
bool aof_commands_write_file(struct engine *engine, const char *path, bool incremental);

/* Appends the annotation "#TS:<seconds>\r\n", which may precede any command. */
void aof_commands_annotate(struct reply *bytes, int64_t time_s);

#endif
