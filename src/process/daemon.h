/* daemon: serving in the background.
 *
 * The process that the user started waits until the one in the background serves or has failed,
 * so that its exit status and the error on its terminal tell the truth. */
#ifndef PACKLIST_PROCESS_DAEMON_H
#define PACKLIST_PROCESS_DAEMON_H

#include <stdbool.h>

/* Goes on in a child, in a session of its own, still on the terminal. The parent does not
 * return: it exits with status 0 after daemon_ready, and with 1 when the child ends before.
 * False when the system refuses. */
bool daemon_begin(void);

/* The child serves: leaves the terminal and lets the parent go. Does nothing when daemon_begin
 * was not called. */
void daemon_ready(void);

#endif
