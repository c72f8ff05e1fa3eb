#include "session/session.h"

#include "base/checked.h"
#include "base/memory/alloc.h"
#include "engine/call.h"
#include "engine/engine.h"
#include "resp/reply.h"
#include "session/client_memory.h"
#include "session/clients.h"
#include "session/session_list.h"
#include "users/users.h"

enum client_type session_type(const struct session *session) {
    if (session->flags & SESSION_REPLICA) return CLIENT_TYPE_REPLICA;
    if (session->flags & SESSION_PRIMARY) return CLIENT_TYPE_MASTER;
    return session->flags & SESSION_SUBSCRIBED ? CLIENT_TYPE_PUBSUB : CLIENT_TYPE_NORMAL;
}

struct outbox *session_outbox(const struct session *session) {
    struct outbox *outbox = session->requester.engine->clients->outboxes;
    while (outbox && outbox->owner != session) outbox = outbox->below;
    return outbox;
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
    engine->upward->session_ends(session);
    if (session->flags & SESSION_PRIMARY) engine->upward->primary_closed(session);
    session_list_remove(&engine->clients->sessions, session);
    client_memory_forget(session);
    sds_free(session->name);
    sds_free(session->lib_name);
    sds_free(session->lib_version);
    session->name = session->lib_name = session->lib_version = NULL;
    if (session->requester.user) user_release(session->requester.user);
    session->requester.user = NULL;
    session->id = 0;
}

void session_close(struct session *session) {
    if (session_outbox(session)) { /* outbox_close will close it */
        session->flags |= SESSION_CLOSING | SESSION_DROPPED;
        return;
    }
    teardown(session);
    conn_close(conn_of_session(session));
}

void session_close_when_sent(struct session *session) {
    CHECKED_ASSERT(!session_outbox(session));
    session->requester.engine->upward->session_ends(session);
    if (!conn_close_after_write(conn_of_session(session)))
        session_close(session); /* otherwise session_drained follows */
}

void session_close_after_reply(struct session *session) {
    if (session_outbox(session))
        session->flags |= SESSION_CLOSING;
    else if (session->flags & SESSION_REPLICA)
        session_close(session); /* what a replica is sent has no end */
    else
        session_close_when_sent(session);
}

struct session *session_of_sender(const struct call *call) {
    return call->origin == ORIGIN_PRIMARY ? call->engine->clients->primary : call_session(call);
}

void session_set_needs_auth(struct session *session, bool needs) {
    session->flags &= ~(uint32_t)SESSION_NEEDS_AUTH;
    if (needs) session->flags |= SESSION_NEEDS_AUTH;
    conn_stay_with_loop(conn_of_session(session), needs);
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
