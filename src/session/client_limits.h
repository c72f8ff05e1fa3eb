/* client_limits: how much input and output of one client the server keeps before it closes the
 * connection: client-output-buffer-limit, client-query-buffer-limit, and low limits for clients
 * that have not authenticated; and for how long it keeps one that is idle. */
#ifndef PACKLIST_SESSION_CLIENT_LIMITS_H
#define PACKLIST_SESSION_CLIENT_LIMITS_H

#include "base/slice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine;
struct session;

/* --- Output --- */

/* Returns whether the session may get output when `bytes` in all, queued or about to be, would not
 * have been sent. When they reach the hard limit of its class, logs and counts that, closes the
 * session and returns false. O(1). */
bool client_limits_admit_output(struct session *session, size_t bytes);

/* Returns whether `bytes` reach the hard limit, without logging and counting. O(1). */
bool client_limits_reaches_hard(const struct session *session, size_t bytes);

/* Returns how many bytes of output reach the hard limit; SIZE_MAX if there is none. O(1). */
size_t client_limits_output_max(const struct session *session);

/* Returns whether the session may have a hard limit for output. O(1). */
bool client_limits_has_hard(const struct session *session);

/* Checks the queued output against all limits. Call it after output was queued, and regularly,
 * because a soft limit can be exceeded by time alone. When the output is over a limit, logs and
 * counts that and closes the session. O(1). */
void client_limits_check_output(struct session *session);

/* Returns whether a replica of which `bytes` of the stream were not sent is within its limits. If
 * not, logs and counts that, and the caller closes the session. The hard limit is repl-backlog-size
 * at least: so much can be sent to a replica that continues. Other output of replicas is not
 * limited. O(1). */
bool client_limits_check_replica(struct session *session, uint64_t bytes);

/* --- Input --- */

/* Returns whether a session that cannot run commands now (blocked or paused) may keep `bytes` of
 * input. O(1). */
bool client_limits_admit_waiting(const struct session *session, size_t bytes);

/* Requests of up to this many bytes need not be given to client_limits_admit_request. */
enum { CLIENT_LIMITS_SMALL_REQUEST = 32 * 1024 };

/* Returns whether a complete request may run. If one of its arguments, together with the queue of
 * MULTI, is over the limit, marks the session as closing and returns false. O(argc). */
bool client_limits_admit_request(struct session *session, const struct slice *argv, size_t argc);

/* The session's input still has `kept` bytes, and `unparsed` of them belong to no complete
 * argument. Marks the session as closing when they are over a limit. O(1). */
void client_limits_check_input(struct session *session, size_t kept, size_t unparsed);

/* --- What time alone changes --- */

/* Closes clients that have been idle for longer than `timeout`, whose output has been above a soft
 * limit for too long, or that have not authenticated and do not read their replies. O(clients). */
void client_limits_sweep(struct engine *engine);

#endif
