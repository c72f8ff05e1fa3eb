/* parts: what the server consists of, and the life of each part.
 *
 *      start        in the order of the table
 *      tick         `hz` times a second, in the order of the table
 *      configure    when CONFIG SET has changed a directive that has the part's effect
 *      stop         in the opposite order, while the event loop still exists
 *      free         in the opposite order, when it does not exist any more
 *
 * A part stands below those that it needs when it starts, and while it stops. Where ticks must keep
 * an order, the table says so. The steps of each loop iteration stand in server_run.c. */
#ifndef PACKLIST_SERVER_PARTS_H
#define PACKLIST_SERVER_PARTS_H

#include "base/text/sds.h"
#include "config/config_table.h"

#include <stdbool.h>

struct engine;

/* The timer by which all parts tick. */
struct cron {
    struct net_timer *timer;
    bool is_paused; /* DEBUG PAUSE-CRON */
};

/* Starts all parts as engine->config says. Call command_table_init, config_apply_at_start and, in
 * the background, daemon_begin before. Returns false with *error (one line, the caller's) when a
 * part cannot start. Those before it stay started, and cannot be stopped: the process must end. */
bool parts_start(struct engine *engine, sds *error);

/* Puts the new values of directives with this effect into effect. Returns false when that fails,
 * with *error (the caller's), which stays NULL where the reason is in the log alone. */
bool parts_configure(struct engine *engine, enum config_effect effect, sds *error);

/* Closes sessions and listeners, ends threads, and frees engine->net. */
void parts_stop(struct engine *engine);

/* Call it after parts_stop: frees the data and the configuration. O(data), so only builds for leak
 * checks do it before they exit. */
void parts_free(struct engine *engine);

#endif
