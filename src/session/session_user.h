/* session_user: whose a session is. */
#ifndef PACKLIST_SESSION_SESSION_USER_H
#define PACKLIST_SESSION_SESSION_USER_H

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

#endif
