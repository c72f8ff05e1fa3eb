#include "session/denials.h"

#include "engine/engine.h"
#include "session/client_line.h"
#include "session/client_memory.h"
#include "session/clients.h"
#include "session/outbox.h"
#include "session/pubsub.h"
#include "session/session.h"
#include "users/users.h"

enum acl_reason denial_reason(enum denied what) {
    switch (what) {
    case DENIED_KEY: return ACL_REASON_KEY;
    case DENIED_CHANNEL: return ACL_REASON_CHANNEL;
    case DENIED_DATABASE: return ACL_REASON_DATABASE;
    case DENIED_COMMAND:
    case DENIED_NOTHING: break;
    }
    return ACL_REASON_COMMAND;
}

void denial_note(struct session *session, enum acl_reason reason, enum acl_context context,
                 struct slice object, struct slice user) {
    struct engine *engine = session->requester.engine;
    engine->stats.denied[reason]++;
    sds line = client_line(sds_new(SLICE("")), session);
    struct slice client = sds_slice(line);
    if (client.len > 0) client.len--; /* the line feed */
    struct acl_event event = {reason, context, object, user, client, engine->now_ms};
    acl_log_add(engine->acl_log, &event, (size_t)engine->config.acllog_max_len);
    sds_free(line);
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
