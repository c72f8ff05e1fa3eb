/* config_apply: puts the values of directives into effect. */
#ifndef PACKLIST_SERVER_CONFIG_APPLY_H
#define PACKLIST_SERVER_CONFIG_APPLY_H

#include "config/config.h"

struct engine;

/* What must be in effect before the server starts: log file and level, limit of open files,
 * limits of lists; then logs what was ignored of the configuration. False with *error (owned by
 * the caller, one line) when the log file cannot be written. A maxclients that the system does
 * not allow is lowered, with a line in the log. */
bool config_apply_at_start(struct engine *engine, sds *error);

/* jemalloc-bg-thread: to be called once the process is what it stays (daemonize). */
void config_apply_memory_thread(struct engine *engine);

/* The config_apply_function of the running server. */
bool config_apply_change(const struct config_directive *directive, void *arg, sds *error);

#endif
