/* evict_clients: maxmemory-clients. It looks at every client only when the sum of client_memory.h
 * is over the limit. */
#include "reclaim/evict_clients.h"

#include "base/log/log.h"
#include "engine/engine.h"
#include "session/client_memory.h"
#include "session/clients.h"
#include "session/session.h"

/* Returns maxmemory-clients in bytes; 0 = no limit. */
static size_t limit(struct engine *engine) {
    int64_t limit = engine->config.maxmemory_clients;
    if (limit >= 0) return (size_t)limit;
    return (size_t)((unsigned __int128)engine->config.maxmemory * (uint64_t)-limit / 100);
}

/* Clients closed in one loop iteration, at most. */
enum { CLOSED_AT_ONCE = 32 };

/* Finds the largest clients, in descending order; returns their number. O(clients). */
static size_t find_largest(const struct clients *clients, struct session *largest[CLOSED_AT_ONCE]) {
    size_t count = 0;
    for (struct session *session = clients->sessions.first; session; session = session->next) {
        if (!(session->marks & SESSION_LIMITED)) continue;
        bool is_full = count == CLOSED_AT_ONCE;
        if (is_full && largest[count - 1]->accounted >= session->accounted) continue;
        size_t at = is_full ? count - 1 : count++;
        for (; at > 0 && largest[at - 1]->accounted < session->accounted; at--)
            largest[at] = largest[at - 1];
        largest[at] = session;
    }
    return count;
}

static void close_client(struct session *session) {
    struct engine *engine = session->requester.engine;
    char peer[CONN_NAME_MAX];
    log_notice("Evicting client id=%llu addr=%s: it takes %zu bytes",
               (unsigned long long)session->id, conn_peer_name(conn_of_session(session), peer),
               session->accounted);
    engine->stats.evicted_clients++;
    session_close(session);
}

bool evict_clients(struct engine *engine) {
    size_t allowed = limit(engine);
    if (allowed == 0 || engine->clients->limited_memory <= allowed) return false;
    client_memory_note_all(engine);
    if (engine->clients->limited_memory <= allowed) return false;
    struct session *largest[CLOSED_AT_ONCE];
    size_t count = find_largest(engine->clients, largest);
    for (size_t i = 0; i < count && engine->clients->limited_memory > allowed; i++)
        close_client(largest[i]);
    return engine->clients->limited_memory > allowed;
}
