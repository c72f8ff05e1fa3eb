/* denials: what is done when a client's user lacks a right, and when the rights of users change
 * under sessions. */
#ifndef PACKLIST_SESSION_DENIALS_H
#define PACKLIST_SESSION_DENIALS_H

#include "base/slice.h"
#include "users/access.h"
#include "users/acl_log.h"

struct engine;
struct session;

/* Counts what was denied to the session's user, and adds it to the log. O(1). */
void denial_note(struct session *session, const struct denial *denial, enum acl_context context);

/* The same for a login as `user` that has failed. */
void denial_note_login(struct session *session, enum acl_reason reason, enum acl_context context,
                       struct slice object, struct slice user);

/* Users have changed since their generation was `since` (users/users.h). Closes the sessions of
 * users that are gone, and those that listen to a channel which their user may no longer use; if
 * the default user needs no password now, no session needs to log in. A session whose command is
 * running gets its reply. O(clients + subscriptions of users that have changed). */
void sessions_follow_users(struct engine *engine, uint64_t since);

#endif
