/* session_user: whose a session is, and what is done when that user lacks a right. */
#ifndef PACKLIST_SESSION_SESSION_USER_H
#define PACKLIST_SESSION_SESSION_USER_H

#include "base/slice.h"
#include "users/access.h"
#include "users/acl_log.h"

struct engine;
struct session;
struct user;

/* Makes the session the user's, and releases the user whose it was. */
void session_set_user(struct session *session, struct user *user);

/* Makes the session what a new one is: the default user's, which must log in unless that needs no
 * password. */
void session_log_out(struct session *session);

/* tls-auth-clients-user: the session's client has shown a certificate that the server trusts. If a
 * name in it is that of a user who is on, the session becomes that user's without AUTH. Otherwise
 * it stays what it is, and the refusal is counted and logged (ACL LOG). Handshakes that resume an
 * earlier session call this as well: users may have changed. O(names). */
void session_log_in_by_certificate(struct session *session);

/* Counts what was denied to the session's user, and adds it to the log. O(1). */
void session_note_denial(struct session *session, const struct denial *denial,
                         enum acl_context context);

/* The same for a login as `user` that has failed. */
void session_note_failed_login(struct session *session, enum acl_reason reason,
                               enum acl_context context, struct slice object, struct slice user);

/* Users have changed since their generation was `since` (users/users.h). Closes the sessions of
 * users that are gone, and those that listen to a channel which their user may no longer use; if
 * the default user needs no password now, no session needs to log in. A session whose command is
 * running gets its reply. O(clients + subscriptions of users that have changed). */
void sessions_follow_users(struct engine *engine, uint64_t since);

#endif
