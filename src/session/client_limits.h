/* client_limits: how much input and output of one client the server keeps before it closes the
 * connection: client-output-buffer-limit, client-query-buffer-limit, and narrow limits for a client
 * that has not authenticated. */
#ifndef PACKLIST_SESSION_CLIENT_LIMITS_H
#define PACKLIST_SESSION_CLIENT_LIMITS_H

#include "base/slice.h"

#include <stdbool.h>
#include <stddef.h>

struct session;

/* --- Output --- */

/* May the session be sent output when `bytes` in all, queued or about to be, would not have been
 * sent? False if they reach the hard limit of its class: that is logged and counted, and the caller
 * closes the session without sending them. O(1). */
bool client_limits_admit_output(const struct session *session, size_t bytes);

/* Would that be false? O(1). */
bool client_limits_reaches_hard(const struct session *session, size_t bytes);

/* Checks the queued output against all limits: to be called after output was queued, and now and
 * then, as a soft limit is reached by time alone. False when it is over one of them: that is logged
 * and counted, and the caller closes the session. O(1). */
bool client_limits_check_output(struct session *session);

/* --- Input --- */

/* May a session that cannot run commands now (it is blocked, or paused) keep `bytes` of input? */
bool client_limits_admit_waiting(const struct session *session, size_t bytes);

/* Requests of up to this size need not be given to client_limits_admit_request. */
enum { CLIENT_LIMITS_SMALL_REQUEST = 32 * 1024 };

/* May a complete request run? If one of its arguments, together with what MULTI has queued, is over
 * the limit, the session is marked as closing and false is returned. O(argc). */
bool client_limits_admit_request(struct session *session, const struct slice *argv, size_t argc);

/* Of the session's input `kept` bytes are left, of which `unparsed` belong to no complete argument.
 * Marks the session as closing when that is over a limit. O(1). */
void client_limits_check_input(struct session *session, size_t kept, size_t unparsed);

#endif
