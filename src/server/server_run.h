/* server_run: the server's life, as main sees it. */
#ifndef PACKLIST_SERVER_SERVER_RUN_H
#define PACKLIST_SERVER_SERVER_RUN_H

#include <stdbool.h>

/* Builds everything from server.config and opens the listeners. Call command_table_init before.
 * False with *error when it cannot. */
bool server_start(const char **error);

/* Serves until server_shutdown. */
void server_run(void);

/* Closes sessions, listeners and the loop. */
void server_stop(void);

/* Frees the data, which takes a while when there is much: only checking builds do it before they
 * exit. */
void server_free(void);

#endif
