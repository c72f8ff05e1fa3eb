/* dispatch: from a client's arguments to its reply. */
#ifndef PACKLIST_CLIENT_DISPATCH_H
#define PACKLIST_CLIENT_DISPATCH_H

#include "base/slice.h"
#include "session/session.h"

#include <stdbool.h>
#include <stddef.h>

/* Executes one request of `session` (argc > 0), then serves clients that waited for keys that it
 * changed. Adds the reply to `reply`, where CLIENT REPLY may remove it again. Returns false when
 * the command must wait (CLIENT PAUSE): nothing was done, and the session is marked as paused. */
bool dispatch(struct session *session, struct reply *reply, const struct slice *argv, size_t argc);

#endif
