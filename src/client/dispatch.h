/* dispatch: from a client's arguments to its reply. */
#ifndef PACKLIST_CLIENT_DISPATCH_H
#define PACKLIST_CLIENT_DISPATCH_H

#include "base/slice.h"
#include "session/session.h"

#include <stdbool.h>
#include <stddef.h>

/* Executes one request of `session` (argc > 0) and serves clients that it woke. The reply is added
 * to `reply`, from where CLIENT REPLY may take it back. False when the command must wait (CLIENT
 * PAUSE): nothing was done, and the session was marked as paused. */
bool dispatch(struct session *session, struct reply *reply, const struct slice *argv, size_t argc);

#endif
