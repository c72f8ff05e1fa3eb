/* server_run: the start, the run and the end of the server, for main(). */
#ifndef PACKLIST_SERVER_SERVER_RUN_H
#define PACKLIST_SERVER_SERVER_RUN_H

#include <stdbool.h>

struct engine;

/* Makes everything that engine->config asks for and opens the listeners. Call command_table_init
 * before. Returns false with *error when something fails. */
bool server_start(struct engine *engine, const char **error);

/* Serves until server_shutdown. */
void server_run(struct engine *engine);

/* Closes sessions, listeners and the event loop. */
void server_stop(struct engine *engine);

/* Frees the data, which takes long when there is much; only builds for leak checks do it before
 * they exit. */
void server_free(struct engine *engine);

/* Ends the server after the current loop iteration: saves the data as the options (enum
 * shutdown_option) or else the save points say, closes the listeners, removes pid file and socket.
 * Returns false when the data could not be saved; then the server continues. */
bool server_shutdown(struct engine *engine, int options);

/* For cron: ends the server if a signal has asked for that (engine->pending_signal) while the first
 * rewrite of the append-only file was running, and that rewrite has ended. */
void server_try_pending_end(struct engine *engine);

#endif
