/* dispatch: from a client's arguments to its reply. */
#ifndef PACKLIST_REQUESTS_DISPATCH_H
#define PACKLIST_REQUESTS_DISPATCH_H

#include "base/slice.h"

#include <stdbool.h>
#include <stddef.h>

struct outbox;

/* Executes one request (argc > 0) of the session that owns the outbox, then serves clients that
 * waited for keys that it changed. Adds the reply and messages to the outbox; CLIENT REPLY may
 * remove the reply again. Returns false when the command must wait (CLIENT PAUSE): nothing was
 * done, and the session is marked as paused. */
bool dispatch(struct outbox *outbox, const struct slice *argv, size_t argc);

#endif
