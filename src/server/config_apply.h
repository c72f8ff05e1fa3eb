/* config_apply: puts the values of directives into effect. */
#ifndef PACKLIST_SERVER_CONFIG_APPLY_H
#define PACKLIST_SERVER_CONFIG_APPLY_H

#include "config/config.h"

struct engine;

/* Applies what must be in effect before the server starts: log file and level, limit of open files,
 * limits of lists. Then it logs which parts of the configuration were ignored. Returns false with
 * *error (one line, owned by the caller) when the log file cannot be written. A maxclients that the
 * system does not allow is lowered, with a line in the log. */
bool config_apply_at_start(struct engine *engine, sds *error);

/* Applies jemalloc-bg-thread. Call it after daemon_begin, because a fork ends the thread. */
void config_apply_memory_thread(struct engine *engine);

/* Has io-threads - 1 threads carry bytes beside the event loop. Call it after daemon_begin, because
 * a fork ends threads. Returns false with *error (the caller's) when the system refuses. */
bool config_apply_io_threads(struct engine *engine, sds *error);

/* Returns false with *error (the caller's) when maxmemory-rss is wanted and the allocator cannot
 * tell how many pages it uses. */
bool config_apply_maxmemory_rss(struct engine *engine, sds *error);

/* Makes all changes of the running server or none, as config_change_all. What TLS used before is
 * used again when an effect fails, without a look at its files, which may have changed since. */
bool config_apply_changes(struct engine *engine, const struct config_change *changes, size_t count,
                          size_t *culprit, sds *error);

#endif
