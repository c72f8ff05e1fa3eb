/* config_live: changes the configuration of the running server (CONFIG SET). */
#ifndef PACKLIST_SERVER_CONFIG_LIVE_H
#define PACKLIST_SERVER_CONFIG_LIVE_H

#include "config/config.h"

struct engine;

/* Makes all changes of the running server or none, as config_change_all. When an effect fails, TLS
 * uses again what it used before, without a look at its files. */
bool config_live_change(struct engine *engine, const struct config_change *changes, size_t count,
                        size_t *culprit, sds *error);

#endif
