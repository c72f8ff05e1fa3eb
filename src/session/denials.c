#include "session/denials.h"

#include "engine/engine.h"
#include "session/client_line.h"
#include "session/client_memory.h"
#include "session/clients.h"
#include "session/outbox.h"
#include "session/pubsub.h"
#include "session/session.h"
#include "users/users.h"

void denial_note_login(struct session *session, enum acl_reason reason, enum acl_context context,
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

void denial_note(struct session *session, const struct denial *denial, enum acl_context context) {
    static const enum acl_reason reasons[] = {[DENIED_COMMAND] = ACL_REASON_COMMAND,
                                              [DENIED_KEY] = ACL_REASON_KEY,
                                              [DENIED_CHANNEL] = ACL_REASON_CHANNEL,
                                              [DENIED_DATABASE] = ACL_REASON_DATABASE};
    denial_note_login(session, reasons[denial->what], context, denial->object,
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
