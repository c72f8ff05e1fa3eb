/* aof_base_commands: writes every library of functions and every key of every database as commands
 * that create it (a base without RDB preamble). */
#ifndef PACKLIST_AOF_AOF_BASE_COMMANDS_H
#define PACKLIST_AOF_AOF_BASE_COMMANDS_H

#include "resp/reply.h"

#include <stdbool.h>
#include <stdint.h>

struct engine;

/* Writes the file at `path` and waits until it is on the disk. `sync_in_stretches`: see
 * disk_file_create. Returns false with errno set when that fails, and removes the file. Runs in the
 * server or in a child, where it sends reports. O(data). */
bool aof_base_commands_write_file(struct engine *engine, const char *path, bool sync_in_stretches);

/* Appends the annotation "#TS:<seconds>\r\n", which may precede any command. */
void aof_base_commands_annotate(struct reply *bytes, int64_t time_s);

#endif
