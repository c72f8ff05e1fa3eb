/* dispatch: executes a client's request, adds its reply unless the client does not want it, and
 * serves the clients that were waiting for its keys. */
#include "requests/dispatch.h"

#include "base/checked.h"
#include "base/log/log.h"
#include "engine/blocking.h"
#include "engine/engine.h"
#include "execute/blocking_serve.h"
#include "execute/execute.h"
#include "resp/reply.h"
#include "session/invalidate.h"
#include "session/outbox.h"
#include "session/session.h"
#include "table/command.h"

#include <string.h>

/* CLIENT REPLY: drops the command's reply when the client does not want it. A command that waits
 * replies later; outbox_end drops that reply. `before`: the session's flags before the
 * command. EXEC itself drops replies for a CLIENT REPLY in its queue. */
static void suppress_reply(struct session *session, struct reply *reply, size_t begin,
                           uint32_t before) {
    bool unwanted = before & session->flags & (SESSION_REPLY_OFF | SESSION_REPLY_SKIP);
    if (unwanted && reply->len > begin) reply_truncate(reply, begin);
    if (session->flags & SESSION_BLOCKED) return;
    session->flags &= ~(uint32_t)SESSION_REPLY_SKIP;
    if (session->flags & SESSION_REPLY_SKIP_NEXT)
        session->flags = (session->flags & ~(uint32_t)SESSION_REPLY_SKIP_NEXT) | SESSION_REPLY_SKIP;
}

/* A replica gets nothing but the stream: a reply would be taken for a part of it. */
static void forbid_reply(struct session *session, struct reply *reply, size_t begin,
                         struct slice name) {
    if (reply->len == begin) return;
    reply_truncate(reply, begin);
    log_warning("Closing the connection of a replica: its command '%.*s' has a reply",
                slice_precision(name), name.ptr);
    session_close(session);
}

/* Keys that a script makes ready are served when it has ended, and by no server that ends. */
static bool may_serve(const struct engine *engine) {
    return !(engine->restrictions & RESTRICTED_BUSY) && !engine->shutting_down;
}

/* Ends a request of a session that has flags, or had some `before`; its replies began at `begin`.
 * CLIENT CACHING is about the next request that is not one of CLIENT. */
static __attribute__((noinline)) void end_request(struct outbox *outbox, size_t begin,
                                                  uint32_t before, struct slice name) {
    static const char client[] = "client|";
    struct session *session = outbox->owner;
    const struct command *command = session->requester.last_command;
    if (before & SESSION_REPLICA) forbid_reply(session, &outbox->reply, begin, name);
    suppress_reply(session, &outbox->reply, outbox_reply_begin(outbox, begin), before);
    outbox->early_end = 0;
    outbox_add_messages(outbox);
    if (session->tracker && strncmp(command->name, client, sizeof(client) - 1) != 0)
        invalidate_end_request(session);
}

bool dispatch(struct outbox *outbox, const struct slice *argv, size_t argc) {
    struct session *session = outbox->owner;
    struct reply *reply = &outbox->reply;
    CHECKED_ASSERT(argc > 0 && !(session->flags & (SESSION_BLOCKED | SESSION_CLOSING)));
    struct engine *engine = session->requester.engine;
    execute_renew_clock(engine);
    size_t begin = reply->len;
    uint32_t before = session->flags;
    if (execute(session, reply, argv, argc) == EXECUTION_POSTPONED) return false;
    if (before | session->flags) end_request(outbox, begin, before, argv[0]);
    if (blocking_has_ready(engine->blocking) && may_serve(engine)) {
        blocking_serve(engine, engine->blocking);
        outbox_add_messages(outbox);
    }
    return true;
}
