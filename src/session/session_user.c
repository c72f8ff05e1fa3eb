#include "session/session_user.h"

#include "base/log/log.h"
#include "engine/engine.h"
#include "net/tls/tls.h"
#include "session/client_line.h"
#include "session/client_memory.h"
#include "session/clients.h"
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
        session_note_failed_login(session, ACL_REASON_TLS_CERT, ACL_CONTEXT_TOPLEVEL, SLICE(""),
                                  sds_slice(search.first));
        log_notice_limited(&engine->clients->nobodys_certificates,
                           "The certificate of client id=%llu addr=%s names no user who is on.",
                           (unsigned long long)session->id,
                           conn_peer_name(conn_of_session(session), peer));
    }
    sds_free(search.first);
}

/* --- What a user may not do --- */

void session_note_failed_login(struct session *session, enum acl_reason reason,
                               enum acl_context context, struct slice object, struct slice user) {
    struct engine *engine = session->requester.engine;
    engine->stats.denied[reason]++;
    sds line = client_line(sds_new(SLICE("")), session);
    struct slice client = sds_slice(line);
    if (client.len > 0) client.len--; /* the line feed */
    struct acl_event event = {reason, context, object, user, client, engine->now_ms};
    acl_log_add(engine->acl_log, &event, (size_t)engine->config.acllog_max_len);
    sds_free(line);
}

void session_note_denial(struct session *session, const struct denial *denial,
                         enum acl_context context) {
    static const enum acl_reason reasons[] = {[DENIED_COMMAND] = ACL_REASON_COMMAND,
                                              [DENIED_KEY] = ACL_REASON_KEY,
                                              [DENIED_CHANNEL] = ACL_REASON_CHANNEL,
                                              [DENIED_DATABASE] = ACL_REASON_DATABASE};
    session_note_failed_login(session, reasons[denial->what], context, denial->object,
                              sds_slice(session->requester.user->name));
}

static bool may_listen(enum pubsub_kind kind, struct slice name, void *user) {
    return user_may_use_channel(user, name, kind == PUBSUB_PATTERN);
}

static bool must_close(const struct session *session, uint64_t since) {
    struct user *user = session->requester.user;
    if (!user) return false;
    if (user->gone) return true;
    return user->generation > since && session->subscriber &&
           !pubsub_all(session->subscriber, may_listen, user);
}

void sessions_follow_users(struct engine *engine, uint64_t since) {
    bool is_open = user_needs_no_password(engine->users->default_user);
    struct session *next;
    for (struct session *session = engine->clients->sessions.first; session; session = next) {
        next = session->next;
        if (is_open) session_set_needs_auth(session, false);
        if (!must_close(session, since)) continue;
        if (session_outbox(session))
            session_close_after_reply(session);
        else
            session_close(session);
    }
    if (is_open) client_memory_note_all(engine);
}
