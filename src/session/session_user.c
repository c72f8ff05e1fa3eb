#include "session/session_user.h"

#include "base/log/log.h"
#include "engine/engine.h"
#include "net/tls/tls.h"
#include "session/client_memory.h"
#include "session/clients.h"
#include "session/denials.h"
#include "session/invalidate.h"
#include "session/session.h"
#include "users/users.h"

void session_set_user(struct session *session, struct user *user) {
    struct user *before = session->requester.user;
    if (session->flags & SESSION_TRACKING) invalidate_tell_changes(session->requester.engine);
    session->requester.user = user_keep(user);
    if (before) user_release(before);
}

void session_log_out(struct session *session) {
    struct user *user = session->requester.engine->users->default_user;
    session_set_user(session, user);
    session_set_needs_auth(session, !user_needs_no_password(user));
}

/* --- By its certificate --- */

struct search {
    const struct users *users;
    struct user *user; /* NULL: none was found yet */
    sds first;         /* the first name; NULL: there is none */
};

/* The password is not asked for, so a user must not be on by mistake only: one who is off is passed
 * over. */
static bool find_user(struct slice name, void *arg) {
    struct search *search = arg;
    struct user *user = users_find(search->users, name);
    if (!search->first) search->first = sds_new(name);
    if (user && user->rights->enabled) search->user = user;
    return search->user != NULL;
}

void session_log_in_by_certificate(struct session *session) {
    struct engine *engine = session->requester.engine;
    struct search search = {.users = engine->users};
    char peer[CONN_NAME_MAX];
    int64_t names = engine->config.tls_auth_clients_user;
    if (names == TLS_USER_OFF) return;
    tls_peer_names(conn_of_session(session), names == TLS_USER_URI ? TLS_NAME_URI : TLS_NAME_COMMON,
                   find_user, &search);
    if (search.user) {
        session_set_user(session, search.user);
        session_set_needs_auth(session, false);
        client_memory_note(session);
    } else if (search.first) {
        denial_note_login(session, ACL_REASON_TLS_CERT, ACL_CONTEXT_TOPLEVEL, SLICE(""),
                          sds_slice(search.first));
        log_notice_limited(&engine->clients->nobodys_certificates,
                           "The certificate of client id=%llu addr=%s names no user who is on.",
                           (unsigned long long)session->id,
                           conn_peer_name(conn_of_session(session), peer));
    }
    sds_free(search.first);
}
