/* config_apply: puts new values of directives into effect where that takes more than one call.
 * server/parts.c names the function for each effect. */
#ifndef PACKLIST_SERVER_SETTINGS_CONFIG_APPLY_H
#define PACKLIST_SERVER_SETTINGS_CONFIG_APPLY_H

#include "base/text/sds.h"

#include <stdbool.h>

struct engine;

/* Applies what must be in effect before the server starts, and logs which parts of the
 * configuration were ignored. Returns false with *error (one line, the caller's) when the log file
 * or the folder cannot be used. A maxclients that the system does not allow is lowered, with a line
 * in the log. */
bool config_apply_at_start(struct engine *engine, sds *error);

void config_apply_log(struct engine *engine);
void config_apply_value_limits(struct engine *engine);
void config_apply_password(struct engine *engine);
void config_apply_maxmemory(struct engine *engine);

/* These return false with *error (one line, the caller's) when that is not possible. The directory
 * of the data is locked when the server begins to write files. */
bool config_apply_dir(struct engine *engine, sds *error);
bool config_apply_maxclients(struct engine *engine, sds *error);
bool config_apply_tls(struct engine *engine, sds *error);
bool config_apply_oom_score(struct engine *engine, sds *error);
bool config_apply_save(struct engine *engine, sds *error);
bool config_apply_appendonly(struct engine *engine, sds *error);
bool config_apply_defrag(struct engine *engine, sds *error);

/* Applies maxmemory-rss, at the start, too, and sets eviction up. Fails when the allocator cannot
 * tell how many pages it uses. */
bool config_apply_maxmemory_rss(struct engine *engine, sds *error);

/* Has io-threads - 1 threads carry bytes. Call it after daemon_begin: a fork ends threads. */
bool config_apply_io_threads(struct engine *engine, sds *error);

/* Applies bind and the ports: reads the files of TLS if tls-port has changed, opens and closes
 * listeners. Returns false; if *error is still NULL, the reason is in the log alone. */
bool config_apply_listeners(struct engine *engine, sds *error);

#endif
