/* server_run: the start, the run and the end of the server, for main(). */
#ifndef PACKLIST_SERVER_SERVER_RUN_H
#define PACKLIST_SERVER_SERVER_RUN_H

#include "base/sds.h"

#include <stdbool.h>

struct engine;

/* Makes everything that engine->config asks for and opens the listeners. Call command_table_init
 * before. Returns false with *error set (the caller frees it) when something fails. */
bool server_start(struct engine *engine, sds *error);

/* Serves until the server ends: shutdown.h. */
void server_run(struct engine *engine);

/* Closes sessions, listeners and the event loop. */
void server_stop(struct engine *engine);

/* Frees the data, which takes long when there is much; only builds for leak checks do it before
 * they exit. */
void server_free(struct engine *engine);

/* Makes the changes so far safe, so that the replies to them may leave: writes the append-only
 * file. If that fails, their clients are disconnected. */
void server_release_replies(struct engine *engine);

#endif
