/* server_run: the server's life, as main sees it. */
#ifndef PACKLIST_SERVER_SERVER_RUN_H
#define PACKLIST_SERVER_SERVER_RUN_H

#include <stdbool.h>

struct engine;

/* Builds everything from engine->config and opens the listeners. Call command_table_init before.
 * False with *error when it cannot. */
bool server_start(struct engine *engine, const char **error);

/* Serves until server_shutdown. */
void server_run(struct engine *engine);

/* Closes sessions, listeners and the loop. */
void server_stop(struct engine *engine);

/* Frees the data, which takes a while when there is much: only checking builds do it before they
 * exit. */
void server_free(struct engine *engine);

/* Ends the process in order after the current loop iteration: data saved as the options (enum
 * shutdown_option) or else the save points ask for, listeners closed, pid file and socket removed.
 * False when the data could not be saved: then it goes on. */
bool server_shutdown(struct engine *engine, int options);

#endif
