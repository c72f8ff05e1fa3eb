#include "session/refusal.h"

#include "engine/engine.h"
#include "net/connections/conn.h"
#include "net/nested_poll.h"
#include "net/tls/tls.h"
#include "session/clients.h"
#include "users/users.h"

enum { WAITING_MAX = 16, BEGUN_MAX = 20 };

/* A handshake that takes longer than this gives way to a new client; a connection attempt closes so
 * many at most. */
enum { SLOW_MS = 5000, SLOW_MAX = 8 };

static bool may_wait(struct engine *engine) {
    struct refusals *refusals = &engine->clients->refusals;
    int64_t second = engine->steady_ms / 1000;
    if (refusals->second != second) refusals->begun = 0;
    refusals->second = second;
    return refusals->waiting < WAITING_MAX && refusals->begun < BEGUN_MAX;
}

/* The socket of a connection without TLS takes the error at once. Nested polling does not read a
 * connection that is about to be closed, so that no handshake would go on. */
static void refuse(struct engine *engine, struct conn *conn, struct slice error) {
    engine->stats.connections_rejected++;
    size_t sent = conn_try_write(conn, error.ptr, error.len);
    if (sent < error.len && !nested_poll_is_on(engine->net) && may_wait(engine))
        conn_queue(conn, error.ptr + sent, error.len - sent);
    if (conn_pending_output(conn) == 0) { /* all is sent, or nothing can be */
        conn_close(conn);
        return;
    }
    engine->clients->refusals.waiting++;
    engine->clients->refusals.begun++;
    conn_close_after_write(conn); /* refusal_ended follows */
}

void refusal_ended(struct engine *engine) {
    engine->clients->refusals.waiting--;
}

static bool is_full(const struct engine *engine) {
    return engine->clients->sessions.count >= (size_t)engine->config.maxclients;
}

bool refusal_decide(struct engine *engine, struct conn *conn) {
    if (is_full(engine)) tls_end_slow(engine->net, TLS_HANDSHAKE_TIMEOUT_MS - SLOW_MS, SLOW_MAX);
    if (is_full(engine)) {
        refuse(engine, conn, SLICE("-ERR max number of clients reached\r\n"));
        return true;
    }
    if (engine->config.protected_mode && user_needs_no_password(engine->users->default_user) &&
        !conn_is_local(conn)) {
        refuse(engine, conn,
               SLICE("-DENIED Packlist is running in protected mode because protected mode is "
                     "enabled and no password is set. In this mode connections are only accepted "
                     "from the loopback interface and unix sockets. To connect from elsewhere "
                     "set a password with the requirepass directive, or, where nobody else can "
                     "reach the port, disable protected mode with 'CONFIG SET protected-mode "
                     "no' sent from this host.\r\n"));
        return true;
    }
    return false;
}
