/* session: what happens to one client (engine/client.h): its end, its type, its names. The drawing
 * of this module is in clients.h. */
#ifndef PACKLIST_SESSION_SESSION_H
#define PACKLIST_SESSION_SESSION_H

#include "engine/client.h"
#include "net/connections/conn.h"

#include <stdbool.h>
#include <stdint.h>

struct call;
struct outbox;
struct user;

/* The types of clients that CLIENT KILL and LIST know. A client has one: the first of master (the
 * link to the primary), replica and pubsub (it has subscribed) that it is, or normal. */
enum client_type {
    CLIENT_TYPE_ANY,
    CLIENT_TYPE_NORMAL,
    CLIENT_TYPE_REPLICA,
    CLIENT_TYPE_PUBSUB,
    CLIENT_TYPE_MASTER
};

/* Ends the session: removes it from every queue, frees what it owns, and closes the connection, at
 * once or after its output is sent. Until then it runs no commands, but counts as a client, is
 * listed, and can be closed at once. The session being served is closed when all requests of its
 * read are served. The struct stays readable until the end of the loop iteration in which the
 * connection closes. */
void session_close(struct session *session);
void session_close_after_reply(struct session *session);

/* As session_close_after_reply, also of a replica, which otherwise is closed at once. Not while its
 * requests are being served. */
void session_close_when_sent(struct session *session);

/* Returns the open outbox of the session (outbox.h), or NULL. O(1): two are open at most, three
 * in a script. */
struct outbox *session_outbox(const struct session *session);

/* The session may run commands again (it was unblocked, or the pause is over): its kept input is
 * parsed before the loop sleeps. O(1). */
void session_resume_later(struct session *session);

/* Returns the type of the client, for CLIENT LIST, CLIENT KILL and the output limits. O(1). */
enum client_type session_type(const struct session *session);

/* The client that has sent the command: of one that the primary sends, the link to it. NULL: the
 * command is from a file, or the server's own. O(1). */
struct session *session_of_sender(const struct call *call);

/* The session must authenticate before it may do anything else; or it need not. Before that, no I/O
 * thread serves it. */
void session_set_needs_auth(struct session *session, bool needs);

/* Returns the name of its user; "(superuser)" if it is nobody's. Valid as long as the user. */
struct slice session_user_name(const struct session *session);

/* Sets the name to a copy of `name`; an empty one removes it. The caller has checked the text. */
void session_set_name(struct session *session, struct slice name);

/* Returns whether a name or library text may be stored: it must be printable ASCII without blanks.
 * If not, replies "ERR <what> cannot contain spaces, newlines or special characters.". */
bool session_check_name(struct call *call, struct slice name, const char *what);

/* Returns whether a directive that gives access to `access` (enum config_access) includes this
 * session. */
bool session_has_access(const struct session *session, int64_t access);

#endif
