/* server_run: the event loop, and what each of its iterations does (end_iteration). */
#ifndef PACKLIST_SERVER_SERVER_RUN_H
#define PACKLIST_SERVER_SERVER_RUN_H

#include "base/text/sds.h"

#include <stdbool.h>

struct engine;

/* Has the loop call end_iteration, and handles signals: SIGTERM and SIGINT end the server; SIGHUP,
 * SIGUSR2 and SIGXFSZ are ignored. Returns false with *error (the caller's) when the system refuses
 * to watch for signals. */
bool server_enter_loop(struct engine *engine, sds *error);

/* Serves until the server ends: shutdown.h. */
void server_run(struct engine *engine);

#endif
