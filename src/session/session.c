#include "session/session.h"

#include "base/alloc.h"
#include "engine/call.h"
#include "engine/engine.h"
#include "resp/reply.h"
#include "session/client_memory.h"
#include "session/clients.h"
#include "session/outbox.h"
#include "users/users.h"

enum client_type session_type(const struct session *session) {
    if (session->flags & SESSION_REPLICA) return CLIENT_TYPE_REPLICA;
    if (session->flags & SESSION_PRIMARY) return CLIENT_TYPE_MASTER;
    return session->flags & SESSION_SUBSCRIBED ? CLIENT_TYPE_PUBSUB : CLIENT_TYPE_NORMAL;
}

void session_resume_later(struct session *session) {
    struct engine *engine = session->requester.engine;
    if (!(session->flags & SESSION_CLOSING))
        session_list_queue(&engine->clients->sessions, session);
}

/* Removes the session from every list and queue and frees what it owns. */
static void teardown(struct session *session) {
    struct engine *engine = session->requester.engine;
    if (session->id == 0)
        return; /* the connection was refused, or the session is torn down already */
    engine->clients->retire_session(session);
    if (session->flags & SESSION_PRIMARY) engine->clients->primary_closed(session);
    session_list_remove(&engine->clients->sessions, session);
    client_memory_forget(session);
    sds_free(session->name);
    sds_free(session->lib_name);
    sds_free(session->lib_version);
    session->name = session->lib_name = session->lib_version = NULL;
    session_set_user(session, NULL);
    session->id = 0;
}

void session_close(struct session *session) {
    if (outbox_of(session)) { /* outbox_close will close it */
        session->flags |= SESSION_CLOSING | SESSION_DROPPED;
        return;
    }
    teardown(session);
    conn_close(conn_of_session(session));
}

void session_close_after_reply(struct session *session) {
    struct engine *engine = session->requester.engine;
    if (outbox_of(session)) {
        session->flags |= SESSION_CLOSING;
        return;
    }
    struct conn *conn = conn_of_session(session);
    if (conn_pending_output(conn) == 0 || session->flags & SESSION_REPLICA) {
        session_close(session); /* what a replica is sent has no end */
        return;
    }
    engine->clients->retire_session(session);
    conn_close_after_write(conn); /* session_drained follows */
}

struct session *session_of_sender(const struct call *call) {
    return call->origin == ORIGIN_PRIMARY ? call->engine->clients->primary : call_session(call);
}

void session_set_user(struct session *session, struct user *user) {
    struct user *before = session->requester.user;
    session->requester.user = user ? user_keep(user) : NULL;
    if (before) user_release(before);
}

void session_log_out(struct session *session) {
    struct user *user = session->requester.engine->users->default_user;
    session_set_user(session, user);
    session->flags &= ~(uint32_t)SESSION_NEEDS_AUTH;
    if (!user_needs_no_password(user)) session->flags |= SESSION_NEEDS_AUTH;
}

struct slice session_user_name(const struct session *session) {
    const struct user *user = session->requester.user;
    return user ? sds_slice(user->name) : SLICE("(superuser)");
}

void session_set_name(struct session *session, struct slice name) {
    sds_free(session->name);
    session->name = name.len ? sds_new(name) : NULL;
}

bool session_check_name(struct call *call, struct slice name, const char *what) {
    for (size_t i = 0; i < name.len; i++) {
        if (name.ptr[i] >= '!' && name.ptr[i] <= '~') continue;
        reply_error_format(call->reply,
                           "ERR %s cannot contain spaces, newlines or special characters.", what);
        return false;
    }
    return true;
}

bool session_has_access(const struct session *session, int64_t access) {
    if (access == CONFIG_ACCESS_LOCAL) return session->marks & SESSION_LOCAL;
    return access == CONFIG_ACCESS_YES;
}
