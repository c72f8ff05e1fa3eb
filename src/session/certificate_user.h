/* certificate_user: which user a client is by its certificate (tls-auth-clients-user). */
#ifndef PACKLIST_SESSION_CERTIFICATE_USER_H
#define PACKLIST_SESSION_CERTIFICATE_USER_H

struct session;

/* The session's client has shown a certificate that the server trusts. If a name in it is that of a
 * user who is on, the session becomes that user's without AUTH. Otherwise it stays what it is, and
 * the refusal is counted and logged (ACL LOG). Handshakes that resume an earlier session call this
 * as well: users may have changed. O(names). */
void certificate_user_log_in(struct session *session);

#endif
