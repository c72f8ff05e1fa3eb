/* daemon: serving in the background. The process that the user started waits until the one in the
 * background is ready or has failed, so that its exit status and error are right. */
#ifndef PACKLIST_SERVER_PROCESS_DAEMON_H
#define PACKLIST_SERVER_PROCESS_DAEMON_H

#include <stdbool.h>

/* Continues in a child process, in a session of its own, still on the terminal. The parent does not
 * return: it exits with status 0 after daemon_ready, and with 1 when the child ends before that.
 * Sets *to_parent to the child's end of the pipe on which the parent waits. Returns false when the
 * system refuses. */
bool daemon_begin(int *to_parent);

/* The child is ready: it leaves the terminal and the parent exits. Closes `to_parent`; -1: there is
 * no parent, and nothing to do. */
void daemon_ready(int to_parent);

#endif
